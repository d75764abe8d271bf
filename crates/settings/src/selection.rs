//! Which tools of a server an agent is offered.

use schemars::JsonSchema;
use serde::Deserialize;

/// Which tools of an MCP server or a remote agent are offered, by patterns of the server's names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolSelection {
    /// Patterns of tool names, such as `read_*`: only tools that match one are offered. Default:
    /// all.
    #[schemars(inner(length(min = 1)))]
    pub allow: Option<Vec<String>>,
    /// Patterns of tool names: tools that match one are not offered.
    #[serde(default)]
    #[schemars(inner(length(min = 1)))]
    pub deny: Vec<String>,
}
