//! Warns of sampling settings that the APIs of an agent's models do not support and that are
//! therefore not sent.

use crate::agent::AgentType;
use crate::model::AllowedModels;
use crate::section::{Context, type_of};
use config_source::{Node, NodeKind};

/// An API of models, by the sampling settings that it supports.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ModelApi {
    Anthropic,
    Responses,
    Chat,
    Gateway,
}

/// The settings that each API does not support, with the help for them.
impl ModelApi {
    fn unknown(self) -> &'static [&'static str] {
        match self {
            Self::Anthropic => &["frequencyPenalty", "presencePenalty", "seed"],
            Self::Responses => &["topK", "frequencyPenalty", "presencePenalty", "seed", "stopSequences"],
            Self::Chat | Self::Gateway => &["topK"],
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Anthropic => "Anthropic's Messages API",
            Self::Responses => "OpenAI's Responses API",
            Self::Chat => "the Chat Completions API",
            Self::Gateway => "the AI Gateway",
        }
    }

    fn help(self, setting: &str, agent_type: AgentType) -> &'static str {
        match self {
            Self::Responses if setting != "topK" && agent_type == AgentType::OpenAIAgent => {
                "leave it out, or let the agent speak Chat Completions, which knows it: `api: chat`"
            }
            Self::Responses if setting != "topK" => {
                "leave it out, or make it an `OpenAIAgent` with `api: chat`: Chat Completions knows it"
            }
            Self::Chat => {
                "leave it out; a server that knows it takes it by its own name: `providerOptions: { openai: { top_k: … } }`"
            }
            Self::Gateway => {
                "leave it out, or write it under the name of the provider behind the gateway in `providerOptions`"
            }
            Self::Anthropic | Self::Responses => "leave it out",
        }
    }
}

/// One of the models with which an agent answers.
struct AgentModel<'n> {
    /// Its id or name.
    name: &'n str,
    /// Its API. `None` if it supports all settings, or if it is not known.
    api: Option<ModelApi>,
}

/// Warns of settings that have no effect, or none with some of the agent's models.
pub(crate) fn check(
    agent: &Node,
    properties: &Node,
    agent_type: AgentType,
    allowed: Option<&AllowedModels>,
    context: &mut Context<'_, '_>,
) {
    let models = models(agent, properties, agent_type, allowed, context);
    for entry in properties.entries().iter().filter(|entry| !matches!(entry.value.kind, NodeKind::Null)) {
        let lacks_it =
            |model: &&AgentModel<'_>| model.api.is_some_and(|api| api.unknown().contains(&entry.key.as_str()));
        let is_without_effect = models.iter().all(|model| lacks_it(&model));
        let mut reported = Vec::new();
        for AgentModel { name, api } in models.iter().filter(lacks_it) {
            let Some(api) = api.filter(|api| !reported.contains(api)) else { continue };
            reported.push(api);
            let place = if is_without_effect { String::new() } else { format!(" with the model `{name}`") };
            let message = format!("`{}` has no effect{place}: {} does not know it", entry.key, api.name());
            context.report.warning(entry.key_at, message, Some(api.help(&entry.key, agent_type).to_owned()));
        }
    }
}

/// Returns the models with which the agent answers, the first one first: those among which users choose, and the
/// fallbacks.
fn models<'n>(
    agent: &'n Node,
    properties: &'n Node,
    agent_type: AgentType,
    allowed: Option<&'n AllowedModels>,
    context: &Context<'_, '_>,
) -> Vec<AgentModel<'n>> {
    let own = text(agent, "connectionId");
    let first = api(properties, own, agent_type, context);
    let other = |connection: Option<&str>| match connection {
        Some(id) if own != Some(id) => api_of_connection(id, context),
        _ => first,
    };
    let ids = allowed.into_iter().flat_map(|allowed| &allowed.ids);
    let chosen = ids.map(|id| {
        let connection = context.models.get(id.as_str()).and_then(|model| text(model, "connectionId"));
        AgentModel { name: id, api: other(connection) }
    });
    let mut models: Vec<_> = chosen.collect();
    if models.is_empty() {
        models.push(AgentModel { name: text(properties, "model").unwrap_or_default(), api: first });
    }
    let fallbacks = properties.get("fallbackModels").map(|entry| entry.value.items()).unwrap_or_default();
    models.extend(fallbacks.iter().map(|fallback| AgentModel {
        name: fallback.text().or_else(|| text(fallback, "model")).unwrap_or_default(),
        api: other(text(fallback, "connectionId")),
    }));
    models
}

/// Returns the API of the agent's first model. `None` if it supports all settings, or if it is not
/// known.
fn api(
    properties: &Node,
    connection: Option<&str>,
    agent_type: AgentType,
    context: &Context<'_, '_>,
) -> Option<ModelApi> {
    let is_chat = properties.get("api").and_then(|entry| entry.value.text()) == Some("chat");
    match agent_type {
        AgentType::ClaudeAgent => Some(ModelApi::Anthropic),
        AgentType::OpenAIAgent => Some(if is_chat { ModelApi::Chat } else { ModelApi::Responses }),
        AgentType::AIGatewayAgent => Some(ModelApi::Gateway),
        AgentType::GeminiAgent => None,
        AgentType::Agent | AgentType::AISDKAgent => api_of_connection(connection?, context),
    }
}

fn text<'n>(node: &'n Node, key: &str) -> Option<&'n str> {
    node.get(key)?.value.text()
}

fn api_of_connection(id: &str, context: &Context<'_, '_>) -> Option<ModelApi> {
    match type_of(context.connections.get(id)?)? {
        "Anthropic" => Some(ModelApi::Anthropic),
        "OpenAI" => Some(ModelApi::Responses),
        "OpenAICompatible" => Some(ModelApi::Chat),
        "AIGateway" => Some(ModelApi::Gateway),
        _ => None,
    }
}
