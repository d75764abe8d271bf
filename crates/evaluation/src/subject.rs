//! The subject of an evaluation: the agents of a config.

use async_trait::async_trait;
use serde_json::Value;
use std::time::Duration;
use wire::api::TokenUsage;
use wire::{ToolPart, UiMessage};

/// The agents and endpoints of a config.
#[async_trait]
pub trait Subject: Send + Sync {
    /// Sends messages to an agent, one after the other, in a new conversation. An answer that takes longer than
    /// `timeout` is stopped, and the future resolves when it has ended, so that nothing is spent later.
    async fn answer(&self, agent_id: &str, messages: &[String], timeout: Duration) -> Transcript;

    /// Asks an agent for a judgement.
    async fn judge(&self, request: JudgeRequest) -> Judgement;

    /// Calls an endpoint.
    ///
    /// # Errors
    /// It has no result.
    async fn call_endpoint(&self, id: &str, payload: Value) -> Result<Value, String>;
}

/// The answers of an agent to the messages of a case, and their usage, also if one failed.
#[derive(Clone, Debug, Default)]
pub struct Transcript {
    /// The conversation.
    pub conversation_id: String,
    /// Why there is no answer to the last message, for the author of the evaluation.
    pub error: Option<String>,
    /// The answers, one for each message that was answered.
    pub answers: Vec<UiMessage>,
    /// The tokens of the conversation.
    pub usage: TokenUsage,
    /// The cost of the conversation in US dollars; `None` if it is unknown.
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
    /// The instructions, and the answer to judge.
    pub prompt: String,
    /// The JSON Schema of its answer.
    pub schema: Value,
}

/// The answer of an agent that judges.
#[derive(Clone, Debug)]
pub struct Judgement {
    /// The judgement in the form of the schema, or why there is none.
    pub output: Result<Value, String>,
    /// In US dollars, as far as prices are known, also if there is no judgement.
    pub cost_usd: f64,
}
