//! The events of a task: the task first, the text of the answer as it is written, and at the end the files and the state.

use crate::error::RpcError;
use crate::request::CallContext;
use crate::response::Envelope;
use crate::send::{self, Sent, StreamStart};
use crate::task::{self, BETWEEN_TEXTS, Snapshot};
use a2a_types::{
    Artifact, SendMessageRequest, StreamResponse, TaskArtifactUpdateEvent, TaskState, TaskStatus, TaskStatusUpdateEvent,
};
use bytes::Bytes;
use chat::{ChunkReader, Frames};
use futures::StreamExt;
use serde_json::{Value, json};
use wire::Chunk;

/// Sends a message and returns the events of its task.
///
/// # Errors
/// Those of [`send::send`].
pub(crate) async fn send(
    asked: CallContext,
    envelope: Envelope,
    request: SendMessageRequest,
) -> Result<Frames, RpcError> {
    let SendMessageRequest { message, configuration, .. } = request;
    let (history_length, told) = configuration.map_or((None, None), |configuration| {
        (configuration.history_length, configuration.task_push_notification_config)
    });
    let sent = send::send(&asked, message, told).await?;
    let snapshot = task::load(&asked, &sent.task_id).await?;
    Ok(events(asked, envelope, sent, snapshot, history_length))
}

/// Returns the events of a task of the caller that has not ended.
///
/// # Errors
/// There is no such task, or it has ended.
pub(crate) async fn subscribe(asked: CallContext, envelope: Envelope, task_id: String) -> Result<Frames, RpcError> {
    let sent = send::follow(&asked, task_id).await?;
    let snapshot = task::load(&asked, &sent.task_id).await?;
    if snapshot.row.state.is_terminal() {
        return Err(RpcError::unsupported("The task has ended. `GetTask` returns it."));
    }
    Ok(events(asked, envelope, sent, snapshot, None))
}

/// The events of one task, as responses to a call.
struct Events {
    envelope: Envelope,
    task_id: String,
    context_id: String,
}

impl Events {
    fn frame(&self, event: StreamResponse) -> Bytes {
        data(&self.envelope.result(json!(event)))
    }

    fn status(&self, status: TaskStatus) -> Bytes {
        self.frame(StreamResponse::StatusUpdate(TaskStatusUpdateEvent {
            task_id: self.task_id.clone(),
            context_id: self.context_id.clone(),
            status,
            metadata: None,
        }))
    }

    fn artifact(&self, artifact: Artifact, append: bool, is_last: bool) -> Bytes {
        self.frame(StreamResponse::ArtifactUpdate(TaskArtifactUpdateEvent {
            task_id: self.task_id.clone(),
            context_id: self.context_id.clone(),
            artifact,
            append: Some(append),
            last_chunk: Some(is_last),
            metadata: None,
        }))
    }
}

/// Returns an event of the stream.
fn data(object: &Value) -> Bytes {
    format!("data: {object}\n\n").into()
}

/// The text of an answer, as far as the client has it.
#[derive(Default)]
struct Text {
    written: String,
    /// Whether another text begins with what is written next.
    is_next: bool,
}

impl Text {
    /// Returns what a chunk adds.
    fn push(&mut self, chunk: Chunk) -> Option<String> {
        match chunk {
            Chunk::TextStart { .. } => {
                self.is_next = true;
                None
            }
            Chunk::TextDelta { delta, .. } if !delta.is_empty() => {
                let is_separate = std::mem::take(&mut self.is_next) && !self.written.is_empty();
                let added = if is_separate { format!("{BETWEEN_TEXTS}{delta}") } else { delta };
                self.written += &added;
                Some(added)
            }
            _ => None,
        }
    }
}

/// Returns the events of a task. Whoever goes away can subscribe to it again: the agent works on. `loaded` is the task as
/// it is by now.
fn events(asked: CallContext, envelope: Envelope, sent: Sent, loaded: Snapshot, history_length: Option<i32>) -> Frames {
    let Sent { task_id, frames, from } = sent;
    async_stream::stream! {
        let events = Events { envelope, context_id: loaded.row.conversation_id.clone(), task_id };
        let Some(mut frames) = frames else {
            yield events.frame(StreamResponse::Task(loaded.task(&asked, history_length, true)));
            return;
        };
        let (is_new, has_before) = (matches!(from, StreamStart::New), matches!(from, StreamStart::After(_)));
        let mut first = match from {
            StreamStart::After(before) => *before,
            StreamStart::New | StreamStart::Start => loaded,
        };
        // What follows has the end, although the agent may have come to it meanwhile.
        first.row.state = if is_new { TaskState::Submitted } else { TaskState::Working };
        yield events.frame(StreamResponse::Task(first.task(&asked, history_length, has_before)));
        if is_new {
            first.row.state = TaskState::Working;
            yield events.status(first.status());
        }
        let (mut text, mut files) = (Text::default(), 0);
        if has_before {
            (text.written, files) = (first.text(), first.files(&asked).len());
        }
        drop(first);
        let mut chunks = ChunkReader::new();
        while let Some(frame) = frames.next().await {
            for chunk in chunks.push(&frame) {
                let is_first = text.written.is_empty();
                if let Some(added) = text.push(chunk) {
                    yield events.artifact(task::answer(added), !is_first, false);
                }
            }
        }
        let last = match task::load(&asked, &events.task_id).await {
            Ok(last) => last,
            // It was deleted meanwhile, or the database failed: the client asks for it again.
            Err(error) => {
                yield data(&events.envelope.error(error));
                return;
            }
        };
        let whole = last.text();
        if !whole.is_empty() {
            let is_complete = whole == text.written;
            let rest = if is_complete { String::new() } else { whole };
            yield events.artifact(task::answer(rest), is_complete, true);
        }
        for artifact in last.files(&asked).into_iter().skip(files) {
            yield events.artifact(artifact, false, true);
        }
        // Otherwise this server has lost the run, or shuts down. The client subscribes again.
        if last.row.state != TaskState::Working {
            yield events.status(last.status());
        }
    }
    .boxed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_separated() {
        let mut text = Text::default();
        let start = |id: &str| Chunk::TextStart { id: id.to_owned(), provider_metadata: None };
        let delta =
            |delta: &str| Chunk::TextDelta { id: "t".to_owned(), delta: delta.to_owned(), provider_metadata: None };
        let chunks = [start("1"), delta("a"), delta(""), delta("b"), start("2"), delta("c"), delta("d")];
        let added: Vec<_> = chunks.into_iter().filter_map(|chunk| text.push(chunk)).collect();
        assert_eq!(added, ["a", "b", "\n\nc", "d"]);
        assert_eq!(text.written, "ab\n\ncd");
    }
}
