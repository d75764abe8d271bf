#![doc = include_str!("../README.md")]

mod apps;
mod asking;
mod capability;
mod connection;
mod content;
mod events;
mod failure;
mod http;
mod listing;
mod message;
mod oauth;
mod process;
mod questions;
mod result;
mod server;
mod settings;
mod source;
mod sse;
mod status;
mod stdio;
mod streamable;
mod tool;
mod users;

pub use self::capability::DEFINITION;
pub use ::settings::mcp::{
    ClientCredentials, ClientProof, HttpServerSettings, McpFeatures, McpTransport, StdioSettings, TokenEndpoint,
};
pub use asking::{AskUser, QuestionRequest, ServerQuestion, UserAnswer};
pub use server::McpServer;
pub use settings::{McpSelection, McpSettings};
pub use source::McpSource;

use std::time::Duration;

/// The time limit for a server's first answer.
const CONNECT_TIME: Duration = Duration::from_secs(10);
/// The time limit for listing the tools.
const LIST_TIME: Duration = Duration::from_secs(10);
/// The time limit of the ping after a cancelled call, for which later calls wait.
const PROBE_TIME: Duration = Duration::from_secs(3);
/// The maximum size of a message in bytes.
const MAX_MESSAGE: usize = 4 << 20;
/// The maximum number of tools of a server; more are left out.
const MAX_TOOLS: usize = 256;
/// The maximum size of a tool's schema in bytes; a tool with a larger one is left out.
const MAX_SCHEMA: usize = 64 << 10;
/// The maximum size of a tool's description in bytes.
const MAX_DESCRIPTION: usize = 1024;
/// How often the list of tools is renewed within [`RENEWAL_TIME`] because the server says that it has changed.
const MAX_RENEWALS: usize = 10;
/// See [`MAX_RENEWALS`].
const RENEWAL_TIME: Duration = Duration::from_secs(60);
/// The maximum size of the text of a question to the user in bytes.
const MAX_QUESTION: usize = 2000;
/// The maximum size of a result in bytes.
const MAX_RESULT: usize = 1 << 20;
/// The maximum size of a server's error message in bytes.
const MAX_ERROR: usize = 2000;

/// Adapts a message for rmcp, as an answer to this request; for the fuzzer.
#[cfg(feature = "fuzz")]
pub fn fit(text: &str, asked: i64) -> String {
    message::fit(text, Some(&rmcp::model::RequestId::Number(asked))).into_owned()
}

/// Returns the domains that the resource of a user interface declares, as sources of a policy; for the fuzzer.
#[cfg(feature = "fuzz")]
pub fn declared_sources(resource: &str) -> Vec<String> {
    apps::declared_sources(resource)
}

/// Returns the visible text of a server for a model or a user, truncated to `most` bytes.
fn clean(text: &str, most: usize) -> String {
    tools::text::truncate(&tools::text::visible(text), most)
}
