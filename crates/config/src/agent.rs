//! An agent of a checked config.

use crate::connection::McpConnection;
use crate::model::{AllowedModels, UnreadFiles};
use crate::rule::AccessRule;
use crate::section_type::Sections;
use agent::{PolicySettings, RunSettings};
use config_source::Location;
use contract::{Confirm, DeclaredAnnotations};
use schemars::JsonSchema;
use secrecy::SecretString;
use serde::Deserialize;
use serde_json::Value;
use settings::{Text, ToolSelection, pattern};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// An agent: a model with instructions, tools and limits.
#[derive(Clone, Debug)]
pub struct Agent {
    /// The agent's id.
    pub id: String,
    /// The name for users. `None`: the id.
    pub title: Option<String>,
    /// What the agent is for, for users.
    pub description: Option<String>,
    /// The address of an image (`/…` or `https://…`), or one or two characters.
    pub picture: Option<String>,
    /// The agent's type.
    pub agent_type: AgentType,
    /// The id of a connection that has models.
    pub connection_id: String,
    /// The provider's name for the model. Empty if an operator decides it for each turn.
    pub model: String,
    /// The models among which users choose. `None`: there is no choice. [`Agent::for_turn`] returns the
    /// agent with one of them; the fields here are those of the default.
    pub models: Option<AllowedModels>,
    /// The files that the model is not sent.
    pub unread_files: UnreadFiles,
    /// The models to try, in this order, if a model fails before its reply begins.
    pub fallback_models: Vec<ModelRef>,
    /// How a model names new conversations. `None`: they are named after the first words.
    pub titles: Option<Titles>,
    /// The model that summarises the older messages of a long conversation. `None`: the agent's own.
    pub summary_model: Option<ModelRef>,
    /// The instructions: a text, or an operator that is evaluated for each turn.
    pub instructions: Option<Value>,
    /// Whether the agent extracts records, so that models which write their reasoning into their text
    /// are told not to.
    pub extracts_records: bool,
    /// The routes among which each turn takes one; none if the agent always answers in the same way.
    pub routes: &'static [agent::Route],
    /// The settings of the agent's runs, without what depends on the server.
    pub settings: RunSettings,
    /// Whether the agent is told about the page, the user, the conversation and the page's address.
    pub page_context: bool,
    /// Whether the agent may ask the user a question and wait for the answer.
    pub ask_user: bool,
    /// The properties above that hold operators. [`Agent::for_turn`] takes their values.
    pub dynamic_properties: Option<Arc<DynamicProperties>>,
    /// The agent's other keys and properties as written, into which values and models are put.
    pub(crate) static_entry: Arc<Value>,
    /// The secrets that these properties refer to: pairs of the environment variable's name and its
    /// value.
    pub secrets: Vec<(String, SecretString)>,
    /// The OpenAI API that an `OpenAIAgent` uses.
    pub openai_api: OpenAiApi,
    /// The endpoints that the agent may call as tools.
    pub tools: Vec<ToolRef>,
    /// The MCP servers whose tools the agent may call.
    pub mcp: Vec<McpRef>,
    /// The names of further MCP servers of the agent that cannot be used now: administrators have switched
    /// them off, or what they need is missing. Agents that are made of this one may still choose them.
    pub unavailable_mcp: Vec<String>,
    /// The remote agents whose tools the agent may call.
    pub remote_agents: Vec<RemoteAgentRef>,
    /// The sub-agents that the agent may delegate tasks to. They never form a cycle.
    pub agents: Vec<SubAgentRef>,
    /// Whether the agent may hand tasks to a copy of itself, and how.
    pub delegation: Option<Delegation>,
    /// Which tool calls may run. `None`: all.
    pub policy: Option<PolicySettings>,
    /// The endpoints that are called during the agent's runs.
    pub hooks: Hooks,
    /// The sections that capabilities bring.
    pub sections: Sections,
    /// The folder that the agent may read.
    pub file_system: Option<FileSystem>,
    /// Who may use the agent.
    pub auth: AccessRule,
    /// Where the agent is declared.
    pub at: Location,
}

