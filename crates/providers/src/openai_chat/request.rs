//! The contract's request → a Chat Completions request.

use super::PROVIDER;
use contract::{AssistantPart, FileData, Message, Request, ToolChoice, UserPart};
use serde_json::{Map, Value, json};

/// The body of `POST /chat/completions`.
pub(crate) fn body(model: &str, request: &Request) -> Value {
    let mut body = Map::new();
    let mut set = |key: &str, value: Option<Value>| {
        if let Some(value) = value {
            body.insert(key.to_owned(), value);
        }
    };
    let sampling = &request.sampling;
    set("model", Some(model.into()));
    set("messages", Some(messages(request).into()));
    set("stream", Some(true.into()));
    set("stream_options", Some(json!({ "include_usage": true })));
    set("max_tokens", sampling.max_output_tokens.map(Into::into));
    set("temperature", sampling.temperature.map(Into::into));
    set("top_p", sampling.top_p.map(Into::into));
    set("frequency_penalty", sampling.frequency_penalty.map(Into::into));
    set("presence_penalty", sampling.presence_penalty.map(Into::into));
    set("seed", sampling.seed.map(Into::into));
    set("stop", (!sampling.stop_sequences.is_empty()).then(|| json!(sampling.stop_sequences)));
    if !request.tools.is_empty() {
        let function = |tool: &contract::ToolSpec| {
            json!({ "type": "function",
                "function": { "name": tool.name, "description": tool.description, "parameters": tool.input_schema } })
        };
        set("tools", Some(request.tools.iter().map(function).collect()));
        set("tool_choice", Some(tool_choice(&request.tool_choice)));
    }
    if let Some(Value::Object(options)) = request.provider_options.get(PROVIDER) {
        body.extend(options.clone());
    }
    Value::Object(body)
}

fn tool_choice(choice: &ToolChoice) -> Value {
    match choice {
        ToolChoice::Auto => "auto".into(),
        ToolChoice::Required => "required".into(),
        ToolChoice::None => "none".into(),
        ToolChoice::Tool(name) => json!({ "type": "function", "function": { "name": name } }),
    }
}

fn messages(request: &Request) -> Vec<Value> {
    let system = request.system.iter().map(|text| json!({ "role": "system", "content": text }));
    let mut messages: Vec<_> = system.collect();
    for message in &request.messages {
        match &**message {
            Message::System(text) => messages.push(json!({ "role": "system", "content": text })),
            Message::User(parts) => messages.push(json!({ "role": "user", "content": user_content(parts) })),
            Message::Assistant(parts) => messages.extend(assistant(parts)),
            Message::Tool(results) => messages.extend(results.iter().map(
                |result| json!({ "role": "tool", "tool_call_id": result.call_id, "content": result.output.to_text() }),
            )),
        }
    }
    messages
}

/// Text alone is plain text: small gateways know nothing else.
fn user_content(parts: &[UserPart]) -> Value {
    match parts {
        [UserPart::Text { text }] => text.as_str().into(),
        parts => parts.iter().map(user_part).collect(),
    }
}

fn user_part(part: &UserPart) -> Value {
    match part {
        UserPart::Text { text } => json!({ "type": "text", "text": text }),
        UserPart::File { media_type, data, filename } => {
            let url = match data {
                FileData::Base64(data) => format!("data:{media_type};base64,{data}"),
                FileData::Url(url) => url.clone(),
            };
            if media_type.starts_with("image/") {
                json!({ "type": "image_url", "image_url": { "url": url } })
            } else {
                json!({ "type": "file", "file": { "filename": filename, "file_data": url } })
            }
        }
    }
}

fn assistant(parts: &[AssistantPart]) -> Option<Value> {
    let (mut text, mut reasoning, mut calls) = (String::new(), String::new(), Vec::new());
    for part in parts {
        match part {
            AssistantPart::Text { text: more, .. } => text.push_str(more),
            AssistantPart::Reasoning { text: more, .. } => reasoning.push_str(more),
            AssistantPart::ToolCall(call) if !call.provider_executed => calls
                .push(json!({ "id": call.id, "type": "function",
                "function": { "name": call.name, "arguments": call.input.to_string() } })),
            _ => {}
        }
    }
    if text.is_empty() && calls.is_empty() {
        return None;
    }
    let mut message = json!({ "role": "assistant", "content": text });
    // DeepSeek wants the thoughts of a turn back while the turn's tools run; others pass over them.
    if !reasoning.is_empty() && !calls.is_empty() {
        message["reasoning_content"] = reasoning.into();
    }
    if !calls.is_empty() {
        message["tool_calls"] = calls.into();
    }
    Some(message)
}
