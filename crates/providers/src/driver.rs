//! Bytes → events → parts: the one loop around every codec.

use crate::http::chain;
use contract::{ModelError, ModelErrorKind, Part, PartStream};
use futures::StreamExt;
use reqwest::Response;
use std::pin::pin;
use tokio_util::sync::CancellationToken;

/// The largest event of most providers, in bytes.
const MAX_EVENT: usize = 4 * 1024 * 1024;
/// The largest event of one that sends images, in bytes; an answer that is larger is not kept anyway.
pub(crate) const MAX_IMAGE_EVENT: usize = 16 * 1024 * 1024;
/// The longest reply, in bytes as they come over the wire: twenty times the longest that any model writes today.
const MAX_REPLY: usize = 256 * 1024 * 1024;

/// Reads one provider's events, without I/O.
pub(crate) trait Codec: Send + 'static {
    /// The largest event, in bytes. Memory is taken only as far as one comes.
    const MAX_EVENT: usize = MAX_EVENT;

    /// Appends the parts that an event brings.
    fn event(&mut self, data: &str, parts: &mut Vec<Part>) -> Result<(), ModelError>;

    /// The bytes are over: appends what was still to come, or says that the reply broke off.
    fn end(&mut self, parts: &mut Vec<Part>) -> Result<(), ModelError>;

    /// Whether the reply is complete, so that nothing after it counts.
    fn is_complete(&self) -> bool;
}

/// The parts of an answer, and [`Part::Alive`] for bytes that bring none. Lets go of the connection as soon as it is dropped or cancelled, or the reply is complete.
pub(crate) fn parts(response: Response, codec: impl Codec, cancel: CancellationToken) -> PartStream {
    async_stream::stream! {
        let mut reader = Reader::new(codec);
        let mut bytes = pin!(response.bytes_stream());
        let mut cancelled = pin!(cancel.cancelled());
        let mut ready = Vec::new();
        while !reader.codec.is_complete() {
            let next = tokio::select! {
                biased;
                () = &mut cancelled => Err(stopped()),
                next = bytes.next() => next.transpose().map_err(|error| broken(format!("the connection broke: {}", chain(&error)))),
            };
            // Whether more may come.
            let read = match next {
                Ok(Some(piece)) => reader.bytes(&piece, &mut ready).map(|()| true),
                Ok(None) => reader.end(&mut ready).map(|()| false),
                Err(error) => Err(error),
            };
            // While a model thinks, it may send nothing but comments, pings and progress. Whoever waits for parts learns of them, so that
            // the silence is not taken for a broken connection.
            if ready.is_empty() && matches!(read, Ok(true)) && !reader.codec.is_complete() {
                ready.push(Part::Alive);
            }
            // What came before a fault was said, and is told.
            for part in ready.drain(..) {
                yield Ok(part);
            }
            match read {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => {
                    yield Err(error);
                    break;
                }
            }
        }
    }
    .boxed()
}

/// A codec with the decoder before it, without I/O.
pub(crate) struct Reader<C> {
    decoder: sse::Decoder,
    codec: C,
    /// Bytes so far.
    read: usize,
    events: u64,
}

impl<C: Codec> Reader<C> {
    pub(crate) fn new(codec: C) -> Self {
        let decoder = sse::Decoder::new(sse::Limits { line: C::MAX_EVENT, event: C::MAX_EVENT });
        Self { decoder, codec, read: 0, events: 0 }
    }

    /// Appends the parts that the next bytes bring.
    pub(crate) fn bytes(&mut self, bytes: &[u8], parts: &mut Vec<Part>) -> Result<(), ModelError> {
        let pushed = self.decoder.push(bytes);
        while !self.codec.is_complete()
            && let Some(event) = self.decoder.next()
        {
            self.events += 1;
            self.codec.event(&event.data, parts)?;
        }
        // Whatever comes behind a complete reply, it cannot be its fault any more.
        if self.codec.is_complete() {
            return Ok(());
        }
        pushed.map_err(|error| broken(error.to_string()))?;
        self.read = self.read.saturating_add(bytes.len());
        if self.read > MAX_REPLY {
            return Err(broken("the reply does not end"));
        }
        Ok(())
    }

    /// The bytes are over. An event without its blank line was not complete and does not count.
    pub(crate) fn end(&mut self, parts: &mut Vec<Part>) -> Result<(), ModelError> {
        if self.events == 0 && self.read > 0 {
            return Err(broken("the answer held no events"));
        }
        self.codec.end(parts)
    }
}

/// The stream cannot be read on.
pub(crate) fn broken(cause: impl Into<String>) -> ModelError {
    ModelError::new(ModelErrorKind::BrokenStream, cause)
}

/// The run was stopped.
pub(crate) fn stopped() -> ModelError {
    ModelError::new(ModelErrorKind::Cancelled, "stopped")
}
