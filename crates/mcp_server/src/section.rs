//! The section `mcpApi` of the config.

use config::{AuthMode, Config, PathStep, Section, SectionProblems};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use settings::{EndpointId, Id, Text, ToolName};
use std::collections::HashSet;

/// The names of the tools that `documents` adds.
pub(crate) const DOCUMENT_TOOLS: [&str; 2] = ["document_search", "document_read"];

/// Lets MCP clients, such as editors and assistants, use agents, endpoints and documents as tools: at `/mcp`,
/// over streamable HTTP. Callers must be signed in, or have an API key or a token.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct McpApi {
    /// The agents that are offered as tools, to callers who may use them.
    #[schemars(length(max = 100))]
    pub(crate) agents: Vec<OfferedAgent>,
    /// The endpoints that are offered as tools, to callers who may call them. Each needs a `description` and a
    /// `payloadSchema` of the type `object`.
    #[schemars(length(max = 100))]
    pub(crate) endpoints: Vec<OfferedEndpoint>,
    /// Whether the tools `document_search` and `document_read` are offered, over the libraries that the caller
    /// may read. The documents of these libraries are resources then, too.
    pub(crate) documents: bool,
    /// The text about this server that clients give to their models.
    pub(crate) instructions: Option<Text>,
}

/// An agent that is offered as a tool: its id, or its id with more about the tool.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(from = "AgentForm")]
#[schemars(rename = "McpApiOfferedAgent")]
pub(crate) struct OfferedAgent {
    pub(crate) agent_id: String,
    name: Option<String>,
    description: Option<String>,
}

/// How an [`OfferedAgent`] is written.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "McpApiAgentForm")]
enum AgentForm {
    /// The id.
    Id(Id),
    /// The id, with more about the tool.
    Tool(AgentTool),
}

/// An agent as a tool.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "McpApiAgent")]
struct AgentTool {
    /// The agent.
    agent_id: Id,
    /// The name of the tool. Default: the id of the agent.
    name: Option<ToolName>,
    /// The questions that the agent can answer; the client's model chooses tools by it. Default: a sentence with the id.
    description: Option<Text>,
}

impl From<AgentForm> for OfferedAgent {
    fn from(form: AgentForm) -> Self {
        match form {
            AgentForm::Id(Id(agent_id)) => Self { agent_id, name: None, description: None },
            AgentForm::Tool(AgentTool { agent_id: Id(agent_id), name, description }) => {
                Self { agent_id, name: name.map(|name| name.0), description: description.map(|text| text.0) }
            }
        }
    }
}

impl OfferedAgent {
    /// Returns the name of the tool.
    pub(crate) fn name(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.agent_id)
    }

    /// Returns the description of the tool.
    pub(crate) fn description(&self) -> String {
        self.description.clone().unwrap_or_else(|| format!("Asks the agent `{}`.", self.agent_id))
    }
}

/// An endpoint that is offered as a tool: its id, or its id with more about the tool.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(from = "EndpointForm")]
#[schemars(rename = "McpApiOfferedEndpoint")]
pub(crate) struct OfferedEndpoint {
    pub(crate) endpoint_id: String,
    name: Option<String>,
    pub(crate) read_only: Option<bool>,
    pub(crate) destructive: Option<bool>,
    pub(crate) idempotent: Option<bool>,
    /// Whether the result is content of the protocol.
    pub(crate) returns_content: bool,
}

/// How an [`OfferedEndpoint`] is written.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "McpApiEndpointForm")]
enum EndpointForm {
    /// The id.
    Id(EndpointId),
    /// The id, with more about the tool.
    Tool(EndpointTool),
}

/// An endpoint as a tool.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "McpApiEndpoint")]
struct EndpointTool {
    /// The endpoint.
    endpoint_id: EndpointId,
    /// The name of the tool. Default: the id of the endpoint, with `__` for each `/`.
    name: Option<ToolName>,
    /// Whether calls change nothing: clients may then call it without asking their user. Default: clients are
    /// told nothing and assume `false`.
    read_only: Option<bool>,
    /// Whether calls may change or delete what there is, instead of only adding to it. Default: clients are
    /// told nothing and assume `true`.
    destructive: Option<bool>,
    /// Whether repeating a call has no further effect. Default: clients are told nothing and assume `false`.
    idempotent: Option<bool>,
    /// Whether the endpoint returns `{ content: [ … ] }` with content blocks of MCP: texts, images, sound and
    /// resources. Any other result is then an error. Without it, each result is a text or JSON.
    #[serde(default)]
    returns_content: bool,
}

