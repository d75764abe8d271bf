//! Converts a request to JSON for the Responses API.
//!
//! Nothing is stored at the provider: this server keeps the conversation, and reasoning is sent
//! back encrypted.

use super::results::ResultFormats;
use super::{PROVIDER, tool_search};
use crate::lenient::sanitize_identifier;
use crate::options::{self, OptionMapping};
use crate::{file, openai};
use contract::{
    AssistantPart, FileData, Message, ProviderMetadata, Request, ResponseFormat, ToolChoice, ToolSpec, UserPart,
};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// The mapping of the AI SDK's options.
const OPTION_MAPPING: OptionMapping = OptionMapping {
    paths: &[
        ("reasoningEffort", &["reasoning", "effort"]),
        ("reasoningSummary", &["reasoning", "summary"]),
        ("reasoningContext", &["reasoning", "context"]),
        ("reasoningMode", &["reasoning", "mode"]),
        ("textVerbosity", &["text", "verbosity"]),
        ("strictJsonSchema", &["text", "format", "strict"]),
        ("maxToolCalls", &["max_tool_calls"]),
        ("parallelToolCalls", &["parallel_tool_calls"]),
        ("previousResponseId", &["previous_response_id"]),
        ("promptCacheKey", &["prompt_cache_key"]),
        ("promptCacheOptions", &["prompt_cache_options"]),
        ("promptCacheRetention", &["prompt_cache_retention"]),
        ("safetyIdentifier", &["safety_identifier"]),
        ("serviceTier", &["service_tier"]),
        ("contextManagement", &["context_management"]),
    ],
    snake_case_values: &["contextManagement", "promptCacheOptions"],
};

/// Returns the options translated to the API's fields.
fn api_options(options: &Map<String, Value>) -> Map<String, Value> {
    let mut options = OPTION_MAPPING.translate(options);
    // In the AI SDK, the option enables log probabilities and is also the number of tokens.
    match options.shift_remove("logprobs") {
        Some(Value::Bool(false)) | None => {}
        Some(most) => {
            options.insert("top_logprobs".to_owned(), if most.is_number() { most } else { 20.into() });
            let include = options.entry("include").or_insert_with(|| json!([]));
            if let Value::Array(include) = include {
                include.push("message.output_text.logprobs".into());
            }
        }
    }
    if let Some(allowed) = options.shift_remove("allowedTools") {
        let tools: Value = allowed["toolNames"].as_array().into_iter().flatten().map(function_choice).collect();
        let mode = allowed["mode"].as_str().unwrap_or("auto");
        options.insert("tool_choice".to_owned(), json!({ "type": "allowed_tools", "mode": mode, "tools": tools }));
    }
    options
}

fn function_choice(name: &Value) -> Value {
    json!({ "type": "function", "name": name })
}

/// Returns the body of `POST /responses`.
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
    let options = request.provider_options.get(PROVIDER).and_then(Value::as_object).map(api_options);
    let options = options.as_ref();
    let include = include_fields(model, options);
    set("include", (!include.is_empty()).then(|| json!(include)));
    set("max_output_tokens", sampling.max_output_tokens.map(Into::into));
    let effort = options.and_then(|options| options.get("reasoning")?.get("effort")?.as_str());
    if openai::accepts_sampling(model, effort) {
        set("temperature", sampling.temperature.map(Into::into));
        set("top_p", sampling.top_p.map(Into::into));
    }
    if !request.tools.is_empty() {
        set("tools", Some(tools(request).into()));
        set("tool_choice", Some(tool_choice(&request.tool_choice)));
    }
    if let Some(options) = options {
        options::merge(&mut body, options);
    }
    if let Some(format) = &request.response_format {
        set_format(&mut body, text_format(format));
    }
    remove_bare_format(&mut body);
    tool_search::remove_unknown(&mut body);
    Value::Object(body)
}

/// Returns the additional output to request: encrypted reasoning, which models without reasoning
/// reject, and the results of the provider's own tools, so that they can be shown.
fn include_fields(model: &str, options: Option<&Map<String, Value>>) -> Vec<&'static str> {
    let tools = options.and_then(|options| options.get("tools")?.as_array());
    let has = |kind: &str| {
        tools.into_iter().flatten().any(|tool| tool["type"].as_str().is_some_and(|tool| tool.starts_with(kind)))
    };
    let wanted = [
        (openai::is_reasoning_model(model), "reasoning.encrypted_content"),
        (has("web_search"), "web_search_call.action.sources"),
        (has("code_interpreter"), "code_interpreter_call.outputs"),
    ];
    wanted.into_iter().filter_map(|(is, wanted)| is.then_some(wanted)).collect()
}

