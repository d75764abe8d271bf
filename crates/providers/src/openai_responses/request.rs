//! The contract's request → a Responses request.
//!
//! Nothing is stored at the provider: the transcript is this server's, and reasoning goes back encrypted.

use super::PROVIDER;
use super::server_tool::{self, APPROVAL_REQUEST};
use crate::lenient::plain;
use crate::{file, openai, options};
use contract::{
    AssistantPart, FileData, Message, ProviderMetadata, Request, ResponseFormat, ToolChoice, ToolOutput, ToolResult,
    ToolSpec, UserPart,
};
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::sync::Arc;

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
    set("input", Some(input(&request.messages)));
    set("stream", Some(true.into()));
    set("store", Some(false.into()));
    let options = request.provider_options.get(PROVIDER).and_then(Value::as_object);
    let include = include(model, options);
    set("include", (!include.is_empty()).then(|| json!(include)));
    set("max_output_tokens", sampling.max_output_tokens.map(Into::into));
    let effort = options.and_then(|options| options.get("reasoning")?.get("effort")?.as_str());
    if openai::samples(model, effort) {
        set("temperature", sampling.temperature.map(Into::into));
        set("top_p", sampling.top_p.map(Into::into));
    }
    if !request.tools.is_empty() {
        set("tools", Some(request.tools.iter().map(tool).collect()));
        set("tool_choice", Some(tool_choice(&request.tool_choice)));
    }
    if let Some(options) = options {
        options::merge(&mut body, options);
    }
    // The form of the answer that is asked for goes before one of the options; what else they say of the text stays.
    if let Some(format) = &request.response_format {
        match body.entry("text").or_insert_with(|| json!({})) {
            Value::Object(text) => drop(text.insert("format".to_owned(), text_format(format))),
            other => *other = json!({ "format": text_format(format) }),
        }
    }
    Value::Object(body)
}

/// What the answer is to hold beside itself: thoughts, which models without reasoning refuse to include, and what the provider's
/// own tools found, so that it can be shown.
fn include(model: &str, options: Option<&Map<String, Value>>) -> Vec<&'static str> {
    let tools = options.and_then(|options| options.get("tools")?.as_array());
    let has = |kind: &str| {
        tools.into_iter().flatten().any(|tool| tool["type"].as_str().is_some_and(|tool| tool.starts_with(kind)))
    };
    let wanted = [
        (openai::thinks(model), "reasoning.encrypted_content"),
        (has("web_search"), "web_search_call.action.sources"),
        (has("code_interpreter"), "code_interpreter_call.outputs"),
    ];
    wanted.into_iter().filter_map(|(is, wanted)| is.then_some(wanted)).collect()
}

fn text_format(format: &ResponseFormat) -> Value {
    let ResponseFormat { name, strict, schema } = format;
    json!({ "type": "json_schema", "name": name, "strict": strict, "schema": schema })
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

fn input(messages: &[Arc<Message>]) -> Value {
    let mut kinds = HashMap::new();
    let mut input = Vec::new();
    for message in messages {
        if let Message::Assistant(parts) = &**message {
            kinds.extend(parts.iter().filter_map(|part| own_kind(part, parts)));
        }
        input.extend(items(message, &kinds));
    }
    input.into()
}

/// What a call's result has to be.
#[derive(Clone, Copy)]
enum ResultKind<'a> {
    /// Of a tool that takes text.
    Custom,
    /// The answer to this request, which asks for these arguments.
    Approval { request_id: &'a str, input: &'a Value, is_changed: bool },
}

/// Of a call that went as an item of its own kind: its id, and what its result has to be.
fn own_kind<'a>(part: &'a AssistantPart, parts: &[AssistantPart]) -> Option<(&'a str, ResultKind<'a>)> {
    let AssistantPart::ToolCall(call) = part else { return None };
    let own = call.metadata.as_ref()?.get(PROVIDER)?;
    let kind = match own.get("itemType")?.as_str()? {
        APPROVAL_REQUEST => {
            let request_id = own.get("approvalRequestId")?.as_str()?;
            let is_changed = !parts.iter().any(|part| match part {
                AssistantPart::ProviderItem { item, .. } => {
                    item["id"] == request_id && server_tool::arguments(item) == call.input
                }
                _ => false,
            });
            ResultKind::Approval { request_id, input: &call.input, is_changed }
        }
        _ => ResultKind::Custom,
    };
    Some((&call.id, kind))
}

/// A result as the kind of its call wants it.
fn result_item(result: &ToolResult, kind: Option<ResultKind<'_>>) -> Value {
    let kind = match kind {
        Some(ResultKind::Approval { request_id, input, is_changed }) => {
            return approval(request_id, &result.output, is_changed.then_some(input));
        }
        Some(ResultKind::Custom) => "custom_tool_call_output",
        None => "function_call_output",
    };
    let output = match &result.output {
        ToolOutput::Content(parts) => parts.iter().cloned().map(|part| user_part(&part.into())).collect(),
        other => Value::from(other.to_text()),
    };
    json!({ "type": kind, "call_id": result.call_id, "output": output })
}

