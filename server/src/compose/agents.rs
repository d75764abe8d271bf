//! The config's agents. What does not depend on the request is built once; a turn with shared state gets the page's fields on
//! top.

use super::hooks::{self, HookRoom};
use super::instructions;
use super::mcp::McpServers;
use super::models;
use super::pages::Pages;
use super::policy::AgentPolicy;
use super::remote_agents;
use crate::auth::rights::Rights;
use agent::{Agent, Prune, PruneReasoning, PruneToolCalls, Settings, StepRule, Steps, SubAgent, Timeouts};
use anyhow::{Context, anyhow};
use chat::{AgentRequest, Agents, Caller, Hooks};
use config::Config;
use contract::{Execution, Price, Sampling, Tool, ToolChoice, ToolSpec};
use endpoints::{EndpointTool, Endpoints};
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tools::{AskUserTool, Field, FieldKind, PageStateTool};
use wire::page::{FieldType, SharedField};
use wire::{ErrorCode, UserError};

/// Fields that a page may share; more are left out.
const MAX_FIELDS: usize = 200;

/// All agents by id; one without a model is known and cannot be asked.
pub(crate) struct ConfiguredAgents {
    agents: HashMap<String, Configured>,
    pages: Arc<Pages>,
    rights: Arc<Rights>,
    hooks: Arc<HookRoom>,
}

/// An agent, and what a page adds to it.
struct Configured {
    agent: Option<Arc<Agent>>,
    page_context: bool,
    /// Endpoints that it may call for its user, and what it calls them.
    endpoints: Vec<EndpointTool>,
    /// Instructions that are evaluated for each turn (L-20).
    instructions: Option<Value>,
    /// None without any endpoint in it.
    hooks: Option<Arc<config::Hooks>>,
    policy: Option<AgentPolicy>,
    /// Agents that it may hand a task to.
    below: Vec<config::SubAgentRef>,
}

impl Configured {
    /// Whether nothing about it depends on who asks, or where.
    fn is_the_same_for_everybody(&self) -> bool {
        self.instructions.is_none() && self.below.is_empty() && self.policy.is_none() && self.endpoints.is_empty()
    }
}

impl ConfiguredAgents {
    pub(super) fn build(
        config: &Config,
        endpoints: &Arc<Endpoints>,
        mcp: &McpServers,
        pages: Arc<Pages>,
        rights: Arc<Rights>,
    ) -> anyhow::Result<Self> {
        let mut agents = HashMap::new();
        for agent in config.agents.values() {
            let built = build(config, agent, mcp)?;
            let tools = endpoint_tools(agent, endpoints)?;
            let hooks = (!agent.hooks.is_empty()).then(|| Arc::new(agent.hooks.clone()));
            let instructions = agent.instructions.clone().filter(|instructions| !instructions.is_string());
            let page_context = agent.page_context;
            let below = agent.agents.clone();
            let policy = agent.policy.as_ref().map(|policy| AgentPolicy::build(policy, endpoints, &rights)).transpose();
            let policy = policy.map_err(|error| anyhow!("{}: {error}", agent.at))?;
            let configured =
                Configured { agent: built, page_context, endpoints: tools, instructions, hooks, policy, below };
            agents.insert(agent.id.clone(), configured);
        }
        let hooks = HookRoom::new(endpoints.clone(), rights.clone());
        Ok(Self { agents, pages, rights, hooks })
    }
}

impl ConfiguredAgents {
    /// Whether the caller may ask this agent on this page.
    pub(super) fn may_ask(&self, caller: &Caller, page_id: &str, agent_id: &str) -> Result<(), UserError> {
        self.rights.open_page(caller, page_id)?;
        self.rights.ask_agent(caller, agent_id)
    }

