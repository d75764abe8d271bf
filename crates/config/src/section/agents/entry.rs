//! The schema of an agent.

use crate::agent::{AgentType, Hooks, OpenAiApi};
use crate::section::value::{EndpointId, Id, Text, ToolName};
use crate::shape::Shape;
use agent::{PolicySettings, RunSettings};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Deserialize;
use serde_json::Value;
use std::sync::LazyLock;

/// An agent: a model with instructions and tools.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-may-be-absent" = ["connectionId", "properties"]))]
pub(crate) struct AgentEntry {
    /// The agent's id, by which pages refer to it.
    pub(crate) id: Id,
    /// The name for users, on the home page and in the list of agents. Default: the id.
    pub(crate) title: Option<Text>,
    /// The purpose of the agent, for users.
    pub(crate) description: Option<Text>,
    /// The agent's picture: the address of an image (`/…` or `https://…`), or one or two characters.
    pub(crate) picture: Option<Text>,
    /// The agent's type, which decides the provider and the properties.
    #[serde(rename = "type")]
    pub(crate) agent_type: AgentType,
    /// A ready-made agent, which needs only a model. Keys that are set here take precedence over the
    /// preset.
    pub(crate) preset: Option<super::preset::PresetEntry>,
    /// The connection to the model's provider. It is needed unless the agent has `models`.
    pub(crate) connection_id: Id,
    /// The ids of models of the section `models` among which the users of the agent choose. The one that
    /// `properties.model` names, or the first, answers until they do.
    #[serde(rename = "models", default)]
    #[schemars(with = "Vec<Id>", length(min = 1))]
    _models: Value,
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
    /// Lets the agent hand tasks to a copy of itself, which works on each with the agent's tools and without
    /// the conversation: `true` always, `optional` if the user switches it on for the answer, or settings.
    pub(crate) delegate: Option<super::delegate::DelegateEntry>,
    /// Which tool calls may run. Default: all.
    pub(crate) policy: Option<PolicySettings>,
    /// Endpoints that are called during the agent's runs.
    #[serde(default)]
    pub(crate) hooks: Hooks,
    /// Who may use the agent. Default: all signed-in users. A parent agent uses it on behalf of its
    /// user.
    pub(crate) auth: Option<crate::section::rule_entry::RuleEntry>,
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
    pub(crate) annotations: contract::DeclaredAnnotations,
}

/// Model, instructions and settings. Most values may be operators, which are evaluated for each
/// turn: `_user` reads the user, `_payload` reads `agentId`, `pageId`, `userId`, `conversationId`,
/// `urlQuery.…` and `sharedState.…`.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = super::operators::allow_operators, extend("x-may-be-absent" = ["model"]))]
pub(crate) struct AgentProperties {
    /// The provider's name for the model. It is needed unless the agent has `models`; then it may name
    /// the default one of these.
    pub(crate) model: Text,
    /// The instructions for the model (the system prompt).
    #[serde(default)]
    #[schemars(with = "Option<crate::section::dynamic::Dynamic<String, super::operators::TurnOperator>>")]
    pub(crate) instructions: Option<Value>,
    /// The settings of the agent's runs.
    #[serde(flatten)]
    pub(crate) settings: RunSettings,
    /// Tells the model about the page, the user, the conversation and the page's address.
    #[serde(default)]
    pub(crate) page_context: bool,
    /// Lets the agent ask the user a question, with options or a small form, and wait for the
    /// answer.
    #[serde(default)]
    pub(crate) ask_user: bool,
    /// Models to try, in this order, if the model fails before its reply begins: names, or `{
    /// connectionId, model }`. For an `AIGatewayAgent`, names are fallbacks of the gateway itself.
    #[serde(default)]
    pub(crate) fallback_models: Vec<super::fallbacks::FallbackEntry>,
    /// Names a new conversation after its first message: `true` with the agent's own model, or `{
    /// model, connectionId, maxWords, maxChars }`. The request runs beside the answer, and its usage
    /// counts for the user. A title of a hook takes precedence. Default: as the root's `generateTitle`
    /// says. Without both, conversations that users begin are named by the `summaryModel`, or by the
    /// agent's own model, unless it is that of the demo or its connection has a `baseURL`.
    pub(crate) generate_title: Option<super::title::TitleEntry>,
    /// The model that summarises the older messages of a long conversation, see `context`. Default:
    /// the agent's own.
    pub(crate) summary_model: Option<super::other_model::OtherModelEntry>,
    /// A folder whose files the agent may list, search and read, but not change.
    pub(crate) file_system: Option<super::file_system::FileSystemEntry>,
    /// For an `OpenAIAgent`: the API to use. Default: `responses`.
    pub(crate) api: Option<OpenAiApi>,
    /// Properties of single providers.
    #[serde(flatten)]
    pub(crate) provider: super::provider::ProviderProperties,
}

impl AgentProperties {
    /// Returns the shape of the properties, for values that come up while the server runs.
    pub(super) fn shape() -> Shape<'static> {
        static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
            SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<AgentProperties>().to_value()
        });
        Shape::root(&SCHEMA)
    }
}
