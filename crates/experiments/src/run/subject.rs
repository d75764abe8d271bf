//! The agents of this server, as an evaluation asks them.

use super::observe::Recorded;
use async_trait::async_trait;
use capability::{Context, EndpointCall, EndpointFailure};
use chat::{Caller, ChunkReader, TextOrigin};
use evaluation::{JudgeRequest, Judgement, Subject, Transcript, check_outcome};
use futures::StreamExt;
use serde_json::{Map, Value};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;
use wire::api::{MessageMetadata, RunOptions, SendRequest, Submission};
use wire::organize::ConversationChange;
use wire::{ErrorCode, Reducer, Role, UiMessage, UserError};

/// How long an answer that is stopped may take to end.
const STOP_TIME: Duration = Duration::from_secs(30);

/// The agents of this server, asked by an administrator in temporary conversations.
pub(crate) struct ServerSubject {
    pub(crate) context: Context,
    pub(crate) caller: Caller,
    pub(crate) recorded: Recorded,
}

#[async_trait]
impl Subject for ServerSubject {
    async fn answer(&self, agent_id: &str, messages: &[String], timeout: Duration) -> Transcript {
        let conversation_id = new_id();
        let conversation = Conversation { subject: self, agent_id, id: &conversation_id };
        let recording = self.recorded.begin(&conversation_id);
        let began = Instant::now();
        let (mut answers, mut error) = (Vec::new(), None);
        for message in messages {
            match conversation.ask(message, began + timeout).await {
                Ok(answer) => answers.push(answer),
                Err(failure) => {
                    let late = || format!("the answer took longer than {} s", timeout.as_secs());
                    error = Some(failure.unwrap_or_else(late));
                    break;
                }
            }
        }
        let seconds = began.elapsed().as_secs_f64();
        let transcript =
            Transcript { conversation_id: conversation_id.clone(), error, answers, seconds, ..Transcript::default() };
        let transcript = conversation.with_usage(transcript).await;
        conversation.delete().await;
        recording.keep();
        transcript
    }

    async fn judge(&self, request: JudgeRequest) -> Judgement {
        let (request, cancel) = (request.into_invocation(), CancellationToken::new());
        match self.context.chat.invoke_counted(&self.caller, request, None, cancel).await {
            Ok(invoked) => Judgement::of_invocation(invoked.invocation, invoked.usage.cost_usd),
            Err(error) => Judgement::failed(&error),
        }
    }

    async fn call_endpoint(&self, id: &str, payload: Value) -> Result<Value, String> {
        let cancel = CancellationToken::new();
        let _gone = cancel.clone().drop_guard();
        let call = EndpointCall {
            caller: &self.caller,
            id,
            payload,
            usage: format!("endpoint:{id}"),
            idempotency_key: new_id(),
            meter: Arc::new(|models| models),
            cancel,
            reports: contract::CallReports::default(),
        };
        self.context.current.call_endpoint(call).await.map_err(|failure| match failure {
            EndpointFailure::Refused(message)
            | EndpointFailure::TimedOut(message)
            | EndpointFailure::Failed(message) => message,
        })
    }
}

/// A conversation of an experiment.
struct Conversation<'a> {
    subject: &'a ServerSubject,
    agent_id: &'a str,
    id: &'a str,
}

impl Conversation<'_> {
    /// Sends a message and returns the answer. An error of `None` is an answer that was stopped at the deadline.
    async fn ask(&self, text: &str, deadline: Instant) -> Result<UiMessage, Option<String>> {
        let ServerSubject { context, caller, .. } = self.subject;
        let failed = |error: UserError| Some(error.to_string());
        let message = TextOrigin::Program.mark(UiMessage::user(new_id(), text));
        let request = SendRequest {
            page_id: context.current.page_for_agent(caller, self.agent_id).unwrap_or_default(),
            block_id: None,
            agent_id: self.agent_id.to_owned(),
            conversation_id: self.id.to_owned(),
            submission: Submission::Message { message, replaces: None, history: Vec::new() },
            shared_state: Map::new(),
            url_query: Map::new(),
            switches: Map::new(),
            options: RunOptions::default(),
        };
        let mut sent = context.chat.send(caller, request).await.map_err(failed)?;
        self.make_temporary().await;
        let mut answer =
            Reading { reader: ChunkReader::new(), reducer: Reducer::new(UiMessage::new("", Role::Assistant)) };
        if timeout_at(deadline, answer.read(&mut sent.frames)).await.is_ok() {
            return answer.finish().map_err(Some);
        }
        if let Err(error) = context.chat.stop(caller, self.id).await {
            tracing::warn!(%error, "an answer of an experiment could not be stopped");
        }
        if timeout(STOP_TIME, answer.read(&mut sent.frames)).await.is_err() {
            tracing::warn!("an answer of an experiment that was stopped has not ended");
        }
        Err(None)
    }

    /// Makes the conversation temporary, so that it goes if the server is killed before it is deleted.
    async fn make_temporary(&self) {
        let change = ConversationChange { temporary: Some(true), ..ConversationChange::default() };
        let ServerSubject { context, caller, .. } = self.subject;
        if let Err(error) = context.chat.change(caller, vec![self.id.to_owned()], change).await {
            tracing::warn!(%error, "a conversation of an experiment is not temporary");
        }
    }

    /// Adds the usage of the conversation, including failed requests. Without that, the cost is unknown.
    async fn with_usage(&self, transcript: Transcript) -> Transcript {
        match self.subject.context.chat.usage(&self.subject.caller, self.id).await {
            Ok(used) => {
                let is_priced = used.steps.iter().all(|step| step.cost_usd.is_some());
                let cost_usd = is_priced.then(|| used.total.cost_usd.unwrap_or_default());
                Transcript { usage: used.total.usage, cost_usd, ..transcript }
            }
            // The conversation does not exist: its first message was rejected.
            Err(error) if error.code == ErrorCode::NotFound => Transcript { cost_usd: Some(0.0), ..transcript },
            Err(error) => {
                tracing::warn!(%error, "the usage of a conversation of an experiment cannot be read");
                transcript
            }
        }
    }

    async fn delete(&self) {
        let deleted = self.subject.context.chat.delete(&self.subject.caller, self.id).await;
        if let Err(error) = deleted.or_else(|error| if error.code == ErrorCode::NotFound { Ok(()) } else { Err(error) })
        {
            tracing::warn!(%error, "a conversation of an experiment could not be deleted");
        }
    }
}

/// An answer that is read.
struct Reading {
    reader: ChunkReader,
    reducer: Reducer,
}

impl Reading {
    async fn read(&mut self, frames: &mut chat::Frames) {
        while let Some(frame) = frames.next().await {
            for chunk in self.reader.push(&frame) {
                // A chunk that does not fit is skipped, as in the browser.
                let _ = self.reducer.apply(&chunk);
            }
        }
    }

    /// Returns the whole answer, unless it failed.
    fn finish(self) -> Result<UiMessage, String> {
        if !self.reader.is_over() {
            return Err("the answer was cut off".to_owned());
        }
        let message = self.reducer.into_message();
        let metadata = message.metadata.clone().unwrap_or(Value::Object(Map::new()));
        let metadata: MessageMetadata = serde_json::from_value(metadata).map_err(|error| error.to_string())?;
        check_outcome(&metadata).map(|()| message)
    }
}

fn new_id() -> String {
    Uuid::now_v7().simple().to_string()
}
