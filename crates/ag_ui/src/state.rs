//! The state that a frontend shares with the agent. The agent writes it with the tool `update-page-state`, which a
//! page of this product runs in the browser; for a frontend it runs here, and the frontend gets the change.

use crate::event::Event;
use serde_json::{Map, Value, json};
use wire::api::Answer;
use wire::page::{FieldType, SharedField, UPDATE_PAGE_STATE, apply_updates};
use wire::{ToolState, UiMessage};

/// The shared state.
pub(crate) struct SharedState {
    pub(crate) values: Map<String, Value>,
}

impl SharedState {
    /// Begins with the state of a request. Only an object can be shared.
    pub(crate) fn new(state: &Value) -> Self {
        Self { values: state.as_object().cloned().unwrap_or_default() }
    }

    /// Returns the state as an event, if there is one.
    pub(crate) fn snapshot(&self) -> Option<Event> {
        (!self.values.is_empty()).then(|| Event::StateSnapshot { snapshot: self.values.clone().into() })
    }

    /// Makes the changes that a message waits for. Returns the answers to its calls, and the events.
    pub(crate) fn write(&mut self, message: &UiMessage) -> (Vec<Answer>, Vec<Event>) {
        let field =
            |key: &String| SharedField { key: key.clone(), target: Some(key.clone()), field_type: FieldType::Any };
        let (mut answers, mut events) = (Vec::new(), Vec::new());
        let calls = message
            .tools()
            .filter(|tool| tool.tool_name == UPDATE_PAGE_STATE && tool.state == ToolState::InputAvailable);
        for call in calls {
            let fields: Vec<_> = self.values.keys().map(field).collect();
            let update = apply_updates(&fields, call.input.as_ref().unwrap_or(&Value::Null));
            let change = |(key, value): &(String, Value)| {
                let path = format!("/{}", key.replace('~', "~0").replace('/', "~1"));
                json!({ "op": "add", "path": path, "value": value })
            };
            let delta: Vec<_> = update.written.iter().map(change).collect();
            if !delta.is_empty() {
                events.push(Event::StateDelta { delta });
            }
            self.values.extend(update.written);
            events.push(Event::tool_result(&call.tool_call_id, update.output.to_string()));
            answers.push(Answer::Output { tool_call_id: call.tool_call_id.clone(), output: update.output });
        }
        (answers, events)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agent_writes_the_fields_that_there_are() {
        let mut state = SharedState::new(&json!({ "name": "Ada", "a/b~": 1 }));
        let input = json!({ "updates": { "a/b~": 2, "name": null, "other": 3 } });
        let part =
            json!({ "type": "tool-update-page-state", "toolCallId": "c", "state": "input-available", "input": input });
        let message = serde_json::from_value(json!({ "id": "m", "role": "assistant", "parts": [part] })).unwrap();
        let (answers, events) = state.write(&message);
        assert_eq!((answers.len(), events.len()), (1, 2), "{events:?}");
        let Event::StateDelta { delta } = &events[0] else { panic!("{events:?}") };
        let mut paths: Vec<_> = delta.iter().map(|change| change["path"].clone()).collect();
        paths.sort_by_key(Value::to_string);
        assert_eq!(paths, ["/a~1b~0", "/name"]);
        assert_eq!(Value::from(state.values), json!({ "name": null, "a/b~": 2 }));
    }
}
