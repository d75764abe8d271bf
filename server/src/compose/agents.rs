//! The config's agents. What does not depend on the request is built once; a turn with shared state gets the page's fields on
//! top.

use super::agent_context::{field, undeclared, with_page_context, with_page_tools, with_shared_state};
use super::agent_operators::AgentOperators;
use super::agent_settings::{approval, settings};
use super::current::Kept;
use super::hooks::{self, HookRoom};
use super::marks::{marked, of_one};
use super::mcp::McpServers;
use super::mentions;
use super::models;
use super::page_tools::PageTools;
use super::pages::{AskedFrom, PageChat, Pages};
use super::policy::AgentPolicy;
use super::remote_agents::{self, Remote};
use crate::auth::rights::Rights;
use agent::{Agent, Circuits, SubAgent};
use anyhow::{Context, anyhow};
use chat::{AgentRequest, Agents, Caller, Hooks};
use config::Config;
use contract::{Execution, Marks, Model, Tool, ToolSpec};
use endpoints::{EndpointTool, Endpoints};
use futures::future::BoxFuture;
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::sync::Arc;
use tools::{AskUserTool, Field};
use wire::{ErrorCode, UserError};

/// A model, and those that are asked when it fails, in this order.
type Models = (Arc<dyn Model>, Vec<Arc<dyn Model>>);

/// All agents by id; one without a model is known and cannot be asked.
pub(crate) struct ConfiguredAgents {
    agents: HashMap<String, Configured>,
    pages: Arc<Pages>,
    tools: PageTools,
    rights: Arc<Rights>,
    hooks: Arc<HookRoom>,
}

/// Remote agents that are asked with what the user came with, and their places among an agent's sources.
type Personal = Vec<(usize, Remote)>;

/// An agent, and what a page adds to it.
struct Configured {
    agent: Option<Arc<Agent>>,
    page_context: bool,
    /// Endpoints that it may call for its user, and what it calls them.
    endpoints: Vec<(EndpointTool, Marks)>,
    personal: Personal,
    /// What is evaluated for each turn.
    operators: Option<AgentOperators>,
    /// None without any endpoint in it.
    hooks: Option<Arc<config::Hooks>>,
    policy: Option<AgentPolicy>,
    /// Agents that it may hand a task to.
    below: Vec<config::SubAgentRef>,
    /// Whether users may name those.
    is_naming: bool,
}

impl Configured {
    /// Whether nothing about it depends on who asks, or where.
    fn is_the_same_for_everybody(&self) -> bool {
        self.operators.is_none()
            && self.below.is_empty()
            && self.policy.is_none()
            && self.endpoints.is_empty()
            && self.personal.is_empty()
    }
}

impl ConfiguredAgents {
    pub(super) fn build(
        config: &Arc<Config>,
        endpoints: &Arc<Endpoints>,
        mcp: &McpServers,
        pages: Arc<Pages>,
        tools: PageTools,
        rights: Arc<Rights>,
        kept: &Kept,
    ) -> anyhow::Result<Self> {
        let naming = mentions::naming(config);
        let mut agents = HashMap::new();
        for agent in config.agents.values() {
            let (built, personal) = build(config, agent, mcp, kept)?;
            let endpoint_tools = endpoint_tools(agent, endpoints)?;
            let hooks = (!agent.hooks.is_empty()).then(|| Arc::new(agent.hooks.clone()));
            let page_context = agent.page_context;
            let below = agent.agents.clone();
            let policy = agent
                .policy
                .as_ref()
                .map(|policy| AgentPolicy::build(policy, endpoints, &rights, &kept.counted))
                .transpose();
            let policy = policy.map_err(|error| anyhow!("{}: {error}", agent.at))?;
            let configured = Configured {
                agent: built,
                page_context,
                endpoints: endpoint_tools,
                personal,
                operators: AgentOperators::of(config, agent, &kept.circuits),
                hooks,
                policy,
                below,
                is_naming: naming.contains(&agent.id),
            };
            agents.insert(agent.id.clone(), configured);
        }
        let hooks = HookRoom::new(endpoints.clone(), rights.clone(), kept.counted.clone());
        Ok(Self { agents, pages, tools, rights, hooks })
    }
}

impl ConfiguredAgents {
    /// Whether the caller may ask this agent on this page.
    pub(super) fn may_ask(&self, caller: &Caller, page_id: &str, agent_id: &str) -> Result<(), UserError> {
        self.rights.open_page(caller, page_id)?;
        caller.may_ask_agent(agent_id)?;
        self.rights.ask_agent(caller, agent_id)
    }

