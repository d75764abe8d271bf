//! The output items of a response, and the events with which they are streamed.

use super::turn::Call;
use serde_json::{Value, json};

/// The output items of a response, and the events about them.
#[derive(Default)]
pub(crate) struct OutputItems {
    /// The id of the run, from which those of items are made.
    run_id: String,
    shows_reasoning: bool,
    done: Vec<Value>,
    open: Option<OpenItem>,
    /// The events since they were taken, without their sequence numbers.
    events: Vec<Value>,
}

/// An item that is being written.
struct OpenItem {
    id: String,
    is_reasoning: bool,
    text: String,
}

impl OutputItems {
    pub(crate) fn new(run_id: &str, shows_reasoning: bool) -> Self {
        Self { run_id: run_id.to_owned(), shows_reasoning, ..Self::default() }
    }

    /// Returns the items that are complete.
    pub(crate) fn done(&self) -> &[Value] {
        &self.done
    }

    /// Returns the events since the last call.
    pub(crate) fn take_events(&mut self) -> Vec<Value> {
        std::mem::take(&mut self.events)
    }

    /// Returns the place of the item that is being written.
    fn index(&self) -> usize {
        self.done.len()
    }

    /// Adds text or reasoning.
    pub(crate) fn write(&mut self, delta: &str, is_reasoning: bool) {
        if is_reasoning && !self.shows_reasoning {
            return;
        }
        if self.open.as_ref().is_none_or(|open| open.is_reasoning != is_reasoning) {
            self.close("completed");
            self.open(is_reasoning);
        }
        let index = self.index();
        let Some(open) = &mut self.open else { return };
        open.text.push_str(delta);
        self.events.push(if is_reasoning {
            json!({ "type": "response.reasoning_summary_text.delta", "item_id": open.id, "output_index": index,
                "summary_index": 0, "delta": delta })
        } else {
            json!({ "type": "response.output_text.delta", "item_id": open.id, "output_index": index,
                "content_index": 0, "delta": delta, "logprobs": [] })
        });
    }

    fn open(&mut self, is_reasoning: bool) {
        let index = self.index();
        let prefix = if is_reasoning { "rs" } else { "msg" };
        let id = format!("{prefix}_{}_{index}", self.run_id);
        let (item, part) = if is_reasoning {
            (
                json!({ "id": id, "type": "reasoning", "summary": [] }),
                json!({ "type": "response.reasoning_summary_part.added", "item_id": id, "output_index": index,
                    "summary_index": 0, "part": { "type": "summary_text", "text": "" } }),
            )
        } else {
            (
                json!({ "id": id, "type": "message", "status": "in_progress", "role": "assistant", "content": [] }),
                json!({ "type": "response.content_part.added", "item_id": id, "output_index": index,
                    "content_index": 0, "part": text_part("") }),
            )
        };
        self.events.push(json!({ "type": "response.output_item.added", "output_index": index, "item": item }));
        self.events.push(part);
        self.open = Some(OpenItem { id, is_reasoning, text: String::new() });
    }

    /// Completes the item that is being written.
    pub(crate) fn close(&mut self, status: &str) {
        let index = self.index();
        let Some(OpenItem { id, is_reasoning, text }) = self.open.take() else { return };
        let item = if is_reasoning {
            let part = json!({ "type": "summary_text", "text": text });
            self.events.push(json!({ "type": "response.reasoning_summary_text.done", "item_id": id,
                "output_index": index, "summary_index": 0, "text": text }));
            self.events.push(json!({ "type": "response.reasoning_summary_part.done", "item_id": id,
                "output_index": index, "summary_index": 0, "part": part }));
            json!({ "id": id, "type": "reasoning", "summary": [part] })
        } else {
            let part = text_part(&text);
            self.events.push(json!({ "type": "response.output_text.done", "item_id": id, "output_index": index,
                "content_index": 0, "text": text, "logprobs": [] }));
            self.events.push(json!({ "type": "response.content_part.done", "item_id": id, "output_index": index,
                "content_index": 0, "part": part }));
            json!({ "id": id, "type": "message", "status": status, "role": "assistant", "content": [part] })
        };
        self.finish(item);
    }

    /// Adds a call of a tool of the caller.
    pub(crate) fn call(&mut self, call: &Call) {
        let index = self.index();
        let Call { id: call_id, name, arguments } = call;
        let id = format!("fc_{}_{index}", self.run_id);
        let item = |arguments: &str, status: &str| {
            json!({ "id": id, "type": "function_call", "status": status, "call_id": call_id, "name": name,
                "arguments": arguments })
        };
        self.events.push(json!({ "type": "response.output_item.added", "output_index": index,
            "item": item("", "in_progress") }));
        self.events.push(json!({ "type": "response.function_call_arguments.delta", "item_id": id,
            "output_index": index, "delta": arguments }));
        self.events.push(json!({ "type": "response.function_call_arguments.done", "item_id": id,
            "output_index": index, "name": name, "arguments": arguments }));
        self.finish(item(arguments, "completed"));
    }

    fn finish(&mut self, item: Value) {
        let index = self.index();
        self.events.push(json!({ "type": "response.output_item.done", "output_index": index, "item": item }));
        self.done.push(item);
    }
}

fn text_part(text: &str) -> Value {
    json!({ "type": "output_text", "text": text, "annotations": [], "logprobs": [] })
}
