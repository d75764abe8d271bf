//! What of a request is new, and what is refused.

use crate::input::RunAgentInput;
use crate::request::{self, Asked, NewMessage};
use insta::assert_snapshot;
use serde_json::{Value, json};
use wire::UiMessage;

/// A thread with two answers. The second one waits for a tool, a decision and the answer to a question.
fn branch() -> Vec<UiMessage> {
    let waiting = json!([
        { "type": "step-start" },
        { "type": "tool-weather", "toolCallId": "w", "state": "input-available", "input": {} },
        { "type": "tool-send", "toolCallId": "s", "state": "approval-requested", "input": {}, "approval": { "id": "approval" } },
        { "type": "tool-ask-user", "toolCallId": "q", "state": "input-available", "input": { "kind": "missing_info", "question": "Which?" } },
    ]);
    let messages = json!([
        { "id": "u1", "role": "user", "parts": [{ "type": "text", "text": "Hi" }] },
        { "id": "a1", "role": "assistant", "parts": [{ "type": "step-start" }, { "type": "text", "text": "Hello" }] },
        { "id": "u2", "role": "user", "parts": [{ "type": "text", "text": "Send it" }] },
        { "id": "a2", "role": "assistant", "parts": waiting },
    ]);
    serde_json::from_value(messages).unwrap()
}

fn read(fields: Value) -> Result<RunAgentInput, wire::UserError> {
    let mut input = json!({ "threadId": "t", "runId": "r", "messages": [] });
    input.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    RunAgentInput::read(input.to_string().as_bytes())
}

/// Returns what a request with these fields asks for.
fn check(fields: Value, branch: &[UiMessage]) -> String {
    let error = |error: wire::UserError| format!("{} {}", error.path.unwrap_or_default(), error.message);
    let input = match read(fields) {
        Ok(input) => input,
        Err(refused) => return error(refused),
    };
    match request::decide(&input, branch) {
        Ok(Asked::Message(NewMessage { id, contents, replaces, before, results })) => {
            let texts: Vec<_> = contents.iter().map(|content| content.text()).collect();
            format!("message {id} {texts:?} replaces {replaces:?} after {before} with {}", json!(results))
        }
        Ok(Asked::Answers(answers)) => format!("answers {}", json!(answers)),
        Ok(Asked::Regenerate(id)) => format!("regenerate {id}"),
        Ok(Asked::Follow) => "follow".to_owned(),
        Err(refused) => error(refused),
    }
}

fn user(id: &str, text: &str) -> Value {
    json!({ "id": id, "role": "user", "content": text })
}

#[test]
fn what_is_new_is_found() {
    let check = |messages: Value| check(json!({ "messages": messages }), &branch());
    let known = |id: &str, role: &str| json!({ "id": id, "role": role, "content": "known" });
    let (a1, a2) = (known("a1", "assistant"), known("a2", "assistant"));
    let result = json!({ "id": "x", "role": "tool", "toolCallId": "w", "content": "sunny" });
    let failed = json!({ "id": "x", "role": "tool", "toolCallId": "w", "content": "", "error": "No weather." });
    let all = [
        check(json!([user("u1", "Hi"), a1, user("u2", "Send it"), a2, user("u3", "And?")])),
        check(json!([user("u3", "And"), user("u4", "so on")])),
        check(json!([user("u1", "Hi"), a1, user("u3", "Don't")])),
        check(json!([user("u1", "Hi"), a1, user("u2", "Send it")])),
        check(json!([a2, result])),
        check(json!([a2, failed])),
        check(json!([a2, result, user("u3", "And?")])),
        check(json!([a2, { "id": "x", "role": "tool", "toolCallId": "done", "content": "again" }])),
        check(json!([a2])),
        check(json!([])),
    ];
    assert_snapshot!(all.join("\n"), @"");
}

#[test]
fn interrupts_are_answered() {
    let check = |entries: Value| check(json!({ "resume": entries }), &branch());
    let entry = |id: &str, payload: Value| json!({ "interruptId": id, "status": "resolved", "payload": payload });
    let all = [
        check(json!([entry("approval", json!({ "approved": true, "remember": "always", "editedArgs": { "a": 1 } }))])),
        check(json!([entry("approval", json!(false)), entry("q", json!("this one"))])),
        check(
            json!([{ "interruptId": "approval", "status": "cancelled" }, { "interruptId": "q", "status": "cancelled" }]),
        ),
        check(json!([entry("approval", json!({ "approve": true }))])),
        check(json!([entry("q", json!(null))])),
        check(json!([entry("w", json!("sunny"))])),
    ];
    assert_snapshot!(all.join("\n"), @"");
    let resume = json!([entry("approval", json!(true))]);
    let both = json!({ "resume": resume, "messages": [user("u3", "And?")] });
    assert_snapshot!(super::requests::check(both, &branch()), @"");
}

#[test]
fn unusable_requests_name_the_place() {
    let check = |fields: Value| check(fields, &[]);
    let all = [
        check(json!({ "threadId": "a b" })),
        check(json!({ "runId": "" })),
        check(json!({ "messages": {} })),
        check(json!({ "messages": [{ "id": "m", "role": "nobody" }] })),
        check(json!({ "messages": [{ "id": "m", "role": "user", "content": 1 }] })),
        check(json!({ "resume": [{ "interruptId": "i", "status": "maybe" }] })),
        check(json!({ "context": vec![json!({ "description": "d", "value": "v" }); 101] })),
        check(json!({})),
        check(
            json!({ "messages": [{ "id": "r", "role": "reasoning", "content": "Hm" }, user("u", "Hi")], "later": 1 }),
        ),
    ];
    assert_snapshot!(all.join("\n"), @"");
}
