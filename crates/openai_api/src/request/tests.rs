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
    let read = match History::new(Vec::new(), &[]).read(entries, &parameters.tools.names(), "messages") {
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
    insta::assert_snapshot!(chat(body), @r#"
    instructions: "Be brief.\n\nBe kind."
    User: One Two
    Assistant: weather({"n":1}) = "42" | So.
    User: Three
    Assistant: find({"n":1}) = "42" not verified
    "#);
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
    insta::assert_snapshot!(response(json!({ "model": "helper", "input": input, "tools": tools })), @r#"
    User: One
    Assistant: Let me see. weather({}) = "warm" weather({}) = "cold"
    "#);
    insta::assert_snapshot!(response(json!({ "model": "helper", "input": "Hi" })), @"User: Hi");
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
    insta::assert_snapshot!(lines.join("\n"), @r"
    400 messages: The last message is one of the user, or the result of a tool.
    400 messages: The last message is one of the user, or the result of a tool.
    400 messages: The last message is one of the user, or the result of a tool.
    400 messages: The last message is one of the user, or the result of a tool.
    400 messages: The last message is one of the user, or the result of a tool.
    400 messages: There is no result of the call `a`.
    400 messages: There is no result of the call `a`.
    400 messages[1]: There is no call `a` before this result.
    400 messages[3]: The call `a` has a result already.
    400 messages[2].tool_calls[0]: Another call has the id `a`.
    400 messages[1].tool_calls[0]: The name of a tool has 1 to 64 letters, digits, `_` and `-`.
    400 messages[1].tool_calls[0]: The id of a call has 1 to 256 bytes.
    400 messages[2]: There is no call `b` before this result.
    400 messages[1].tool_call_id: A result names its call.
    400 messages[0].role: A role is `system`, `developer`, `user`, `assistant` or `tool`.
    400 messages[0]: Invalid request: missing field `role`.
    400 messages[1].tool_calls[0].function.arguments: The arguments of a call are a JSON object in a string.
    ");
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
    insta::assert_snapshot!(lines.join("\n"), @r#"
    {"n":2}
        400 n: An agent gives one answer: `n` is 1.
    {"logprobs":true}
        400 logprobs: This server does not support the parameter `logprobs`.
    {"nonsense":1}
        400 nonsense: Unrecognized request argument supplied: nonsense.
    {"nonsense":null}
        User: Hi
    {"store":true}
        400 store: Chat completions are not stored. Use the Responses API for that.
    {"stream_options":{"include_usage":true}}
        400 stream_options: `stream_options` is possible only with `stream: true`.
    {"temperature":"warm"}
        400 temperature: Invalid request: expected f64.
    {"temperature":3}
        400 temperature: A number from 0 to 2 is possible.
    {"max_tokens":0}
        400 max_tokens: A reply has at least 1 token.
    {"max_tokens":-1}
        400 max_tokens: Invalid request: expected u32.
    {"stop":["a","b","c","d","e"]}
        400 stop: Up to 4 texts of 1 to 1,000 bytes are possible.
    {"service_tier":"priority"}
        400 service_tier: There is no service tier `priority`.
    {"metadata":{"a":1}}
        400 metadata: Up to 16 texts of 512 characters are possible, with keys of 64 characters.
    {"model":7}
        400 model: Invalid request: expected a string.
    {"tools":[{"type":"web_search"}]}
        400 tools[0].type: Only tools of the type `function` can be brought along. The agent has its own tools.
    {"tools":[{"type":"function","function":{"name":"a b"}}]}
        400 tools[0].function.name: The name of a tool has 1 to 64 letters, digits, `_` and `-`.
    {"tools":[{"type":"function","function":{"name":"a","parameters":7}}]}
        400 tools[0].function.parameters: The parameters are a JSON Schema.
    {"tool_choice":"required"}
        400 tool_choice: Without `tools` there is nothing to call.
    {"tool_choice":{"type":"function","function":{"name":"b"}},"tools":[{"type":"function","function":{"name":"a"}}]}
        400 tool_choice: The request has no such tool.
    {"tool_choice":{"type":"allowed_tools"},"tools":[{"type":"function","function":{"name":"a"}}]}
        400 tool_choice: It is `auto`, `none`, `required` or a function.
    {"response_format":{"type":"xml"}}
        400 response_format: This cannot be read: expected one of `text`, `json_object`, `json_schema`.
    {"response_format":{"type":"json_schema"}}
        400 response_format: A schema needs a `name`.
    {"response_format":{"type":"json_schema","json_schema":{"name":"a b"}}}
        400 response_format.name: The name of a schema has 1 to 64 letters, digits, `_` and `-`.
    "#);
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
    insta::assert_snapshot!(lines.join("\n"), @r#"
    {"background":true}
        400 background: Responses in the background are not supported. Use `stream`.
    {"truncation":"auto"}
        400 truncation: A history that is too long is not cut. Leave it out, or set `disabled`.
    {"include":["message.output_text.logprobs"]}
        400 include: `message.output_text.logprobs` cannot be included.
    {"reasoning":{"effort":"high"}}
        400 reasoning.effort: The agent decides this; leave it out.
    {"reasoning":{"summary":"detailed"}}
        400 reasoning.summary: Only `auto` is possible.
    {"text":{"verbosity":"low"}}
        400 text.verbosity: The agent decides this; leave it out.
    {"conversation":"c"}
        400 conversation: This server does not support the parameter `conversation`.
    {"input":7}
        400 input: The input is a text or a list of items.
    {"input":[{"type":"item_reference","id":"x"}]}
        404 input[0]: Item with id `x` not found. Items are kept with stored responses.
    {"input":[{"type":"web_search_call","id":"x"}]}
        400 input[0].type: Items of the type `web_search_call` are not supported.
    {"input":[{"type":"function_call_output","output":"x"}]}
        400 input[0].call_id: `call_id` is missing.
    {"include":["reasoning.encrypted_content"],"reasoning":{"effort":null}}
        User: Hi
    "#);
}

#[test]
fn bodies_that_are_no_json_objects_are_refused() {
    let check = |body: &[u8]| failure(ChatCompletion::read(body).unwrap_err());
    let deep = "[".repeat(100_000);
    let all: [&[u8]; 6] = [b"", b"{", b"[]", b"{\"model\":\"\xff\"}", deep.as_bytes(), b"{}"];
    insta::assert_snapshot!(all.map(check).join("\n"), @r"
    400 : The request is not valid JSON.
    400 : The request is not valid JSON.
    400 : The request is not a JSON object.
    400 : The request is not valid JSON.
    400 : The request is not valid JSON.
    400 : Invalid request: missing field `model`.
    ");
    let many = vec![json!({ "role": "user", "content": "x" }); super::MAX_ENTRIES + 1];
    let long = json!([{ "role": "user", "content": "x".repeat(super::MAX_TEXT + 1) }]);
    let all = [Value::from(many), long].map(|messages| chat(json!({ "model": "helper", "messages": messages })));
    insta::assert_snapshot!(all.join("\n"), @r"
    400 messages: A request has at most 2000 messages.
    400 messages: A request has at most 4 MB of text.
    ");
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
