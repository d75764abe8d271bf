//! Whether the models of an agent can search for tools at their provider.

use super::{Agent, OpenAiApi};
use crate::connection::{Connection, ConnectionKind};
use indexmap::IndexMap;

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
