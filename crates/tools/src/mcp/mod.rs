//! Tools of MCP servers (<https://modelcontextprotocol.io>), over stdio, streamable HTTP or the older SSE.
//!
//! A server is trusted to do what its tools are for, and with nothing else: it may be down, slow, silent or dying, send too much, or
//! change what it offers, and the conversation goes on. [`McpServer`] keeps the connections, [`McpSource`] is what one agent takes of
//! it.

mod child;
mod connection;
mod events;
mod failure;
mod http;
mod listing;
mod message;
mod oauth;
mod result;
mod server;
mod settings;
mod source;
mod sse;
mod status;
mod stdio;
mod streamable;
mod tool;

pub use server::McpServer;
pub use settings::{ClientCredentials, HttpTransport, McpSelection, McpSettings, McpTransport, StdioTransport};
pub use source::McpSource;
pub use status::McpStatus;

use std::time::Duration;

/// Until a server has answered the first message.
const CONNECT_TIME: Duration = Duration::from_secs(10);
/// Until it has listed its tools.
const LIST_TIME: Duration = Duration::from_secs(10);
/// Until a server has answered whether it is still there, after a call was given up.
const PROBE_TIME: Duration = Duration::from_secs(5);
/// Bytes of one message.
const MAX_MESSAGE: usize = 4 << 20;
/// Tools of one server; more are left out.
const MAX_TOOLS: usize = 256;
/// Bytes of a tool's schema; a tool with a larger one is left out.
const MAX_SCHEMA: usize = 64 << 10;
/// Bytes of a tool's description.
const MAX_DESCRIPTION: usize = 1024;
/// Bytes of a result.
const MAX_RESULT: usize = 1 << 20;
/// Bytes of an error that a server words.
const MAX_ERROR: usize = 2000;

/// A message as rmcp is to read it, as an answer to this request; for the fuzzer.
#[cfg(feature = "fuzz")]
pub fn fit(text: &str, asked: i64) -> String {
    message::fit(text, Some(&rmcp::model::RequestId::Number(asked))).into_owned()
}

/// Text of a server for a model or a user: what can be seen of it, at most so many bytes.
fn clean(text: &str, most: usize) -> String {
    crate::text::cut(&crate::text::visible(text), most)
}
