//! Reads one reply: emits its parts as they arrive, and collects them for the history.

use crate::calls::ids::ConversationCallIds;
use crate::calls::validation::{CheckedCall, OfferedTools};
use crate::model::retry::{StartedReply, cancelled_error};
use crate::{Agent, Event, EventSink, SinkClosed};
use contract::{
    AssistantPart, FileData, FinishReason, ModelError, ModelErrorKind, Part, PartStream, ProviderMetadata, ToolCall,
    ToolOutput, ToolResult, Usage,
};
use futures::StreamExt;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::future::poll_fn;
use std::task::Poll;
use tokio_util::sync::CancellationToken;

/// The maximum number of parts that are processed without yielding to other tasks.
const MAX_AT_ONCE: u32 = 64;

/// Why a reply ended early.
pub(crate) enum RunFailure {
    Model(ModelError),
    /// The request is longer than the model's context. Nothing of a reply has arrived.
    TooLong(ModelError),
    Sink,
    /// The cost is limited, but the price of this model is not known.
    UnknownPrice {
        model: String,
    },
}

impl From<ModelError> for RunFailure {
    fn from(error: ModelError) -> Self {
        Self::Model(error)
    }
}

impl From<SinkClosed> for RunFailure {
    fn from(_: SinkClosed) -> Self {
        Self::Sink
    }
}

/// A complete reply.
pub(crate) struct ModelReply {
    pub(crate) said: Vec<AssistantPart>,
    pub(crate) calls: Vec<CheckedCall>,
    /// Whether the provider named sources. If so it has searched the web, with or without reporting
    /// a tool call.
    pub(crate) has_sources: bool,
    pub(crate) reason: FinishReason,
    /// The reason in the provider's words.
    pub(crate) raw_reason: Option<String>,
    pub(crate) usage: Usage,
}

/// Reads a reply to its end.
pub(crate) async fn read<S: EventSink>(
    agent: &Agent,
    offer: &OfferedTools,
    ids: &mut ConversationCallIds,
    begun: StartedReply,
    cancel: &CancellationToken,
    sink: &mut S,
) -> Result<ModelReply, RunFailure> {
    ids.begin_reply();
    let mut reader = ReplyReader {
        offer,
        ids,
        cancel,
        said: Vec::new(),
        open: Vec::new(),
        calls: Vec::new(),
        bridged: HashSet::new(),
        has_sources: false,
        orphan: None,
    };
    let (mut part, mut rest) = (begun.first, begun.rest);
    let idle = agent.settings.timeouts.chunk();
    // One timer and one wait for a stop serve the whole reply, since that is cheaper than creating
    // them for each part.
    let (silence, stopped) = (tokio::time::sleep(idle), cancel.cancelled());
    tokio::pin!(silence, stopped);
    let mut at_once = 0;
    loop {
        if let Part::Finish { reason, raw_reason, usage, .. } = part {
            let ReplyReader { said, calls, has_sources, .. } = reader;
            return Ok(ModelReply { said, calls, has_sources, reason, raw_reason, usage });
        }
        if part != Part::Alive {
            reader.part(part, sink).await?;
        }
        at_once += 1;
        let ready = if at_once < MAX_AT_ONCE { next_if_ready(&mut rest).await } else { None };
        let next = match ready {
            Some(_) if cancel.is_cancelled() => return Err(cancelled_error().into()),
            Some(next) => next,
            None => {
                sink.pause();
                if at_once == MAX_AT_ONCE {
                    tokio::task::yield_now().await;
                }
                at_once = 0;
                silence.as_mut().reset(tokio::time::Instant::now() + idle);
                tokio::select! {
                    biased;
                    () = &mut stopped => return Err(cancelled_error().into()),
                    next = rest.next() => next,
                    () = &mut silence => {
                        let cause = format!("no data for {idle:?} (chunk)");
                        return Err(ModelError::new(ModelErrorKind::Timeout, cause).into());
                    }
                }
            }
        };
        part = match next {
            Some(part) => part?,
            None => {
                return Err(ModelError::new(ModelErrorKind::BrokenStream, "the stream ended without a finish").into());
            }
        };
    }
}

/// Returns the next part if it is available now, or as soon as the task that reads the connection
/// has run once. HTTP yields one chunk at a time, so parts that a provider sent together would
/// otherwise reach every watcher in separate writes.
async fn next_if_ready(parts: &mut PartStream) -> Option<Option<Result<Part, ModelError>>> {
    let mut has_waited = false;
    poll_fn(|context| match parts.poll_next_unpin(context) {
        Poll::Ready(next) => Poll::Ready(Some(next)),
        Poll::Pending if has_waited => Poll::Ready(None),
        Poll::Pending => {
            has_waited = true;
            // This runs after the tasks that are ready, without polling the sockets, which would
            // cost a system call.
            context.waker().wake_by_ref();
            Poll::Pending
        }
    })
    .await
}

struct ReplyReader<'a> {
    offer: &'a OfferedTools,
    ids: &'a mut ConversationCallIds,
    cancel: &'a CancellationToken,
    said: Vec<AssistantPart>,
    /// The ids of open texts and reasoning, with their indexes in `said`.
    open: Vec<(String, usize)>,
    calls: Vec<CheckedCall>,
    /// The provider's ids of the calls of the bridge whose arguments are being written.
    bridged: HashSet<String>,
    has_sources: bool,
    /// The tool of a result without a call, whose item follows.
    orphan: Option<String>,
}

