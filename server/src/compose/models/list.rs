//! The list of models for clients.

use auth::rights::Rights;
use chat::Caller;
use config::{Agent, Config, Model};
use contract::Price;
use schemars::JsonSchema;
use serde::Serialize;

/// The models of the agents that a caller may use.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct ModelList {
    models: Vec<ListedModel>,
}

/// A model with its features.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ListedModel {
    /// The id by which requests choose the model. Absent if it is an agent's only one, which the config
    /// does not list under `models`.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    /// The name for users.
    title: String,
    /// The provider's name for the model.
    model: String,
    /// The type of its connection, such as `Anthropic`.
    provider: &'static str,
    /// Whether requests can switch its thinking on.
    thinking: bool,
    /// Whether it reads images; absent if the config does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    vision: Option<bool>,
    /// Whether it reads other files, such as PDF; absent if the config does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    files: Option<bool>,
    /// The size of its context window in tokens, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    context_tokens: Option<u64>,
    /// Its price in US dollars per million tokens, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    price: Option<Price>,
    /// The agents that have it.
    agents: Vec<ModelAgent>,
}

/// An agent that has a model.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct ModelAgent {
    /// The agent's id.
    id: String,
    /// Whether the model answers if the request names none.
    default: bool,
}

/// Returns the models of the agents that a caller may use: those of the section `models`, then those
/// that agents name themselves. A model that an operator names is not known before a turn.
pub(in crate::compose) fn models(config: &Config, rights: &Rights, caller: &Caller) -> ModelList {
    let may_use = |agent: &&Agent| caller.check_agent(&agent.id).and(rights.check_agent(caller, &agent.id)).is_ok();
    let agents: Vec<&Agent> = config.agents.values().filter(may_use).collect();
    let declared = config.models.values().map(|model| declared(config, model, &agents));
    let mut models: Vec<ListedModel> = declared.filter(|listed| !listed.agents.is_empty()).collect();
    for agent in agents.iter().filter(|agent| agent.models.is_none() && !agent.model.is_empty()) {
        let provider = provider(config, &agent.connection_id);
        let user = ModelAgent { id: agent.id.clone(), default: true };
        let same = |listed: &&mut ListedModel| {
            listed.id.is_none() && (listed.provider, &listed.model) == (provider, &agent.model)
        };
        match models.iter_mut().find(same) {
            Some(listed) => listed.agents.push(user),
            None => models.push(own(config, agent, provider, user)),
        }
    }
    ModelList { models }
}

impl ModelList {
    /// Returns the model with this id, or otherwise the first one that its provider calls so.
    pub(crate) fn into_named(self, name: &str) -> Option<ListedModel> {
        let is_named = |model: &ListedModel| model.model == name;
        let with_id = self.models.iter().position(|model| model.id.as_deref() == Some(name));
        let at = with_id.or_else(|| self.models.iter().position(is_named))?;
        self.models.into_iter().nth(at)
    }
}

fn declared(config: &Config, model: &Model, agents: &[&Agent]) -> ListedModel {
    let users = agents.iter().filter_map(|agent| {
        let allowed = agent.models.as_ref().filter(|allowed| allowed.ids.contains(&model.id))?;
        Some(ModelAgent { id: agent.id.clone(), default: allowed.default == model.id })
    });
    ListedModel {
        id: Some(model.id.clone()),
        title: model.title.clone(),
        model: model.model.clone(),
        provider: provider(config, &model.connection_id),
        thinking: model.can_think,
        vision: model.vision,
        files: model.files,
        context_tokens: model.context_tokens.or_else(|| providers::context_tokens(&model.model)),
        price: config.price_of(&model.model),
        agents: users.collect(),
    }
}

/// The model of an agent whose users have no choice.
fn own(config: &Config, agent: &Agent, provider: &'static str, user: ModelAgent) -> ListedModel {
    ListedModel {
        id: None,
        title: agent.model.clone(),
        model: agent.model.clone(),
        provider,
        thinking: false,
        vision: None,
        files: None,
        context_tokens: agent.settings.context_tokens.or_else(|| providers::context_tokens(&agent.model)),
        price: config.price_of(&agent.model),
        agents: vec![user],
    }
}

fn provider(config: &Config, connection_id: &str) -> &'static str {
    config.connections.get(connection_id).map_or("", |connection| connection.kind.name())
}
