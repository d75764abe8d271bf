//! How an agent is written.

use super::hooks::HooksEntry;
use super::value::{EndpointId, Id, Text, ToolName};
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

/// A model with instructions and tools.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AgentEntry {
    /// The name by which pages refer to it.
    pub(super) id: Id,
    /// Which provider's settings it takes.
    #[serde(rename = "type")]
    pub(super) agent_type: AgentTypeEntry,
    /// A ready-made agent, which needs no more than a model; what is written here goes before what it brings.
    pub(super) preset: Option<super::preset::PresetEntry>,
    /// The connection to the model's provider.
    pub(super) connection_id: Id,
    /// Model, instructions and settings.
    pub(super) properties: AgentProperties,
    /// Endpoints that it may call.
    #[serde(rename = "tools", default)]
    #[schemars(with = "Vec<ToolEntry>", extend("x-checked-apart" = true))]
    _tools: Value,
    /// MCP servers whose tools it may call.
    #[serde(rename = "mcp", default)]
    #[schemars(with = "Vec<super::mcp::McpEntry>", extend("x-checked-apart" = true))]
    _mcp: Value,
    /// Remote agents whose tools it may call.
    #[serde(rename = "remoteAgents", default)]
    #[schemars(with = "Vec<super::remote_agents::RemoteEntry>", extend("x-checked-apart" = true))]
    _remote_agents: Value,
    /// Agents that it may hand a task to.
    #[serde(rename = "agents", default)]
    #[schemars(with = "Vec<super::sub_agents::SubAgentEntry>", extend("x-checked-apart" = true))]
    _agents: Value,
    /// Which of its tools may run.
    pub(super) policy: Option<super::policy::PolicyEntry>,
    /// Endpoints that are told about its runs.
    #[serde(default)]
    pub(super) hooks: HooksEntry,
    /// Who may ask it; without it, whoever is signed in. An agent above it asks for its user.
    pub(super) auth: Option<super::rule_entry::RuleEntry>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[schemars(extend("x-names" = "agent type"))]
pub(crate) enum AgentTypeEntry {
    /// Over an `Anthropic` connection.
    ClaudeAgent,
    /// Over an `OpenAI` connection.
    OpenAIAgent,
    /// Over a `Google` connection.
    GeminiAgent,
    /// Over an `AIGateway` connection.
    AIGatewayAgent,
    /// Over any connection that has a model.
    Agent,
    /// The same as `Agent`.
    AISDKAgent,
}

impl AgentTypeEntry {
    /// The type with this name.
    pub(super) fn parse(name: &str) -> Option<Self> {
        serde_json::from_value(name.into()).ok()
    }
}

/// An endpoint as a tool.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum ToolEntry {
    /// The endpoint's id.
    Short(EndpointId),
    /// With settings.
    Long(ToolProperties),
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ToolProperties {
    /// The endpoint.
    pub(super) endpoint_id: EndpointId,
    /// Ask the user before each call, and how.
    pub(super) confirm: Option<super::confirm::ConfirmEntry>,
    /// The parameters that the user sees first when asked, and may change; all without it.
    pub(super) visible_parameters: Option<Vec<Text>>,
    /// What the model calls it; without it the endpoint's id, with `__` for `/`.
    pub(super) name: Option<ToolName>,
    #[serde(flatten)]
    pub(super) marks: super::marks::MarksEntry,
}

