//! The selectable parts of a custom agent: models, tools, libraries and skills of its base.

use crate::section::CustomAgents;
use auth::rights::{AccessDecision, check_rule};
use chat::Caller;
use config::{AccessRule, Agent, Config};
use schemars::JsonSchema;
use serde::Serialize;

/// A base agent with what may be chosen of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct BaseChoices {
    /// The id of the base agent.
    pub(crate) from: String,
    /// The models that an agent based on it may have. Without a choice it has those of its base.
    pub(crate) models: Vec<ModelChoice>,
    /// The tools, libraries and skills of the base: names of tools, and `KIND:NAME` for others.
    pub(crate) tools: Vec<String>,
}

/// A model to choose.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct ModelChoice {
    /// Its id in the section `models`.
    pub(crate) id: String,
    /// The name that users read.
    pub(crate) title: String,
}

/// Returns the parts that a custom agent can have of its base: endpoints by tool name, names for groups of tools such
/// as `mcp:NAME`, and `KEY` or `KEY:PART` for what capabilities bring. With a `maker`, what this user may use.
pub fn selectable_tools(config: &Config, agent: &Agent, maker: Option<&Caller>) -> Vec<String> {
    let may_use = |rule: Option<&AccessRule>| match (maker, rule) {
        (None, _) => true,
        (Some(maker), Some(rule)) => check_rule(maker, rule) == AccessDecision::Allowed,
        (Some(_), None) => false,
    };
    let endpoints = agent.tools.iter();
    let endpoints = endpoints.filter(|tool| may_use(config.endpoints.get(&tool.endpoint_id).map(|it| &it.auth)));
    let endpoints = endpoints.map(|tool| tool.name.clone());
    // A server that is switched off for a while stays a choice, so that agents keep theirs.
    let servers = agent.mcp.iter().map(|server| &server.name).chain(&agent.unavailable_mcp);
    let servers = servers.map(|name| format!("mcp:{name}"));
    let remote = agent.remote_agents.iter().map(|remote| format!("remote:{}", remote.connection_id));
    let below = agent.agents.iter().filter(|below| may_use(config.agents.get(&below.agent_id).map(|it| &it.auth)));
    let below = below.map(|below| format!("agent:{}", below.name));
    let files = agent.file_system.is_some().then(|| "files".to_owned());
    let questions = agent.ask_user.then(|| "questions".to_owned());
    let capabilities = agent.sections.choices(config, maker.map(Caller::roles));
    endpoints.chain(servers).chain(remote).chain(below).chain(files).chain(questions).chain(capabilities).collect()
}

/// Returns the base agents with what administrators may choose of them.
pub(crate) fn for_administrators(config: &Config) -> Vec<BaseChoices> {
    let Some(allowed) = config.section::<CustomAgents>() else { return Vec::new() };
    let bases = allowed.from.iter().filter_map(|id| config.agents.get(id));
    let all = || config.models.keys();
    bases.map(|base| choices(config, base, all(), selectable_tools(config, base, None))).collect()
}

/// Returns the base agents with what a user may choose of them; none if the user may make no agents.
pub(crate) fn for_user(config: &Config, maker: &Caller) -> Vec<BaseChoices> {
    let Some(allowed) = config.section::<CustomAgents>() else { return Vec::new() };
    let Some(users) = allowed.users.as_ref().filter(|users| is_admitted(maker, &users.auth)) else {
        return Vec::new();
    };
    let bases = allowed.bases_of_users().iter().filter_map(|id| config.agents.get(id));
    let bases = bases.filter(|base| is_admitted(maker, &base.auth));
    let choices = bases.map(|base| {
        let mut tools = selectable_tools(config, base, Some(maker));
        if let Some(offered) = &users.tools {
            tools.retain(|tool| offered.contains(tool));
        }
        let own = base.models.iter().flat_map(|models| &models.ids);
        let models: Vec<_> = if users.models.is_empty() { own.collect() } else { users.models.iter().collect() };
        choices(config, base, models.into_iter(), tools)
    });
    choices.collect()
}

/// Whether a signed-in user is admitted by a rule.
pub(crate) fn is_admitted(caller: &Caller, rule: &AccessRule) -> bool {
    caller.is_authenticated && check_rule(caller, rule) == AccessDecision::Allowed
}

fn choices<'c>(
    config: &'c Config,
    base: &Agent,
    models: impl Iterator<Item = &'c String>,
    tools: Vec<String>,
) -> BaseChoices {
    let models = models.filter_map(|id| config.models.get(id)).filter(|model| base.with_model(model).is_ok());
    let models = models.map(|model| ModelChoice { id: model.id.clone(), title: model.title.clone() }).collect();
    BaseChoices { from: base.id.clone(), models, tools }
}
