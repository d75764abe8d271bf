//! Bodies of requests, and what agents are asked then.

use super::chat::ChatCompletion;
use super::history::History;
use super::responses::ResponseCall;
use super::{Entry, Parameters};
use crate::error::ApiError;
use contract::ToolChoice;
use proptest::prelude::*;
use serde_json::{Value, json};
use wire::UiPart;

fn failure(error: ApiError) -> String {
    let body = error.body;
    format!("{} {}: {}", error.status.as_u16(), body.param.unwrap_or_default(), body.message)
}

/// Returns the messages that a request becomes, a line for each.
fn history(entries: Vec<Entry>, parameters: &Parameters) -> String {
    let read = match History::new(Vec::new(), &[]).read(entries, &parameters.tools.names, "messages") {
        Ok(read) => read,
        Err(error) => return failure(error),
    };
    let part = |part: &UiPart| match part {
        UiPart::Text(text) => text.text.clone(),
        UiPart::StepStart => "|".to_owned(),
        UiPart::Tool(tool) => {
            let mark = if tool.is_preset() { " not verified" } else { "" };
            format!(
                "{}({}) = {}{mark}",
                tool.tool_name,
                tool.input.clone().unwrap_or_default(),
                tool.output.clone().unwrap_or_default()
            )
        }
        UiPart::File(file) => file.media_type.clone(),
        _ => "?".to_owned(),
    };
    let mut lines: Vec<_> = read.instructions.into_iter().map(|text| format!("instructions: {text:?}")).collect();
    lines.extend(read.messages.iter().map(|message| {
        let parts: Vec<_> = message.parts.iter().map(part).collect();
        format!("{:?}: {}", message.role, parts.join(" "))
    }));
    lines.join("\n")
}

fn chat(body: Value) -> String {
    match ChatCompletion::read(body.to_string().as_bytes()) {
        Ok(read) => history(read.entries, &read.parameters),
        Err(error) => failure(error),
    }
}

fn response(body: Value) -> String {
    match ResponseCall::read(body.to_string().as_bytes()) {
        Ok(read) => history(read.entries, &read.parameters),
        Err(error) => failure(error),
    }
}

/// Returns a valid request with more parameters.
fn with(more: Value) -> Value {
    let mut body = json!({ "model": "helper", "messages": [{ "role": "user", "content": "Hi" }] });
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    body
}

fn called(id: &str, name: &str) -> Value {
    let function = json!({ "name": name, "arguments": "{\"n\":1}" });
    json!({ "role": "assistant", "content": null, "tool_calls": [{ "id": id, "type": "function", "function": function }] })
}

fn returned(id: &str) -> Value {
    json!({ "role": "tool", "tool_call_id": id, "content": [{ "type": "text", "text": "42" }] })
}

#[test]
fn messages_become_a_history() {
    let weather = json!([{ "type": "function", "function": { "name": "weather" } }]);
    let user = |text: &str| json!({ "role": "user", "content": text });
    let messages = json!([
        { "role": "system", "content": "Be brief." },
        user("One"),
        user("Two"),
        called("a", "weather"),
        returned("a"),
        { "role": "assistant", "content": "So.", "refusal": null, "annotations": [] },
        { "role": "developer", "content": [{ "type": "text", "text": "Be kind." }] },
        user("Three"),
        called("b", "find"),
        returned("b"),
    ]);
    let body = json!({ "model": "helper", "messages": messages, "tools": weather });
    insta::assert_snapshot!(chat(body), @"");
    let input = json!([
        { "role": "user", "content": [{ "type": "input_text", "text": "One" }] },
        { "type": "reasoning", "id": "rs_1", "summary": [] },
        { "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": "Let me see.", "annotations": [] }] },
        { "type": "function_call", "call_id": "a", "name": "weather", "arguments": "{}" },
        { "type": "function_call", "call_id": "b", "name": "weather", "arguments": "" },
        { "type": "function_call_output", "call_id": "b", "output": "cold" },
        { "type": "function_call_output", "call_id": "a", "output": [{ "type": "input_text", "text": "warm" }] },
    ]);
    let tools = json!([{ "type": "function", "name": "weather", "parameters": null, "strict": true }]);
    insta::assert_snapshot!(response(json!({ "model": "helper", "input": input, "tools": tools })), @"");
    insta::assert_snapshot!(response(json!({ "model": "helper", "input": "Hi" })), @"");
}

#[test]
fn histories_that_no_agent_can_answer_are_refused() {
    let user = json!({ "role": "user", "content": "Hi" });
    let all = [
        json!([]),
        json!([{ "role": "user", "content": " " }]),
        json!([{ "role": "user", "content": null }]),
        json!([{ "role": "system", "content": "Hi" }]),
        json!([user, { "role": "assistant", "content": "Hi" }]),
        json!([user, called("a", "weather")]),
        json!([user, called("a", "weather"), user]),
        json!([user, returned("a")]),
        json!([user, called("a", "weather"), returned("a"), returned("a")]),
        json!([user, called("a", "weather"), called("a", "weather"), returned("a")]),
        json!([user, called("a", "no name"), returned("a")]),
        json!([user, called("", "weather"), returned("")]),
        json!([user, called("a", "weather"), returned("b")]),
        json!([user, { "role": "tool", "content": "x" }]),
        json!([{ "role": "robot", "content": "x" }]),
        json!([{ "content": "x" }]),
        json!([user, { "role": "assistant", "tool_calls": [{ "id": "a", "function": { "name": "w", "arguments": "[" } }] }]),
    ];
    let lines = all.map(|messages| chat(json!({ "model": "helper", "messages": messages })));
    insta::assert_snapshot!(lines.join("\n"), @"");
}