impl From<EndpointForm> for OfferedEndpoint {
    fn from(form: EndpointForm) -> Self {
        match form {
            EndpointForm::Id(EndpointId(endpoint_id)) => Self {
                endpoint_id,
                name: None,
                read_only: None,
                destructive: None,
                idempotent: None,
                returns_content: false,
            },
            EndpointForm::Tool(tool) => Self {
                endpoint_id: tool.endpoint_id.0,
                name: tool.name.map(|name| name.0),
                read_only: tool.read_only,
                destructive: tool.destructive,
                idempotent: tool.idempotent,
                returns_content: tool.returns_content,
            },
        }
    }
}

impl OfferedEndpoint {
    /// Returns the name of the tool.
    pub(crate) fn name(&self) -> String {
        self.name.clone().unwrap_or_else(|| self.endpoint_id.replace('/', "__"))
    }

    /// Reports why the endpoint cannot be a tool.
    fn check(&self, path: &[PathStep<'_>], config: &Config, problems: &mut SectionProblems<'_, '_, '_>) {
        let Some(endpoint) = config.endpoints.get(&self.endpoint_id) else { return };
        let id = &self.endpoint_id;
        if endpoint.is_internal {
            let help = Some("give it the type `Api`, or offer another one that calls it".to_owned());
            problems.error(path, format!("the endpoint `{id}` is internal, so clients cannot call it"), help);
        }
        if endpoint.description.is_none() {
            let help = Some("add a `description` to it".to_owned());
            let message = format!("the endpoint `{id}` has no `description`, by which models choose tools");
            problems.error(path, message, help);
        }
        if !endpoint.payload_schema.as_ref().is_some_and(is_object_schema) {
            let help = Some("add `payloadSchema: { type: object, … }` to it".to_owned());
            let message =
                format!("the arguments of a tool are an object, and `{id}` has no `payloadSchema` of that type");
            problems.error(path, message, help);
        }
    }
}

fn is_object_schema(schema: &Value) -> bool {
    schema.get("type").is_some_and(|name| name == "object")
}

impl McpApi {
    /// Returns the names of the tools, with the places of their entries.
    fn names(&self) -> impl Iterator<Item = (Vec<PathStep<'static>>, String)> {
        let at = |list, index| vec![PathStep::Key(list), PathStep::Index(index)];
        let agents =
            self.agents.iter().enumerate().map(move |(index, agent)| (at("agents", index), agent.name().to_owned()));
        let endpoints = self.endpoints.iter().enumerate();
        let endpoints = endpoints.map(move |(index, endpoint)| (at("endpoints", index), endpoint.name()));
        agents.chain(endpoints)
    }
}

impl Section for McpApi {
    const KEY: &'static str = "mcpApi";

    fn check(&self, problems: &mut SectionProblems<'_, '_, '_>) {
        for (index, agent) in self.agents.iter().enumerate() {
            problems.check_agent(&[PathStep::Key("agents"), PathStep::Index(index)], &agent.agent_id);
        }
        for (index, endpoint) in self.endpoints.iter().enumerate() {
            problems.check_endpoint(&[PathStep::Key("endpoints"), PathStep::Index(index)], &endpoint.endpoint_id);
        }
        let mut taken: HashSet<String> = HashSet::new();
        if self.documents {
            taken.extend(DOCUMENT_TOOLS.map(str::to_owned));
        }
        for (path, name) in self.names() {
            if !contract::is_name(&name) {
                let help = Some("set `name`: at most 64 letters, digits, `_` or `-`".to_owned());
                problems.error(&path, format!("`{name}` cannot be the name of a tool"), help);
            }
            if taken.contains(&name) {
                let help = Some("give one of them another `name`".to_owned());
                problems.error(&path, format!("there are two tools with the name `{name}`"), help);
            }
            taken.insert(name);
        }
        if taken.is_empty() {
            let help = Some("list `agents` or `endpoints`, or set `documents: true`".to_owned());
            problems.error(&[], "this offers no tools", help);
        }
    }

    fn check_with_config(&self, config: &Config, problems: &mut SectionProblems<'_, '_, '_>) {
        for (index, endpoint) in self.endpoints.iter().enumerate() {
            endpoint.check(&[PathStep::Key("endpoints"), PathStep::Index(index)], config, problems);
        }
        if !self.agents.is_empty() && config.pages.is_empty() {
            let help = Some("add `pages: [{ id: home }]`".to_owned());
            problems.error(&[PathStep::Key("agents")], "conversations need a page, and there is none", help);
        }
        if matches!(config.auth.mode, AuthMode::Anonymous) {
            let message = "in the auth mode `anonymous` nobody is signed in, so nobody could use this";
            problems.error(&[], message, Some("choose another `auth: { mode: … }`".to_owned()));
        }
    }
}
