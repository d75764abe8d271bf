//! Makes a recording of a reply that was recorded from a provider: an agent answers a message with
//! it, as it would have done with the provider's live reply.
//!
//! No model is asked and no tool runs. The run ends where the provider's reply ends: when the agent
//! calls a tool, or would ask a model again.

use crate::format::{Entry, Header, ProviderReply, RawReply, RecordedScope, Recording, RequestInput, VERSION, text_id};
use crate::record::{self, Budget, Session};
use crate::replay::NoSink;
use crate::wrap::{self, Layer};
use agent::{Agent, Policy, TurnInput};
use contract::tool::{NoteQuery, SourceTools};
use contract::{
    Message, Model, ModelError, ModelErrorKind, ModelId, Part, PartStream, Price, Request, RunScope, Tool, ToolContext,
    ToolError, ToolSource, ToolSpec, UserPart,
};
use futures::future::BoxFuture;
use futures::{StreamExt, stream};
use parking_lot::Mutex;
use providers::recorded::decode;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use thiserror::Error;
use tokio_util::sync::CancellationToken;

/// The most memory that the recording takes, in bytes.
const MAX_MEMORY: usize = 1024 * 1024 * 1024;
/// The number of digits of the events' hash in ids.
const ID_DIGITS: usize = 16;

/// The reason why a reply cannot be imported.
#[derive(Debug, Error)]
pub enum ImportError {
    /// A model decides how the agent answers.
    #[error(
        "the agent `{0}` has `routes`, about which a model decides first; import the reply for an agent without them"
    )]
    Routes(String),
    /// It is too large.
    #[error("the recording needs too much memory")]
    TooLarge,
}

/// Returns the header of the recording of a reply, with ids that depend only on its events.
pub fn header(reply: &ProviderReply, agent_id: &str, config: &str) -> Header {
    let id = format!("{}-{}", reply.api.name(), &text_id(&reply.events.join("\n"))[..ID_DIGITS]);
    Header {
        version: VERSION,
        run_id: id.clone(),
        conversation_id: id,
        agent_id: agent_id.to_owned(),
        program: env!("CARGO_PKG_VERSION").to_owned(),
        config: config.to_owned(),
        started_at: web::times::now_millis(),
        input: RequestInput::default(),
    }
}

/// Lets an agent answer a user's message with the reply; returns the recording. Ends early when
/// `cancel` is cancelled.
///
/// # Errors
/// The agent cannot answer without a model, or the recording is too large.
pub async fn record_reply(
    agent: &Agent,
    reply: &ProviderReply,
    (header, scope): (Header, RecordedScope),
    message: &str,
    cancel: CancellationToken,
) -> Result<Recording, ImportError> {
    if !agent.routes.is_empty() {
        return Err(ImportError::Routes(agent.id.clone()));
    }
    let session = Session::new(Budget::new(MAX_MEMORY), MAX_MEMORY);
    // Stopping the run does not stop what has started it.
    let stop = cancel.child_token();
    let mut turn = turn_input(&header, scope, message, stop.clone());
    let answering = wrap::agent(agent, &ReplyLayer { reply: Arc::new(Mutex::new(Some(reply.clone()))), stop });
    let answering = record::begin(&session, &answering, &mut turn);
    let outcome = agent::run(&answering, turn, &mut NoSink).await;
    record::finish(&session, &outcome);
    let events = session.blob(Value::from(reply.events.clone()));
    let mut recording = session.take(header).ok_or(ImportError::TooLarge)?;
    let first = recording.entries.iter_mut().find_map(|entry| match entry {
        Entry::Reply { raw, .. } => Some(raw),
        _ => None,
    });
    if let Some(raw) = first {
        *raw = Some(RawReply { api: reply.api, events });
    }
    Ok(recording)
}

fn turn_input(header: &Header, scope: RecordedScope, message: &str, cancel: CancellationToken) -> TurnInput {
    let message = Message::User(vec![UserPart::Text { text: message.to_owned() }]);
    TurnInput {
        messages: vec![Arc::new(message)],
        pending: Vec::new(),
        scope: RunScope {
            user_id: scope.user_id,
            roles: scope.roles,
            is_authenticated: scope.is_authenticated,
            conversation_id: header.conversation_id.clone(),
            run_id: header.run_id.clone(),
            page_id: Some(header.input.page_id.clone()),
            ..RunScope::default()
        },
        grants: None,
        exposure: agent::ExposureState::default(),
        turn_start: 0,
        context: agent::ContextInput::default(),
        earlier: agent::TurnUsage::default(),
        cancel,
    }
}

