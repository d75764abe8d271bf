//! The agents of the config. The parts that do not depend on the request are built once; each turn
//! adds the caller's and the page's parts.

use super::agent_context::{field, undeclared_field, with_page_context, with_page_tools, with_shared_state};
use super::agent_operators::AgentOperators;
use super::agent_settings::{self, settings};
use super::current::RetainedState;
use super::delegation;
use super::hooks::{self, HookRunner};
use super::mentions;
use super::model_choice;
use super::models::ModelBuilder;
use super::page_tools::PageTools;
use super::pages::{ChatOrigin, PageChat, Pages};
use super::policy::{self, AgentPolicy};
use super::titles::TitleSource;
use agent::{Agent, SubAgent};
use anyhow::{Context, anyhow};
use auth::rights::Rights;
use capability::{Capabilities, annotated};
use chat::{AgentRequest, AgentSource, Caller, Hooks, SelectableModel, TitleAgent};
use config::{Config, ModelRef, OpenAiApi, UnreadFiles};
use contract::{Annotations, ApprovalTerms, Execution, Model, Tool, ToolSpec};
use endpoints::{EndpointTool, Endpoints};
use futures::future::BoxFuture;
use providers::WithoutFiles;
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::sync::Arc;
use tools::{AskUserTool, StateField};
use wire::api::RunOptions;
use wire::{ErrorCode, UserError};

/// A model and its fallbacks, in order.
type ModelChain = (Arc<dyn Model>, Vec<Arc<dyn Model>>);

/// All agents by id. An agent without a model is known, but unavailable.
pub(crate) struct ConfiguredAgents {
    agents: HashMap<String, ConfiguredAgent>,
    pages: Arc<Pages>,
    tools: PageTools,
    rights: Arc<Rights>,
    hooks: Arc<HookRunner>,
    /// The policy of the whole server.
    policy: Option<AgentPolicy>,
    config: Arc<Config>,
    capabilities: Capabilities,
    models: ModelBuilder,
}

/// An agent with the parts that depend on the caller and the page.
struct ConfiguredAgent {
    agent: Option<Arc<Agent>>,
    page_context: bool,
    /// The endpoints that are its tools, with their annotations.
    endpoints: Vec<(EndpointTool, Annotations)>,
    /// The properties that are evaluated for each turn.
    operators: Option<AgentOperators>,
    /// How new conversations are named; `None` if not by a model.
    title: Option<TitleSource>,
    /// `None` if no hook has an endpoint.
    hooks: Option<Arc<config::Hooks>>,
    policy: Option<AgentPolicy>,
    /// Its sub-agents.
    sub_agents: Vec<config::SubAgentRef>,
    /// Whether users may mention its sub-agents.
    allows_mentions: bool,
}

impl ConfiguredAgent {
    /// Returns whether the agent is the same for all callers and pages.
    fn is_static(&self) -> bool {
        self.operators.is_none() && self.sub_agents.is_empty() && self.policy.is_none() && self.endpoints.is_empty()
    }
}