/// Sets the request's response format, which takes precedence over the options'. Their other text
/// settings remain, and so does `strict`.
fn set_format(body: &mut Map<String, Value>, mut format: Value) {
    match body.entry("text").or_insert_with(|| json!({})) {
        Value::Object(text) => {
            if let Some(strict @ Value::Bool(_)) = text.get("format").and_then(|options| options.get("strict")) {
                format["strict"] = strict.clone();
            }
            text.insert("format".to_owned(), format);
        }
        other => *other = json!({ "format": format }),
    }
}

/// Removes a format from the options that has no type, such as `strict` without a schema.
fn remove_bare_format(body: &mut Map<String, Value>) {
    if let Some(Value::Object(text)) = body.get_mut("text")
        && text.get("format").is_some_and(|format| format.get("type").is_none())
    {
        text.shift_remove("format");
        if text.is_empty() {
            body.shift_remove("text");
        }
    }
}

fn text_format(format: &ResponseFormat) -> Value {
    let ResponseFormat { name, strict, schema } = format;
    json!({ "type": "json_schema", "name": name, "strict": strict, "schema": schema })
}

/// Returns the tools. Deferred ones come last, behind the API's search that finds them. Servers need not list their
/// tools in the same order each time. Source: OpenAI's guide to tool search.
fn tools(request: &Request) -> Vec<Value> {
    if !request.provider_search {
        return request.tools.iter().map(tool).collect();
    }
    let (mut deferred, listed): (Vec<_>, Vec<_>) = request.tools.iter().partition(|tool| tool.deferrable);
    deferred.sort_by(|one, other| one.name.cmp(&other.name));
    let found = deferred.into_iter().map(|spec| {
        let mut written = tool(spec);
        written["defer_loading"] = true.into();
        written
    });
    listed.into_iter().map(tool).chain([json!({ "type": "tool_search" })]).chain(found).collect()
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
    let forms = ResultFormats::from_messages(messages);
    messages.iter().flat_map(|message| message_items(message, &forms)).collect()
}

fn message_items(message: &Message, forms: &ResultFormats<'_>) -> Vec<Value> {
    match message {
        Message::System(text) => vec![json!({ "role": "system", "content": text })],
        Message::User(parts) => {
            vec![json!({ "role": "user", "content": parts.iter().map(user_part).collect::<Vec<_>>() })]
        }
        Message::Assistant(parts) => merge_reasoning(parts.iter().filter_map(|part| assistant_item(part, forms))),
        Message::Tool(results) => results.iter().map(|result| forms.result_item(result)).collect(),
    }
}

/// Converts a part of a user's message or of a tool's result.
pub(super) fn user_part(part: &UserPart) -> Value {
    let text = |text: &str| json!({ "type": "input_text", "text": text });
    match part {
        UserPart::Text { text: said } => text(said),
        UserPart::File { media_type, data, filename } => {
            let kind = file::detect_media_type(media_type, data);
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
                    text(&file::decode_text(base64).unwrap_or_else(|| file::unreadable_note(kind, filename)))
                }
                _ => text(&file::unreadable_note(kind, filename)),
            }
        }
    }
}

fn assistant_item(part: &AssistantPart, forms: &ResultFormats<'_>) -> Option<Value> {
    Some(match part {
        AssistantPart::Text { text, .. } if text.is_empty() => return None,
        AssistantPart::Text { text, metadata } => {
            let mut item = json!({ "role": "assistant", "content": [{ "type": "output_text", "text": text }] });
            if let Some(phase) = own_metadata(metadata.as_ref(), "phase") {
                item["phase"] = phase.clone();
            }
            item
        }
        AssistantPart::Reasoning { text, metadata } => reasoning_item(text, metadata.as_ref()?)?,
        // Calls that the provider ran, or that have an item type of their own, are sent back as
        // their items.
        AssistantPart::ToolCall(call) if call.provider_executed || forms.is_sent_as_item(&call.id) => return None,
        AssistantPart::ToolCall(call) => {
            let mut item = json!({ "type": "function_call", "call_id": call.id, "name": sanitize_identifier(&call.name),
                "arguments": call.input.to_string() });
            for key in ["caller", "namespace"] {
                if let Some(value) = own_metadata(call.metadata.as_ref(), key) {
                    item[key] = value.clone();
                }
            }
            item
        }
        AssistantPart::ProviderItem { provider, item } if provider == PROVIDER && !forms.is_omitted(item) => {
            item.clone()
        }
        // A generated image is sent back as the item of its call.
        AssistantPart::File { .. } | AssistantPart::ToolResult(_) | AssistantPart::ProviderItem { .. } => return None,
    })
}