    /// The agent as it works for this caller, with its instructions for a turn with this context.
    fn instructed(
        &self,
        caller: &Caller,
        id: &str,
        context: impl FnOnce() -> Map<String, Value>,
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
            let tools = configured.endpoints.iter().map(|tool| Arc::new(tool.of(gate.clone())) as Arc<dyn Tool>);
            agent.tools.splice(0..0, tools);
        }
        if let Some(instructions) = &configured.instructions {
            agent.instructions = instructions::text(instructions, id, &caller.user_id, context.clone())?;
        }
        agent.policy = configured.policy.as_ref().map(|policy| policy.of(caller));
        for below in &configured.below {
            // One that the user may not ask is not there for who works for him.
            if self.rights.ask_agent(caller, &below.agent_id).is_ok() {
                agent.agents.push(Arc::new(self.below(caller, below, &context)?));
            }
        }
        Ok(Arc::new(agent))
    }

    /// An agent as a tool of another one. It has the turn's context, and no tools that run in the browser: its calls are not part of the
    /// message.
    fn below(
        &self,
        caller: &Caller,
        below: &config::SubAgentRef,
        context: &Map<String, Value>,
    ) -> Result<SubAgent, UserError> {
        let mut context = context.clone();
        context.insert("agentId".to_owned(), below.agent_id.as_str().into());
        let mut agent = Arc::unwrap_or_clone(self.instructed(caller, &below.agent_id, || context)?);
        agent.tools.retain(|tool| tool.spec().execution == Execution::Server);
        let schema = below.input_schema.clone().unwrap_or_else(SubAgent::default_schema);
        let spec = ToolSpec::new(below.name.clone(), below.description.clone(), schema);
        Ok(SubAgent { spec: ToolSpec { timeout: SubAgent::TIMEOUT, ..spec }, agent })
    }
}

impl Agents for ConfiguredAgents {
    fn by_id(&self, caller: &Caller, id: &str) -> Result<Arc<Agent>, UserError> {
        let context = [("agentId", id), ("userId", &caller.user_id)];
        self.instructed(caller, id, || context.map(|(key, value)| (key.to_owned(), value.into())).into_iter().collect())
    }

    fn hooks(&self, request: &AgentRequest<'_>) -> Option<Arc<dyn Hooks>> {
        let of = self.agents.get(request.agent_id)?.hooks.as_ref()?;
        Some(Arc::new(self.hooks.hooks(of, request)))
    }

    fn agent(&self, request: &AgentRequest<'_>) -> Result<Arc<Agent>, UserError> {
        self.may_ask(request.caller, request.page_id, request.agent_id)?;
        let agent = self.instructed(request.caller, request.agent_id, || hooks::context(request))?;
        let agent = match self.agents.get(request.agent_id) {
            Some(Configured { page_context: true, .. }) => with_page_context(&agent, request),
            _ => agent,
        };
        let fields = match self.pages.shared_fields(request.page_id, request.agent_id) {
            Some(declared) => {
                declared.iter().filter(|field| request.shared_state.contains_key(&field.key)).map(field).collect()
            }
            // Another client's page: what it sends is what it shares.
            None => request.shared_state.iter().map(undeclared).collect::<Vec<_>>(),
        };
        Ok(with_shared_state(&agent, fields, request.shared_state))
    }
}

fn build(config: &Config, agent: &config::Agent, mcp: &McpServers) -> anyhow::Result<Option<Arc<Agent>>> {
    let connection = &config.connections[&agent.connection_id];
    let Some(model) = models::build(&connection.kind, &agent.model, agent.openai_api) else {
        tracing::warn!(
            agent = agent.id,
            connection = connection.kind.name(),
            "this version has no codec for the agent's model"
        );
        return Ok(None);
    };
    let fallbacks = agent.fallback_models.iter().filter_map(|fallback| {
        models::build(&config.connections[&fallback.connection_id].kind, &fallback.model, agent.openai_api)
    });
    Ok(Some(Arc::new(Agent {
        id: agent.id.clone(),
        model,
        fallbacks: fallbacks.collect(),
        agents: Vec::new(),
        policy: None,
        sources: [mcp.sources(config, agent)?, remote_agents::sources(config, agent)?].concat(),
        instructions: agent.instructions.as_ref().and_then(Value::as_str).map(str::to_owned),
        tools: tools(config, agent)?,
        settings: settings(config, agent),
    })))
}