impl ReplyReader<'_> {
    async fn part<S: EventSink>(&mut self, part: Part, sink: &mut S) -> Result<(), SinkClosed> {
        let assigned = match &part {
            // A call of the bridge gets its id once it is complete, and its arguments come in many parts.
            Part::ToolInputStart { name, .. } if self.offer.is_bridge(name) => None,
            Part::ToolInputDelta { id, .. } if self.bridged.contains(id) => None,
            Part::ToolInputStart { id, .. } | Part::ToolInputDelta { id, .. } | Part::ToolCall { id, .. } => Some(id),
            _ => None,
        };
        if let Some(id) = assigned {
            self.ids.prepare(id).await;
        }
        let part = match part {
            // Whose arguments these are is not known before the call is complete.
            Part::ToolInputStart { id, name, .. } if self.offer.is_bridge(&name) => {
                self.bridged.insert(id);
                return Ok(());
            }
            Part::ToolInputDelta { id, .. } if self.bridged.contains(&id) => return Ok(()),
            Part::ToolCall { id, name, input, provider_executed, metadata } => {
                let call = ToolCall { id: self.ids.assign(&id), name, input: json!({}), provider_executed, metadata };
                return self.call(call, &input, sink).await;
            }
            Part::ToolInputStart { id, name, provider_executed } => {
                Part::ToolInputStart { id: self.ids.assign(&id), name, provider_executed }
            }
            Part::ToolInputDelta { id, delta } => Part::ToolInputDelta { id: self.ids.assign(&id), delta },
            Part::ToolResult { id, name, output, is_error, metadata } => {
                let Some(id) = self.ids.find(&id) else {
                    // The item with the result is shown instead.
                    tracing::debug!(tool = name, "the provider sent a result without its call");
                    self.orphan = Some(name);
                    return Ok(());
                };
                let kept = match &output {
                    // As it is stored with the message.
                    Value::String(text) if is_error => ToolOutput::ErrorText(text.clone()),
                    other if is_error => ToolOutput::ErrorText(other.to_string()),
                    other => ToolOutput::from_url(other.clone()),
                };
                let result =
                    ToolResult { call_id: id.clone(), name: name.clone(), output: kept, metadata: metadata.clone() };
                self.said.push(AssistantPart::ToolResult(result));
                Part::ToolResult { id, name, output, is_error, metadata }
            }
            Part::ProviderItem { provider, item, shown_as } => {
                let orphan = self.orphan.take();
                Part::ProviderItem { provider, item, shown_as: shown_as.or(orphan) }
            }
            part => part,
        };
        self.add_to_history(&part);
        sink.emit(Event::Part(part)).await
    }

    /// Adds a part to the message for the history.
    fn add_to_history(&mut self, part: &Part) {
        match part {
            Part::TextStart { id } => {
                self.open.push((id.clone(), self.said.len()));
                self.said.push(AssistantPart::Text { text: String::new(), metadata: None });
            }
            Part::ReasoningStart { id, metadata } => {
                self.open.push((id.clone(), self.said.len()));
                self.said.push(AssistantPart::Reasoning { text: String::new(), metadata: metadata.clone() });
            }
            Part::TextDelta { id, delta } => self.append_text(id, delta, None),
            Part::ReasoningDelta { id, delta, metadata } => self.append_text(id, delta, metadata.as_ref()),
            Part::TextEnd { id, metadata, .. } | Part::ReasoningEnd { id, metadata } => {
                self.append_text(id, "", metadata.as_ref());
                self.open.retain(|(open, _)| open != id);
            }
            Part::File { media_type, url, metadata } => self.said.push(AssistantPart::File {
                media_type: media_type.clone(),
                data: FileData::from_url(url),
                filename: None,
                metadata: metadata.clone(),
            }),
            Part::ProviderItem { provider, item, .. } => {
                self.said.push(AssistantPart::ProviderItem { provider: provider.clone(), item: item.clone() });
            }
            Part::Source(_) => self.has_sources = true,
            _ => {}
        }
    }

    fn append_text(&mut self, id: &str, delta: &str, news: Option<&ProviderMetadata>) {
        let place = self.open.iter().rev().find(|(open, _)| open == id).map(|(_, place)| *place);
        let part = place.and_then(|place| self.said.get_mut(place));
        if let Some(AssistantPart::Text { text, metadata } | AssistantPart::Reasoning { text, metadata }) = part {
            text.push_str(delta);
            if let Some(news) = news {
                *metadata = Some(news.clone());
            }
        }
    }

    async fn call<S: EventSink>(&mut self, call: ToolCall, input: &str, sink: &mut S) -> Result<(), SinkClosed> {
        if call.provider_executed {
            let input = serde_json::from_str(input).unwrap_or_else(|_| json!({}));
            let call = ToolCall { input, ..call };
            self.said.push(AssistantPart::ToolCall(call.clone()));
            return sink.emit(Event::ToolCall { call, dynamic: false }).await;
        }
        // If the run was stopped, the loop that reads the parts returns the error.
        let checked = self.cancel.run_until_cancelled(self.offer.check(call, input)).await;
        let Some(checked) = checked else { return Ok(()) };
        self.said.push(AssistantPart::ToolCall(checked.call.clone()));
        let event = match &checked.tool {
            Ok(_) => Event::ToolCall { call: checked.call.clone(), dynamic: false },
            Err(unusable) => Event::ToolCallInvalid {
                id: checked.call.id.clone(),
                name: checked.call.name.clone(),
                input: unusable.input.clone(),
                error: unusable.error.clone(),
                dynamic: unusable.dynamic,
                metadata: checked.call.metadata.clone(),
            },
        };
        self.calls.push(checked);
        sink.emit(event).await
    }
}
