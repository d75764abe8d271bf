//! How a server does, for who answers for it. Nothing secret: of an address only its host, of a program only its name.

use super::settings::{McpSettings, McpTransport};
use contract::LeftOut;
use serde::Serialize;
use std::path::Path;

/// How a server does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct McpStatus {
    /// What it is called.
    pub name: String,
    /// `http`, `sse` or `stdio`.
    pub transport: &'static str,
    /// The host of its address, or the name of its program.
    pub place: String,
    /// One connection for all users.
    pub shared: bool,
    /// Users who have used it lately; one where all share it.
    pub users: usize,
    /// Open connections.
    pub open: usize,
    /// What it offers, as far as somebody is connected and has asked.
    pub tools: Vec<String>,
    /// What of that agents are not given, and why.
    pub left_out: Vec<LeftOut>,
    /// Why it cannot be used; none once it can again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// When that was seen; Unix time, milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed_at: Option<i64>,
}

impl McpStatus {
    /// Of a server that nobody uses.
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
