//! The subject of an evaluation: the agents of a config.

use async_trait::async_trait;
use serde_json::Value;
use std::time::Duration;
use wire::api::{MessageMetadata, Outcome, TokenUsage};
use wire::invoke::{
    AgentTier, Invocation, InvocationStatus, InvokeInput, InvokeLimits, InvokeRequest, InvokeTools, ResponseSchema,
};
use wire::{ToolPart, UiMessage, UserError};

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

/// Checks how an answer ended. An answer that waits for an approval or was ended by a limit is scored; a failed one is not.
///
/// # Errors
/// The reason why the answer failed.
pub fn check_outcome(metadata: &MessageMetadata) -> Result<(), String> {
    match metadata.outcome {
        Some(Outcome::Done | Outcome::Waiting | Outcome::Limit) => Ok(()),
        _ => {
            let failed = || metadata.reason.map(|reason| format!("the answer ended early: {}", reason.name()));
            let error = metadata.error.as_ref().map(UserError::to_string).or_else(failed);
            Err(error.unwrap_or_else(|| "there is no answer".to_owned()))
        }
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

impl JudgeRequest {
    /// Returns the request that invokes the agent.
    pub fn into_invocation(self) -> InvokeRequest {
        let schema = ResponseSchema { name: "judgement".to_owned(), strict: false, schema: self.schema };
        InvokeRequest {
            agent_name: self.agent_id,
            input: InvokeInput { prompt: self.prompt },
            response_schema: Some(schema),
            agent_tier: AgentTier::Complex,
            tools: InvokeTools::All(false),
            approved_tools: Vec::new(),
            limits: InvokeLimits::default(),
        }
    }
}

/// The answer of an agent that judges.
#[derive(Clone, Debug)]
pub struct Judgement {
    /// The judgement in the form of the schema, or why there is none.
    pub output: Result<Value, String>,
    /// In US dollars, as far as prices are known, also if there is no judgement.
    pub cost_usd: f64,
}

impl Judgement {
    /// Returns the result of an invocation of the agent.
    pub fn of_invocation(invocation: Invocation, cost_usd: f64) -> Self {
        let output = match invocation.status {
            InvocationStatus::Succeeded => Ok(invocation.output),
            _ => Err(invocation.error.unwrap_or_else(|| "there is no answer".to_owned())),
        };
        Self { output, cost_usd }
    }

    /// Returns the result for an agent that could not be invoked.
    pub fn failed(error: &UserError) -> Self {
        Self { output: Err(error.to_string()), cost_usd: 0.0 }
    }
}
