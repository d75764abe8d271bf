//! The schema of an agent.

use super::hooks::HooksEntry;
use crate::section::value::{EndpointId, Id, Text, ToolName};
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

/// An agent: a model with instructions and tools.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AgentEntry {
    /// The agent's id, by which pages refer to it.
    pub(crate) id: Id,
    /// The agent's type, which decides the provider and the properties.
    #[serde(rename = "type")]
    pub(crate) agent_type: AgentTypeEntry,
    /// A ready-made agent, which needs only a model. What is set here takes precedence over the
    /// preset.
    pub(crate) preset: Option<super::preset::PresetEntry>,
    /// The connection to the model's provider.
    pub(crate) connection_id: Id,
    /// Model, instructions and settings.
    pub(crate) properties: AgentProperties,
    /// The endpoints that the agent may call as tools.
    #[serde(rename = "tools", default)]
    #[schemars(with = "Vec<ToolEntry>", extend("x-checked-apart" = true))]
    _tools: Value,
    /// The MCP servers whose tools the agent may call.
    #[serde(rename = "mcp", default)]
    #[schemars(with = "Vec<super::mcp::McpEntry>", extend("x-checked-apart" = true))]
    _mcp: Value,
    /// The remote agents whose tools the agent may call.
    #[serde(rename = "remoteAgents", default)]
    #[schemars(with = "Vec<super::remote_agents::RemoteEntry>", extend("x-checked-apart" = true))]
    _remote_agents: Value,
    /// The sub-agents that the agent may delegate tasks to.
    #[serde(rename = "agents", default)]
    #[schemars(with = "Vec<super::sub_agents::SubAgentEntry>", extend("x-checked-apart" = true))]
    _agents: Value,
    /// Which tool calls may run. Default: all.
    pub(crate) policy: Option<super::policy::PolicyEntry>,
    /// Endpoints that are called during the agent's runs.
    #[serde(default)]
    pub(crate) hooks: HooksEntry,
    /// Who may use the agent. Default: all signed-in users. A parent agent uses it on behalf of its
    /// user.
    pub(crate) auth: Option<crate::section::rule_entry::RuleEntry>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[schemars(extend("x-names" = "agent type"))]
pub(crate) enum AgentTypeEntry {
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

impl AgentTypeEntry {
    /// Returns the type with a name.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        serde_json::from_value(name.into()).ok()
    }
}

/// An endpoint as a tool.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum ToolEntry {
    /// The endpoint's id.
    Short(EndpointId),
    /// The endpoint with settings.
    Long(ToolProperties),
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ToolProperties {
    /// The id of the endpoint.
    pub(crate) endpoint_id: EndpointId,
    /// Lets the user approve each call: `true`, or settings. Default: no approval.
    pub(crate) confirm: Option<crate::section::confirm::ConfirmEntry>,
    /// The parameters that the approval shows at once and that the user may edit. Default: all.
    pub(crate) visible_parameters: Option<Vec<Text>>,
    /// The tool's name for the model. Default: the endpoint's id, with `__` for `/`.
    pub(crate) name: Option<ToolName>,
    #[serde(flatten)]
    pub(crate) annotations: crate::section::annotations::ToolAnnotationsEntry,
}

