//! The stream of a run without a conversation: the chunks of its events, as a conversation has them.
//! It cannot be resumed; a client that loses it asks for the run.

use crate::stream::live::{DONE, encode_aside};
use crate::{Clock, Frames};
use agent::Event;
use bytes::Bytes;
use futures::StreamExt;
use serde_json::json;
use tokio::sync::mpsc;
use transcript::to_wire::{ChunkConverter, finish_reason, is_private};
use wire::api::TokenUsage;
use wire::invoke::Invocation;
use wire::{Chunk, FinishReason};

/// The most frames that wait for a slow client. One that is further behind loses the stream.
const MAX_WAITING: usize = 4_096;

/// Sends the chunks of a run.
pub(crate) struct ChunkStream {
    frames: mpsc::Sender<Bytes>,
    clock: Clock,
    converter: ChunkConverter,
    /// Requests for approval, which are sent when they can be answered.
    held: Vec<Chunk>,
    last: FinishReason,
    is_cut: bool,
}

impl ChunkStream {
    /// Begins the stream of a run. Returns also what the client reads.
    pub(crate) fn begin(run_id: &str, clock: Clock) -> (Self, Frames) {
        let (frames, mut receiver) = mpsc::channel(MAX_WAITING);
        let (converter, last) = (ChunkConverter::default(), FinishReason::Stop);
        let mut stream = Self { frames, clock, converter, held: Vec::new(), last, is_cut: false };
        stream.send(&Chunk::Start {
            message_id: Some(run_id.to_owned()),
            message_metadata: Some(json!({ "runId": run_id })),
        });
        (stream, futures::stream::poll_fn(move |context| receiver.poll_recv(context)).boxed())
    }

    fn send(&mut self, chunk: &Chunk) {
        self.send_frame(encode_aside(chunk));
    }

    fn send_frame(&mut self, frame: Bytes) {
        // A client that is gone does not end the run.
        self.is_cut |= !self.is_cut && self.frames.try_send(frame).is_err();
    }

    /// Sends the chunks of an event that is recorded.
    pub(crate) fn publish(&mut self, event: &Event) {
        if let Event::ReplyComplete(replied) = event {
            self.last = finish_reason(replied.finish_reason);
        }
        let is_held = matches!(event, Event::ApprovalRequest { .. });
        let mut chunks = Vec::new();
        self.converter.convert(event.clone(), self.clock.now(), &mut chunks);
        for chunk in chunks.iter().filter(|chunk| !is_private(chunk)) {
            if is_held { self.held.push(chunk.clone()) } else { self.send(chunk) }
        }
    }

    /// Ends the stream with the run as it is stored, and the tokens of its requests to models.
    pub(crate) fn end(mut self, run: &Invocation, usage: TokenUsage) {
        for chunk in std::mem::take(&mut self.held) {
            self.send(&chunk);
        }
        // A client reads from the finish reason that the provider cut off the answer.
        let error = run.error.as_ref().filter(|_| !run.reason.is_some_and(wire::EndReason::is_cut));
        if let Some(error) = error {
            self.send(&Chunk::Error { error_text: error.clone() });
        }
        let metadata = serde_json::to_value(run).ok().map(|run| json!({ "run": run, "usage": usage }));
        let finish_reason = Some(if error.is_some() { FinishReason::Error } else { self.last });
        self.send(&Chunk::Finish { finish_reason, message_metadata: metadata });
        if !self.is_cut {
            self.send_frame(Bytes::from_static(DONE));
        }
    }
}