impl ConfiguredAgents {
    pub(super) fn build(
        config: &Arc<Config>,
        endpoints: &Arc<Endpoints>,
        capabilities: &Capabilities,
        pages: Arc<Pages>,
        tools: PageTools,
        rights: Arc<Rights>,
        kept: &RetainedState,
    ) -> anyhow::Result<Self> {
        let naming = mentions::agents_with_mentions(config);
        let mut agents = HashMap::new();
        for agent in config.agents.values() {
            let built = build(config, agent, capabilities, kept)?;
            let endpoint_tools = endpoint_tools(agent, endpoints)?;
            let hooks = (!agent.hooks.is_empty()).then(|| Arc::new(agent.hooks.clone()));
            let page_context = agent.page_context;
            let below = agent.agents.clone();
            let policy = agent
                .policy
                .as_ref()
                .map(|policy| AgentPolicy::build(policy, endpoints, &rights, &kept.meters))
                .transpose();
            let policy = policy.map_err(|error| anyhow!("{}: {error}", agent.at))?;
            let title = TitleSource::for_agent(config, agent, &kept.models);
            let title = title.map_err(|error| anyhow!("{}: {error}", agent.at))?;
            let configured = ConfiguredAgent {
                title,
                agent: built,
                page_context,
                endpoints: endpoint_tools,
                operators: AgentOperators::for_agent(config, agent, &kept.models),
                hooks,
                policy,
                sub_agents: below,
                allows_mentions: naming.contains(&agent.id),
            };
            agents.insert(agent.id.clone(), configured);
        }
        let policy = config.policy.as_ref();
        let policy = policy.map(|policy| AgentPolicy::build(policy, endpoints, &rights, &kept.meters)).transpose();
        let policy = policy.map_err(|error| anyhow!("policy: {error}"))?;
        let hooks = HookRunner::new(endpoints.clone(), rights.clone(), kept.meters.clone());
        let (config, capabilities, models) = (config.clone(), capabilities.clone(), kept.models.clone());
        Ok(Self { agents, pages, tools, rights, hooks, policy, config, capabilities, models })
    }
}

impl ConfiguredAgents {
    /// Checks that the caller may use this agent on this page.
    pub(super) fn check_agent_on_page(&self, caller: &Caller, page_id: &str, agent_id: &str) -> Result<(), UserError> {
        self.rights.check_page(caller, page_id)?;
        caller.check_agent(agent_id)?;
        self.rights.check_agent(caller, agent_id)
    }

    /// Returns the agent for this caller, in a turn with this context.
    async fn resolve(
        &self,
        caller: &Caller,
        id: &str,
        options: &RunOptions,
        context: impl FnOnce() -> Map<String, Value> + Send,
    ) -> Result<Arc<Agent>, UserError> {
        self.rights.check_agent(caller, id)?;
        let configured = self.agents.get(id).ok_or_else(UserError::not_found)?;
        let agent = configured.agent.clone().ok_or_else(|| {
            UserError::new(ErrorCode::Unavailable, "This agent's model provider is not available in this version.")
        })?;
        let written = self.config.agents.get(id).ok_or_else(UserError::not_found)?;
        let choice = model_choice::chosen(&self.config, written, options)?;
        let delegation = delegation::chosen(written, options)?;
        if configured.is_static() && choice.is_none() && delegation.is_none() {
            return Ok(agent);
        }
        let context = context();
        let mut agent = Agent::clone(&agent);
        if !configured.endpoints.is_empty() {
            let gate = self.rights.gate(caller);
            let tools = configured
                .endpoints
                .iter()
                .map(|(tool, marks)| annotated(Arc::new(tool.for_caller(gate.clone())), *marks));
            agent.tools.splice(0..0, tools);
        }
        match (&configured.operators, choice) {
            (Some(operators), choice) => operators.apply(&mut agent, caller.facts(), context.clone(), choice).await?,
            (None, Some(choice)) => self.answer_with(&mut agent, written, choice)?,
            (None, None) => {}
        }
        if let Some(policy) = &configured.policy {
            agent.policy = Some(policy::both(policy.for_caller(caller), agent.policy.take()));
        }
        for below in &configured.sub_agents {
            // Sub-agents that the user may not use are left out.
            if self.rights.check_agent(caller, &below.agent_id).is_ok() {
                agent.agents.push(Arc::new(self.build_sub_agent(caller, below, &context).await?));
            }
        }
        let copy = delegation.map(|delegation| delegation::general_purpose(&agent, delegation));
        if configured.allows_mentions && !agent.agents.is_empty() {
            agent.append_instructions(mentions::INSTRUCTIONS);
        }
        agent.agents.extend(copy.map(Arc::new));
        Ok(Arc::new(agent))
    }

