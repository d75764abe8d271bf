//! A scripted model and a tool made of a closure. They implement the traits of this crate, for the
//! tests of every crate.

use crate::{
    AssistantPart, FinishReason, Message, Model, ModelError, ModelErrorKind, ModelId, Part, PartStream, Request, Usage,
};
use crate::{Tool, ToolContext, ToolError, ToolSpec};
use futures::StreamExt;
use futures::future::BoxFuture;
use serde_json::Value;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// One step of a scripted reply.
#[derive(Debug)]
pub enum Cue {
    /// Sends this part.
    Part(Part),
    /// Sends nothing for this long.
    Pause(Duration),
    /// Sends nothing more, and leaves the stream open.
    Silence,
    /// Fails the stream.
    Fail(ModelError),
}

/// A model that plays its replies one after the other and records its requests.
pub struct ScriptedModel {
    id: ModelId,
    replies: Mutex<VecDeque<Vec<Cue>>>,
    requests: Mutex<Vec<Request>>,
}

impl ScriptedModel {
    /// Creates a model that gives these replies and fails on any further request. A reply that
    /// begins with [`Cue::Fail`] fails before its first part.
    pub fn new(replies: Vec<Vec<Cue>>) -> Self {
        let id = ModelId { provider: "scripted".to_owned(), model: "test".to_owned() };
        Self { id, replies: Mutex::new(replies.into()), requests: Mutex::default() }
    }

    /// Returns the requests so far.
    pub fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Model for ScriptedModel {
    fn id(&self) -> &ModelId {
        &self.id
    }

    fn stream(&self, request: Request, cancel: CancellationToken) -> BoxFuture<'_, Result<PartStream, ModelError>> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).push(request);
        let reply = self.replies.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        let mut cues = VecDeque::from(reply.unwrap_or_else(|| vec![Cue::Fail(model_error(ModelErrorKind::Refused))]));
        Box::pin(async move {
            if let Some(Cue::Fail(_)) = cues.front()
                && let Some(Cue::Fail(error)) = cues.pop_front()
            {
                return Err(error);
            }
            Ok(futures::stream::unfold((cues, cancel), play).boxed())
        })
    }
}

type Playing = (VecDeque<Cue>, CancellationToken);

async fn play((mut cues, cancel): Playing) -> Option<(Result<Part, ModelError>, Playing)> {
    loop {
        let next = match cues.pop_front()? {
            Cue::Part(part) => Ok(part),
            Cue::Fail(error) => Err(error),
            Cue::Pause(time) => {
                tokio::select! {
                    () = tokio::time::sleep(time) => continue,
                    () = cancel.cancelled() => Err(model_error(ModelErrorKind::Cancelled)),
                }
            }
            Cue::Silence => {
                cancel.cancelled().await;
                Err(model_error(ModelErrorKind::Cancelled))
            }
        };
        return Some((next, (cues, cancel)));
    }
}

/// Creates an error of this kind.
pub fn model_error(kind: ModelErrorKind) -> ModelError {
    ModelError::new(kind, "scripted")
}

/// Scripts a reply with one text.
pub fn text_reply(text: &str) -> Vec<Cue> {
    let id = "t".to_owned();
    let mut cues = vec![Cue::Part(Part::TextStart { id: id.clone() })];
    cues.extend(
        text.split_inclusive(' ').map(|word| Cue::Part(Part::TextDelta { id: id.clone(), delta: word.to_owned() })),
    );
    cues.push(Cue::Part(Part::TextEnd { id, metadata: None, citations: Vec::new() }));
    cues.push(finish_cue(FinishReason::Stop));
    cues
}

/// Scripts a reply with tool calls, each as its id, tool and the JSON text of its arguments.
pub fn tool_call_reply(calls: &[(&str, &str, &str)]) -> Vec<Cue> {
    let mut cues = Vec::new();
    for (id, name, input) in calls {
        let (id, name) = ((*id).to_owned(), (*name).to_owned());
        cues.push(Cue::Part(Part::ToolInputStart { id: id.clone(), name: name.clone(), provider_executed: false }));
        cues.push(Cue::Part(Part::ToolInputDelta { id: id.clone(), delta: (*input).to_owned() }));
        let input = (*input).to_owned();
        cues.push(Cue::Part(Part::ToolCall { id, name, input, provider_executed: false, metadata: None }));
    }
    cues.push(finish_cue(FinishReason::ToolCalls));
    cues
}

/// Scripts the end of a reply.
pub fn finish_cue(reason: FinishReason) -> Cue {
    let usage = Usage { input_tokens: 10, output_tokens: 5, ..Usage::default() };
    Cue::Part(Part::Finish { reason, raw_reason: None, usage, metadata: None })
}

type Work = dyn Fn(Value, ToolContext) -> BoxFuture<'static, Result<Value, ToolError>> + Send + Sync;

/// A tool made of a closure, which records its inputs.
pub struct RecordingTool {
    spec: ToolSpec,
    work: Box<Work>,
    inputs: Arc<Mutex<Vec<Value>>>,
}

impl RecordingTool {
    /// Creates a tool that runs `work`.
    pub fn new<F>(spec: ToolSpec, work: impl Fn(Value, ToolContext) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<Value, ToolError>> + Send + 'static,
    {
        Self { spec, work: Box::new(move |input, context| Box::pin(work(input, context))), inputs: Arc::default() }
    }

    /// Returns the inputs so far. They are shared, so that a test can read them after it has given
    /// the tool away.
    pub fn inputs(&self) -> Arc<Mutex<Vec<Value>>> {
        self.inputs.clone()
    }
}

impl Tool for RecordingTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call(&self, input: Value, context: ToolContext) -> BoxFuture<'_, Result<Value, ToolError>> {
        self.inputs.lock().unwrap_or_else(PoisonError::into_inner).push(input.clone());
        (self.work)(input, context)
    }
}

/// Returns the first error in a history, if there is one. In a valid history every call that runs
/// here has exactly one result, in the message directly after it and in the order of the calls;
/// nothing else has a result, and no message is empty.
pub fn history_error(messages: &[Arc<Message>]) -> Option<String> {
    let mut owed: Vec<&str> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        if let Message::Tool(results) = &**message {
            let given: Vec<_> = results.iter().map(|result| result.call_id.as_str()).collect();
            if given != owed || given.is_empty() {
                return Some(format!("message {at} answers {given:?} where {owed:?} was called"));
            }
            owed.clear();
            continue;
        }
        if !owed.is_empty() {
            return Some(format!("message {at} comes before the results of {owed:?}"));
        }
        match &**message {
            Message::Assistant(parts) => {
                owed = parts
                    .iter()
                    .filter_map(|part| match part {
                        AssistantPart::ToolCall(call) if !call.provider_executed => Some(call.id.as_str()),
                        _ => None,
                    })
                    .collect();
                if parts.is_empty() {
                    return Some(format!("message {at} is empty"));
                }
            }
            Message::User(parts) if parts.is_empty() => return Some(format!("message {at} is empty")),
            _ => {}
        }
    }
    (!owed.is_empty()).then(|| format!("the calls {owed:?} have no results"))
}
