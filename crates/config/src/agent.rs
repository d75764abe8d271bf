//! An agent of a checked config.

use crate::config::McpConnection;
use crate::rule::AccessRule;
use crate::section_type::Sections;
use crate::source::Location;
use secrecy::SecretString;
use serde_json::{Map, Value};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// An agent: a model with instructions, tools and limits.
#[derive(Clone, Debug)]
pub struct Agent {
    /// The agent's id.
    pub id: String,
    /// The agent's type.
    pub agent_type: AgentType,
    /// The id of a connection that has models.
    pub connection_id: String,
    /// The provider's name for the model. Empty if an operator decides it for each turn.
    pub model: String,
    /// The models to try, in this order, if a model fails before its reply begins.
    pub fallback_models: Vec<ModelRef>,
    /// The instructions: a text, or an operator that is evaluated for each turn.
    pub instructions: Option<Value>,
    /// The size of the model's context window in tokens, if the config sets it.
    pub context_tokens: Option<u64>,
    /// Whether the agent is built from a preset.
    pub has_preset: bool,
    /// Whether the model is told not to write its reasoning into its text. `None`: depends on the
    /// model.
    pub no_think: Option<bool>,
    /// The most requests to the model in one turn.
    pub max_steps: u32,
    /// Whether a tool call that cannot be run is reported to the model. Otherwise it ends the turn.
    pub repair_tool_call: bool,
    /// The number of retries of a failed request.
    pub max_retries: u32,
    /// Sampling settings.
    pub sampling: Sampling,
    /// Whether the model must call a tool, and which.
    pub tool_choice: ToolChoice,
    /// The names of the tools that are offered. `None`: all.
    pub active_tools: Option<Vec<String>>,
    /// The names of tools whose call ends the turn.
    pub stop_on_tool_call: Vec<String>,
    /// Overrides of settings for some steps. The first rule that matches a step applies.
    pub prepare_step: Vec<StepRule>,
    /// Which parts of the history the model does not get.
    pub prune: Prune,
    /// Whether the agent is told about the page, the user, the conversation and the page's address.
    pub page_context: bool,
    /// Whether the agent may ask the user a question and wait for the answer.
    pub ask_user: bool,
    /// Limits for one turn.
    pub limits: AgentLimits,
    /// Timeouts of this agent.
    pub timeouts: AgentTimeouts,
    /// Options by provider, in the terms of the provider's API. They are merged into each request
    /// as they are.
    pub provider_options: Map<String, Value>,
    /// The properties above that hold operators. [`Agent::with_dynamic_values`] evaluates them for a turn.
    pub dynamic_properties: Option<Arc<DynamicProperties>>,
    /// The secrets that these properties refer to: pairs of the environment variable's name and its
    /// value.
    pub secrets: Vec<(String, SecretString)>,
    /// The OpenAI API that an `OpenAIAgent` uses.
    pub openai_api: OpenAiApi,
    /// The endpoints that the agent may call as tools.
    pub tools: Vec<ToolRef>,
    /// The MCP servers whose tools the agent may call.
    pub mcp: Vec<McpRef>,
    /// The remote agents whose tools the agent may call.
    pub remote_agents: Vec<RemoteAgentRef>,
    /// The sub-agents that the agent may delegate tasks to. They never form a cycle.
    pub agents: Vec<SubAgentRef>,
    /// Which tool calls may run. `None`: all.
    pub policy: Option<Policy>,
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
    /// The agent's other keys and properties as written, into which the values are put.
    pub(crate) static_entry: Value,
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

/// Limits for one turn. `None` means no limit by the agent.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AgentLimits {
    /// The number of requests to models.
    pub requests: Option<u32>,
    /// The number of tokens, input and output.
    pub total_tokens: Option<u64>,
    /// The number of tool calls.
    pub tool_calls: Option<u32>,
    /// The cost in US dollars.
    pub cost_usd: Option<f64>,
    /// The duration.
    pub time: Option<Duration>,
}

/// A model of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelRef {
    /// The id of a connection that has models.
    pub connection_id: String,
    /// The provider's name for the model.
    pub model: String,
}

