//! The contract's request → a Messages request.

use super::PROVIDER;
use super::{cache, file};
use crate::options;
use contract::{AssistantPart, Message, ProviderMetadata, Request, ToolChoice, ToolOutput, ToolResult, UserPart};
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::sync::Arc;

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
    set("system", system(request));
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
        let mut options = options.clone();
        let control = options.shift_remove("cacheControl");
        options::merge(&mut body, &options);
        if let Some(control) = control {
            cache::mark(&mut body, &control);
        }
    }
    Value::Object(body)
}

/// The API wants a limit; without one in the config it is what the model can do, or 4096 where that is not known.
fn most_output(model: &str) -> u32 {
    let is = |names: &[&str]| names.iter().any(|name| model.contains(name));
    if is(&["opus-4-0", "opus-4-1", "opus-4-2025", "opus-4@"]) {
        32_000
    } else if is(&["sonnet-4", "haiku-4", "opus-4", "sonnet-5", "haiku-5", "opus-5", "3-7-sonnet"]) {
        64_000
    } else if is(&["3-5-"]) {
        8_192
    } else {
        4_096
    }
}

/// System messages stand apart from the others here, whichever their place was.
fn system(request: &Request) -> Option<Value> {
    let inside = request.messages.iter().filter_map(|message| match &**message {
        Message::System(text) => Some(text),
        _ => None,
    });
    let texts = request.system.iter().chain(inside).filter(|text| !is_blank(text));
    let blocks: Vec<_> = texts.map(|text| json!({ "type": "text", "text": text })).collect();
    (!blocks.is_empty()).then(|| blocks.into())
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
fn messages(messages: &[Arc<Message>]) -> Vec<Value> {
    let mut turns: Vec<(&str, Vec<Value>)> = Vec::new();
    for message in messages {
        let (role, blocks) = match &**message {
            Message::System(_) => continue,
            Message::User(parts) => ("user", parts.iter().filter_map(user_block).collect::<Vec<_>>()),
            Message::Tool(results) => ("user", results.iter().map(result_block).collect()),
            Message::Assistant(parts) => ("assistant", parts.iter().filter_map(assistant_block).collect()),
        };
        if blocks.is_empty() {
            continue;
        }
        match turns.last_mut() {
            Some((last, known)) if *last == role => known.extend(blocks),
            _ => turns.push((role, blocks)),
        }
    }
    if turns.first().is_none_or(|(role, _)| *role == "assistant") {
        turns.insert(0, ("user", vec![json!({ "type": "text", "text": "(no text)" })]));
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

/// The API refuses a text without words.
fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

fn user_block(part: &UserPart) -> Option<Value> {
    match part {
        UserPart::Text { text } if is_blank(text) => None,
        UserPart::Text { text } => Some(json!({ "type": "text", "text": text })),
        UserPart::File { media_type, data, filename } => Some(file::block(media_type, data, filename.as_deref())),
    }
}

fn result_block(result: &ToolResult) -> Value {
    let mut block = json!({
        "type": "tool_result",
        "tool_use_id": call_id(&result.call_id),
        "content": match &result.output {
            ToolOutput::Content(parts) => parts.iter().cloned().filter_map(|part| user_block(&part.into())).collect(),
            other => Value::from(other.to_text()),
        },
    });
    if result.output.is_error() {
        block["is_error"] = true.into();
    }
    block
}

fn assistant_block(part: &AssistantPart) -> Option<Value> {
    Some(match part {
        AssistantPart::Text { text, .. } if is_blank(text) => return None,
        AssistantPart::Text { text, metadata } if own(metadata.as_ref(), "type") == Some(&"compaction".into()) => {
            let mut block = metadata.as_ref()?.get(PROVIDER)?.clone();
            block["content"] = text.as_str().into();
            block
        }
        AssistantPart::Text { text, metadata } => {
            let mut block = json!({ "type": "text", "text": text });
            if let Some(citations) = own(metadata.as_ref(), "citations") {
                block["citations"] = citations.clone();
            }
            block
        }
        AssistantPart::Reasoning { text, metadata } => reasoning_block(text, metadata.as_ref()?)?,
        AssistantPart::ToolCall(call) if !call.provider_executed => {
            let input = if call.input.is_object() { call.input.clone() } else { json!({}) };
            let mut block = json!({ "type": "tool_use", "id": call_id(&call.id), "name": call.name, "input": input });
            if let Some(caller) = own(call.metadata.as_ref(), "caller") {
                block["caller"] = caller.clone();
            }
            block
        }
        AssistantPart::ProviderItem { provider, item } if provider == PROVIDER => item.clone(),
        // What a provider ran itself goes back as its item, and only to that provider.
        // Claude takes files of the user only.
        AssistantPart::File { .. }
        | AssistantPart::ToolCall(_)
        | AssistantPart::ToolResult(_)
        | AssistantPart::ProviderItem { .. } => return None,
    })
}

/// What this provider gave along with a part.
fn own<'a>(metadata: Option<&'a ProviderMetadata>, key: &str) -> Option<&'a Value> {
    metadata?.get(PROVIDER)?.get(key)
}

/// Reasoning without a signature was not this provider's, or was cut off, and would be refused.
fn reasoning_block(text: &str, metadata: &ProviderMetadata) -> Option<Value> {
    let own = metadata.get(PROVIDER)?;
    if let Some(data) = own.get("redactedData") {
        return Some(json!({ "type": "redacted_thinking", "data": data }));
    }
    let signature = own.get("signature")?;
    Some(json!({ "type": "thinking", "thinking": text, "signature": signature }))
}

/// Calls that another provider made earlier in the conversation may have ids that this API refuses.
fn call_id(id: &str) -> Cow<'_, str> {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if id.chars().all(fits) { id.into() } else { id.replace(|c| !fits(c), "_").into() }
}
