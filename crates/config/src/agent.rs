//! A checked agent.

use crate::config::McpConnection;
use crate::rule::Rule;
use crate::source::Location;
use secrecy::SecretString;
use serde_json::{Map, Value};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// A model with instructions and tools.
#[derive(Clone, Debug)]
pub struct Agent {
    /// Its id.
    pub id: String,
    /// Its type.
    pub agent_type: AgentType,
    /// A connection of the config that has a model.
    pub connection_id: String,
    /// The provider's name for the model; empty where an operator decides it for each turn.
    pub model: String,
    /// Asked in this order when a model fails before its answer begins.
    pub fallback_models: Vec<ModelRef>,
    /// Its instructions: a text, or an operator that is evaluated for each turn.
    pub instructions: Option<Value>,
    /// Tokens that the model can read at once, where the config says so.
    pub context_tokens: Option<u64>,
    /// Whether it is one of the ready-made agents.
    pub has_preset: bool,
    /// Whether its model is told to write no thoughts into its text; absent: as it is known for the model.
    pub no_think: Option<bool>,
    /// Requests to the model in one turn.
    pub max_steps: u32,
    /// Whether a call that cannot be run goes back to the model; otherwise it ends the turn.
    pub repair_tool_call: bool,
    /// Retries of a failed request.
    pub max_retries: u32,
    /// Sampling settings.
    pub sampling: Sampling,
    /// Whether and which tool must be called.
    pub tool_choice: ToolChoice,
    /// The tools that are offered, by name; absent: all.
    pub active_tools: Option<Vec<String>>,
    /// A call of one of these ends the turn.
    pub stop_on_tool_call: Vec<String>,
    /// Other settings for some requests; of several rules the first that fits counts.
    pub prepare_step: Vec<StepRule>,
    /// What is left out of the history.
    pub prune: Prune,
    /// Tell the agent about the page, the user and the address (L-38).
    pub page_context: bool,
    /// Whether it may ask the user and wait for the answer (D-20).
    pub ask_user: bool,
    /// What one turn may take in all.
    pub limits: AgentLimits,
    /// Bounds of time of its own.
    pub timeouts: AgentTimeouts,
    /// Keyed by provider, in the provider's own words: merged into each request as they are.
    pub provider_options: Map<String, Value>,
    /// What of the above is known only when it is asked; see [`Agent::settled`].
    pub later: Option<Arc<Later>>,
    /// The secrets that those name, by the names of their variables.
    pub secrets: Vec<(String, SecretString)>,
    /// Which of OpenAI's APIs an `OpenAIAgent` speaks.
    pub openai_api: OpenAiApi,
    /// Endpoints that it may call.
    pub tools: Vec<ToolRef>,
    /// MCP servers whose tools it may call.
    pub mcp: Vec<McpRef>,
    /// Remote agents whose tools it may call.
    pub remote_agents: Vec<RemoteRef>,
    /// Agents that it may hand a task to; none of them leads back to it.
    pub agents: Vec<SubAgentRef>,
    /// Which of its tools may run; all may without it.
    pub policy: Option<Policy>,
    /// Endpoints that are told about its runs.
    pub hooks: Hooks,
    /// What it may read on disk.
    pub file_system: Option<FileSystem>,
    /// Who may ask it.
    pub auth: Rule,
    /// Where it was declared.
    pub at: Location,
}

/// Properties of an agent that are known only when it is asked (L-20).
#[derive(Clone, Debug)]
pub struct Later {
    /// The rest of the agent, as it was written.
    pub(crate) known: Value,
    /// They themselves.
    pub properties: Vec<LaterProperty>,
}

/// A property that holds operators.
#[derive(Clone, Debug)]
pub struct LaterProperty {
    /// Its key.
    pub name: String,
    /// With the operators in it.
    pub value: Value,
    /// Whether `_secret` may stand in it: what goes to the provider as it is.
    pub may_hold_secrets: bool,
    /// Where it was written.
    pub at: Location,
}

/// What one turn may take in all (B-12); absent: no bound of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AgentLimits {
    /// Requests to models.
    pub requests: Option<u32>,
    /// Tokens, input and output.
    pub total_tokens: Option<u64>,
    /// Calls of tools.
    pub tool_calls: Option<u32>,
    /// US dollars.
    pub cost_usd: Option<f64>,
    /// Time.
    pub time: Option<Duration>,
}

/// A model of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelRef {
    /// A connection of the config that has models.
    pub connection_id: String,
    /// The provider's name for the model.
    pub model: String,
}