/// The endpoints that are called at each event of a run. The payloads are described in the config's
/// schema.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hooks {
    /// When a run begins.
    pub start: Vec<String>,
    /// When a step begins.
    pub step_start: Vec<String>,
    /// Before a tool runs.
    pub tool_call_start: Vec<String>,
    /// After a tool has run.
    pub tool_call_finish: Vec<String>,
    /// When a step is done, tool calls included.
    pub step_finish: Vec<String>,
    /// When the run ends. The run waits for these; they are called one after the other.
    pub finish: Vec<String>,
}

impl Hooks {
    /// Whether there is no hook at all.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// The type of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentType {
    /// Uses an `Anthropic` connection.
    Claude,
    /// Uses an `OpenAI` connection.
    OpenAi,
    /// Uses a `Google` connection.
    Gemini,
    /// Uses an `AIGateway` connection.
    AiGateway,
    /// Uses any connection that has models.
    Any,
}

/// An API of OpenAI.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OpenAiApi {
    /// The Responses API.
    #[default]
    Responses,
    /// The Chat Completions API.
    Chat,
}

/// Sampling settings. `None` means the provider's default.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sampling {
    /// The longest reply in tokens, at least 1.
    pub max_output_tokens: Option<u32>,
    /// The temperature, 0 to 2.
    pub temperature: Option<f64>,
    /// The probability mass to sample from, 0 to 1.
    pub top_p: Option<f64>,
    /// The number of likeliest tokens to sample from, at least 1.
    pub top_k: Option<u32>,
    /// The frequency penalty, -1 to 1.
    pub frequency_penalty: Option<f64>,
    /// The presence penalty, -1 to 1.
    pub presence_penalty: Option<f64>,
    /// The random seed, for reproducible replies.
    pub seed: Option<i64>,
    /// The reply ends before one of these texts.
    pub stop_sequences: Vec<String>,
}

/// Whether the model must call a tool, and which.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ToolChoice {
    /// The model decides.
    #[default]
    Auto,
    /// The model must call some tool.
    Required,
    /// The model must not call a tool.
    None,
    /// The model must call the tool with this name.
    Tool(String),
}

/// Overrides of settings for some steps of a turn.
#[derive(Clone, Debug, PartialEq)]
pub struct StepRule {
    /// The steps that the rule applies to.
    pub steps: StepSelector,
    /// The names of the tools that are offered.
    pub active_tools: Option<Vec<String>>,
    /// Whether the model must call a tool, and which.
    pub tool_choice: Option<ToolChoice>,
    /// The longest reply, in tokens.
    pub max_output_tokens: Option<u32>,
    /// The temperature, 0 to 2.
    pub temperature: Option<f64>,
}

/// A selection of steps of a turn, which are counted from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StepSelector {
    /// The steps with these numbers.
    Numbers(Vec<u32>),
    /// The steps from the first number to the second one, or to the end of the turn.
    Range(u32, Option<u32>),
}

/// Which parts of the history the model does not get.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prune {
    /// The reasoning to leave out.
    pub reasoning: PruneReasoning,
    /// Rules for the tool calls to leave out.
    pub tool_calls: Vec<PruneToolCalls>,
    /// Whether messages that become empty are left out as well.
    pub remove_empty: bool,
}

/// The reasoning to leave out of the history.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PruneReasoning {
    /// None.
    #[default]
    None,
    /// The reasoning of all messages but the last.
    BeforeLastMessage,
    /// All.
    All,
}

/// A rule for the tool calls to leave out of the history, with their results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PruneToolCalls {
    /// The number of messages at the end of the history that keep their calls; 0 keeps none.
    pub keep_last: usize,
    /// The tools that the rule applies to. `None`: all.
    pub tools: Option<Vec<String>>,
}

/// Timeouts of one agent. `None` means the timeout in [`crate::Limits`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AgentTimeouts {
    /// For a whole turn.
    pub total: Option<Duration>,
    /// For one step: a request to the model with its reply.
    pub step: Option<Duration>,
    /// For silence of the provider before its reply begins.
    pub first_byte: Option<Duration>,
    /// For silence of the provider between two parts of its reply.
    pub chunk: Option<Duration>,
}

/// The folder that an agent may read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileSystem {
    /// The absolute path of the folder, without symbolic links. It existed when the config was read
    /// and is not the root of the file system.
    pub base_path: PathBuf,
    /// The annotations of the file tools, which only read.
    pub annotations: ToolAnnotations,
}

