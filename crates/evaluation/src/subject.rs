//! What is evaluated: the agents of a config.

use async_trait::async_trait;
use serde_json::Value;
use wire::api::TokenUsage;
use wire::{ToolPart, UiMessage};

/// The agents and endpoints of a config.
#[async_trait]
pub trait Subject: Send + Sync {
    /// Sends messages to an agent, one after the other, in a new conversation.
    ///
    /// # Errors
    /// There is no answer; the message is for the author of the evaluation.
    async fn answer(&self, agent_id: &str, messages: &[String]) -> Result<Transcript, String>;

    /// Asks an agent for a judgement.
    ///
    /// # Errors
    /// There is none.
    async fn judge(&self, request: JudgeRequest) -> Result<Judgement, String>;

    /// Calls an endpoint.
    ///
    /// # Errors
    /// It has no result.
    async fn call_endpoint(&self, id: &str, payload: Value) -> Result<Value, String>;
}

/// The answers of an agent to the messages of a case.
#[derive(Clone, Debug, Default)]
pub struct Transcript {
    /// The conversation.
    pub conversation_id: String,
    /// The answers, one for each message.
    pub answers: Vec<UiMessage>,
    /// The tokens of all answers.
    pub usage: TokenUsage,
    /// The cost of all answers in US dollars; `None` if a price is unknown.
    pub cost_usd: Option<f64>,
    /// How long all answers took.
    pub seconds: f64,
}

impl Transcript {
    /// Returns the text of the last answer.
    pub fn text(&self) -> String {
        self.answers.last().map(UiMessage::text).unwrap_or_default()
    }

    /// Returns the tool calls of all answers, in order.
    pub(crate) fn calls(&self) -> impl Iterator<Item = &ToolPart> {
        self.answers.iter().flat_map(UiMessage::tools)
    }
}

/// A question to an agent that judges.
#[derive(Clone, Debug)]
pub struct JudgeRequest {
    /// The agent.
    pub agent_id: String,
    /// What it is to do, and what it judges.
    pub prompt: String,
    /// The JSON Schema of its answer.
    pub schema: Value,
}

/// The answer of an agent that judges.
#[derive(Clone, Debug)]
pub struct Judgement {
    /// In the form of the schema.
    pub output: Value,
    /// In US dollars, as far as prices are known.
    pub cost_usd: f64,
}