/// What the agent's models cost: by the config, whose longest beginning of the name counts, or by the list.
fn prices(config: &Config, agent: &config::Agent) -> HashMap<String, Price> {
    let own = |name: &str| {
        let known = config.prices.iter().filter(|(start, _)| name.starts_with(start.as_str()));
        known.max_by_key(|(start, _)| start.len()).map(|(_, price)| price)
    };
    let of_config = |price: &config::Price| Price {
        input: price.input,
        cache_read: price.cache_read,
        cache_write: price.cache_write,
        output: price.output,
    };
    let names = agent.fallback_models.iter().map(|fallback| &fallback.model).chain([&agent.model]);
    let price = |name: &String| {
        let listed = own(name).map(of_config).or_else(|| providers::prices::list_price(name));
        Some((name.clone(), listed.or_else(|| config.prices.get("default").map(of_config))?))
    };
    names.filter_map(price).collect()
}

/// The agent's endpoints (L-47), before there is a caller for whom they are called.
fn endpoint_tools(agent: &config::Agent, endpoints: &Arc<Endpoints>) -> anyhow::Result<Vec<EndpointTool>> {
    let tools = agent.tools.iter().map(|tool| {
        let built = endpoints.tool(&tool.endpoint_id, &tool.name, tool.confirm);
        built.ok_or_else(|| anyhow!("{}: the endpoint `{}` is no tool", agent.at, tool.endpoint_id))
    });
    tools.collect()
}

/// The tools that depend on neither page nor caller: the files of a folder, questions.
fn tools(config: &Config, agent: &config::Agent) -> anyhow::Result<Vec<Arc<dyn Tool>>> {
    let mut tools: Vec<Arc<dyn Tool>> = Vec::new();
    if let Some(config::FileSystem { base_path }) = &agent.file_system {
        let opened = tools::file_system::open(base_path, config.limits.tool);
        tools.extend(opened.with_context(|| format!("{}: cannot open {}", agent.at, base_path.display()))?);
    }
    if agent.ask_user {
        tools.push(Arc::new(AskUserTool::default()));
    }
    Ok(tools)
}

fn settings(config: &Config, agent: &config::Agent) -> Settings {
    let (limits, own, sampling) = (&config.limits, &agent.timeouts, &agent.sampling);
    Settings {
        max_steps: agent.max_steps,
        tool_choice: tool_choice(&agent.tool_choice),
        active_tools: agent.active_tools.clone(),
        prepare_step: agent.prepare_step.iter().map(step_rule).collect(),
        prune: prune(&agent.prune),
        stop_on_tool_call: agent.stop_on_tool_call.clone(),
        sampling: Sampling {
            max_output_tokens: sampling.max_output_tokens,
            temperature: sampling.temperature,
            top_p: sampling.top_p,
            top_k: sampling.top_k,
            frequency_penalty: sampling.frequency_penalty,
            presence_penalty: sampling.presence_penalty,
            seed: sampling.seed,
            stop_sequences: sampling.stop_sequences.clone(),
        },
        response_format: None,
        provider_options: agent.provider_options.clone(),
        max_retries: agent.max_retries,
        limits: agent::Limits {
            requests: agent.limits.requests,
            total_tokens: agent.limits.total_tokens,
            tool_calls: agent.limits.tool_calls,
            cost_usd: agent.limits.cost_usd,
        },
        prices: prices(config, agent),
        timeouts: Timeouts {
            total: own.total.unwrap_or(limits.turn).min(agent.limits.time.unwrap_or(Duration::MAX)),
            step: own.step,
            first_byte: limits.first_byte,
            chunk: own.chunk.unwrap_or(limits.idle),
        },
        max_parallel_tools: limits.parallel_tools,
        max_parallel_agents: limits.parallel_agents,
    }
}

