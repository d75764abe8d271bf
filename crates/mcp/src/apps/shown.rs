//! The part of a call whose result has a user interface that its message keeps.

use contract::ToolSpec;
use rmcp::model::CallToolResult;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The maximum size of the arguments and the result in bytes. Larger results are shown as other tools' are.
const MAX_SHOWN: usize = 256 << 10;

/// The content of the data part [`wire::MCP_APP`]. The user interface itself is read from the server when it is shown.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ShownApp {
    /// The name of the server.
    pub(crate) server: String,
    /// The prefix of the server's tools.
    pub(crate) prefix: String,
    /// The server's name for the tool.
    pub(crate) tool: String,
    /// The tool's title.
    pub(crate) title: String,
    /// The arguments.
    pub(crate) input: Map<String, Value>,
    /// The result, as the server has sent it.
    pub(crate) result: Value,
}

impl ShownApp {
    /// Returns what is kept, as JSON; `None` if it is too large, or the tool has failed.
    pub(crate) fn data(
        server: &str,
        (tool, title): (&str, &str),
        spec: &ToolSpec,
        input: Map<String, Value>,
        result: &CallToolResult,
    ) -> Option<Value> {
        if result.is_error == Some(true) {
            return None;
        }
        let shown = Self {
            server: server.to_owned(),
            prefix: spec.name.strip_suffix(tool)?.to_owned(),
            tool: tool.to_owned(),
            title: title.to_owned(),
            input,
            result: serde_json::to_value(result).ok()?,
        };
        let data = serde_json::to_value(shown).ok()?;
        (data.to_string().len() <= MAX_SHOWN).then_some(data)
    }
}
