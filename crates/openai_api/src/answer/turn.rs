//! Reads the chunks of a run: text and reasoning as they are written, and at the end the calls of the
//! caller's tools, the usage and why it ended.

use crate::error::ApiError;
use chat::ChunkReader;
use serde::Deserialize;
use serde_json::Value;
use std::collections::HashSet;
use wire::api::TokenUsage;
use wire::{Chunk, EndReason, FinishReason, Reducer, Role, UiMessage};

/// A part of the output of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Output {
    /// The text goes on.
    Text(String),
    /// A request to the model begins, so a text that follows is another one.
    Step,
    /// The reasoning goes on.
    Reasoning(String),
}

/// A call of a tool of the caller.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Call {
    pub(crate) id: String,
    pub(crate) name: String,
    /// The arguments as JSON.
    pub(crate) arguments: String,
}

/// Why an answer has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Finish {
    Stop,
    Length,
    ContentFilter,
    ToolCalls,
}

/// An answer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Answer {
    pub(crate) finish: Finish,
    pub(crate) calls: Vec<Call>,
    /// The text, if none was written before the end.
    pub(crate) text: Option<String>,
}

/// A run that has ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) result: Result<Answer, ApiError>,
    /// Why the run ended, if it is known.
    pub(crate) reason: Option<EndReason>,
    /// The message that it has written.
    pub(crate) message: UiMessage,
    pub(crate) usage: TokenUsage,
}

/// Reads the chunks of a run.
pub(crate) struct Turn {
    chunks: ChunkReader,
    reducer: Reducer,
    /// The tools of the caller.
    names: HashSet<String>,
    /// Whether the text is only what the run has as its result: JSON that was checked.
    holds_text: bool,
    /// Whether the answer has at most one call.
    one_call: bool,
    has_text: bool,
    last: Option<LastChunk>,
}

/// The last chunk of a run.
struct LastChunk {
    finish: FinishReason,
    run: EndedRun,
    usage: TokenUsage,
}

/// The part of the last chunk's metadata that is read.
#[derive(Deserialize)]
struct LastMetadata {
    run: EndedRun,
    usage: TokenUsage,
}

/// A run as it is stored.
#[derive(Deserialize)]
struct EndedRun {
    output: Value,
    error: Option<String>,
    reason: Option<EndReason>,
}

impl Turn {
    pub(crate) fn new(message_id: String, names: &[String], holds_text: bool, one_call: bool) -> Self {
        Self {
            chunks: ChunkReader::new(),
            reducer: Reducer::new(UiMessage::new(message_id, Role::Assistant)),
            names: names.iter().cloned().collect(),
            holds_text,
            one_call,
            has_text: false,
            last: None,
        }
    }

    /// Reads a frame.
    pub(crate) fn push(&mut self, frame: &[u8]) -> Vec<Output> {
        let chunks = self.chunks.push(frame);
        chunks.into_iter().filter_map(|chunk| self.chunk(chunk)).collect()
    }

    fn chunk(&mut self, chunk: Chunk) -> Option<Output> {
        if let Chunk::Finish { finish_reason, message_metadata } = chunk {
            let metadata = LastMetadata::deserialize(message_metadata.unwrap_or_default()).ok()?;
            let finish = finish_reason.unwrap_or(FinishReason::Other);
            self.last = Some(LastChunk { finish, run: metadata.run, usage: metadata.usage });
            return None;
        }
        if !matches!(chunk, Chunk::Start { .. }) {
            // A chunk that does not fit changes nothing.
            let _ = self.reducer.apply(&chunk);
        }
        match chunk {
            Chunk::TextDelta { delta, .. } if !self.holds_text && !delta.is_empty() => {
                self.has_text = true;
                Some(Output::Text(delta))
            }
            Chunk::ReasoningDelta { delta, .. } if !delta.is_empty() => Some(Output::Reasoning(delta)),
            Chunk::StartStep => Some(Output::Step),
            _ => None,
        }
    }

    /// Returns the outcome of the run.
    pub(crate) fn end(self) -> Ended {
        let Self { reducer, names, holds_text, one_call, has_text, last, .. } = self;
        let mut message = reducer.into_message();
        let Some(LastChunk { finish, run, usage }) = last else {
            return Ended { result: Err(ApiError::cut_off()), reason: None, message, usage: TokenUsage::default() };
        };
        // An answer that the provider cut off has its finish reason.
        let is_cut = run.reason.is_some_and(EndReason::is_cut);
        if run.error.is_some() && !is_cut {
            let result = Err(ApiError::run_failed(run.reason, run.error));
            return Ended { result, reason: run.reason, message, usage };
        }
        let is_open = |part: &wire::UiPart| {
            part.as_tool().is_some_and(|tool| !tool.is_final() && names.contains(&tool.tool_name))
        };
        if one_call {
            let mut open = 0;
            message.parts.retain(|part| {
                open += usize::from(is_open(part));
                !is_open(part) || open == 1
            });
        }
        let calls = message.parts.iter().filter(|part| is_open(part)).filter_map(wire::UiPart::as_tool);
        let calls: Vec<_> = calls
            .map(|tool| Call {
                id: tool.tool_call_id.clone(),
                name: tool.tool_name.clone(),
                arguments: tool.input.as_ref().map_or_else(|| "{}".to_owned(), Value::to_string),
            })
            .collect();
        let text = (calls.is_empty() && !has_text && !(is_cut && run.output.is_null()))
            .then(|| text_of(run.output, holds_text))
            .flatten();
        let finish = match finish {
            FinishReason::Length => Finish::Length,
            FinishReason::ContentFilter => Finish::ContentFilter,
            _ if !calls.is_empty() => Finish::ToolCalls,
            _ => Finish::Stop,
        };
        // The calls of a reply that was cut off may be incomplete.
        let calls = if finish == Finish::ToolCalls { calls } else { Vec::new() };
        Ended { result: Ok(Answer { finish, calls, text }), reason: run.reason, message, usage }
    }
}

/// Returns the result of a run as text.
fn text_of(output: Value, is_json: bool) -> Option<String> {
    match output {
        Value::String(text) if !is_json => Some(text).filter(|text| !text.is_empty()),
        Value::Null if !is_json => None,
        output => Some(output.to_string()),
    }
}
