//! Compares the conversion of stored messages with the AI SDK's. The cases are those of `wire/tests/golden`, which
//! `generate.mjs` has written there, or of another folder of this form, which the variable `GOLDEN` names.

use crate::to_prompt::to_prompt;
use contract::{AssistantPart, FileData, Message, ProviderMetadata, ToolCall, ToolOutput, ToolResult, UserPart};
use serde_json::{Map, Value, json};
use wire::UiMessage;

/// Converts a model message to the AI SDK's format.
fn written(message: &Message) -> Value {
    match message {
        Message::System(text) => json!({ "role": "system", "content": text }),
        Message::User(parts) => json!({ "role": "user", "content": parts.iter().map(user).collect::<Vec<_>>() }),
        Message::Assistant(parts) => {
            json!({ "role": "assistant", "content": parts.iter().filter_map(said).collect::<Vec<_>>() })
        }
        Message::Tool(results) => json!({ "role": "tool", "content": results.iter().map(result).collect::<Vec<_>>() }),
    }
}

fn user(part: &UserPart) -> Value {
    match part {
        UserPart::Text { text } => json!({ "type": "text", "text": text }),
        UserPart::File { media_type, data, filename } => file(media_type, data, filename.as_deref()),
    }
}

fn file(media_type: &str, data: &FileData, filename: Option<&str>) -> Value {
    let data = match data {
        FileData::Base64(data) => format!("data:{media_type};base64,{data}"),
        FileData::Url(url) => url.clone(),
    };
    with(json!({ "type": "file", "mediaType": media_type, "data": data }), "filename", filename)
}

fn said(part: &AssistantPart) -> Option<Value> {
    Some(match part {
        AssistantPart::Text { text, metadata } => options(json!({ "type": "text", "text": text }), metadata),
        AssistantPart::Reasoning { text, metadata } => options(json!({ "type": "reasoning", "text": text }), metadata),
        AssistantPart::File { media_type, data, filename, metadata } => {
            options(file(media_type, data, filename.as_deref()), metadata)
        }
        AssistantPart::ToolCall(call) => called(call),
        AssistantPart::ToolResult(own) => result(own),
        // The AI SDK has no such part.
        AssistantPart::ProviderItem { .. } => return None,
    })
}

fn called(call: &ToolCall) -> Value {
    let ToolCall { id, name, input, provider_executed, metadata } = call;
    let part = json!({ "type": "tool-call", "toolCallId": id, "toolName": name, "input": input });
    options(with(part, "providerExecuted", provider_executed.then_some(true)), metadata)
}

fn result(result: &ToolResult) -> Value {
    let output = match &result.output {
        ToolOutput::Text(text) => json!({ "type": "text", "value": text }),
        ToolOutput::Json(value) => json!({ "type": "json", "value": value }),
        ToolOutput::Content(parts) => json!({ "type": "content", "value": parts }),
        ToolOutput::ErrorText(text) => json!({ "type": "error-text", "value": text }),
        ToolOutput::Denied(reason) => with(json!({ "type": "execution-denied" }), "reason", reason.clone()),
    };
    let part =
        json!({ "type": "tool-result", "toolCallId": result.call_id, "toolName": result.name, "output": output });
    options(part, &result.metadata)
}

fn with(mut value: Value, key: &str, field: Option<impl Into<Value>>) -> Value {
    if let Some(field) = field {
        value[key] = field.into();
    }
    value
}

fn options(part: Value, metadata: &Option<ProviderMetadata>) -> Value {
    with(part, "providerOptions", metadata.clone().map(Value::Object))
}

/// Removes empty texts and messages, which providers reject and which are therefore not sent.
fn sendable(messages: &Value) -> Value {
    let is_empty = |part: &Value| part["type"] == "text" && part["text"] == "";
    let message = |message: &Value| {
        let mut message = message.clone();
        message["content"].as_array_mut()?.retain(|part| !is_empty(part));
        (!message["content"].as_array()?.is_empty()).then_some(message)
    };
    messages.as_array().into_iter().flatten().filter_map(message).collect()
}

/// Returns the reason for a deliberate difference, by `role` and `case`.
fn deliberate(role: &str, case: &str) -> Option<&'static str> {
    Some(match (role, case) {
        ("system", _) => "instructions come only from the config",
        ("user", "textMeta") => "user messages have no provider options",
        ("assistant", "inStreaming" | "inAvailable") => "every call in a prompt has a result",
        ("assistant", "outPreliminary") => "preliminary output is not a result",
        ("assistant", "apprReq" | "apprYes" | "apprNo" | "denied" | "deniedNoReason" | "approvedOutput") => {
            "approval requests and decisions are kept by the server; a model reads only their result"
        }
        ("assistant", "outErrorRaw") => "providers require an object as the input of a call",
        ("assistant", "providerExecErr") => "there is only one kind of error result: text",
        ("assistant", "callMeta") => "the metadata of a call is not repeated with its result",
        _ => return None,
    })
}

#[test]
fn golden_conversion() {
    let own = || concat!(env!("CARGO_MANIFEST_DIR"), "/../wire/tests/golden").to_owned();
    let folder = std::env::var("GOLDEN").unwrap_or_else(|_| own());
    let text = std::fs::read_to_string(format!("{folder}/convert.json")).unwrap();
    let cases: Vec<Map<String, Value>> = serde_json::from_str(&text).unwrap();
    assert!(cases.len() > 10, "{}", cases.len());
    let mut wrong = Vec::new();
    for case in &cases {
        let name = |key: &str| case[key].as_str().unwrap_or_default();
        let messages = case["messages"].as_array().unwrap().iter().map(|message| {
            let mut message = message.clone();
            message["id"] = "m".into();
            serde_json::from_value::<UiMessage>(message).unwrap()
        });
        let messages: Vec<_> = messages.collect();
        let seen: Vec<_> = to_prompt(&messages, |_| false).iter().map(|message| written(message)).collect();
        if sendable(&Value::from(seen.clone())) != sendable(&case["expected"])
            && deliberate(name("role"), name("case")).is_none()
        {
            wrong.push(format!(
                "{} {}\n  ours {}\n  its  {}",
                name("role"),
                name("case"),
                Value::from(seen),
                case["expected"]
            ));
        }
    }
    assert!(wrong.is_empty(), "{} of {} differ:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}
