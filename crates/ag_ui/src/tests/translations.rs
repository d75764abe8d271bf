//! Chunks become events, and messages become those of AG-UI, with the same ids.

use crate::event::Event;
use crate::messages::{self, MessageIds};
use crate::state::SharedState;
use crate::translate::Translator;
use insta::assert_snapshot;
use serde_json::{Value, json};
use wire::{Chunk, Reducer, Role, UiMessage};

fn chunk(value: Value) -> Chunk {
    serde_json::from_value(value).unwrap()
}

fn lines(events: &[Event]) -> String {
    let line = |event: &Event| {
        let Value::Object(mut fields) = serde_json::to_value(event).unwrap() else { unreachable!("it has fields") };
        let kind = fields.remove("type").unwrap();
        format!("{} {}", kind.as_str().unwrap(), Value::Object(fields))
    };
    events.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Returns the events of the chunks of an answer, and its messages.
fn check(chunks: Vec<Value>) -> String {
    let mut reducer = Reducer::new(UiMessage::new("m", Role::Assistant));
    let mut translator = Translator::new(MessageIds::new("m"));
    let mut events = Vec::new();
    for chunk in chunks.into_iter().map(chunk) {
        let _ = reducer.apply(&chunk);
        events.extend(translator.events(chunk));
    }
    events.extend(translator.end());
    let all = messages::of_branch(&[reducer.into_message()]);
    let shown = all.iter().map(|(_, message)| serde_json::to_string(message).unwrap());
    format!("{}\n---\n{}", lines(&events), shown.collect::<Vec<_>>().join("\n"))
}

#[test]
fn steps_are_messages() {
    assert_snapshot!(check(vec![
        json!({ "type": "start", "messageId": "m" }),
        json!({ "type": "start-step" }),
        json!({ "type": "reasoning-start", "id": "1" }),
        json!({ "type": "reasoning-delta", "id": "1", "delta": "Hm" }),
        json!({ "type": "reasoning-end", "id": "1" }),
        json!({ "type": "text-start", "id": "2" }),
        json!({ "type": "text-delta", "id": "2", "delta": "Let me see." }),
        json!({ "type": "text-end", "id": "2" }),
        json!({ "type": "tool-input-start", "toolCallId": "c", "toolName": "find" }),
        json!({ "type": "tool-input-delta", "toolCallId": "c", "inputTextDelta": "{\"q\":" }),
        json!({ "type": "tool-input-delta", "toolCallId": "c", "inputTextDelta": "1}" }),
        json!({ "type": "tool-input-available", "toolCallId": "c", "toolName": "find", "input": { "q": 1 } }),
        json!({ "type": "tool-output-available", "toolCallId": "c", "output": "half", "preliminary": true }),
        json!({ "type": "tool-output-available", "toolCallId": "c", "output": { "found": 2 } }),
        json!({ "type": "finish-step" }),
        json!({ "type": "start-step" }),
        json!({ "type": "text-start", "id": "3" }),
        json!({ "type": "text-delta", "id": "3", "delta": "Two." }),
        json!({ "type": "text-end", "id": "3" }),
        json!({ "type": "finish-step" }),
        json!({ "type": "finish" }),
    ]), @"");
}

#[test]
fn what_is_open_is_closed() {
    assert_snapshot!(check(vec![
        json!({ "type": "start-step" }),
        json!({ "type": "tool-input-available", "toolCallId": "c", "toolName": "weather", "input": {} }),
        // A call that is handed over to the client is sent again.
        json!({ "type": "tool-input-available", "toolCallId": "c", "toolName": "weather", "input": {} }),
        json!({ "type": "tool-input-error", "toolCallId": "d", "toolName": "find", "input": "{", "errorText": "No JSON." }),
        json!({ "type": "tool-input-start", "toolCallId": "e", "toolName": "send" }),
        json!({ "type": "text-start", "id": "1" }),
        json!({ "type": "text-delta", "id": "1", "delta": "Wel" }),
        json!({ "type": "data-plan", "id": "p", "data": 1 }),
    ]), @"");
}

#[test]
fn agent_writes_the_fields_that_there_are() {
    let mut state = SharedState::new(&json!({ "name": "Ada", "a/b~": 1 }));
    let part = |id: &str, updates: Value| json!({ "type": "tool-update-page-state", "toolCallId": id, "state": "input-available", "input": { "updates": updates } });
    let parts = [part("c", json!({ "name": "Bob", "a/b~": 2, "other": 3 })), part("d", json!({ "name": null }))];
    let message = serde_json::from_value(json!({ "id": "m", "role": "assistant", "parts": parts })).unwrap();
    let (answers, events) = state.write(&message);
    assert_eq!(answers.len(), 2);
    assert_snapshot!(lines(&events), @"");
    assert_eq!(Value::from(state.values), json!({ "name": null, "a/b~": 2 }));
}
