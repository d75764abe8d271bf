//! The status of servers that offer tools.

use contract::OmittedTool;
use schemars::JsonSchema;
use serde::Serialize;

/// The status of a server that offers tools, for operators. It contains no secrets: only the host
/// of a URL, and only the name of a program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolServerStatus {
    /// The server's name.
    pub name: String,
    /// `http`, `sse` or `stdio`.
    pub transport: &'static str,
    /// The host of the URL, or the name of the program.
    pub place: String,
    /// Whether all users share one connection.
    pub shared: bool,
    /// The number of recent users; one if all share a connection.
    pub users: usize,
    /// The number of open connections.
    pub open: usize,
    /// The names of the server's tools, if a connection is open and has listed them.
    pub tools: Vec<String>,
    /// The tools that agents cannot use, with the reasons.
    pub left_out: Vec<OmittedTool>,
    /// Why the server cannot be used; absent once it can be used again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// When the error occurred; Unix time in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed_at: Option<i64>,
}