/// Annotations of one tool: what its calls do with data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ToolAnnotations {
    /// Its results may hold private data.
    pub reads_private: bool,
    /// Its results may hold text by anybody, with instructions in it.
    pub returns_untrusted: bool,
    /// It can send data to others. `None` counts as `false`, but may cause a warning.
    pub egress: Option<bool>,
    /// Repeating a call has no further effect.
    pub idempotent: bool,
}

/// Annotations of the tools of an MCP server or a remote agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceAnnotations {
    /// The tools whose results may hold private data.
    pub reads_private: AnnotatedTools,
    /// The tools whose results may hold text by anybody, with instructions in it.
    pub returns_untrusted: AnnotatedTools,
    /// The tools that can send data to others. `None` counts as no tool, but may cause a warning.
    pub egress: Option<AnnotatedTools>,
    /// The tools whose calls have no further effect when they are repeated.
    pub idempotent: AnnotatedTools,
}

/// The tools of a source that have an annotation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AnnotatedTools {
    /// All tools, or none.
    All(bool),
    /// The tools whose names match one of these glob patterns, which are valid.
    These(Vec<String>),
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

impl From<ToolAnnotations> for SourceAnnotations {
    fn from(marks: ToolAnnotations) -> Self {
        Self {
            reads_private: AnnotatedTools::All(marks.reads_private),
            returns_untrusted: AnnotatedTools::All(marks.returns_untrusted),
            egress: marks.egress.map(AnnotatedTools::All),
            idempotent: AnnotatedTools::All(marks.idempotent),
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
    pub annotations: ToolAnnotations,
}

/// How the user approves a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Confirm {
    /// Whether the user may give a standing approval for further calls.
    pub remember: bool,
    /// How long an approval is waited for. `None`: without end.
    pub expires_after: Option<Duration>,
}

impl Default for Confirm {
    fn default() -> Self {
        Self { remember: true, expires_after: None }
    }
}

/// An MCP server as a source of tools for an agent.
#[derive(Clone, Debug)]
pub struct McpRef {
    /// The id of the connection, or a name derived from the address or the program.
    pub name: String,
    /// How to connect to the server.
    pub server: McpConnection,
    /// How the user approves each call. `None`: calls need no approval.
    pub confirm: Option<Confirm>,
    /// Glob patterns for tool names: only tools that match one are offered. `None`: all.
    pub allow: Option<Vec<String>>,
    /// Glob patterns for tool names: tools that match one are not offered.
    pub deny: Vec<String>,
    /// The prefix of its tools' names.
    pub prefix: String,
    /// The timeout of one call. `None`: [`crate::Limits::tool`].
    pub timeout: Option<Duration>,
    /// The annotations of its tools.
    pub annotations: SourceAnnotations,
    /// Whether the server's own annotations decide, too, which tools are idempotent.
    pub idempotent_hint: bool,
}

/// Which tool calls may run. Of several decisions about a call the strictest one applies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// The rules. The first one that matches a call applies.
    pub rules: Vec<PolicyRule>,
    /// The action for calls that no rule matches.
    pub default: PolicyAction,
    /// The id of an endpoint that decides about each call that the rules do not deny.
    pub endpoint_id: Option<String>,
}

/// A rule of a policy. Its glob patterns are valid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyRule {
    /// Glob patterns for tool names.
    pub tools: Vec<String>,
    /// The rule applies only to users with one of these roles.
    pub roles: Option<Vec<String>>,
    /// Pairs of an argument's path, with dots, and glob patterns of which one must match the
    /// argument.
    pub arguments: Vec<(String, Vec<String>)>,
    /// The action for calls that match.
    pub action: PolicyAction,
    /// The reason that the model and the user are given.
    pub reason: Option<String>,
}

/// The action of a policy for a tool call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PolicyAction {
    /// The call runs.
    Allow,
    /// The user must approve the call.
    Ask,
    /// The call does not run.
    Deny,
}

/// A remote agent as a source of tools for an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteAgentRef {
    /// The id of a connection of the type `RemoteAgent`.
    pub connection_id: String,
    /// How the user approves each call, also of tools that do not ask for it themselves.
    pub confirm: Option<Confirm>,
    /// Glob patterns for tool names: only tools that match one are offered. `None`: all.
    pub allow: Option<Vec<String>>,
    /// Glob patterns for tool names: tools that match one are not offered.
    pub deny: Vec<String>,
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