/// Endpoints by what they are told; see L-74 to L-78 for the payloads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hooks {
    /// A run begins.
    pub start: Vec<String>,
    /// A reply begins.
    pub step_start: Vec<String>,
    /// A tool is about to run.
    pub tool_call_start: Vec<String>,
    /// A tool has run.
    pub tool_call_finish: Vec<String>,
    /// A reply and its tools are done.
    pub step_finish: Vec<String>,
    /// The run ends; these are waited for, one after the other.
    pub finish: Vec<String>,
}

impl Hooks {
    /// Whether nobody is told anything.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// An agent's type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentType {
    /// Over Anthropic.
    Claude,
    /// Over OpenAI.
    OpenAi,
    /// Over Google.
    Gemini,
    /// Over the AI Gateway.
    AiGateway,
    /// Over any connection that has a model.
    Any,
}

/// Which of OpenAI's APIs is spoken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OpenAiApi {
    /// The Responses API.
    #[default]
    Responses,
    /// Chat Completions.
    Chat,
}

/// Sampling settings; absent: the provider's default.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sampling {
    /// At least 1.
    pub max_output_tokens: Option<u32>,
    /// 0 to 2.
    pub temperature: Option<f64>,
    /// 0 to 1.
    pub top_p: Option<f64>,
    /// At least 1.
    pub top_k: Option<u32>,
    /// -1 to 1.
    pub frequency_penalty: Option<f64>,
    /// -1 to 1.
    pub presence_penalty: Option<f64>,
    /// For repeatable replies.
    pub seed: Option<i64>,
    /// Ends the reply where one of these would be written.
    pub stop_sequences: Vec<String>,
}

/// Whether and which tool must be called.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ToolChoice {
    /// The model decides.
    #[default]
    Auto,
    /// Some tool.
    Required,
    /// None.
    None,
    /// The one with this name.
    Tool(String),
}

/// Settings for some requests of a turn.
#[derive(Clone, Debug, PartialEq)]
pub struct StepRule {
    /// Which requests, counted from 1.
    pub steps: Steps,
    /// The tools that are offered, by name.
    pub active_tools: Option<Vec<String>>,
    /// Whether and which tool must be called.
    pub tool_choice: Option<ToolChoice>,
    /// The longest reply, in tokens.
    pub max_output_tokens: Option<u32>,
    /// 0 to 2.
    pub temperature: Option<f64>,
}

/// Requests of a turn, counted from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Steps {
    /// These.
    These(Vec<u32>),
    /// From the first number to the second, or to the end.
    Range(u32, Option<u32>),
}

/// What is left out of the history.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prune {
    /// Reasoning.
    pub reasoning: PruneReasoning,
    /// Calls, rule by rule.
    pub tool_calls: Vec<PruneToolCalls>,
    /// Whether messages that are empty afterwards are left out, too.
    pub remove_empty: bool,
}

/// Which reasoning is left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PruneReasoning {
    /// None.
    #[default]
    None,
    /// That of all messages but the last.
    BeforeLastMessage,
    /// All.
    All,
}

/// Which calls are left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PruneToolCalls {
    /// Calls in so many of the last messages stay; 0: none.
    pub keep_last: usize,
    /// Only calls of these tools; of all, without it.
    pub tools: Option<Vec<String>>,
}

/// Bounds of time of one agent; absent: those of [`crate::Limits`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AgentTimeouts {
    /// A whole turn.
    pub total: Option<Duration>,
    /// One request to the model with its answer.
    pub step: Option<Duration>,
    /// Without a sign of life, before an answer begins.
    pub first_byte: Option<Duration>,
    /// Without a sign of life, between two pieces of an answer.
    pub chunk: Option<Duration>,
}

/// What an agent may read on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileSystem {
    /// An absolute path without links: a folder that was there when the config was read, and is not the root.
    pub base_path: PathBuf,
    /// What its files are; they are read only.
    pub marks: Marks,
}

/// What a tool does with data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// Its result may hold what not everybody should read.
    pub reads_private: bool,
    /// Its result may be anybody's words.
    pub returns_untrusted: bool,
    /// It can send something to others; it cannot where nobody says so.
    pub egress: Option<bool>,
    /// Made twice, the same call does no more than once.
    pub idempotent: bool,
}

