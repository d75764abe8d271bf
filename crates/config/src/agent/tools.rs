//! The sources of an agent's tools.

use crate::connection::McpConnection;
use contract::{Confirm, DeclaredAnnotations};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use settings::{Text, ToolSelection};
use std::path::PathBuf;
use std::time::Duration;

/// The folder that an agent may read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileSystem {
    /// The absolute path of the folder, without symbolic links. It existed when the config was read
    /// and is not the root of the file system.
    pub base_path: PathBuf,
    /// The annotations of the file tools, which only read.
    pub annotations: DeclaredAnnotations,
}

/// Annotations of the tools of an MCP server or a remote agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SourceAnnotations {
    /// The tools whose results may hold private data: `true`, `false`, or patterns. Default: `true`
    /// for a program that the server starts.
    pub reads_private: Option<AnnotatedTools>,
    /// The tools whose results may hold text by anybody, with instructions in it. Default: `true`.
    pub returns_untrusted: Option<AnnotatedTools>,
    /// The tools that can send data to others. Calls need the user's approval once the agent has
    /// read both private data and untrusted text.
    pub egress: Option<AnnotatedTools>,
    /// The tools whose calls have no further effect when they are repeated. A call that a crash of
    /// the server cut off is then repeated when the run continues; otherwise the user decides.
    /// Default: as `readsOnly` says.
    pub idempotent: Option<AnnotatedTools>,
    /// The tools whose calls change nothing. They may be called before the user has approved a plan.
    /// Default: `false`.
    pub reads_only: Option<AnnotatedTools>,
}

/// A selection of the tools of a server.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum AnnotatedTools {
    /// All tools, or none.
    All(bool),
    /// The tools whose original names match one of these patterns, such as `send_*`.
    These(#[schemars(with = "Vec<Text>")] Vec<String>),
}

impl AnnotatedTools {
    /// Whether there may be such a tool.
    pub fn may_apply(&self) -> bool {
        match self {
            Self::All(all) => *all,
            Self::These(patterns) => !patterns.is_empty(),
        }
    }
}

impl From<DeclaredAnnotations> for SourceAnnotations {
    fn from(declared: DeclaredAnnotations) -> Self {
        Self {
            reads_private: declared.reads_private.map(AnnotatedTools::All),
            returns_untrusted: declared.returns_untrusted.map(AnnotatedTools::All),
            egress: declared.egress.map(AnnotatedTools::All),
            idempotent: declared.idempotent.map(AnnotatedTools::All),
            reads_only: declared.reads_only.map(AnnotatedTools::All),
        }
    }
}

/// An endpoint as a tool of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolRef {
    /// The id of an endpoint that has a description and a payload schema.
    pub endpoint_id: String,
    /// How the user approves each call. `None`: calls need no approval.
    pub confirm: Option<Confirm>,
    /// The parameters that the approval shows at once and that the user may edit. `None`: all.
    pub visible_parameters: Option<Vec<String>>,
    /// The tool's name for the model: up to 64 letters, digits, `_` and `-`, unique among the
    /// agent's tools.
    pub name: String,
    /// The tool's annotations.
    pub annotations: DeclaredAnnotations,
}

/// An MCP server as a source of tools for an agent.
#[derive(Clone, Debug)]
pub struct McpRef {
    /// The id of the connection, or a name derived from the address or the program.
    pub name: String,
    /// The id of the connection. `None` for a server that only this agent has.
    pub connection_id: Option<String>,
    /// How to connect to the server.
    pub server: McpConnection,
    /// How the user approves each call. `None`: calls need no approval.
    pub confirm: Option<Confirm>,
    /// The tools that are offered.
    pub tools: ToolSelection,
    /// The prefix of its tools' names.
    pub prefix: String,
    /// The timeout of one call. `None`: [`crate::Limits::tool`].
    pub timeout: Option<Duration>,
    /// The annotations of its tools.
    pub annotations: SourceAnnotations,
    /// Whether the server's own annotations decide, too, which tools are idempotent.
    pub idempotent_hint: bool,
}

/// A remote agent as a source of tools for an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteAgentRef {
    /// The id of a connection of the type `RemoteAgent`.
    pub connection_id: String,
    /// How the user approves each call, also of tools that do not ask for it themselves.
    pub confirm: Option<Confirm>,
    /// The tools that are offered.
    pub tools: ToolSelection,
    /// The prefix of its tools' names, as in `prefix__name`.
    pub prefix: Option<String>,
    /// The annotations of its tools.
    pub annotations: SourceAnnotations,
}

/// A sub-agent as a tool of an agent.
#[derive(Clone, Debug, PartialEq)]
pub struct SubAgentRef {
    /// The id of the sub-agent.
    pub agent_id: String,
    /// The tool's name for the model, unique among the agent's tools.
    pub name: String,
    /// The tool's description for the model.
    pub description: String,
    /// A valid JSON Schema of the task. `None`: an object with one text, `task`.
    pub input_schema: Option<Value>,
}

/// How an agent hands tasks to a copy of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delegation {
    /// Whether the user switches it on for each answer.
    pub is_optional: bool,
    /// The most requests to the model for one task.
    pub max_turns: u32,
}

impl Delegation {
    /// The default of [`Delegation::max_turns`].
    pub const MAX_TURNS: u32 = 50;
}
