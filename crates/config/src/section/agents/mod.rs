//! The section `agents`.

pub(super) mod custom;
pub(super) mod delegate;
pub(super) mod entry;
pub(super) mod fallbacks;
pub(super) mod file_system;
pub(super) mod hooks;
pub(super) mod mcp;
pub(super) mod models;
pub(super) mod operators;
pub(super) mod other_model;
pub(super) mod policy;
pub(super) mod preset;
pub(super) mod provider;
pub(super) mod remote_agents;
pub(super) mod remote_parameters;
pub(super) mod sampling;
pub(super) mod steps;
pub(super) mod sub_agents;
pub(super) mod title;
pub(super) mod tools;

use crate::agent::{Agent, AgentType, DynamicProperties, FileSystem, OpenAiApi, ToolRef};
use crate::connection::Connection;
use crate::model::{Model, UnreadFiles};
use crate::rule::AccessRule;
use crate::section::value::Text;
use crate::section::{Context, connections, operator, rule_entry, type_of};
use crate::section_type::{SectionType, Sections};
use crate::shape::{self, check_value, list_items};
use agent::ToolStrategy;
use config_source::{Location, Node, PathStep, suggest};
use contract::ToolChoice;
use entry::{AgentEntry, AgentProperties};
use indexmap::IndexMap;
use models::AgentModels;
use serde_json::Value;
use std::sync::Arc;

/// Reads the section. `types` are the sections that capabilities bring.
pub(super) fn read(
    section: &Node,
    connections: &IndexMap<String, Connection>,
    models: &IndexMap<String, Model>,
    types: &[SectionType],
    context: &mut Context<'_, '_>,
) -> IndexMap<String, Agent> {
    let items = list_items(section, context.report);
    let agents = items.iter().filter_map(|node| agent(node, connections, models, types, context));
    let mut agents = agents.map(|agent| (agent.id.clone(), agent)).collect();
    title::complete(&mut agents, connections, context);
    sub_agents::check(&agents, context);
    policy::check_other_names(&agents, context);
    agents
}

fn agent(
    node: &Node,
    connections: &IndexMap<String, Connection>,
    models: &IndexMap<String, Model>,
    types: &[SectionType],
    context: &mut Context<'_, '_>,
) -> Option<Agent> {
    let agent_type = type_of(node).and_then(|name| serde_json::from_value(name.into()).ok());
    let AgentModels { node, allowed } = models::read(node, agent_type.unwrap_or(AgentType::Agent), context);
    let node = &*node;
    let place = node.get("properties").map_or(node, |entry| &entry.value);
    if let Some(agent_type) = agent_type {
        // Those of `models` are checked with these.
        if allowed.is_none() {
            check_connection(node, agent_type, context);
        }
        provider::check_type(place, agent_type, context);
        sampling::check(node, place, agent_type, allowed.as_ref(), context);
    }
    preset::check(node, place, context);
    hooks::check(node, context);
    fallbacks::check(place, context);
    other_model::check("generateTitle", place, context);
    title::check(place, context);
    other_model::check("summaryModel", place, context);
    operators::check(place, context);
    let tools = tools::read(node, context);
    let mcp = mcp::read(node, connections, context);
    let remote_agents = remote_agents::read(node, context);
    let agents = sub_agents::read(node, &tools, context);
    let shape = context.shape::<AgentEntry>()?;
    let (sections, rest) = Sections::of_agent(node, types, shape, context);
    let mut value = check_value(&rest, shape, context.report)?;
    let sections = sections?;
    let later = operators::take_dynamic(&mut value, place, context.report);
    let known = Arc::new(operators::static_entry(&value));
    let default = models::default_of(allowed.as_ref(), models);
    if let Some(default) = default {
        models::apply(&mut value, default, false);
    }
    let mut entry: AgentEntry = shape::deserialize(value, node.at, context.report)?;
    let delegates = entry.delegate.as_ref().and_then(delegate::DelegateEntry::delegation).is_some();
    if delegates {
        delegate::check(node, &tools, &agents, context);
    }
    // The tools of MCP servers and remote agents are not known here.
    if node.get("mcp").is_none() && node.get("remoteAgents").is_none() {
        let subs = agents.iter().map(|sub| sub.name.as_str());
        let of_pages = context.client_tools.get(&*entry.id.0).cloned().unwrap_or_default();
        let of_sections = sections.tool_names();
        let own = tools.iter().map(|tool| tool.name.as_str()).chain(subs).chain(of_pages);
        let own = own.chain(of_sections.iter().map(String::as_str));
        let own = own.chain(delegates.then_some(delegate::TOOL));
        check_tool_names(&entry.properties, place, own, context);
    }
    steps::check(&entry.properties.settings.prepare_step, place, context.report);
    let files = entry.properties.file_system.take().and_then(|entry| file_system::read(entry, place, context));
    let policy = entry.policy.take();
    policy.iter().for_each(|policy| policy::check(policy, node, context));
    let auth = rule_entry::read(entry.auth.take(), node, context.report);
    let at = context.report.location(node.at);
    let agent = build_agent(entry, &sections, tools, files, at);
    let secrets = operator::resolve_secrets(later.iter().map(|property| &property.value), context.env);
    let later = (!later.is_empty()).then(|| Arc::new(DynamicProperties { properties: later }));
    let agent = Agent {
        agent_type: agent_type.unwrap_or(agent.agent_type),
        models: allowed,
        unread_files: default.map(Model::unread_files).unwrap_or_default(),
        static_entry: known,
        secrets,
        dynamic_properties: later,
        policy,
        mcp,
        remote_agents,
        agents,
        sections,
        auth,
        ..agent
    };
    check_variants(&agent, models, node, context);
    check_tool_search(&agent, connections, place, context);
    Some(agent)
}