/// Model, instructions and settings. Most values may be operators, which are evaluated for each
/// turn: `_user` reads the user, `_payload` reads `agentId`, `pageId`, `userId`, `conversationId`,
/// `urlQuery.…` and `sharedState.…`.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-keys-not-yet" = ["generateTitle"]), transform = super::operators::allow_operators)]
pub(crate) struct AgentProperties {
    /// The provider's name for the model.
    pub(crate) model: Text,
    /// The instructions for the model (the system prompt).
    #[serde(default)]
    #[schemars(with = "Option<crate::section::dynamic::Dynamic<String, super::operators::TurnOperator>>")]
    pub(crate) instructions: Option<Value>,
    /// The size of the model's context window in tokens, for the meter in the chat. Default: known
    /// for well-known models.
    #[schemars(range(min = 1))]
    pub(crate) context_tokens: Option<u64>,
    /// The most requests to the model in one turn, including those after an approval or a result of
    /// a client tool.
    #[serde(default = "default_max_steps")]
    #[schemars(range(min = 1, max = 1000))]
    pub(crate) max_steps: u32,
    /// How often a request is retried after a temporary failure.
    #[serde(default = "default_max_retries")]
    #[schemars(range(max = 10))]
    pub(crate) max_retries: u32,
    /// The longest reply in tokens.
    #[schemars(range(min = 1))]
    pub(crate) max_output_tokens: Option<u32>,
    /// The sampling temperature: low values make replies more predictable, high values more varied.
    #[schemars(range(min = 0, max = 2))]
    pub(crate) temperature: Option<f64>,
    /// Nucleus sampling: only the likeliest tokens up to this total probability are considered.
    #[schemars(range(min = 0, max = 1))]
    pub(crate) top_p: Option<f64>,
    /// Only this many of the likeliest tokens are considered.
    #[schemars(range(min = 1))]
    pub(crate) top_k: Option<u32>,
    /// Values above 0 make tokens less likely the more often they have occurred.
    #[schemars(range(min = -1, max = 1))]
    pub(crate) frequency_penalty: Option<f64>,
    /// Values above 0 make tokens less likely that have occurred at all.
    #[schemars(range(min = -1, max = 1))]
    pub(crate) presence_penalty: Option<f64>,
    /// The random seed for reproducible replies, if the provider supports it.
    pub(crate) seed: Option<i64>,
    /// The reply ends before one of these texts.
    #[serde(default)]
    pub(crate) stop_sequences: Vec<Text>,
    /// Puts `/no_think` before the instructions, so that models that write their reasoning into
    /// their text, such as Qwen3, reply without it. Default: `true` for an agent with a `preset`
    /// and a model that is known for this, else `false`.
    pub(crate) no_think: Option<bool>,
    /// Whether the model must call a tool, and which. Default: the model decides.
    pub(crate) tool_choice: Option<ToolChoiceEntry>,
    /// The names of the tools that are offered. Default: all.
    pub(crate) active_tools: Option<Vec<ToolName>>,
    /// The name of a tool, or several: a call ends the turn after the tool has run.
    pub(crate) stop_on_tool_call: Option<OneOrMany>,
    /// Overrides of settings for some steps of a turn. The first rule that matches a step applies.
    #[serde(default)]
    pub(crate) prepare_step: Vec<super::steps::StepRuleEntry>,
    /// Which parts of the history the model does not get.
    #[serde(default)]
    pub(crate) prune: super::steps::PruneEntry,
    /// Tells the model about the page, the user, the conversation and the page's address.
    #[serde(default)]
    pub(crate) page_context: bool,
    /// Lets the agent ask the user a question, with options or a small form, and wait for the
    /// answer.
    #[serde(default)]
    pub(crate) ask_user: bool,
    /// Reports a tool call that cannot be run to the model, which may correct it. With `false` such
    /// a call ends the turn with an error.
    #[serde(default = "default_repair_tool_call")]
    pub(crate) repair_tool_call: bool,
    /// The timeout of a whole turn in milliseconds, or timeouts of its parts. Default: those of the
    /// section `limits`.
    pub(crate) timeout: Option<TimeoutEntry>,
    /// Limits for one turn.
    #[serde(default)]
    pub(crate) limits: AgentLimitsEntry,
    /// Options for the provider, by its name, in the terms of its API (`reasoning_effort`) or of
    /// the AI SDK (`reasoningEffort`). Unknown options are added to each request unchanged.
    /// `_secret` reads an environment variable here.
    #[serde(default)]
    pub(crate) provider_options: IndexMap<String, Map<String, Value>>,
    /// Models to try, in this order, if the model fails before its reply begins: names, or `{
    /// connectionId, model }`. For an `AIGatewayAgent`, names are fallbacks of the gateway itself.
    #[serde(default)]
    pub(crate) fallback_models: Vec<super::fallbacks::FallbackEntry>,
    /// A folder whose files the agent may list, search and read, but not change.
    pub(crate) file_system: Option<super::file_system::FileSystemEntry>,
    /// For an `OpenAIAgent`: the API to use. Default: `responses`.
    pub(crate) api: Option<ApiEntry>,
    /// Properties of single providers.
    #[serde(flatten)]
    pub(crate) provider: super::provider::ProviderProperties,
}

