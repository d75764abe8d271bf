//! Translates the chunks of a run to events.

use crate::event::{Event, result_text};
use crate::messages::{DENIED, MessageIds};
use serde_json::{Value, json};
use std::collections::HashMap;
use wire::{Chunk, DataChunk};

/// Translates the chunks of runs. Each message and call that it has opened is closed, as frontends require.
pub(crate) struct Translator {
    ids: MessageIds,
    step: Option<String>,
    /// The open texts and reasonings by the ids of the run, with those of their messages.
    texts: HashMap<String, String>,
    reasonings: HashMap<String, String>,
    /// The calls that were begun, and how far they are.
    calls: HashMap<String, CallProgress>,
}

/// How far the arguments of a call are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CallProgress {
    Started,
    HasArguments,
    Ended,
}

impl Translator {
    /// Begins with an answer, as far as it exists.
    pub(crate) fn new(ids: MessageIds) -> Self {
        let (texts, reasonings, calls) = (HashMap::new(), HashMap::new(), HashMap::new());
        Self { ids, step: None, texts, reasonings, calls }
    }

    /// Appends the events of a chunk, without the result of a call.
    fn push(&mut self, chunk: Chunk, out: &mut Vec<Event>) {
        match chunk {
            Chunk::Start { message_id: Some(id), .. } if id != self.ids.message_id => self.ids = MessageIds::new(id),
            Chunk::StartStep => {
                self.end_step(out);
                self.ids.start_step();
                let step_name = self.ids.step_name();
                self.step = Some(step_name.clone());
                out.push(Event::StepStarted { step_name });
            }
            Chunk::FinishStep => self.end_step(out),
            Chunk::TextStart { id, .. } => {
                let message_id = self.ids.text();
                self.texts.insert(id, message_id.clone());
                out.push(Event::TextMessageStart { message_id, role: "assistant" });
            }
            Chunk::TextDelta { id, delta, .. } => {
                let message_id = self.texts.get(&id).filter(|_| !delta.is_empty());
                out.extend(message_id.cloned().map(|message_id| Event::TextMessageContent { message_id, delta }));
            }
            Chunk::TextEnd { id, .. } => {
                out.extend(self.texts.remove(&id).map(|message_id| Event::TextMessageEnd { message_id }));
            }
            Chunk::ReasoningStart { id, .. } => {
                let message_id = self.ids.reasoning();
                self.reasonings.insert(id, message_id.clone());
                out.push(Event::ReasoningStart { message_id: message_id.clone() });
                out.push(Event::ReasoningMessageStart { message_id, role: "reasoning" });
            }
            Chunk::ReasoningDelta { id, delta, .. } => {
                let message_id = self.reasonings.get(&id).filter(|_| !delta.is_empty());
                out.extend(message_id.cloned().map(|message_id| Event::ReasoningMessageContent { message_id, delta }));
            }
            Chunk::ReasoningEnd { id, .. } => {
                if let Some(message_id) = self.reasonings.remove(&id) {
                    end_reasoning(message_id, out);
                }
            }
            Chunk::SourceUrl(source) => out.push(custom("source", json!(source))),
            Chunk::SourceDocument(source) => out.push(custom("source", json!(source))),
            Chunk::File(file) => out.push(custom("file", json!(file))),
            Chunk::Data(DataChunk { kind, id, data, .. }) => {
                out.push(custom(&kind, json!({ "id": id, "data": data })));
            }
            chunk => self.call(chunk, out),
        }
    }

    /// Appends the events of a call of a tool.
    fn call(&mut self, chunk: Chunk, out: &mut Vec<Event>) {
        match chunk {
            Chunk::ToolInputStart { tool_call_id, tool_name, .. } => self.start_call(&tool_call_id, tool_name, out),
            Chunk::ToolInputDelta { tool_call_id, input_text_delta } => {
                self.arguments(&tool_call_id, input_text_delta, out);
            }
            Chunk::ToolInputAvailable { tool_call_id, tool_name, input, .. }
            | Chunk::ToolInputError { tool_call_id, tool_name, input, .. }
                if self.calls.get(&tool_call_id) != Some(&CallProgress::Ended) =>
            {
                self.start_call(&tool_call_id, tool_name, out);
                if self.calls.get(&tool_call_id) == Some(&CallProgress::Started) {
                    self.arguments(&tool_call_id, input.to_string(), out);
                }
                self.end_call(&tool_call_id, out);
            }
            _ => {}
        }
    }

    /// Returns the result of a call, which may come with the chunk that ends its arguments.
    fn result(chunk: &Chunk) -> Option<Event> {
        let (id, content) = match chunk {
            Chunk::ToolInputError { tool_call_id, error_text, .. }
            | Chunk::ToolOutputError { tool_call_id, error_text, .. } => (tool_call_id, error_text.clone()),
            Chunk::ToolOutputDenied { tool_call_id } => (tool_call_id, DENIED.to_owned()),
            Chunk::ToolOutputAvailable { tool_call_id, output, preliminary, .. } if *preliminary != Some(true) => {
                (tool_call_id, result_text(output))
            }
            _ => return None,
        };
        Some(Event::tool_result(id, content))
    }

    /// Returns the events of a chunk.
    pub(crate) fn events(&mut self, chunk: Chunk) -> Vec<Event> {
        let (mut out, result) = (Vec::new(), Self::result(&chunk));
        self.push(chunk, &mut out);
        out.extend(result);
        out
    }

    fn start_call(&mut self, id: &str, tool_call_name: String, out: &mut Vec<Event>) {
        if self.calls.contains_key(id) {
            return;
        }
        self.calls.insert(id.to_owned(), CallProgress::Started);
        let parent_message_id = self.ids.calls();
        out.push(Event::ToolCallStart { tool_call_id: id.to_owned(), tool_call_name, parent_message_id });
    }

    fn arguments(&mut self, id: &str, delta: String, out: &mut Vec<Event>) {
        match self.calls.get_mut(id) {
            Some(progress) if *progress != CallProgress::Ended && !delta.is_empty() => {
                *progress = CallProgress::HasArguments;
                out.push(Event::ToolCallArgs { tool_call_id: id.to_owned(), delta });
            }
            _ => {}
        }
    }

    fn end_call(&mut self, id: &str, out: &mut Vec<Event>) {
        if let Some(progress) = self.calls.get_mut(id).filter(|progress| **progress != CallProgress::Ended) {
            *progress = CallProgress::Ended;
            out.push(Event::ToolCallEnd { tool_call_id: id.to_owned() });
        }
    }

    /// Closes what is open in the step, and the step.
    fn end_step(&mut self, out: &mut Vec<Event>) {
        out.extend(self.texts.drain().map(|(_, message_id)| Event::TextMessageEnd { message_id }));
        for (_, message_id) in self.reasonings.drain() {
            end_reasoning(message_id, out);
        }
        let open = self.calls.iter().filter(|(_, progress)| **progress != CallProgress::Ended);
        for id in open.map(|(id, _)| id.clone()).collect::<Vec<_>>() {
            self.end_call(&id, out);
        }
        out.extend(self.step.take().map(|step_name| Event::StepFinished { step_name }));
    }

    /// Closes everything.
    pub(crate) fn end(&mut self) -> Vec<Event> {
        let mut out = Vec::new();
        self.end_step(&mut out);
        out
    }
}

fn end_reasoning(message_id: String, out: &mut Vec<Event>) {
    out.push(Event::ReasoningMessageEnd { message_id: message_id.clone() });
    out.push(Event::ReasoningEnd { message_id });
}

fn custom(name: &str, value: Value) -> Event {
    Event::Custom { name: name.to_owned(), value }
}