    /// Replaces the model of an agent, and the settings that go with it.
    fn answer_with(
        &self,
        agent: &mut Agent,
        written: &config::Agent,
        choice: (&config::Model, bool),
    ) -> Result<(), UserError> {
        let replaced =
            agent_settings::replace_model(agent, &self.config, written, &self.models, (Vec::new(), Some(choice)));
        replaced.map_err(|cause| {
            tracing::error!(agent = written.id, model = choice.0.id, cause, "the agent cannot use a model");
            UserError::new(
                ErrorCode::Unavailable,
                "This model is not available right now. The reason is in the server log.",
            )
        })
    }

    /// Returns the models among which the users of an agent choose.
    pub(super) fn models(&self, id: &str) -> Vec<SelectableModel> {
        self.config.agents.get(id).map(|agent| model_choice::selectable(&self.config, agent)).unwrap_or_default()
    }

    /// Adds the policy of the whole server, which sub-agents inherit from the agent.
    fn with_policy(&self, agent: Arc<Agent>, caller: &Caller) -> Arc<Agent> {
        let Some(policy) = &self.policy else { return agent };
        let mut agent = Arc::unwrap_or_clone(agent);
        agent.policy = Some(policy::both(policy.for_caller(caller), agent.policy.take()));
        Arc::new(agent)
    }

    /// Adds what records the runs of the agent, if its config says that they are recorded.
    fn with_recorder(&self, agent: Arc<Agent>, request: &AgentRequest<'_>) -> Arc<Agent> {
        let written = self.config.agents.get(request.agent_id);
        let recorder = written.and_then(|written| self.capabilities.recorder(&self.config, written, request));
        let Some(recorder) = recorder else { return agent };
        Arc::new(Agent { recorder: Some(recorder), ..Arc::unwrap_or_clone(agent) })
    }

    /// Adds the context, tools and shared state of the page to the agent.
    fn with_page(&self, agent: Arc<Agent>, request: &AgentRequest<'_>) -> Result<Arc<Agent>, UserError> {
        let agent = match self.agents.get(request.agent_id) {
            Some(ConfiguredAgent { page_context: true, .. }) => with_page_context(&agent, request),
            _ => agent,
        };
        let asked_from = match request.has_own_frontend {
            true => ChatOrigin::Undeclared,
            false => self.pages.chat_origin(request.page_id, request.agent_id, request.block_id)?,
        };
        let tools = match &asked_from {
            ChatOrigin::Undeclared if request.has_own_frontend => Vec::new(),
            ChatOrigin::Undeclared => self.tools.for_page(request.page_id, request.agent_id),
            ChatOrigin::Chat(chat) => self.tools.for_chat(request.page_id, request.agent_id, &chat.block_id),
            ChatOrigin::Ambiguous(_) => Vec::new(),
        };
        let agent = with_page_tools(agent, &tools);
        Ok(with_shared_state(&agent, fields(&asked_from, request.shared_state)?, request.shared_state))
    }

    /// Builds a sub-agent. It has the context of the turn, but no tools that run in the browser,
    /// since its calls are not part of the message.
    fn build_sub_agent<'a>(
        &'a self,
        caller: &'a Caller,
        below: &'a config::SubAgentRef,
        context: &Map<String, Value>,
    ) -> BoxFuture<'a, Result<SubAgent, UserError>> {
        let mut context = context.clone();
        context.insert("agentId".to_owned(), below.agent_id.as_str().into());
        // Boxed, since sub-agents have sub-agents.
        Box::pin(async move {
            let agent = self.resolve(caller, &below.agent_id, &RunOptions::default(), || context).await?;
            Ok(sub_agent(Arc::unwrap_or_clone(agent), below))
        })
    }
}

