//! Decodes the bytes of a stream and applies them to a message, independent of the browser.

use sse::{SseDecoder, SseLimits};
use wire::chunk::DONE;
use wire::reduce::{ChunkEffect, Reducer};
use wire::{Chunk, Role, UiMessage};

/// The maximum length of a line and of an event, in bytes; the server's limits are lower.
const LIMITS: SseLimits = SseLimits { line: 8 * 1024 * 1024, event: 8 * 1024 * 1024 };
const GAP: &str = "data-gap";
const RETRY: &str = "data-retry";

/// Reads the stream of one assistant message.
pub(in crate::agent_chat) struct MessageReader {
    decoder: SseDecoder,
    reducer: Reducer,
    /// The `id` of the newest event, after which a broken stream continues.
    pub(in crate::agent_chat) cursor: Option<String>,
    pub(in crate::agent_chat) changes: MessageChanges,
    pub(in crate::agent_chat) state: ReaderState,
    /// The error of a failed run.
    pub(in crate::agent_chat) error: Option<String>,
    /// Whether the newest request to the model failed and is sent again.
    pub(in crate::agent_chat) is_retrying: bool,
}

/// The state of a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::agent_chat) enum ReaderState {
    /// No data was received yet.
    #[default]
    Empty,
    /// The message is being received.
    Receiving,
    /// The message is complete; the stream has not ended yet.
    Complete,
    /// The stream has ended with a complete message.
    Done,
    /// The stream ended without a complete message, or events are missing: the conversation must be
    /// loaded again.
    Gap,
}

/// The changes since the message was last drawn.
#[derive(Debug, Default, PartialEq, Eq)]
pub(in crate::agent_chat) struct MessageChanges {
    /// The indices of the changed parts.
    pub(in crate::agent_chat) parts: Vec<usize>,
    pub(in crate::agent_chat) metadata: bool,
}

impl MessageChanges {
    fn part(&mut self, number: usize) {
        // The list is short: usually only the newest part changes within a frame.
        if !self.parts.contains(&number) {
            self.parts.push(number);
        }
    }

    pub(in crate::agent_chat) fn is_empty(&self) -> bool {
        self.parts.is_empty() && !self.metadata
    }
}

/// The stream is malformed; the caller may load the conversation again.
#[derive(Debug)]
pub(in crate::agent_chat) struct UnreadableStream;

impl MessageReader {
    /// A reader at the start of a stream that contains the whole message.
    pub(in crate::agent_chat) fn new() -> Self {
        Self {
            decoder: SseDecoder::new(LIMITS),
            reducer: Reducer::new(UiMessage::new("", Role::Assistant)),
            cursor: None,
            changes: MessageChanges::default(),
            state: ReaderState::default(),
            error: None,
            is_retrying: false,
        }
    }

    /// Continues with another connection, whose events follow [`MessageReader::cursor`].
    pub(in crate::agent_chat) fn reconnect(&mut self) {
        self.decoder = SseDecoder::new(LIMITS);
        if self.cursor.is_none() {
            self.reducer = Reducer::new(UiMessage::new("", Role::Assistant));
            self.state = ReaderState::Empty;
        }
    }

    /// Processes the next bytes and updates [`MessageReader::changes`] and [`MessageReader::state`].
    pub(in crate::agent_chat) fn push(&mut self, bytes: &[u8]) -> Result<(), UnreadableStream> {
        self.decoder.push(bytes).map_err(|_| UnreadableStream)?;
        while let Some(event) = self.decoder.next() {
            if self.is_over() {
                break;
            }
            if event.data == DONE {
                self.state = if self.state == ReaderState::Complete { ReaderState::Done } else { ReaderState::Gap };
                break;
            }
            let chunk: Chunk = serde_json::from_str(&event.data).map_err(|_| UnreadableStream)?;
            self.apply(&chunk)?;
            if event.id.is_some() {
                self.cursor = event.id;
            }
        }
        Ok(())
    }

    /// Whether the stream has ended.
    pub(in crate::agent_chat) fn is_over(&self) -> bool {
        matches!(self.state, ReaderState::Done | ReaderState::Gap)
    }

    /// Parses the tool call arguments received so far, so that the message can be shown.
    pub(in crate::agent_chat) fn parse_partial_inputs(&mut self) {
        self.reducer.settle();
    }

    /// The message as received so far.
    pub(in crate::agent_chat) fn message(&self) -> &UiMessage {
        self.reducer.message()
    }

    fn apply(&mut self, chunk: &Chunk) -> Result<(), UnreadableStream> {
        match chunk {
            Chunk::Data(data) if data.kind == GAP => {
                self.state = ReaderState::Gap;
                return Ok(());
            }
            // Not a part of the message.
            Chunk::Data(data) if data.kind == RETRY => {
                self.is_retrying = true;
                self.changes.metadata = true;
                return Ok(());
            }
            Chunk::Finish { .. } | Chunk::Abort { .. } => self.state = ReaderState::Complete,
            Chunk::Error { error_text } => {
                self.state = ReaderState::Complete;
                self.error = Some(error_text.clone());
            }
            _ if self.state == ReaderState::Empty => self.state = ReaderState::Receiving,
            _ => {}
        }
        match self.reducer.apply(chunk).map_err(|_| UnreadableStream)? {
            ChunkEffect::Part(number) | ChunkEffect::Added(number) => {
                self.is_retrying = false;
                self.changes.part(number);
            }
            ChunkEffect::None => {}
            _ => self.changes.metadata = true,
        }
        Ok(())
    }
}
