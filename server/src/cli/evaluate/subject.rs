//! The agents of a config, as an evaluation asks them.

use crate::embedded::{Agent, Answer, Chatwright, Reply};
use async_trait::async_trait;
use evaluation::{JudgeRequest, Judgement, Subject, Transcript, check_outcome};
use serde_json::Value;
use std::time::Duration;
use tokio::time::{Instant, timeout, timeout_at};
use wire::{UiMessage, UserError};

/// How long an answer that is stopped may take to end.
const STOP_TIME: Duration = Duration::from_secs(30);

/// The agents of a config.
pub(super) struct ConfigSubject {
    pub(super) chatwright: Chatwright,
}

#[async_trait]
impl Subject for ConfigSubject {
    async fn answer(&self, agent_id: &str, messages: &[String], timeout: Duration) -> Transcript {
        let agent = match self.chatwright.agent(agent_id) {
            Ok(agent) => agent,
            Err(error) => return Transcript { error: Some(text(error)), cost_usd: Some(0.0), ..Transcript::default() },
        };
        let began = Instant::now();
        let conversation_id = uuid::Uuid::now_v7().simple().to_string();
        let mut answers = Vec::new();
        let mut error = None;
        for message in messages {
            match answer_to(&agent, &conversation_id, message, began + timeout).await {
                Ok(answer) => answers.push(answer),
                Err(failure) => {
                    let late = || format!("the answer took longer than {} s", timeout.as_secs());
                    error = Some(failure.unwrap_or_else(late));
                    break;
                }
            }
        }
        let seconds = began.elapsed().as_secs_f64();
        let transcript = Transcript { conversation_id, error, answers, seconds, ..Transcript::default() };
        with_usage(&agent, transcript).await
    }

    async fn judge(&self, request: JudgeRequest) -> Judgement {
        let agent = match self.chatwright.agent(&request.agent_id) {
            Ok(agent) => agent,
            Err(error) => return Judgement::failed(&error),
        };
        match agent.invoke(request.into_invocation()).await {
            Ok(invoked) => Judgement::of_invocation(invoked.invocation, invoked.usage.cost_usd),
            Err(error) => Judgement::failed(&error),
        }
    }

    async fn call_endpoint(&self, id: &str, payload: Value) -> Result<Value, String> {
        self.chatwright.call_endpoint(id, payload).await.map_err(text)
    }
}

/// Sends a message and returns the answer. An error of `None` is an answer that was stopped at the
/// deadline.
async fn answer_to(
    agent: &Agent,
    conversation_id: &str,
    message: &str,
    deadline: Instant,
) -> Result<UiMessage, Option<String>> {
    let failed = |error| Some(text(error));
    let mut reply = agent.ask_in(conversation_id, message).await.map_err(failed)?;
    if let Ok(read) = timeout_at(deadline, read_to_end(&mut reply)).await {
        read.map_err(failed)?;
        let Answer { message, metadata, .. } = reply.finish().await.map_err(failed)?;
        return check_outcome(&metadata).map(|()| message).map_err(Some);
    }
    if let Err(error) = reply.stop().await {
        tracing::warn!(%error, "an answer could not be stopped");
    }
    if timeout(STOP_TIME, read_to_end(&mut reply)).await.is_err() {
        tracing::warn!("an answer that was stopped has not ended");
    }
    Err(None)
}

async fn read_to_end(reply: &mut Reply) -> Result<(), UserError> {
    while reply.next().await?.is_some() {}
    Ok(())
}

/// Adds the usage of the conversation, including failed requests. Without that, the cost is unknown.
async fn with_usage(agent: &Agent, transcript: Transcript) -> Transcript {
    match agent.usage(&transcript.conversation_id).await {
        Ok(used) => {
            let is_priced = used.steps.iter().all(|step| step.cost_usd.is_some());
            let cost_usd = is_priced.then(|| used.total.cost_usd.unwrap_or_default());
            Transcript { usage: used.total.usage, cost_usd, ..transcript }
        }
        // The conversation does not exist: its first message was rejected.
        Err(error) if error.code == wire::ErrorCode::NotFound => Transcript { cost_usd: Some(0.0), ..transcript },
        Err(error) => {
            tracing::warn!(%error, "the usage of a conversation cannot be read");
            transcript
        }
    }
}

fn text(error: UserError) -> String {
    error.to_string()
}
