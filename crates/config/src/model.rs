//! A model of a checked config, among those that users choose from.

use crate::agent::{Agent, AgentType, OpenAiApi};
use crate::connection::{Connection, ConnectionKind};
use config_source::Location;
use contract::Price;
use indexmap::IndexMap;
use serde_json::{Map, Value};

/// A model of the section `models`.
#[derive(Clone, Debug)]
pub struct Model {
    /// The id by which agents and requests name it.
    pub id: String,
    /// The name that users read.
    pub title: String,
    /// The id of a connection that has models.
    pub connection_id: String,
    /// The provider's name for the model.
    pub model: String,
    /// Whether its thinking can be switched on and off.
    pub can_think: bool,
    /// Whether it reads images. `None`: as its provider accepts them.
    pub vision: Option<bool>,
    /// Whether it reads other files. `None`: as its provider accepts them.
    pub files: Option<bool>,
    /// The size of its context window in tokens. `None`: known for well-known models.
    pub context_tokens: Option<u64>,
    /// Its price. `None`: that of the section `prices`, or the list price.
    pub price: Option<Price>,
    /// The type of agent whose properties it has.
    pub(crate) agent_type: AgentType,
    /// The properties that take precedence over those of an agent.
    pub(crate) properties: Map<String, Value>,
    /// Further properties while it thinks.
    pub(crate) when_thinking: Map<String, Value>,
    /// Further properties while it does not think.
    pub(crate) when_not_thinking: Map<String, Value>,
    /// Where it is declared.
    pub at: Location,
}

/// The models among which the users of an agent choose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllowedModels {
    /// Their ids, in the order of the agent; at least one.
    pub ids: Vec<String>,
    /// The id of the one that answers until the user chooses.
    pub default: String,
}

/// Files that a model gets a note about instead of their content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UnreadFiles {
    /// Whether it reads no images.
    pub images: bool,
    /// Whether it reads no other files.
    pub others: bool,
}

impl Model {
    /// Returns what the model is not sent.
    pub fn unread_files(&self) -> UnreadFiles {
        UnreadFiles { images: self.vision == Some(false), others: self.files == Some(false) }
    }
}

/// Parts of the names of Claude models without a search for tools; all newer ones have it.
const CLAUDE_WITHOUT_SEARCH: [&str; 11] = [
    "claude-3",
    "claude-2",
    "claude-v2",
    "claude-instant",
    "sonnet-4-0",
    "sonnet-4-2",
    "sonnet-4@",
    "opus-4-0",
    "opus-4-1",
    "opus-4-2",
    "opus-4@",
];

impl Agent {
    /// Returns whether the agent's model, and each to which it falls back, can search for tools at its provider. Source:
    /// the providers' pages on their search for tools.
    pub fn has_provider_search(&self, connections: &IndexMap<String, Connection>) -> bool {
        let others = self.fallback_models.iter().map(|other| (&other.connection_id, &other.model));
        let mut models = std::iter::once((&self.connection_id, &self.model)).chain(others);
        models.all(|(id, model)| match connections.get(id).map(|connection| &connection.kind) {
            Some(ConnectionKind::Anthropic(_)) => claude_has_search(model),
            Some(ConnectionKind::OpenAi(_)) => self.openai_api == OpenAiApi::Responses && gpt_has_search(model),
            _ => false,
        })
    }
}

fn claude_has_search(model: &str) -> bool {
    let is_old = CLAUDE_WITHOUT_SEARCH.iter().any(|name| model.contains(name))
        || ["sonnet-4", "opus-4"].iter().any(|name| model.ends_with(name));
    model.contains("claude-") && !is_old
}

fn gpt_has_search(model: &str) -> bool {
    let Some(rest) = model.strip_prefix("gpt-") else { return false };
    let end = rest.find(|sign: char| !sign.is_ascii_digit() && sign != '.').unwrap_or(rest.len());
    let (number, variant) = rest.split_at(end);
    let (major, minor) = number.split_once('.').unwrap_or((number, "0"));
    let version = major.parse::<u32>().ok().zip(minor.parse::<u32>().ok());
    version.is_some_and(|version| version >= (5, 4)) && !variant.starts_with("-chat")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_with_a_search_for_tools_are_known() {
        let check = |model: &str, expected: bool| {
            assert_eq!(claude_has_search(model) || gpt_has_search(model), expected, "{model}");
        };
        for model in ["claude-sonnet-4-5-20250929", "claude-opus-4-6", "claude-haiku-4-5", "claude-sonnet-5-5"] {
            check(model, true);
        }
        for model in
            ["claude-opus-4-1-20250805", "claude-sonnet-4-20250514", "claude-sonnet-4", "claude-3-5-haiku-latest"]
        {
            check(model, false);
        }
        for model in ["gpt-5.4", "gpt-5.4-2026-03-05", "gpt-5.6-mini", "gpt-6"] {
            check(model, true);
        }
        for model in ["gpt-5", "gpt-5.2", "gpt-4.1", "gpt-5.4-chat-latest", "gpt-oss-120b", "o3", "gemini-3-pro"] {
            check(model, false);
        }
    }
}