/// What the tools of a server do with data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceMarks {
    /// Whose results may hold what not everybody should read.
    pub reads_private: Marked,
    /// Whose results may be anybody's words.
    pub returns_untrusted: Marked,
    /// Which can send something to others; none can where nobody says so.
    pub egress: Option<Marked>,
    /// Whose calls, made twice, do no more than once.
    pub idempotent: Marked,
}

/// Which of a server's tools have a mark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Marked {
    /// All, or none.
    All(bool),
    /// Those whose names match one of these patterns, which can be read.
    These(Vec<String>),
}

impl Marked {
    /// Whether there may be one.
    pub fn may_hold(&self) -> bool {
        match self {
            Self::All(all) => *all,
            Self::These(patterns) => !patterns.is_empty(),
        }
    }
}

impl From<Marks> for SourceMarks {
    fn from(marks: Marks) -> Self {
        Self {
            reads_private: Marked::All(marks.reads_private),
            returns_untrusted: Marked::All(marks.returns_untrusted),
            egress: marks.egress.map(Marked::All),
            idempotent: Marked::All(marks.idempotent),
        }
    }
}

/// An endpoint as an agent's tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolRef {
    /// An endpoint of the config that has a description and a payload schema.
    pub endpoint_id: String,
    /// Ask the user before each call.
    pub confirm: Option<Confirm>,
    /// The parameters that the user sees first when asked, and may change; all without it.
    pub visible_parameters: Option<Vec<String>>,
    /// What the model calls it: up to 64 letters, digits, `_` and `-`; unique among the agent's tools.
    pub name: String,
    /// What it does with data.
    pub marks: Marks,
}

/// How the user is asked before a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Confirm {
    /// A yes may be given for further calls, too.
    pub remember: bool,
    /// How long a question waits for its answer; without an end where absent.
    pub expires_after: Option<Duration>,
}

impl Default for Confirm {
    fn default() -> Self {
        Self { remember: true, expires_after: None }
    }
}

/// An MCP server, and what an agent takes of it.
#[derive(Clone, Debug)]
pub struct McpRef {
    /// What it is called.
    pub name: String,
    /// How it is reached.
    pub server: McpConnection,
    /// Ask the user before each call.
    pub confirm: Option<Confirm>,
    /// Only tools whose names match one of these patterns.
    pub allow: Option<Vec<String>>,
    /// Not those that match one of these.
    pub deny: Vec<String>,
    /// Put before the names of its tools.
    pub prefix: String,
    /// For one call; absent: [`crate::Limits::tool`].
    pub timeout: Option<Duration>,
    /// What its tools do with data.
    pub marks: SourceMarks,
    /// What the server itself says of its tools counts, too: whether they are idempotent.
    pub idempotent_hint: bool,
}

/// Which calls may run (D-8). What is stricter counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// The first that fits decides.
    pub rules: Vec<PolicyRule>,
    /// For calls that no rule fits.
    pub default: PolicyAction,
    /// An endpoint that is asked about each call that the rules do not deny.
    pub endpoint_id: Option<String>,
}

/// A rule over calls; its patterns can be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyRule {
    /// Patterns over the names of tools.
    pub tools: Vec<String>,
    /// Only for users with one of these roles.
    pub roles: Option<Vec<String>>,
    /// By a path with dots, patterns of which one must match.
    pub arguments: Vec<(String, Vec<String>)>,
    /// What is done.
    pub action: PolicyAction,
    /// For the model and the user.
    pub reason: Option<String>,
}

/// What is done about a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PolicyAction {
    /// It runs.
    Allow,
    /// The user decides.
    Ask,
    /// It does not run.
    Deny,
}

/// A remote agent, and what an agent takes of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteRef {
    /// A connection of the type `RemoteAgent`.
    pub connection_id: String,
    /// Ask the user before each call, also of tools that do not want it.
    pub confirm: Option<Confirm>,
    /// Only tools whose names match one of these patterns.
    pub allow: Option<Vec<String>>,
    /// Not those that match one of these.
    pub deny: Vec<String>,
    /// Put before the names of its tools, as `prefix__name`.
    pub prefix: Option<String>,
    /// What its tools do with data.
    pub marks: SourceMarks,
}

/// An agent as another one's tool.
#[derive(Clone, Debug, PartialEq)]
pub struct SubAgentRef {
    /// An agent of the config.
    pub agent_id: String,
    /// What the model calls it; unique among the agent's tools.
    pub name: String,
    /// For the model.
    pub description: String,
    /// A valid JSON Schema of what it is given; absent: one text, `task`.
    pub input_schema: Option<Value>,
}