/// Answers the first request to a model with the reply. All later requests end the run.
struct ReplyLayer {
    reply: Arc<Mutex<Option<ProviderReply>>>,
    stop: CancellationToken,
}

impl Layer for ReplyLayer {
    fn model(&self, _: &str, model: Arc<dyn Model>, _: &HashMap<String, Price>) -> Arc<dyn Model> {
        Arc::new(ReplyModel { id: model.id().clone(), reply: self.reply.clone(), stop: self.stop.clone() })
    }

    fn tool(&self, _: &str, tool: Arc<dyn Tool>) -> Arc<dyn Tool> {
        stopping(tool, &self.stop)
    }

    fn source(&self, _: &str, source: Arc<dyn ToolSource>) -> Arc<dyn ToolSource> {
        Arc::new(StoppingSource { inner: source, stop: self.stop.clone() })
    }

    fn policy(&self, _: &str, policy: Arc<dyn Policy>) -> Arc<dyn Policy> {
        policy
    }
}

/// A model with one reply.
struct ReplyModel {
    id: ModelId,
    reply: Arc<Mutex<Option<ProviderReply>>>,
    stop: CancellationToken,
}

impl Model for ReplyModel {
    fn id(&self) -> &ModelId {
        &self.id
    }

    fn stream(&self, _: Request, _: CancellationToken) -> BoxFuture<'_, Result<PartStream, ModelError>> {
        let Some(reply) = self.reply.lock().take() else {
            self.stop.cancel();
            let stopped = ModelError::new(ModelErrorKind::Cancelled, "the recording of the provider ends here");
            return Box::pin(std::future::ready(Err(stopped)));
        };
        let decoded = decode(reply.api, reply.events.iter().map(String::as_str));
        // The provider cannot be asked again, so there is no wait before a retry.
        let failure = decoded.failure.map(|error| ModelError { retry_after: Some(Duration::ZERO), ..error });
        let parts: Vec<Result<Part, ModelError>> = decoded.parts.into_iter().map(Ok).chain(failure.map(Err)).collect();
        Box::pin(std::future::ready(Ok(stream::iter(parts).boxed())))
    }
}

fn stopping(tool: Arc<dyn Tool>, stop: &CancellationToken) -> Arc<dyn Tool> {
    Arc::new(StoppingTool { inner: tool, stop: stop.clone() })
}

/// A tool whose calls end the run instead of running.
struct StoppingTool {
    inner: Arc<dyn Tool>,
    stop: CancellationToken,
}

impl Tool for StoppingTool {
    fn spec(&self) -> &ToolSpec {
        self.inner.spec()
    }

    fn needs_approval_for<'a>(&'a self, input: &'a Value, scope: &'a RunScope) -> BoxFuture<'a, bool> {
        self.inner.needs_approval_for(input, scope)
    }

    fn call(&self, _: Value, _: ToolContext) -> BoxFuture<'_, Result<Value, ToolError>> {
        self.stop.cancel();
        Box::pin(std::future::pending())
    }
}

/// A source whose tools end the run instead of running.
struct StoppingSource {
    inner: Arc<dyn ToolSource>,
    stop: CancellationToken,
}

impl ToolSource for StoppingSource {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn tools<'a>(&'a self, scope: &'a RunScope) -> BoxFuture<'a, Result<SourceTools, ToolError>> {
        Box::pin(async move {
            let mut offered = self.inner.tools(scope).await?;
            for tool in &mut offered.tools {
                *tool = stopping(tool.clone(), &self.stop);
            }
            Ok(offered)
        })
    }

    fn reads_history(&self) -> bool {
        self.inner.reads_history()
    }

    fn note<'a>(&'a self, asked: NoteQuery<'a>) -> BoxFuture<'a, Option<String>> {
        self.inner.note(asked)
    }
}