/// Returns this provider's metadata of a part.
pub(super) fn own_metadata<'a>(metadata: Option<&'a ProviderMetadata>, key: &str) -> Option<&'a Value> {
    metadata?.get(PROVIDER)?.get(key)
}

/// Merges the summaries of a reasoning item, which are separate parts here. Reasoning without
/// encrypted content, because the reply was cut off, is omitted.
fn merge_reasoning(items: impl Iterator<Item = Value>) -> Vec<Value> {
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

/// Converts a summary to a reasoning item, see [`merge_reasoning`].
fn reasoning_item(text: &str, metadata: &ProviderMetadata) -> Option<Value> {
    let own = metadata.get(PROVIDER)?;
    let (id, encrypted) = (own.get("itemId")?, own.get("reasoningEncryptedContent"));
    let summary = if text.is_empty() { json!([]) } else { json!([{ "type": "summary_text", "text": text }]) };
    Some(json!({ "type": "reasoning", "id": id, "summary": summary, "encrypted_content": encrypted }))
}

#[cfg(test)]
mod tests {
    use super::super::stream::ResponsesCodec;
    use super::*;
    use crate::testing::{self, history_after, request, sse_events, user};

    /// The API's search stands before what it finds, which has a fixed order.
    #[test]
    fn deferrable_tools_are_found_by_the_search_of_the_api() {
        let spec = |name: &str, deferrable: bool| ToolSpec {
            deferrable,
            ..ToolSpec::new(name, "Does it.", json!({ "type": "object" }))
        };
        let tools = vec![spec("mail_send", true), spec("own", false), spec("crm_find", true)];
        let request = Request { tools, provider_search: true, ..request(vec![user("Hi")]) };
        let lines = |request: &Request| {
            let body = body("gpt-5.4", request);
            body["tools"].as_array().unwrap().iter().map(Value::to_string).collect::<Vec<_>>().join("\n")
        };
        insta::assert_snapshot!(lines(&request), @r##"
        {"type":"function","name":"own","description":"Does it.","parameters":{"type":"object"},"strict":false}
        {"type":"tool_search"}
        {"type":"function","name":"crm_find","description":"Does it.","parameters":{"type":"object"},"strict":false,"defer_loading":true}
        {"type":"function","name":"mail_send","description":"Does it.","parameters":{"type":"object"},"strict":false,"defer_loading":true}
        "##);
        let listed = lines(&Request { provider_search: false, ..request });
        assert!(!listed.contains("tool_search") && !listed.contains("defer_loading"), "{listed}");
    }

    /// The API refuses a call of a function that its search has found without the function's namespace.
    #[test]
    fn namespaces_of_found_functions_are_sent_back() {
        let check = |id: &str| {
            let call = format!(
                r#"{{{id}"type":"function_call","call_id":"c","name":"crm_find","namespace":"crm","arguments":"{{}}"}}"#
            );
            let lines = [
                format!(r#"{{"type":"response.output_item.done","output_index":0,"item":{call}}}"#),
                format!(r#"{{"type":"response.completed","response":{{"output":[{call}]}}}}"#),
            ];
            let stream = sse_events(&lines.join("\n"), "");
            let history = history_after(ResponsesCodec::default(), &stream);
            let body =
                body("gpt-5.4", &Request { tools: vec![testing::tool()], provider_search: true, ..request(history) });
            let expected = json!({ "type": "function_call", "call_id": "c", "name": "crm_find", "arguments": "{}", "namespace": "crm" });
            assert_eq!(body["input"][1], expected);
        };
        check("\"id\":\"fc_1\",");
        check("");
    }
}