    /// The agent as it works for this caller, in a turn with this context.
    async fn instructed(
        &self,
        caller: &Caller,
        id: &str,
        context: impl FnOnce() -> Map<String, Value> + Send,
    ) -> Result<Arc<Agent>, UserError> {
        self.rights.ask_agent(caller, id)?;
        let configured = self.agents.get(id).ok_or_else(UserError::not_found)?;
        let agent = configured.agent.clone().ok_or_else(|| {
            UserError::new(ErrorCode::Unavailable, "This agent's model provider is not available in this version.")
        })?;
        if configured.is_the_same_for_everybody() {
            return Ok(agent);
        }
        let context = context();
        let mut agent = Agent::clone(&agent);
        if !configured.endpoints.is_empty() {
            let gate = self.rights.gate(caller);
            let tools =
                configured.endpoints.iter().map(|(tool, marks)| marked(Arc::new(tool.of(gate.clone())), *marks));
            agent.tools.splice(0..0, tools);
        }
        for (place, remote) in &configured.personal {
            agent.sources[*place] = remote.of(caller);
        }
        if let Some(operators) = &configured.operators {
            operators.apply(&mut agent, caller.facts(), context.clone()).await?;
        }
        agent.policy = configured.policy.as_ref().map(|policy| policy.of(caller));
        for below in &configured.below {
            // One that the user may not ask is not there for who works for him.
            if self.rights.ask_agent(caller, &below.agent_id).is_ok() {
                agent.agents.push(Arc::new(self.below(caller, below, &context).await?));
            }
        }
        if configured.is_naming && !agent.agents.is_empty() {
            agent.tell(mentions::INSTRUCTIONS);
        }
        Ok(Arc::new(agent))
    }

    /// The agent with what the page adds to it.
    fn on_page(&self, agent: Arc<Agent>, request: &AgentRequest<'_>) -> Result<Arc<Agent>, UserError> {
        let agent = match self.agents.get(request.agent_id) {
            Some(Configured { page_context: true, .. }) => with_page_context(&agent, request),
            _ => agent,
        };
        let asked_from = self.pages.asked_from(request.page_id, request.agent_id, request.block_id)?;
        let tools = match &asked_from {
            AskedFrom::Undeclared => self.tools.of_page(request.page_id, request.agent_id),
            AskedFrom::Chat(chat) => self.tools.of_chat(request.page_id, request.agent_id, &chat.block_id),
            AskedFrom::Ambiguous(_) => Vec::new(),
        };
        let agent = with_page_tools(agent, &tools);
        Ok(with_shared_state(&agent, fields(&asked_from, request.shared_state)?, request.shared_state))
    }

    /// An agent as a tool of another one. It has the turn's context, and no tools that run in the browser: its calls are not part of the
    /// message.
    fn below<'a>(
        &'a self,
        caller: &'a Caller,
        below: &'a config::SubAgentRef,
        context: &Map<String, Value>,
    ) -> BoxFuture<'a, Result<SubAgent, UserError>> {
        let mut context = context.clone();
        context.insert("agentId".to_owned(), below.agent_id.as_str().into());
        // Boxed, since sub-agents have sub-agents.
        Box::pin(async move {
            let agent = self.instructed(caller, &below.agent_id, || context).await?;
            Ok(sub_agent(Arc::unwrap_or_clone(agent), below))
        })
    }
}

impl Agents for ConfiguredAgents {
    fn by_id<'a>(&'a self, caller: &'a Caller, id: &'a str) -> BoxFuture<'a, Result<Arc<Agent>, UserError>> {
        Box::pin(async move {
            // There is no page here, so a token for one is not for this.
            caller.may_use_page("")?;
            caller.may_ask_agent(id)?;
            let context = [("agentId", id), ("userId", &caller.user_id)];
            let context = || context.map(|(key, value)| (key.to_owned(), value.into())).into_iter().collect();
            self.instructed(caller, id, context).await
        })
    }

    fn hooks(&self, request: &AgentRequest<'_>) -> Option<Arc<dyn Hooks>> {
        let of = self.agents.get(request.agent_id)?.hooks.as_ref()?;
        Some(Arc::new(self.hooks.hooks(of, request)))
    }

    fn agent<'a>(&'a self, request: &'a AgentRequest<'a>) -> BoxFuture<'a, Result<Arc<Agent>, UserError>> {
        Box::pin(async move {
            self.may_ask(request.caller, request.page_id, request.agent_id)?;
            let agent = self.instructed(request.caller, request.agent_id, || hooks::context(request)).await?;
            self.on_page(agent, request)
        })
    }
}

/// An agent as a tool of another one.
fn sub_agent(mut agent: Agent, below: &config::SubAgentRef) -> SubAgent {
    agent.tools.retain(|tool| tool.spec().execution == Execution::Server);
    let schema = below.input_schema.clone().unwrap_or_else(SubAgent::default_schema);
    let spec = ToolSpec::new(below.name.clone(), below.description.clone(), schema);
    SubAgent { spec: ToolSpec { timeout: SubAgent::TIMEOUT, ..spec }, agent }
}

