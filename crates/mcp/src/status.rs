//! The status of a server, for the admin console and `chatwright doctor`.

use crate::server::McpServer;
use crate::{McpSettings, McpTransport};
use capability::ToolServerStatus;
use std::path::Path;

impl McpServer {
    /// Returns the server's status. It opens no connection, and connections that are just being
    /// opened are not counted.
    pub fn status(&self) -> ToolServerStatus {
        let mut status = idle(&self.settings);
        let seats: Vec<_> = self.seats.lock().values().cloned().collect();
        status.users = seats.len();
        for seat in seats {
            let Ok(state) = seat.state.try_lock() else { continue };
            if let Some(connection) = state.connection.as_ref().filter(|connection| connection.is_open()) {
                status.open += 1;
                let (tools, left_out) = connection.known_tools();
                if !tools.is_empty() || !left_out.is_empty() {
                    (status.tools, status.left_out) = (tools, left_out);
                }
            }
            if state.failed_at > status.failed_at {
                status.failed_at = state.failed_at;
                status.error = state.error.as_ref().map(|error| error.message.clone());
            }
        }
        status
    }
}

/// Returns the status of a server without connections.
fn idle(settings: &McpSettings) -> ToolServerStatus {
    let (transport, place) = match &settings.transport {
        McpTransport::Http(http) => ("http", http.url.host_str().unwrap_or_default().to_owned()),
        McpTransport::Sse(http) => ("sse", http.url.host_str().unwrap_or_default().to_owned()),
        McpTransport::Stdio(program) => {
            let name = Path::new(&program.command).file_name();
            ("stdio", name.map_or_else(String::new, |name| name.to_string_lossy().into_owned()))
        }
    };
    ToolServerStatus {
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