/// The properties of an agent that hold operators and therefore have a value only for a turn.
#[derive(Clone, Debug)]
pub struct DynamicProperties {
    /// The properties with operators.
    pub properties: Vec<DynamicProperty>,
}

/// A property that holds operators.
#[derive(Clone, Debug)]
pub struct DynamicProperty {
    /// The property's key.
    pub name: String,
    /// The value as written, with its operators.
    pub value: Value,
    /// Whether `_secret` is allowed in it: only in what is sent to the provider unchanged.
    pub may_hold_secrets: bool,
    /// Where the value is written.
    pub at: Location,
}

/// A model of a connection.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ModelRef {
    /// The connection to the model's provider.
    #[schemars(regex(pattern = pattern::ID))]
    pub connection_id: String,
    /// The provider's name for the model.
    #[schemars(length(min = 1))]
    pub model: String,
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

/// How a model names new conversations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Titles {
    /// The model. `None`: the agent's own.
    pub model: Option<ModelRef>,
    /// The most words of a title.
    pub max_words: usize,
    /// The most characters of a title.
    pub max_chars: usize,
    /// Whether the config does not say so itself. Then only conversations that a user begins are named,
    /// and not those of programs.
    pub is_default: bool,
}

impl Default for Titles {
    fn default() -> Self {
        Self { model: None, max_words: 6, max_chars: 60, is_default: false }
    }
}

/// Endpoints that are called during an agent's runs, those of programs included, with the event as
/// payload. Only those of `onFinish` are waited for. An endpoint that fails is logged and has no
/// effect on the run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Hooks {
    /// When a run begins: `model`, `tools` (without those of MCP servers and remote agents).
    #[serde(rename = "onStart")]
    #[schemars(inner(regex(pattern = pattern::ENDPOINT_ID)))]
    pub start: Vec<String>,
    /// When a step begins: `stepNumber`.
    #[serde(rename = "onStepStart")]
    #[schemars(inner(regex(pattern = pattern::ENDPOINT_ID)))]
    pub step_start: Vec<String>,
    /// Before a tool runs: `stepNumber` (0 for a call of an earlier turn that the user has approved), `toolCall` with
    /// `toolCallId`, `toolName` and `input`.
    #[serde(rename = "onToolCallStart")]
    #[schemars(inner(regex(pattern = pattern::ENDPOINT_ID)))]
    pub tool_call_start: Vec<String>,
    /// After a tool has run: `stepNumber`, `toolCall`, `durationMs`, `success`, `output` or
    /// `error`.
    #[serde(rename = "onToolCallFinish")]
    #[schemars(inner(regex(pattern = pattern::ENDPOINT_ID)))]
    pub tool_call_finish: Vec<String>,
    /// When a step is done, tool calls included: `stepNumber`, `text`, `toolCalls`, `toolResults`,
    /// `finishReason`, `usage`, `costUsd` (null without known prices).
    #[serde(rename = "onStepFinish")]
    #[schemars(inner(regex(pattern = pattern::ENDPOINT_ID)))]
    pub step_finish: Vec<String>,
    /// When the run ends: `messages`, `steps`, `toolResults`, `finishReason`, `isAborted`, `usage`, `costUsd`.
    /// They are called one after the other. The `dataParts: [{ type, data, id }]` that they return
    /// become part of the message. `data-chat-title` with `{ title }` names the conversation.
    #[serde(rename = "onFinish")]
    #[schemars(inner(regex(pattern = pattern::ENDPOINT_ID)))]
    pub finish: Vec<String>,
}

impl Hooks {
    /// Whether there is no hook at all.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// The type of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[schemars(extend("x-names" = "agent type"))]
pub enum AgentType {
    /// Uses an `Anthropic` connection.
    ClaudeAgent,
    /// Uses an `OpenAI` connection.
    OpenAIAgent,
    /// Uses a `Google` connection.
    GeminiAgent,
    /// Uses an `AIGateway` connection.
    AIGatewayAgent,
    /// Uses any connection that has models.
    Agent,
    /// The same as `Agent`.
    AISDKAgent,
}

/// An API of OpenAI.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OpenAiApi {
    /// The Responses API.
    #[default]
    Responses,
    /// The Chat Completions API.
    Chat,
}

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