/// Reports models whose settings do not fit to the agent's properties. With operators in these, that is
/// known only when they have values.
fn check_variants(agent: &Agent, models: &IndexMap<String, Model>, node: &Node, context: &mut Context<'_, '_>) {
    if agent.dynamic_properties.is_some() {
        return;
    }
    let ids = agent.models.iter().flat_map(|allowed| &allowed.ids).enumerate();
    for (index, model) in ids.filter_map(|(index, id)| Some((index, models.get(id)?))) {
        let tried = [false, true].map(|thinks| agent.for_turn(Vec::new(), Some((model, thinks))));
        if let Some(problem) = tried.into_iter().find_map(Result::err) {
            let at = node.span_at(&[PathStep::Key("models"), PathStep::Index(index)]);
            context.report.error(at, format!("this agent cannot use the model `{}`: {problem}", model.id), None);
        }
    }
}

/// Warns if an agent prefers its provider's search for tools, which not all of its models have.
fn check_tool_search(
    agent: &Agent,
    connections: &IndexMap<String, Connection>,
    place: &Node,
    context: &mut Context<'_, '_>,
) {
    // With operators in the properties, the model may be another one in each turn.
    let is_known = agent.dynamic_properties.is_none() && agent.settings.defer_tools.is_at_provider();
    if is_known && !agent.has_provider_search(connections) {
        let at = place.span_at(&[PathStep::Key("deferTools")]);
        let message = "not all models of this agent can search for tools at their provider, so its own search is used";
        let help =
            "Claude models since 4.5 can, and OpenAI's since GPT-5.4 in the Responses API; `fallbackModels` count, too";
        context.report.warning(at, message, Some(help.to_owned()));
    }
}

impl Agent {
    /// Returns the agent for one turn. `values` are those of the operators in its properties, in the
    /// order of [`DynamicProperties::properties`]; `model` is the one that answers, and whether it thinks,
    /// for an agent with [`models`](Self::models). Instructions, tools, files and sub-agents stay as they
    /// are.
    ///
    /// # Errors
    /// The first value that is not allowed, with the position of its operator in the config.
    pub fn for_turn(&self, values: Vec<Value>, model: Option<(&Model, bool)>) -> Result<Self, String> {
        if model.is_none() && self.dynamic_properties.is_none() {
            return Ok(self.clone());
        }
        let later = self.dynamic_properties.as_ref().map_or(&[][..], |later| &later.properties);
        self.settle(operators::apply_values(Value::clone(&self.static_entry), later, values)?, model)
    }

    /// Returns the agent as this entry says, which holds no operators.
    fn settle(&self, mut entry: Value, model: Option<(&Model, bool)>) -> Result<Self, String> {
        if let Some((model, thinks)) = model {
            models::apply(&mut entry, model, thinks);
        }
        let entry = operators::read_entry(entry)?;
        let settled = build_agent(entry, &self.sections, Vec::new(), None, self.at.clone());
        let own = self.clone();
        Ok(Self {
            agent_type: own.agent_type,
            models: own.models,
            static_entry: own.static_entry,
            dynamic_properties: own.dynamic_properties,
            unread_files: model.map(|(model, _)| model.unread_files()).unwrap_or_default(),
            id: own.id,
            title: own.title,
            description: own.description,
            picture: own.picture,
            instructions: own.instructions,
            ask_user: own.ask_user,
            file_system: own.file_system,
            tools: own.tools,
            hooks: own.hooks,
            titles: own.titles,
            mcp: own.mcp,
            unavailable_mcp: own.unavailable_mcp,
            remote_agents: own.remote_agents,
            agents: own.agents,
            policy: own.policy,
            sections: own.sections,
            auth: own.auth,
            secrets: own.secrets,
            ..settled
        })
    }
}

