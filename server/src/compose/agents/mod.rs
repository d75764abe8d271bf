//! The agents of the config. The parts that do not depend on the request are built once; each turn
//! adds the caller's and the page's parts.

mod build;
mod context;
mod delegation;
mod hooks;
mod operators;
mod policy;
mod settings;
mod titles;

use super::models::{ModelBuilder, choice as model_choice};
use super::pages::tools::PageTools;
use super::pages::{ChatOrigin, Pages, mentions};
use super::retained::RetainedState;
use agent::{Agent, SubAgent};
use anyhow::anyhow;
use auth::rights::Rights;
use build::{build, endpoint_tools};
use capability::{Capabilities, annotated};
use chat::{AgentRequest, AgentSource, Caller, Hooks, SelectableModel, TitleAgent};
use config::Config;
use context::{fields, with_page_context, with_page_tools, with_shared_state};
use contract::{Annotations, Execution, ToolSpec};
use endpoints::{EndpointTool, Endpoints};
use futures::future::BoxFuture;
use hooks::HookRunner;
use operators::AgentOperators;
use policy::AgentPolicy;
use serde_json::{Map, Value};
use settings::replace_model;
use std::collections::HashMap;
use std::sync::Arc;
use titles::TitleSource;
use wire::api::RunOptions;
use wire::{ErrorCode, UserError};

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
        let replaced = replace_model(agent, &self.config, written, &self.models, (Vec::new(), Some(choice)));
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

    /// Adds the observer that records the runs of the agent, if its config enables recordings.
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
        let asked_from = if request.has_own_frontend {
            ChatOrigin::Undeclared
        } else {
            self.pages.chat_origin(request.page_id, request.agent_id, request.block_id)?
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
