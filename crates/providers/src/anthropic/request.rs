//! The contract's request → a Messages request.

use super::PROVIDER;
use contract::{
    AssistantPart, FileData, Message, ProviderMetadata, Request, ToolChoice, ToolOutput, ToolResult, UserPart,
};
use serde_json::{Map, Value, json};

/// The body of `POST /messages`.
pub(crate) fn body(model: &str, request: &Request) -> Value {
    let mut body = Map::new();
    let mut set = |key: &str, value: Option<Value>| {
        if let Some(value) = value {
            body.insert(key.to_owned(), value);
        }
    };
    let sampling = &request.sampling;
    set("model", Some(model.into()));
    set("max_tokens", Some(sampling.max_output_tokens.unwrap_or_else(|| most_output(model)).into()));
    set("stream", Some(true.into()));
    set("system", request.system.as_ref().map(|text| json!([{ "type": "text", "text": text }])));
    set("messages", Some(messages(&request.messages).into()));
    set("temperature", sampling.temperature.map(Into::into));
    set("top_p", sampling.top_p.map(Into::into));
    set("top_k", sampling.top_k.map(Into::into));
    set("stop_sequences", (!sampling.stop_sequences.is_empty()).then(|| json!(sampling.stop_sequences)));
    if !request.tools.is_empty() {
        let tools = request.tools.iter();
        let tools = tools.map(
            |tool| json!({ "name": tool.name, "description": tool.description, "input_schema": tool.input_schema }),
        );
        set("tools", Some(tools.collect()));
        set("tool_choice", Some(tool_choice(&request.tool_choice)));
    }
    if let Some(Value::Object(options)) = request.provider_options.get(PROVIDER) {
        body.extend(options.clone());
    }
    Value::Object(body)
}

/// The API wants a limit; without one in the config it is the model's own.
fn most_output(model: &str) -> u32 {
    let is = |names: &[&str]| names.iter().any(|name| model.contains(name));
    if is(&["opus-4-0", "opus-4-1", "opus-4-2025"]) {
        32_000
    } else if is(&["sonnet-4", "haiku-4", "opus-4", "3-7-sonnet"]) {
        64_000
    } else if is(&["3-5"]) {
        8_192
    } else {
        4_096
    }
}

fn tool_choice(choice: &ToolChoice) -> Value {
    match choice {
        ToolChoice::Auto => json!({ "type": "auto" }),
        ToolChoice::Required => json!({ "type": "any" }),
        ToolChoice::None => json!({ "type": "none" }),
        ToolChoice::Tool(name) => json!({ "type": "tool", "name": name }),
    }
}

/// Roles alternate and the user begins: neighbours of one role become one message.
fn messages(messages: &[std::sync::Arc<Message>]) -> Vec<Value> {
    let mut turns: Vec<(&str, Vec<Value>)> = Vec::new();
    for message in messages {
        let (role, blocks) = match &**message {
            Message::System(_) => continue,
            Message::User(parts) => ("user", parts.iter().map(user_block).collect::<Vec<_>>()),
            Message::Tool(results) => ("user", results.iter().map(result_block).collect()),
            Message::Assistant(parts) => ("assistant", parts.iter().filter_map(assistant_block).collect()),
        };
        if blocks.is_empty() {
            continue;
        }
        match turns.last_mut() {
            Some((last, known)) if *last == role => known.extend(blocks),
            None if role == "assistant" => {
                turns.push((
                    "user",
                    vec![json!({ "type": "text", "text": "(The conversation begins with your message.)" })],
                ));
                turns.push((role, blocks));
            }
            _ => turns.push((role, blocks)),
        }
    }
    trim_end(&mut turns);
    turns.into_iter().map(|(role, content)| json!({ "role": role, "content": content })).collect()
}

/// A reply that is to be continued must not end with white space.
fn trim_end(turns: &mut [(&str, Vec<Value>)]) {
    let Some(("assistant", blocks)) = turns.last_mut() else { return };
    if let Some(text) = blocks.last_mut().and_then(|block| block.get_mut("text")) {
        *text = text.as_str().unwrap_or_default().trim_end().into();
    }
}

fn user_block(part: &UserPart) -> Value {
    match part {
        UserPart::Text { text } => json!({ "type": "text", "text": text }),
        UserPart::File { media_type, data, filename } => {
            let source = match data {
                FileData::Base64(data) => json!({ "type": "base64", "media_type": media_type, "data": data }),
                FileData::Url(url) => json!({ "type": "url", "url": url }),
            };
            if media_type.starts_with("image/") {
                json!({ "type": "image", "source": source })
            } else {
                let mut block = json!({ "type": "document", "source": source });
                if let Some(name) = filename {
                    block["title"] = name.as_str().into();
                }
                block
            }
        }
    }
}

fn result_block(result: &ToolResult) -> Value {
    let mut block = json!({ "type": "tool_result", "tool_use_id": result.call_id, "content": result.output.to_text() });
    if let ToolOutput::ErrorText(_) | ToolOutput::Denied(_) = result.output {
        block["is_error"] = true.into();
    }
    block
}

fn assistant_block(part: &AssistantPart) -> Option<Value> {
    Some(match part {
        AssistantPart::Text { text, .. } if text.is_empty() => return None,
        AssistantPart::Text { text, .. } => json!({ "type": "text", "text": text }),
        AssistantPart::Reasoning { text, metadata } => reasoning_block(text, metadata.as_ref()?)?,
        AssistantPart::ToolCall(call) if call.provider_executed => return None,
        AssistantPart::ToolCall(call) => {
            json!({ "type": "tool_use", "id": call.id, "name": call.name, "input": call.input })
        }
        AssistantPart::ToolResult(_) => return None,
        AssistantPart::ProviderItem { provider, item } if provider == PROVIDER => item.clone(),
        AssistantPart::ProviderItem { .. } => return None,
    })
}

/// Reasoning without a signature was not this provider's, and would be refused.
fn reasoning_block(text: &str, metadata: &ProviderMetadata) -> Option<Value> {
    let own = metadata.get(PROVIDER)?;
    if let Some(data) = own.get("redactedData") {
        return Some(json!({ "type": "redacted_thinking", "data": data }));
    }
    let signature = own.get("signature")?;
    Some(json!({ "type": "thinking", "thinking": text, "signature": signature }))
}