impl AgentSource for ConfiguredAgents {
    fn by_id<'a>(&'a self, caller: &'a Caller, id: &'a str) -> BoxFuture<'a, Result<Arc<Agent>, UserError>> {
        Box::pin(async move {
            // There is no page here, so a token that is limited to a page is not valid.
            caller.check_page("")?;
            caller.check_agent(id)?;
            let context = || hooks::context(&AgentRequest::without_page(caller, id));
            Ok(self.with_policy(self.resolve(caller, id, &RunOptions::default(), context).await?, caller))
        })
    }

    fn hooks(&self, request: &AgentRequest<'_>) -> Option<Arc<dyn Hooks>> {
        let of = self.agents.get(request.agent_id)?.hooks.as_ref()?;
        Some(Arc::new(self.hooks.hooks(of, request)))
    }

    fn title_agent(&self, request: &AgentRequest<'_>, agent: &Agent) -> Option<TitleAgent> {
        Some(self.agents.get(request.agent_id)?.title.as_ref()?.title_agent(agent))
    }

    fn agent<'a>(&'a self, request: &'a AgentRequest<'a>) -> BoxFuture<'a, Result<Arc<Agent>, UserError>> {
        Box::pin(async move {
            self.check_agent_on_page(request.caller, request.page_id, request.agent_id)?;
            if let Some(agent) = self.config.agents.get(request.agent_id) {
                self.capabilities.check_options(request.caller, agent, request.options).await?;
            }
            let context = || hooks::context(request);
            let agent = self.resolve(request.caller, request.agent_id, request.options, context).await?;
            let agent = self.with_page(self.with_policy(agent, request.caller), request)?;
            Ok(self.with_recorder(agent, request))
        })
    }
}

/// Wraps an agent as a tool of another agent, without tools that run in the browser.
fn sub_agent(mut agent: Agent, below: &config::SubAgentRef) -> SubAgent {
    agent.tools.retain(|tool| tool.spec().execution == Execution::Server);
    let schema = below.input_schema.clone().unwrap_or_else(SubAgent::default_schema);
    let spec = ToolSpec::new(below.name.clone(), below.description.clone(), schema);
    SubAgent::new(ToolSpec { timeout: SubAgent::TIMEOUT, ..spec }, agent)
}

/// Returns the fields that a request shares with the agent. A chat of the config shares the fields
/// that the config declares. Where the page declares no chat with the agent, the client shares
/// whatever it sends.
///
/// # Errors
/// 422 if something is shared and it is ambiguous which of several chats shares it.
fn fields(asked_from: &ChatOrigin<'_>, state: &Map<String, Value>) -> Result<Vec<StateField>, UserError> {
    match asked_from {
        ChatOrigin::Undeclared => Ok(state.iter().map(undeclared_field).collect()),
        ChatOrigin::Chat(chat) => {
            let fields = chat.fields(state);
            Ok(fields.iter().filter_map(|own| Some(field(own, state.get(&own.key)?))).collect())
        }
        ChatOrigin::Ambiguous(_) if state.is_empty() => Ok(Vec::new()),
        ChatOrigin::Ambiguous(chats) => Err(ambiguous_chat_error(chats)),
    }
}

fn ambiguous_chat_error(chats: &[&PageChat]) -> UserError {
    let ids: Vec<_> = chats.iter().map(|chat| format!("`{}`", chat.block_id)).collect();
    let message =
        format!("This page has several chats with this agent. Send the id of one of them: {}.", ids.join(", "));
    UserError::invalid("/blockId", message)
}

/// Returns the agent's model and its fallbacks; `None` if its connection has no models.
///
/// # Errors
/// A connection does not exist, which is possible only if an operator of the config names it.
pub(super) fn models_for(
    config: &Config,
    agent: &config::Agent,
    models: &ModelBuilder,
) -> Result<Option<ModelChain>, String> {
    let model = |named: &ModelRef| {
        let model = model_named(config, named, agent.openai_api, models)?;
        Ok::<_, String>(model.map(|model| models.capabilities.wrap_model(agent, model)))
    };
    let fallbacks = agent.fallback_models.iter().map(model);
    let fallbacks = fallbacks.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect();
    let first = ModelRef { connection_id: agent.connection_id.clone(), model: agent.model.clone() };
    let UnreadFiles { images, others } = agent.unread_files;
    let readable = |model: Arc<dyn Model>| match images || others {
        true => Arc::new(WithoutFiles::new(model, images, others)),
        false => model,
    };
    Ok(model(&first)?.map(|model| (readable(model), fallbacks)))
}

