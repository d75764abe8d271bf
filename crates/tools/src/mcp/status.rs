//! The status of a server for operators. It contains no secrets: only the host of a URL, and only
//! the name of a program.

use super::{McpSettings, McpTransport};
use contract::OmittedTool;
use serde::Serialize;
use std::path::Path;

/// The status of a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct McpStatus {
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
    /// Why the server cannot be used; `None` once it can be used again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// When the error occurred; Unix time in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed_at: Option<i64>,
}

impl McpStatus {
    /// Returns the status of a server without connections.
    pub(super) fn idle(settings: &McpSettings) -> Self {
        let (transport, place) = match &settings.transport {
            McpTransport::Http(http) => ("http", http.url.host_str().unwrap_or_default().to_owned()),
            McpTransport::Sse(http) => ("sse", http.url.host_str().unwrap_or_default().to_owned()),
            McpTransport::Stdio(program) => {
                let name = Path::new(&program.command).file_name();
                ("stdio", name.map_or_else(String::new, |name| name.to_string_lossy().into_owned()))
            }
        };
        Self {
            name: settings.name.clone(),
            transport,
            place,
            shared: settings.shared,
            users: 0,
            open: 0,
            tools: Vec::new(),
            left_out: Vec::new(),
            error: None,
            failed_at: None,
        }
    }
}