/// What a request shares with the agent. A chat of a config shares what the config declares; where
/// a page declares none for the agent, a client shares what it sends.
///
/// # Errors
/// 422 where something is shared and it is open which of several chats shares it.
fn fields(asked_from: &AskedFrom<'_>, state: &Map<String, Value>) -> Result<Vec<Field>, UserError> {
    match asked_from {
        AskedFrom::Undeclared => Ok(state.iter().map(undeclared).collect()),
        AskedFrom::Chat(chat) => {
            Ok(chat.fields.iter().filter(|field| state.contains_key(&field.key)).map(field).collect())
        }
        AskedFrom::Ambiguous(_) if state.is_empty() => Ok(Vec::new()),
        AskedFrom::Ambiguous(chats) => Err(ambiguous(chats)),
    }
}

fn ambiguous(chats: &[&PageChat]) -> UserError {
    let ids: Vec<_> = chats.iter().map(|chat| format!("`{}`", chat.block_id)).collect();
    let message = format!("This page has several chats with this agent. Say from which one: {}.", ids.join(", "));
    UserError::invalid("/blockId", message)
}

/// The agent's model and those that it falls back to; none where its connection has no models.
///
/// # Errors
/// A connection is not there, which only an operator can name.
pub(super) fn models_of(config: &Config, agent: &config::Agent, circuits: &Circuits) -> Result<Option<Models>, String> {
    let model = |connection: &str, name: &str| match config.connections.get(connection) {
        Some(connection) => Ok(models::build(connection, name, agent.openai_api, circuits)),
        None => Err(format!("there is no connection `{connection}`")),
    };
    let fallbacks = agent.fallback_models.iter().map(|fallback| model(&fallback.connection_id, &fallback.model));
    let fallbacks = fallbacks.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect();
    Ok(model(&agent.connection_id, &agent.model)?.map(|model| (model, fallbacks)))
}

/// The agent as far as it is the same for everybody, and what of its sources is not. None without a model.
fn build(
    config: &Config,
    agent: &config::Agent,
    mcp: &McpServers,
    kept: &Kept,
) -> anyhow::Result<(Option<Arc<Agent>>, Personal)> {
    let models = models_of(config, agent, &kept.circuits).map_err(|error| anyhow!("{}: {error}", agent.at))?;
    let Some((model, fallbacks)) = models else {
        tracing::warn!(
            agent = agent.id,
            connection = agent.connection_id,
            "this version has no codec for the agent's model"
        );
        return Ok((None, Vec::new()));
    };
    let mut sources = mcp.sources(config, agent)?;
    let mut personal = Vec::new();
    for remote in remote_agents::of_agent(config, agent, &kept.remembered)? {
        sources.push(remote.for_nobody());
        if remote.is_personal {
            personal.push((sources.len() - 1, remote));
        }
    }
    let agent = Agent {
        id: agent.id.clone(),
        model,
        fallbacks,
        agents: Vec::new(),
        policy: None,
        sources,
        instructions: agent.instructions.as_ref().and_then(Value::as_str).map(str::to_owned),
        tools: tools(config, agent)?,
        settings: settings(config, agent),
    };
    Ok((Some(Arc::new(agent)), personal))
}

/// The agent's endpoints (L-47), before there is a caller for whom they are called.
fn endpoint_tools(agent: &config::Agent, endpoints: &Arc<Endpoints>) -> anyhow::Result<Vec<(EndpointTool, Marks)>> {
    let tools = agent.tools.iter().map(|tool| {
        let approval = approval(tool.confirm, tool.visible_parameters.clone());
        let built = endpoints.tool(&tool.endpoint_id, &tool.name, tool.confirm.is_some(), approval);
        let built = built.ok_or_else(|| anyhow!("{}: the endpoint `{}` is no tool", agent.at, tool.endpoint_id))?;
        Ok((built, of_one(tool.marks)))
    });
    tools.collect()
}

/// The tools that depend on neither page nor caller: the files of a folder, questions.
fn tools(config: &Config, agent: &config::Agent) -> anyhow::Result<Vec<Arc<dyn Tool>>> {
    let mut tools: Vec<Arc<dyn Tool>> = Vec::new();
    if let Some(config::FileSystem { base_path, marks }) = &agent.file_system {
        let opened = tools::file_system::open(base_path, config.limits.tool);
        let opened = opened.with_context(|| format!("{}: cannot open {}", agent.at, base_path.display()))?;
        tools.extend(opened.into_iter().map(|tool| marked(tool, of_one(*marks))));
    }
    if agent.ask_user {
        tools.push(Arc::new(AskUserTool::default()));
    }
    Ok(tools)
}