/// Limits for one turn. The turn ends cleanly at the first limit that it reaches.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(transform = super::operators::allow_operators)]
pub(crate) struct AgentLimitsEntry {
    /// The most requests to models, including those of routines and sub-agents.
    #[schemars(range(min = 1))]
    pub(crate) requests: Option<u32>,
    /// The most tokens of all requests, input and output.
    #[schemars(range(min = 1))]
    pub(crate) total_tokens: Option<u64>,
    /// The most tool calls, including those of tools that the provider runs.
    pub(crate) tool_calls: Option<u32>,
    /// The highest cost in US dollars, by the section `prices` and the list prices of well-known
    /// models. The price of every model that the turn may use must be known, including fallbacks
    /// and the models of sub-agents and routines.
    #[schemars(range(min = 0))]
    pub(crate) cost_usd: Option<f64>,
    /// The longest duration in seconds, including the time of the tools.
    #[schemars(range(min = 1))]
    pub(crate) time_seconds: Option<u32>,
}

fn default_repair_tool_call() -> bool {
    true
}

fn default_max_steps() -> u32 {
    10
}

fn default_max_retries() -> u32 {
    2
}

/// Whether the model must call a tool, and which.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum ToolChoiceEntry {
    /// A general rule.
    Mode(ToolChoiceMode),
    /// A certain tool.
    Tool(ToolChoiceTool),
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(extend("x-names" = "tool choice"))]
pub(crate) enum ToolChoiceMode {
    /// The model decides.
    Auto,
    /// The model must call some tool.
    Required,
    /// The model must not call a tool.
    None,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ToolChoiceTool {
    /// Always `tool`.
    #[serde(rename = "type")]
    _kind: ToolWord,
    /// The name of the tool.
    pub(crate) tool_name: ToolName,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum ToolWord {
    Tool,
}

/// The name of a tool, or several names.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum OneOrMany {
    /// One name.
    One(ToolName),
    /// Several names.
    Many(Vec<ToolName>),
}

/// Timeouts.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum TimeoutEntry {
    /// The timeout of a whole turn, in milliseconds.
    Total(Milliseconds),
    /// Timeouts of the parts of a turn.
    Parts(TimeoutParts),
}

/// A duration in milliseconds.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(crate) struct Milliseconds(#[schemars(range(min = 1, max = 86_400_000))] pub(crate) u64);

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = super::operators::allow_operators)]
pub(crate) struct TimeoutParts {
    /// The timeout of a whole turn, in milliseconds.
    pub(crate) total_ms: Option<Milliseconds>,
    /// The timeout of one step, in milliseconds: a request to the model with its reply.
    pub(crate) step_ms: Option<Milliseconds>,
    /// The longest silence of the provider before its reply begins, in milliseconds. Default:
    /// `limits.firstByteMs`. After it the request is retried, see `maxRetries`.
    pub(crate) first_byte_ms: Option<Milliseconds>,
    /// The longest silence of the provider between two parts of its reply, in milliseconds.
    /// Default: `limits.idleMs`.
    pub(crate) chunk_ms: Option<Milliseconds>,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ApiEntry {
    /// The Responses API.
    Responses,
    /// The Chat Completions API.
    Chat,
}
