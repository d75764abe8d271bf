//! Warns of sampling settings that the API of an agent's model does not support and that are
//! therefore not sent.

use crate::agent::AgentType;
use crate::section::{Context, type_of};
use crate::source::{Node, NodeKind};

/// An API of models, by the sampling settings that it supports.
#[derive(Clone, Copy)]
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

/// Warns of settings that have no effect.
pub(crate) fn check(agent: &Node, properties: &Node, agent_type: AgentType, context: &mut Context<'_, '_>) {
    let Some(api) = api(agent, properties, agent_type, context) else { return };
    for entry in properties.entries().iter().filter(|entry| !matches!(entry.value.kind, NodeKind::Null)) {
        if api.unknown().contains(&entry.key.as_str()) {
            let message = format!("`{}` has no effect: {} does not know it", entry.key, api.name());
            context.report.warning(entry.key_at, message, Some(api.help(&entry.key, agent_type).to_owned()));
        }
    }
}

/// Returns the API of the agent's first model. `None` if it supports all settings, or if it is not
/// known.
fn api(agent: &Node, properties: &Node, agent_type: AgentType, context: &Context<'_, '_>) -> Option<ModelApi> {
    let is_chat = properties.get("api").and_then(|entry| entry.value.text()) == Some("chat");
    match agent_type {
        AgentType::ClaudeAgent => Some(ModelApi::Anthropic),
        AgentType::OpenAIAgent => Some(if is_chat { ModelApi::Chat } else { ModelApi::Responses }),
        AgentType::AIGatewayAgent => Some(ModelApi::Gateway),
        AgentType::GeminiAgent => None,
        AgentType::Agent | AgentType::AISDKAgent => {
            let id = agent.get("connectionId").and_then(|entry| entry.value.text())?;
            match type_of(context.connections.get(id)?)? {
                "Anthropic" => Some(ModelApi::Anthropic),
                "OpenAI" => Some(ModelApi::Responses),
                "OpenAICompatible" => Some(ModelApi::Chat),
                "AIGateway" => Some(ModelApi::Gateway),
                _ => None,
            }
        }
    }
}
