//! The types of agents, and the models that they use beside their own.

use schemars::JsonSchema;
use serde::Deserialize;
use settings::pattern;

/// The type of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[schemars(extend("x-names" = "agent type"))]
pub enum AgentType {
    /// Uses an `Anthropic` connection.
    ClaudeAgent,
    /// Uses an `OpenAI` connection.
    OpenAIAgent,
    /// Uses a `Google` connection.
    GeminiAgent,
    /// Uses an `AIGateway` connection.
    AIGatewayAgent,
    /// Uses any connection that has models.
    Agent,
    /// The same as `Agent`.
    AISDKAgent,
}

/// An API of OpenAI.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OpenAiApi {
    /// The Responses API.
    #[default]
    Responses,
    /// The Chat Completions API.
    Chat,
}

/// A model of a connection.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ModelRef {
    /// The connection to the model's provider.
    #[schemars(regex(pattern = pattern::ID))]
    pub connection_id: String,
    /// The provider's name for the model.
    #[schemars(length(min = 1))]
    pub model: String,
}

/// How a model names new conversations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Titles {
    /// The model. `None`: the agent's own.
    pub model: Option<ModelRef>,
    /// The most words of a title.
    pub max_words: usize,
    /// The most characters of a title.
    pub max_chars: usize,
    /// Whether the config does not say so itself. Then only conversations that a user begins are named,
    /// and not those of programs.
    pub is_default: bool,
}

impl Default for Titles {
    fn default() -> Self {
        Self { model: None, max_words: 6, max_chars: 60, is_default: false }
    }
}