/// Model, instructions and settings. In the place of a value may stand an operator, which is evaluated for each turn: `_user` reads who
/// asks, `_payload` reads `agentId`, `pageId`, `userId`, `conversationId`, `urlQuery.…` and `sharedState.…`.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-keys-not-yet" = ["generateTitle"]), transform = super::agent_operators::allow)]
pub(crate) struct AgentProperties {
    /// The provider's name for the model.
    pub(super) model: Text,
    /// What the model is told before anything else.
    #[serde(default)]
    #[schemars(with = "Option<super::dynamic::Dynamic<String, super::agent_operators::TurnOperator>>")]
    pub(super) instructions: Option<Value>,
    /// Tokens that the model can read at once, for the meter in the chat; of well-known models it is known.
    #[schemars(range(min = 1))]
    pub(super) context_tokens: Option<u64>,
    /// Requests to the model in one turn, those after an approval or an answer of the page included.
    #[serde(default = "ten")]
    #[schemars(range(min = 1, max = 1000))]
    pub(super) max_steps: u32,
    /// Retries of a request that failed for a passing reason.
    #[serde(default = "two")]
    #[schemars(range(max = 10))]
    pub(super) max_retries: u32,
    /// The longest answer, in tokens.
    #[schemars(range(min = 1))]
    pub(super) max_output_tokens: Option<u32>,
    /// Low for sober answers, high for lively ones.
    #[schemars(range(min = 0, max = 2))]
    pub(super) temperature: Option<f64>,
    /// Sample from the likeliest tokens up to this probability.
    #[schemars(range(min = 0, max = 1))]
    pub(super) top_p: Option<f64>,
    /// Sample from this many of the likeliest tokens.
    #[schemars(range(min = 1))]
    pub(super) top_k: Option<u32>,
    /// Above 0, words that were used often become less likely.
    #[schemars(range(min = -1, max = 1))]
    pub(super) frequency_penalty: Option<f64>,
    /// Above 0, words that were used at all become less likely.
    #[schemars(range(min = -1, max = 1))]
    pub(super) presence_penalty: Option<f64>,
    /// For repeatable answers, where the provider can.
    pub(super) seed: Option<i64>,
    /// An answer ends where one of these would be written.
    #[serde(default)]
    pub(super) stop_sequences: Vec<Text>,
    /// Put `/no_think` before the instructions: models that write their thoughts into their text, such as Qwen3, answer at once then.
    /// Without it an agent with a `preset` does so for models that are known for it, and no other agent does.
    pub(super) no_think: Option<bool>,
    /// Whether and which tool must be called.
    pub(super) tool_choice: Option<ToolChoiceEntry>,
    /// The tools that are offered, by name; without it all.
    pub(super) active_tools: Option<Vec<ToolName>>,
    /// A call of this tool, or of one of these, ends the turn once it has run.
    pub(super) stop_on_tool_call: Option<OneOrMany>,
    /// Other settings for some requests of a turn; of several rules the first that fits counts.
    #[serde(default)]
    pub(super) prepare_step: Vec<super::agent_steps::StepRuleEntry>,
    /// What is left out of the history that the model reads.
    #[serde(default)]
    pub(super) prune: super::agent_steps::PruneEntry,
    /// Tell the agent which page, user, conversation and address it works for.
    #[serde(default)]
    pub(super) page_context: bool,
    /// Let it ask the user, with options or a small form, and wait for the answer.
    #[serde(default)]
    pub(super) ask_user: bool,
    /// Whether a call of a tool that cannot be run goes back to the model, which may correct it. With `false` it ends the turn with an
    /// error.
    #[serde(default = "yes")]
    pub(super) repair_tool_call: bool,
    /// Milliseconds for a whole turn, or for its parts.
    pub(super) timeout: Option<TimeoutEntry>,
    /// What one turn may take in all.
    #[serde(default)]
    pub(super) limits: AgentLimitsEntry,
    /// Settings for the provider, by its name, in its API's words (`reasoning_effort`) or in the AI SDK's (`reasoningEffort`); what is
    /// neither goes into each request as it is. Here `_secret` reads a variable of the environment.
    #[serde(default)]
    pub(super) provider_options: IndexMap<String, Map<String, Value>>,
    /// Models to ask when this one fails before its answer begins, in this order: names, or `{ connectionId, model }`. Of an
    /// `AIGatewayAgent`, names are the gateway's to fall back to.
    #[serde(default)]
    pub(super) fallback_models: Vec<super::fallbacks::FallbackEntry>,
    /// A folder whose files it may list, search and read, but not change.
    pub(super) file_system: Option<super::file_system::FileSystemEntry>,
    /// Of an `OpenAIAgent`: which API it speaks.
    pub(super) api: Option<ApiEntry>,
    /// What only one provider knows.
    #[serde(flatten)]
    pub(super) provider: super::agent_provider::ProviderProperties,
}

/// What one turn may take in all; it ends cleanly at the first that is reached.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(transform = super::agent_operators::allow)]
pub(crate) struct AgentLimitsEntry {
    /// Requests to models, those of routines and agents below included.
    #[schemars(range(min = 1))]
    pub(super) requests: Option<u32>,
    /// Tokens of all requests, input and output.
    #[schemars(range(min = 1))]
    pub(super) total_tokens: Option<u64>,
    /// Calls of tools, also of those that the provider runs.
    pub(super) tool_calls: Option<u32>,
    /// US dollars, by the section `prices` and the list prices of well-known models. The price of every model that the turn may ask must be
    /// known, those of fallbacks, agents below and routines included.
    #[schemars(range(min = 0))]
    pub(super) cost_usd: Option<f64>,
    /// Seconds, the tools' time included.
    #[schemars(range(min = 1))]
    pub(super) time_seconds: Option<u32>,
}

fn yes() -> bool {
    true
}

fn ten() -> u32 {
    10
}

fn two() -> u32 {
    2
}

/// Whether and which tool must be called.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum ToolChoiceEntry {
    /// In general.
    Mode(ToolChoiceMode),
    /// This one.
    Tool(ToolChoiceTool),
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(extend("x-names" = "tool choice"))]
pub(crate) enum ToolChoiceMode {
    /// The model decides.
    Auto,
    /// Some tool.
    Required,
    /// None.
    None,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ToolChoiceTool {
    /// `tool`.
    #[serde(rename = "type")]
    _kind: ToolWord,
    /// The tool's name.
    pub(super) tool_name: ToolName,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum ToolWord {
    Tool,
}

/// One text or several.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum OneOrMany {
    /// One.
    One(ToolName),
    /// Several.
    Many(Vec<ToolName>),
}

/// Bounds of time.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum TimeoutEntry {
    /// Milliseconds for a whole turn.
    Total(Milliseconds),
    /// For its parts.
    Parts(TimeoutParts),
}

/// A time in milliseconds.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(crate) struct Milliseconds(#[schemars(range(min = 1, max = 86_400_000))] pub(super) u64);

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = super::agent_operators::allow)]
pub(crate) struct TimeoutParts {
    /// Milliseconds for a whole turn.
    pub(super) total_ms: Option<Milliseconds>,
    /// Milliseconds for one request to the model with its answer.
    pub(super) step_ms: Option<Milliseconds>,
    /// Milliseconds that the provider may show no sign of life before its answer begins; without it `limits.firstByteMs`. Then the
    /// request is sent again, see `maxRetries`.
    pub(super) first_byte_ms: Option<Milliseconds>,
    /// Milliseconds that it may show none between two pieces of its answer; without it `limits.idleMs`.
    pub(super) chunk_ms: Option<Milliseconds>,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ApiEntry {
    /// The Responses API.
    Responses,
    /// Chat Completions.
    Chat,
}
