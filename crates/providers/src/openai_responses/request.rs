//! The contract's request → a Responses request.
//!
//! Nothing is stored at the provider: the transcript is this server's, and reasoning goes back encrypted.

use super::PROVIDER;
use crate::file;
use contract::{
    AssistantPart, FileData, Message, ProviderMetadata, Request, ResponseFormat, ToolChoice, ToolSpec, UserPart,
};
use serde_json::{Map, Value, json};

/// The body of `POST /responses`.
pub(crate) fn body(model: &str, request: &Request) -> Value {
    let mut body = Map::new();
    let mut set = |key: &str, value: Option<Value>| {
        if let Some(value) = value {
            body.insert(key.to_owned(), value);
        }
    };
    let sampling = &request.sampling;
    set("model", Some(model.into()));
    set("instructions", request.system.as_deref().map(Into::into));
    set("input", Some(request.messages.iter().flat_map(|message| items(message)).collect()));
    set("stream", Some(true.into()));
    set("store", Some(false.into()));
    set("include", thinks(model).then(|| json!(["reasoning.encrypted_content"])));
    set("max_output_tokens", sampling.max_output_tokens.map(Into::into));
    set("temperature", sampling.temperature.map(Into::into));
    set("top_p", sampling.top_p.map(Into::into));
    if !request.tools.is_empty() {
        set("tools", Some(request.tools.iter().map(tool).collect()));
        set("tool_choice", Some(tool_choice(&request.tool_choice)));
    }
    set("text", request.response_format.as_ref().map(text_format));
    if let Some(Value::Object(options)) = request.provider_options.get(PROVIDER) {
        body.extend(options.clone());
    }
    Value::Object(body)
}

/// Models without reasoning refuse to include it.
fn thinks(model: &str) -> bool {
    ["o1", "o3", "o4", "gpt-5", "codex"].iter().any(|family| model.starts_with(family))
}

fn text_format(format: &ResponseFormat) -> Value {
    let ResponseFormat { name, strict, schema } = format;
    json!({ "format": { "type": "json_schema", "name": name, "strict": strict, "schema": schema } })
}

fn tool(tool: &ToolSpec) -> Value {
    json!({ "type": "function", "name": tool.name, "description": tool.description, "parameters": tool.input_schema, "strict": false })
}

fn tool_choice(choice: &ToolChoice) -> Value {
    match choice {
        ToolChoice::Auto => "auto".into(),
        ToolChoice::Required => "required".into(),
        ToolChoice::None => "none".into(),
        ToolChoice::Tool(name) => json!({ "type": "function", "name": name }),
    }
}

fn items(message: &Message) -> Vec<Value> {
    match message {
        Message::System(text) => vec![json!({ "role": "system", "content": text })],
        Message::User(parts) => {
            vec![json!({ "role": "user", "content": parts.iter().map(user_part).collect::<Vec<_>>() })]
        }
        Message::Assistant(parts) => parts.iter().filter_map(assistant_item).collect(),
        Message::Tool(results) => {
            let item = |result: &contract::ToolResult| json!({ "type": "function_call_output", "call_id": result.call_id, "output": result.output.to_text() });
            results.iter().map(item).collect()
        }
    }
}

fn user_part(part: &UserPart) -> Value {
    let text = |text: &str| json!({ "type": "input_text", "text": text });
    match part {
        UserPart::Text { text: said } => text(said),
        UserPart::File { media_type, data, filename } => {
            let kind = file::kind(media_type);
            let filename = filename.as_deref();
            let url = match data {
                FileData::Base64(base64) => format!("data:{kind};base64,{base64}"),
                FileData::Url(url) => url.clone(),
            };
            match data {
                _ if kind.starts_with("image/") => json!({ "type": "input_image", "image_url": url }),
                FileData::Url(_) if kind == "application/pdf" => json!({ "type": "input_file", "file_url": url }),
                FileData::Base64(_) if kind == "application/pdf" => {
                    json!({ "type": "input_file", "filename": filename.unwrap_or("document.pdf"), "file_data": url })
                }
                FileData::Base64(base64) if kind.starts_with("text/") => {
                    text(&file::text_of(base64).unwrap_or_else(|| file::unreadable(kind, filename)))
                }
                _ => text(&file::unreadable(kind, filename)),
            }
        }
    }
}

fn assistant_item(part: &AssistantPart) -> Option<Value> {
    Some(match part {
        AssistantPart::Text { text, .. } if text.is_empty() => return None,
        AssistantPart::Text { text, .. } => {
            json!({ "role": "assistant", "content": [{ "type": "output_text", "text": text }] })
        }
        AssistantPart::Reasoning { text, metadata } => reasoning_item(text, metadata.as_ref()?)?,
        AssistantPart::ToolCall(call) if call.provider_executed => return None,
        AssistantPart::ToolCall(call) => json!({ "type": "function_call", "call_id": call.id, "name": call.name,
            "arguments": call.input.to_string() }),
        AssistantPart::ProviderItem { provider, item } if provider == PROVIDER => item.clone(),
        AssistantPart::ToolResult(_) | AssistantPart::ProviderItem { .. } => return None,
    })
}

/// Reasoning goes back only as the provider encrypted it.
fn reasoning_item(text: &str, metadata: &ProviderMetadata) -> Option<Value> {
    let own = metadata.get(PROVIDER)?;
    let (id, encrypted) = (own.get("itemId")?, own.get("reasoningEncryptedContent")?);
    let summary = if text.is_empty() { json!([]) } else { json!([{ "type": "summary_text", "text": text }]) };
    Some(json!({ "type": "reasoning", "id": id, "summary": summary, "encrypted_content": encrypted }))
}
