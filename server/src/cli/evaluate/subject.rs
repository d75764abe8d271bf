//! The agents of a config, as an evaluation asks them.

use crate::embedded::{Agent, Answer, Chatwright};
use async_trait::async_trait;
use evaluation::{JudgeRequest, Judgement, Subject, Transcript};
use serde_json::Value;
use std::time::Instant;
use tokio::runtime::Handle;
use wire::UserError;
use wire::api::{MessageMetadata, Outcome, TokenUsage};
use wire::invoke::{
    AgentTier, InvocationStatus, InvokeInput, InvokeLimits, InvokeRequest, InvokeTools, ResponseSchema,
};

/// The agents of a config.
pub(super) struct ConfigSubject {
    pub(super) chatwright: Chatwright,
}

/// Stops the answer of a conversation if nobody waits for it any longer, because it takes too long.
struct StopOnDrop {
    agent: Agent,
    conversation_id: String,
    is_over: bool,
}

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        if let (false, Ok(runtime)) = (self.is_over, Handle::try_current()) {
            let (agent, id) = (self.agent.clone(), std::mem::take(&mut self.conversation_id));
            runtime.spawn(async move {
                if let Err(error) = agent.stop(&id).await {
                    tracing::warn!(%error, "an answer could not be stopped");
                }
            });
        }
    }
}

#[async_trait]
impl Subject for ConfigSubject {
    async fn answer(&self, agent_id: &str, messages: &[String]) -> Result<Transcript, String> {
        let agent = self.chatwright.agent(agent_id).map_err(text)?;
        let began = Instant::now();
        let conversation_id = uuid::Uuid::now_v7().simple().to_string();
        let mut stop = StopOnDrop { agent: agent.clone(), conversation_id: conversation_id.clone(), is_over: false };
        let mut transcript = Transcript { conversation_id, cost_usd: Some(0.0), ..Transcript::default() };
        for message in messages {
            let reply = agent.ask_in(&transcript.conversation_id, message).await.map_err(text)?;
            let Answer { message, metadata, .. } = reply.finish().await.map_err(text)?;
            check_outcome(&metadata)?;
            add(&mut transcript.usage, metadata.usage.unwrap_or_default());
            transcript.cost_usd = transcript.cost_usd.zip(metadata.cost_usd).map(|(all, one)| all + one);
            transcript.answers.push(message);
        }
        stop.is_over = true;
        transcript.seconds = began.elapsed().as_secs_f64();
        Ok(transcript)
    }

    async fn judge(&self, request: JudgeRequest) -> Result<Judgement, String> {
        let agent = self.chatwright.agent(&request.agent_id).map_err(text)?;
        let schema = ResponseSchema { name: "judgement".to_owned(), strict: false, schema: request.schema };
        let invoked = agent
            .invoke(InvokeRequest {
                agent_name: request.agent_id,
                input: InvokeInput { prompt: request.prompt },
                response_schema: Some(schema),
                agent_tier: AgentTier::Complex,
                tools: InvokeTools::All(false),
                approved_tools: Vec::new(),
                limits: InvokeLimits::default(),
            })
            .await
            .map_err(text)?;
        match invoked.invocation.status {
            InvocationStatus::Succeeded => {
                Ok(Judgement { output: invoked.invocation.output, cost_usd: invoked.usage.cost_usd })
            }
            _ => Err(invoked.invocation.error.unwrap_or_else(|| "there is no answer".to_owned())),
        }
    }

    async fn call_endpoint(&self, id: &str, payload: Value) -> Result<Value, String> {
        self.chatwright.call_endpoint(id, payload).await.map_err(text)
    }
}

/// An answer that waits for an approval or was ended by a limit is scored; one that failed is not.
fn check_outcome(metadata: &MessageMetadata) -> Result<(), String> {
    match metadata.outcome {
        Some(Outcome::Done | Outcome::Waiting | Outcome::Limit) => Ok(()),
        _ => {
            let failed = || metadata.reason.map(|reason| format!("the answer ended early: {}", reason.name()));
            let error = metadata.error.clone().map(text).or_else(failed);
            Err(error.unwrap_or_else(|| "there is no answer".to_owned()))
        }
    }
}

fn add(all: &mut TokenUsage, one: TokenUsage) {
    all.input_tokens += one.input_tokens;
    all.output_tokens += one.output_tokens;
    all.cache_read_tokens += one.cache_read_tokens;
    all.cache_write_tokens += one.cache_write_tokens;
    all.reasoning_tokens += one.reasoning_tokens;
}

fn text(error: UserError) -> String {
    error.to_string()
}