/// Returns a model of a connection; `None` if the connection has no models.
///
/// # Errors
/// There is no such connection.
pub(super) fn model_named(
    config: &Config,
    named: &ModelRef,
    api: OpenAiApi,
    models: &ModelBuilder,
) -> Result<Option<Arc<dyn Model>>, String> {
    match config.connections.get(&named.connection_id) {
        Some(connection) => Ok(models.build(connection, &named.model, api)),
        None => Err(format!("there is no connection `{}`", named.connection_id)),
    }
}

/// Builds the part of an agent that is the same for all callers. `None` if it has no model.
fn build(
    config: &Config,
    agent: &config::Agent,
    capabilities: &Capabilities,
    kept: &RetainedState,
) -> anyhow::Result<Option<Arc<Agent>>> {
    let models = models_for(config, agent, &kept.models).map_err(|error| anyhow!("{}: {error}", agent.at))?;
    let Some((model, fallbacks)) = models else {
        tracing::warn!(
            agent = agent.id,
            connection = agent.connection_id,
            "this version does not support the provider of the agent's model"
        );
        return Ok(None);
    };
    let mut offered = capabilities.agent_tools(config, agent)?;
    offered.tools.extend(tools(config, agent)?);
    let named = agent.summary_model.as_ref();
    let summary_model = named.map(|named| model_named(config, named, agent.openai_api, &kept.models)).transpose();
    let summary_model = summary_model.map_err(|error| anyhow!("{}: {error}", agent.at))?.flatten();
    let agent = Agent {
        summary_model,
        id: agent.id.clone(),
        model,
        fallbacks,
        agents: Vec::new(),
        policy: offered.policies.into_iter().reduce(|first, second| policy::both(first, Some(second))),
        page_context: None,
        sources: offered.sources,
        instructions: agent.instructions.as_ref().and_then(Value::as_str).map(str::to_owned),
        tools: offered.tools,
        searches_attachments: offered.searches_attachments,
        routes: agent.routes,
        recorder: None,
        settings: settings(config, agent),
    };
    Ok(Some(Arc::new(agent)))
}

/// Returns the endpoint tools of an agent, not yet bound to a caller.
fn endpoint_tools(
    agent: &config::Agent,
    endpoints: &Arc<Endpoints>,
) -> anyhow::Result<Vec<(EndpointTool, Annotations)>> {
    let tools = agent.tools.iter().map(|tool| {
        let approval = ApprovalTerms::new(tool.confirm, tool.visible_parameters.clone());
        let built = endpoints.tool(&tool.endpoint_id, &tool.name, tool.confirm.is_some(), approval);
        let built = built.ok_or_else(|| anyhow!("{}: the endpoint `{}` is not a tool", agent.at, tool.endpoint_id))?;
        Ok((built, tool.annotations.into()))
    });
    tools.collect()
}

/// Returns the tools that depend on neither page nor caller: files and questions to the user.
fn tools(config: &Config, agent: &config::Agent) -> anyhow::Result<Vec<Arc<dyn Tool>>> {
    let mut tools: Vec<Arc<dyn Tool>> = Vec::new();
    if let Some(config::FileSystem { base_path, annotations: marks }) = &agent.file_system {
        let opened = tools::file_system::open(base_path, config.limits.tool);
        let opened = opened.with_context(|| format!("{}: cannot open {}", agent.at, base_path.display()))?;
        tools.extend(opened.into_iter().map(|tool| annotated(tool, (*marks).into())));
    }
    if agent.ask_user {
        tools.push(Arc::new(AskUserTool::default()));
    }
    Ok(tools)
}
