//! The events of a run on their way to watchers: kept in memory, stored in the journal, and read
//! from any position, also by other servers.

mod chunk_reader;
pub(crate) mod journal;
pub(crate) mod keep_alive;
pub(crate) mod live;
pub(crate) mod page_size;
pub(crate) mod remote;
pub(crate) mod watch;

pub use chunk_reader::ChunkReader;

use bytes::Bytes;
use futures::stream::BoxStream;

/// A stream of server-sent events (`id: EPOCH.SEQ\ndata: {chunk}\n\n`). Each item contains one or
/// more whole events; the last event is `data: [DONE]\n\n`. A stream that ends without it was cut
/// off and can be resumed after its last id.
pub type Frames = BoxStream<'static, Bytes>;