#[test]
fn parameters_that_cannot_be_honoured_are_named() {
    let function = |name: &str| json!([{ "type": "function", "function": { "name": name } }]);
    let all = [
        json!({ "n": 2 }),
        json!({ "logprobs": true }),
        json!({ "nonsense": 1 }),
        json!({ "nonsense": null }),
        json!({ "store": true }),
        json!({ "stream_options": { "include_usage": true } }),
        json!({ "temperature": "warm" }),
        json!({ "temperature": 3 }),
        json!({ "max_tokens": 0 }),
        json!({ "max_tokens": -1 }),
        json!({ "stop": ["a", "b", "c", "d", "e"] }),
        json!({ "service_tier": "priority" }),
        json!({ "metadata": { "a": 1 } }),
        json!({ "model": 7 }),
        json!({ "tools": [{ "type": "web_search" }] }),
        json!({ "tools": function("a b") }),
        json!({ "tools": [{ "type": "function", "function": { "name": "a", "parameters": 7 } }] }),
        json!({ "tool_choice": "required" }),
        json!({ "tool_choice": { "type": "function", "function": { "name": "b" } }, "tools": function("a") }),
        json!({ "tool_choice": { "type": "allowed_tools" }, "tools": function("a") }),
        json!({ "response_format": { "type": "xml" } }),
        json!({ "response_format": { "type": "json_schema" } }),
        json!({ "response_format": { "type": "json_schema", "json_schema": { "name": "a b" } } }),
    ];
    let lines = all.map(|more| format!("{more}\n    {}", chat(with(more.clone()))));
    insta::assert_snapshot!(lines.join("\n"), @"");
    let all = [
        json!({ "background": true }),
        json!({ "truncation": "auto" }),
        json!({ "include": ["message.output_text.logprobs"] }),
        json!({ "reasoning": { "effort": "high" } }),
        json!({ "reasoning": { "summary": "detailed" } }),
        json!({ "text": { "verbosity": "low" } }),
        json!({ "conversation": "c" }),
        json!({ "input": 7 }),
        json!({ "input": [{ "type": "item_reference", "id": "x" }] }),
        json!({ "input": [{ "type": "web_search_call", "id": "x" }] }),
        json!({ "input": [{ "type": "function_call_output", "output": "x" }] }),
        json!({ "include": ["reasoning.encrypted_content"], "reasoning": { "effort": null } }),
    ];
    let lines = all.map(|more| {
        let mut body = json!({ "model": "helper", "input": "Hi" });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        format!("{more}\n    {}", response(body))
    });
    insta::assert_snapshot!(lines.join("\n"), @"");
}

#[test]
fn bodies_that_are_no_json_objects_are_refused() {
    let check = |body: &[u8]| failure(ChatCompletion::read(body).unwrap_err());
    let deep = "[".repeat(100_000);
    let all: [&[u8]; 6] = [b"", b"{", b"[]", b"{\"model\":\"\xff\"}", deep.as_bytes(), b"{}"];
    insta::assert_snapshot!(all.map(check).join("\n"), @"");
    let many = vec![json!({ "role": "user", "content": "x" }); super::MAX_ENTRIES + 1];
    let long = json!([{ "role": "user", "content": "x".repeat(super::MAX_TEXT + 1) }]);
    let all = [Value::from(many), long].map(|messages| chat(json!({ "model": "helper", "messages": messages })));
    insta::assert_snapshot!(all.join("\n"), @"");
}

#[test]
fn tool_choice_is_about_the_tools_of_the_caller() {
    let check = |choice: Value| {
        let tools = json!([{ "type": "function", "function": { "name": "a" } }, { "type": "function", "function": { "name": "b" } }]);
        let body = with(json!({ "tools": tools, "tool_choice": choice }));
        let tools = ChatCompletion::read(body.to_string().as_bytes()).unwrap().parameters.tools;
        (tools.offered.len(), tools.choice)
    };
    assert_eq!(check(Value::Null), (2, ToolChoice::Auto));
    assert_eq!(check("auto".into()), (2, ToolChoice::Auto));
    assert_eq!(check("none".into()), (0, ToolChoice::Auto));
    assert_eq!(check("required".into()), (2, ToolChoice::Required));
    let named = json!({ "type": "function", "function": { "name": "b" } });
    assert_eq!(check(named), (2, ToolChoice::Tool("b".to_owned())));
}

proptest! {
    #[test]
    fn any_body_is_read_or_refused(body in "[{}\\[\\]\",:a-z0-9 ]{0,80}") {
        let _ = ChatCompletion::read(body.as_bytes());
        let _ = ResponseCall::read(body.as_bytes());
    }
}