/// The answer to a request. A yes to other arguments than those that OpenAI would use is a no that names them.
fn approval(request_id: &str, output: &ToolOutput, changed: Option<&Value>) -> Value {
    let mut answer = json!({ "type": "mcp_approval_response", "approval_request_id": request_id });
    let reason = match changed {
        _ if output.is_error() => Some(output.to_text()),
        Some(input) => Some(format!("The user approves only these arguments: {input}")),
        None => None,
    };
    answer["approve"] = reason.is_none().into();
    if let Some(reason) = reason {
        answer["reason"] = reason.into();
    }
    answer
}

fn items(message: &Message, kinds: &HashMap<&str, ResultKind<'_>>) -> Vec<Value> {
    match message {
        Message::System(text) => vec![json!({ "role": "system", "content": text })],
        Message::User(parts) => {
            vec![json!({ "role": "user", "content": parts.iter().map(user_part).collect::<Vec<_>>() })]
        }
        Message::Assistant(parts) => together(parts.iter().filter_map(assistant_item)),
        Message::Tool(results) => {
            results.iter().map(|result| result_item(result, kinds.get(result.call_id.as_str()).copied())).collect()
        }
    }
}

fn user_part(part: &UserPart) -> Value {
    let text = |text: &str| json!({ "type": "input_text", "text": text });
    match part {
        UserPart::Text { text: said } => text(said),
        UserPart::File { media_type, data, filename } => {
            let kind = file::kind(media_type, data);
            let filename = filename.as_deref();
            let url = match data {
                FileData::Base64(base64) => format!("data:{kind};base64,{base64}"),
                FileData::Url(url) => url.clone(),
            };
            match data {
                _ if file::is_image(kind) => json!({ "type": "input_image", "image_url": url }),
                FileData::Url(_) if kind == "application/pdf" => json!({ "type": "input_file", "file_url": url }),
                FileData::Base64(_) if kind == "application/pdf" => {
                    json!({ "type": "input_file", "filename": filename.unwrap_or("document.pdf"), "file_data": url })
                }
                FileData::Base64(base64) if file::is_text(kind) => {
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
        AssistantPart::Text { text, metadata } => {
            let mut item = json!({ "role": "assistant", "content": [{ "type": "output_text", "text": text }] });
            if let Some(phase) = own(metadata.as_ref(), "phase") {
                item["phase"] = phase.clone();
            }
            item
        }
        AssistantPart::Reasoning { text, metadata } => reasoning_item(text, metadata.as_ref()?)?,
        // What the provider ran itself, or has as a kind of its own, goes back as its item.
        AssistantPart::ToolCall(call)
            if call.provider_executed || own(call.metadata.as_ref(), "itemType").is_some() =>
        {
            return None;
        }
        AssistantPart::ToolCall(call) => {
            let mut item = json!({ "type": "function_call", "call_id": call.id, "name": plain(&call.name),
                "arguments": call.input.to_string() });
            if let Some(caller) = own(call.metadata.as_ref(), "caller") {
                item["caller"] = caller.clone();
            }
            item
        }
        AssistantPart::ProviderItem { provider, item } if provider == PROVIDER => item.clone(),
        // An image that it made goes back as the item of its call.
        AssistantPart::File { .. } | AssistantPart::ToolResult(_) | AssistantPart::ProviderItem { .. } => return None,
    })
}

/// What this provider gave along with a part.
fn own<'a>(metadata: Option<&'a ProviderMetadata>, key: &str) -> Option<&'a Value> {
    metadata?.get(PROVIDER)?.get(key)
}

/// The summaries of one reasoning are parts of their own here and one item there. One that was not encrypted to its end, since
/// the reply was cut off, stays behind.
fn together(items: impl Iterator<Item = Value>) -> Vec<Value> {
    let mut written: Vec<Value> = Vec::new();
    for item in items {
        match written.last_mut() {
            Some(last) if item["type"] == "reasoning" && last["type"] == "reasoning" && last["id"] == item["id"] => {
                if let (Value::Array(known), Value::Array(more)) = (&mut last["summary"], &item["summary"]) {
                    known.extend(more.iter().cloned());
                }
                if !item["encrypted_content"].is_null() {
                    last["encrypted_content"] = item["encrypted_content"].clone();
                }
            }
            _ => written.push(item),
        }
    }
    written.retain(|item| item["type"] != "reasoning" || !item["encrypted_content"].is_null());
    written
}

/// Reasoning goes back only as the provider encrypted it, see [`together`].
fn reasoning_item(text: &str, metadata: &ProviderMetadata) -> Option<Value> {
    let own = metadata.get(PROVIDER)?;
    let (id, encrypted) = (own.get("itemId")?, own.get("reasoningEncryptedContent"));
    let summary = if text.is_empty() { json!([]) } else { json!([{ "type": "summary_text", "text": text }]) };
    Some(json!({ "type": "reasoning", "id": id, "summary": summary, "encrypted_content": encrypted }))
}
