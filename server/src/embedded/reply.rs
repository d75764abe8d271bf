//! The answer of an agent, as a stream and as a whole.

use super::{Agent, StreamEvents};
use chat::Frames;
use futures::StreamExt;
use serde::Serialize;
use serde_json::Value;
use sse::{SseDecoder, SseLimits};
use std::collections::VecDeque;
use wire::api::MessageMetadata;
use wire::{Chunk, ErrorCode, Reducer, Role, UiMessage, UserError};

/// The size limits of lines and events; the server's own limits are lower.
const LIMITS: SseLimits = SseLimits { line: 8 << 20, event: 8 << 20 };
const DONE: &str = "[DONE]";

/// The stream of an answer. Dropping it only stops reading; to stop the answer, use [`Reply::stop`].
pub struct Reply {
    pub(super) agent: Agent,
    pub(super) conversation_id: String,
    /// The message that the answer continues.
    earlier: Option<UiMessage>,
    frames: Frames,
    decoder: SseDecoder,
    pub(super) reducer: Reducer,
    ready: VecDeque<Chunk>,
    is_over: bool,
}

/// A whole answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Answer {
    /// The conversation, to which [`Agent::ask_in`] sends the next message.
    pub conversation_id: String,
    /// The message with all its parts, as the HTTP API returns it.
    pub message: UiMessage,
    /// How the answer ended, its usage and its cost; they are in the message, too.
    pub metadata: MessageMetadata,
}

impl Answer {
    /// Returns the text of the answer.
    pub fn text(&self) -> String {
        self.message.text()
    }
}

impl Reply {
    pub(super) fn new(agent: Agent, conversation_id: &str, earlier: Option<UiMessage>, frames: Frames) -> Self {
        Self {
            agent,
            conversation_id: conversation_id.to_owned(),
            earlier,
            frames,
            decoder: SseDecoder::new(LIMITS),
            reducer: Reducer::new(UiMessage::new("", Role::Assistant)),
            ready: VecDeque::new(),
            is_over: false,
        }
    }

    /// Returns the id of the conversation.
    pub fn conversation_id(&self) -> &str {
        &self.conversation_id
    }

    /// Returns the message so far.
    pub fn message(&self) -> &UiMessage {
        self.reducer.message()
    }

    /// Returns the next chunk of the UI message stream; `None` at the end.
    ///
    /// # Errors
    /// The stream was cut off, because the reader was too slow or the agents were shut down. The
    /// conversation contains what was written.
    pub async fn next(&mut self) -> Result<Option<Chunk>, UserError> {
        loop {
            if let Some(chunk) = self.ready.pop_front() {
                return Ok(Some(chunk));
            }
            if self.is_over {
                return Ok(None);
            }
            let bytes = self.frames.next().await.ok_or_else(cut_off)?;
            self.decoder.push(&bytes).map_err(|_| cut_off())?;
            while let Some(event) = self.decoder.next() {
                if event.data == DONE {
                    self.is_over = true;
                    break;
                }
                let chunk: Chunk = serde_json::from_str(&event.data).map_err(|_| cut_off())?;
                // A chunk that does not fit is skipped, as in the browser.
                let _ = self.reducer.apply(&chunk);
                self.ready.push_back(chunk);
            }
        }
    }

    /// Returns the answer as the events `values`, `messages-tuple` and `end` of DeerFlow's embedded client.
    pub fn stream_events(mut self) -> StreamEvents {
        let earlier = self.earlier.take();
        StreamEvents::new(self, earlier)
    }

    /// Stops the answer; what was written stays, and the stream ends.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn stop(&self) -> impl Future<Output = Result<(), UserError>> + Send + use<> {
        // The stream can only be sent between threads, so the future does not refer to it.
        let (agent, id) = (self.agent.clone(), self.conversation_id.clone());
        async move { agent.stop(&id).await }
    }

    /// Reads to the end and returns the whole answer. An answer that failed or waits for the user is
    /// returned as well: its metadata says so.
    ///
    /// # Errors
    /// The errors of [`Reply::next`].
    pub async fn finish(mut self) -> Result<Answer, UserError> {
        while self.next().await?.is_some() {}
        let message = self.reducer.into_message();
        let metadata = message.metadata.clone().unwrap_or(Value::Object(serde_json::Map::new()));
        let metadata = serde_json::from_value(metadata).map_err(|_| cut_off())?;
        Ok(Answer { conversation_id: self.conversation_id, message, metadata })
    }
}

fn cut_off() -> UserError {
    UserError::new(ErrorCode::Unavailable, "The stream of the answer was cut off. Load the conversation.")
}
