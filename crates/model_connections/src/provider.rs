//! The providers among which administrators choose.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A provider of models.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "ModelProvider")]
pub(crate) enum Provider {
    /// OpenAI.
    #[default]
    OpenAi,
    /// Anthropic.
    Anthropic,
    /// Google's Gemini.
    Gemini,
    /// OpenRouter.
    OpenRouter,
    /// A local Ollama.
    Ollama,
    /// Another address with the Chat Completions API.
    Compatible,
}

impl Provider {
    /// All providers, in the order of the form.
    pub(crate) const ALL: [Self; 6] =
        [Self::OpenAi, Self::Anthropic, Self::Gemini, Self::OpenRouter, Self::Ollama, Self::Compatible];

    /// Returns the name in the API and in forms.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::OpenRouter => "openrouter",
            Self::Ollama => "ollama",
            Self::Compatible => "compatible",
        }
    }

    /// Returns the provider with this name.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|provider| provider.name() == name)
    }

    /// Returns the name that people know.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::OpenAi => "OpenAI",
            Self::Anthropic => "Anthropic",
            Self::Gemini => "Google Gemini",
            Self::OpenRouter => "OpenRouter",
            Self::Ollama => "Ollama",
            Self::Compatible => "OpenAI-compatible server",
        }
    }

    /// Returns the type of its connections in a config.
    pub(crate) fn connection_type(self) -> &'static str {
        match self {
            Self::OpenAi => "OpenAI",
            Self::Anthropic => "Anthropic",
            Self::Gemini => "Google",
            Self::OpenRouter | Self::Ollama | Self::Compatible => "OpenAICompatible",
        }
    }

    /// Returns the address that a config has to name, if the type of the connection has none.
    pub(crate) fn config_address(self) -> Option<&'static str> {
        match self {
            Self::OpenRouter => Some("https://openrouter.ai/api/v1"),
            Self::Ollama => Some("http://localhost:11434/v1"),
            Self::OpenAi | Self::Anthropic | Self::Gemini | Self::Compatible => None,
        }
    }

    /// Returns its own address; `None` if it has none.
    pub(crate) fn address(self) -> Option<&'static str> {
        match self {
            Self::OpenAi => Some("https://api.openai.com/v1"),
            Self::Anthropic => Some("https://api.anthropic.com/v1"),
            Self::Gemini => Some("https://generativelanguage.googleapis.com/v1beta"),
            Self::OpenRouter | Self::Ollama | Self::Compatible => self.config_address(),
        }
    }

    /// Returns whether requests to its own address need a key.
    pub(crate) fn needs_key(self) -> bool {
        !matches!(self, Self::Ollama | Self::Compatible)
    }

    /// Returns the header with the key, and what stands in it before the key.
    pub(crate) fn key_header(self) -> (&'static str, &'static str) {
        match self {
            Self::Anthropic => ("x-api-key", ""),
            Self::Gemini => ("x-goog-api-key", ""),
            Self::OpenAi | Self::OpenRouter | Self::Ollama | Self::Compatible => ("authorization", "Bearer "),
        }
    }

    /// Returns further headers of a request for its models.
    pub(crate) fn list_headers(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Anthropic => &[("anthropic-version", "2023-06-01")],
            _ => &[],
        }
    }

    /// Returns the query of a request for its models: with it, the first page has all of them.
    pub(crate) fn list_query(self) -> Option<&'static str> {
        match self {
            Self::Anthropic => Some("limit=1000"),
            Self::Gemini => Some("pageSize=1000"),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_api() {
        for provider in Provider::ALL {
            assert_eq!(serde_json::to_value(provider).unwrap(), provider.name());
            assert_eq!(Provider::from_name(provider.name()), Some(provider));
        }
        assert_eq!(Provider::from_name("nothing"), None);
    }
}