fn build_agent(
    mut entry: AgentEntry,
    sections: &Sections,
    tools: Vec<ToolRef>,
    file_system: Option<FileSystem>,
    at: Location,
) -> Agent {
    preset::apply(&mut entry, sections);
    let properties = entry.properties;
    let openai_api = properties.api.unwrap_or_default();
    let (fallback_models, of_gateway) =
        fallbacks::split_fallbacks(properties.fallback_models, entry.agent_type, &entry.connection_id.0);
    let titles = properties.generate_title.and_then(|title| title.titles(&entry.connection_id.0));
    let summary_model = properties.summary_model.map(|other| other.model(&entry.connection_id.0));
    let mut settings = properties.settings;
    settings.provider_options = provider::options(
        settings.provider_options,
        properties.provider,
        &of_gateway,
        entry.agent_type,
        openai_api == OpenAiApi::Chat,
    );
    Agent {
        id: entry.id.0,
        title: entry.title.map(|Text(text)| text),
        description: entry.description.map(|Text(text)| text),
        picture: entry.picture.map(|Text(text)| text),
        agent_type: entry.agent_type,
        connection_id: entry.connection_id.0,
        model: properties.model.0,
        fallback_models,
        titles,
        summary_model,
        instructions: properties.instructions,
        routes: entry.preset.map_or(&[][..], preset::PresetEntry::routes),
        extracts_records: entry.preset == Some(preset::PresetEntry::RecordExtractor),
        settings,
        page_context: properties.page_context,
        ask_user: properties.ask_user,
        models: None,
        unread_files: UnreadFiles::default(),
        static_entry: Arc::default(),
        dynamic_properties: None,
        secrets: Vec::new(),
        openai_api,
        tools,
        delegation: entry.delegate.as_ref().and_then(delegate::DelegateEntry::delegation),
        policy: None,
        sections: Sections::default(),
        mcp: Vec::new(),
        unavailable_mcp: Vec::new(),
        remote_agents: Vec::new(),
        agents: Vec::new(),
        hooks: entry.hooks,
        file_system,
        auth: AccessRule::default(),
        at,
    }
}

/// Checks that the connection exists and fits the agent's type.
fn check_connection(node: &Node, agent_type: AgentType, context: &mut Context<'_, '_>) {
    let Some((id, at)) = node.get("connectionId").and_then(|entry| Some((entry.value.text()?, entry.value.at))) else {
        return;
    };
    let Some(connection) = context.connection(id, at) else { return };
    let Some(found) = type_of(connection) else { return };
    let expected = match agent_type {
        AgentType::ClaudeAgent => "Anthropic",
        AgentType::OpenAIAgent => "OpenAI",
        AgentType::GeminiAgent => "Google",
        AgentType::AIGatewayAgent => "AIGateway",
        AgentType::Agent | AgentType::AISDKAgent => {
            let is_known = connections::is_type(found, context);
            if is_known && !context.vocabulary.has_models(found) {
                context.report.error(
                    at,
                    format!("the connection `{id}` is of the type {found}, which has no model"),
                    None,
                );
            }
            return;
        }
    };
    if found != expected {
        let message = format!(
            "an agent of the type {agent_type:?} needs a connection of the type {expected}; `{id}` is of the type {found}"
        );
        let help = match found {
            "Anthropic" => "ClaudeAgent",
            "OpenAI" => "OpenAIAgent",
            "Google" => "GeminiAgent",
            "AIGateway" => "AIGatewayAgent",
            _ => "Agent",
        };
        context.report.error(at, message, Some(format!("the agent's type for it is `{help}`")));
    }
}

/// Reports names of tools in the properties that are neither the agent's own tools nor built-in
/// tools that it has.
fn check_tool_names<'t>(
    properties: &AgentProperties,
    place: &Node,
    own: impl Iterator<Item = &'t str>,
    context: &mut Context<'_, '_>,
) {
    let mut known: Vec<&str> = own.collect();
    known.push(wire::page::UPDATE_PAGE_STATE);
    if properties.file_system.is_some() {
        known.extend(tools::FILE_TOOLS);
    }
    if properties.ask_user {
        known.push(wire::question::ASK_USER);
    }
    let mut check = |name: &str, path: &[PathStep<'_>]| {
        if !known.contains(&name) {
            context.report.error(
                place.span_at(path),
                format!("this agent has no tool `{name}`"),
                suggest::help(name, known.iter().copied()),
            );
        }
    };
    let settings = &properties.settings;
    if let ToolChoice::Tool(name) = &settings.tool_choice {
        check(name, &[PathStep::Key("toolChoice"), PathStep::Key("toolName")]);
    }
    for (index, name) in settings.active_tools.iter().flatten().enumerate() {
        check(name, &[PathStep::Key("activeTools"), PathStep::Index(index)]);
    }
    if let ToolStrategy::Pipeline(names) = &settings.tool_strategy {
        for (index, name) in names.iter().enumerate() {
            check(name, &[PathStep::Key("toolStrategy"), PathStep::Key("pipeline"), PathStep::Index(index)]);
        }
    }
    for (number, rule) in settings.prepare_step.iter().enumerate() {
        let rule_at = [PathStep::Key("prepareStep"), PathStep::Index(number)];
        if let Some(ToolChoice::Tool(name)) = &rule.tool_choice {
            check(name, &[&rule_at[..], &[PathStep::Key("toolChoice"), PathStep::Key("toolName")]].concat());
        }
        for (index, name) in rule.active_tools.iter().flatten().enumerate() {
            check(name, &[&rule_at[..], &[PathStep::Key("activeTools"), PathStep::Index(index)]].concat());
        }
    }
    // A single name has no index, and the position of its key.
    for (index, name) in settings.stop_on_tool_call.iter().enumerate() {
        check(name, &[PathStep::Key("stopOnToolCall"), PathStep::Index(index)]);
    }
}