fn tool_choice(choice: &config::ToolChoice) -> ToolChoice {
    match choice {
        config::ToolChoice::Auto => ToolChoice::Auto,
        config::ToolChoice::Required => ToolChoice::Required,
        config::ToolChoice::None => ToolChoice::None,
        config::ToolChoice::Tool(name) => ToolChoice::Tool(name.clone()),
    }
}

fn step_rule(rule: &config::StepRule) -> StepRule {
    StepRule {
        steps: match &rule.steps {
            config::Steps::These(numbers) => Steps::These(numbers.clone()),
            config::Steps::Range(from, to) => Steps::Range(*from, *to),
        },
        active_tools: rule.active_tools.clone(),
        tool_choice: rule.tool_choice.as_ref().map(tool_choice),
        max_output_tokens: rule.max_output_tokens,
        temperature: rule.temperature,
    }
}

fn prune(prune: &config::Prune) -> Prune {
    let rule = |rule: &config::PruneToolCalls| PruneToolCalls { keep_last: rule.keep_last, tools: rule.tools.clone() };
    Prune {
        reasoning: match prune.reasoning {
            config::PruneReasoning::None => PruneReasoning::None,
            config::PruneReasoning::BeforeLastMessage => PruneReasoning::BeforeLastMessage,
            config::PruneReasoning::All => PruneReasoning::All,
        },
        tool_calls: prune.tool_calls.iter().map(rule).collect(),
        remove_empty: prune.remove_empty,
    }
}

/// The agent, told where the user is.
fn with_page_context(agent: &Arc<Agent>, request: &AgentRequest<'_>) -> Arc<Agent> {
    let AgentRequest { caller, page_id, conversation_id, url_query, .. } = request;
    Arc::new(told(agent, tools::context::page(page_id, &caller.user_id, conversation_id, url_query)))
}

/// The agent with a block of facts in front of its instructions.
fn told(agent: &Agent, block: String) -> Agent {
    let mut agent = agent.clone();
    agent.instructions = Some(match agent.instructions {
        Some(instructions) => format!("{block}\n\n{instructions}"),
        None => block,
    });
    agent
}

/// The agent with the page's fields: what they hold in its instructions, and the tool that writes them.
fn with_shared_state(agent: &Arc<Agent>, mut fields: Vec<Field>, values: &Map<String, Value>) -> Arc<Agent> {
    fields.truncate(MAX_FIELDS);
    let Some(block) = tools::context::shared_state(&fields, values) else { return agent.clone() };
    let mut agent = told(agent, block);
    agent.tools.extend(PageStateTool::new(&fields).map(|tool| Arc::new(tool) as Arc<dyn Tool>));
    Arc::new(agent)
}

fn field(field: &SharedField) -> Field {
    let kind = match &field.field_type {
        FieldType::Text => FieldKind::Text,
        FieldType::Number => FieldKind::Number,
        FieldType::Boolean => FieldKind::Boolean,
        FieldType::Choice { options } => FieldKind::Choice(options.clone()),
        FieldType::Choices { options } => FieldKind::Choices(options.clone()),
        FieldType::Date => FieldKind::Date,
        FieldType::Any => FieldKind::Any,
    };
    Field { key: field.key.clone(), kind, writable: field.target.is_some() }
}

/// The type of what a field holds now (L-66).
fn undeclared((key, value): (&String, &Value)) -> Field {
    let kind = match value {
        Value::String(_) => FieldKind::Text,
        Value::Number(_) => FieldKind::Number,
        Value::Bool(_) => FieldKind::Boolean,
        Value::Null | Value::Array(_) | Value::Object(_) => FieldKind::Any,
    };
    Field { key: key.clone(), kind, writable: true }
}
