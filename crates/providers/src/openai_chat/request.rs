//! Converts a request to JSON for Chat Completions.

use super::PROVIDER;
use crate::lenient::sanitize_identifier;
use crate::options::{self, OptionMapping};
use crate::{file, openai};
use contract::{
    AssistantPart, FileData, Message, ProviderMetadata, Request, ResponseFormat, ToolCall, ToolChoice, ToolSpec,
    UserPart,
};
use serde_json::{Map, Value, json};

/// The keys of the provider options; later ones take precedence.
const OPTION_KEYS: [&str; 3] = ["openai-compatible", "openaiCompatible", PROVIDER];

/// The mapping of the AI SDK's options.
const OPTION_MAPPING: OptionMapping = OptionMapping {
    paths: &[
        ("logitBias", &["logit_bias"]),
        ("maxCompletionTokens", &["max_completion_tokens"]),
        ("parallelToolCalls", &["parallel_tool_calls"]),
        ("promptCacheKey", &["prompt_cache_key"]),
        ("promptCacheOptions", &["prompt_cache_options"]),
        ("promptCacheRetention", &["prompt_cache_retention"]),
        ("reasoningEffort", &["reasoning_effort"]),
        ("safetyIdentifier", &["safety_identifier"]),
        ("serviceTier", &["service_tier"]),
        ("strictJsonSchema", &["response_format", "json_schema", "strict"]),
        ("textVerbosity", &["verbosity"]),
    ],
    snake_case_values: &["promptCacheOptions"],
};

/// Returns the options under all keys, translated to the API's fields.
fn api_options(request: &Request) -> Map<String, Value> {
    let mut all = Map::new();
    for key in OPTION_KEYS {
        if let Some(Value::Object(options)) = request.provider_options.get(key) {
            options::merge(&mut all, &OPTION_MAPPING.translate(options));
        }
    }
    // In the AI SDK, the option is also the number of tokens.
    if let Some(most) = all.get("logprobs").filter(|most| most.is_number()).cloned() {
        all.insert("logprobs".to_owned(), true.into());
        all.entry("top_logprobs").or_insert(most);
    }
    all
}

/// Returns the body of `POST /chat/completions`.
pub(crate) fn body(model: &str, request: &Request) -> Value {
    let mut body = body_without_options(model, request);
    options::merge(&mut body, &api_options(request));
    if body.contains_key("max_completion_tokens") {
        body.shift_remove("max_tokens");
    }
    let is_bare = |format: &Value| format.get("type").is_none();
    if body.get("response_format").is_some_and(is_bare) {
        body.shift_remove("response_format");
    }
    // The request's response format takes precedence over one in the options.
    if let Some(format) = &request.response_format {
        body.insert("response_format".to_owned(), response_format(format));
    }
    Value::Object(body)
}

/// Returns the body without the provider's options.
pub(crate) fn body_without_options(model: &str, request: &Request) -> Map<String, Value> {
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
    set(output_limit_key(model), sampling.max_output_tokens.map(Into::into));
    if openai::accepts_sampling(model, reasoning_effort(request).as_deref()) {
        set("temperature", sampling.temperature.map(Into::into));
        set("top_p", sampling.top_p.map(Into::into));
        set("frequency_penalty", sampling.frequency_penalty.map(Into::into));
        set("presence_penalty", sampling.presence_penalty.map(Into::into));
    }
    set("seed", sampling.seed.map(Into::into));
    set("stop", (!sampling.stop_sequences.is_empty()).then(|| json!(sampling.stop_sequences)));
    if !request.tools.is_empty() {
        set("tools", Some(request.tools.iter().map(tool).collect()));
        set("tool_choice", Some(tool_choice(&request.tool_choice)));
    }
    set("response_format", request.response_format.as_ref().map(response_format));
    body
}

/// Returns the field of the output limit: OpenAI's reasoning models reject the one that all others
/// accept.
fn output_limit_key(model: &str) -> &'static str {
    if openai::is_reasoning_model(model) { "max_completion_tokens" } else { "max_tokens" }
}

/// Returns the reasoning effort in the options.
fn reasoning_effort(request: &Request) -> Option<String> {
    api_options(request).get("reasoning_effort")?.as_str().map(str::to_owned)
}

fn response_format(format: &ResponseFormat) -> Value {
    let ResponseFormat { name, strict, schema } = format;
    json!({ "type": "json_schema", "json_schema": { "name": name, "strict": strict, "schema": schema } })
}

fn tool(tool: &ToolSpec) -> Value {
    json!({
        "type": "function",
        "function": { "name": tool.name, "description": tool.description, "parameters": tool.input_schema },
    })
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
            Message::Assistant(parts) => messages.extend(assistant_message(parts)),
            Message::Tool(results) => messages.extend(results.iter().map(
                |result| json!({ "role": "tool", "tool_call_id": result.call_id, "content": result.output.to_text() }),
            )),
        }
    }
    messages
}

/// Converts a user's message. Text alone becomes a plain string, because small gateways accept
/// nothing else.
fn user_content(parts: &[UserPart]) -> Value {
    let texts: Option<Vec<_>> = parts
        .iter()
        .map(|part| match part {
            UserPart::Text { text } => Some(text.as_str()),
            UserPart::File { .. } => None,
        })
        .collect();
    match texts {
        Some(texts) => texts.join("\n\n").into(),
        None => parts.iter().map(user_part).collect(),
    }
}

fn user_part(part: &UserPart) -> Value {
    let text = |text: &str| json!({ "type": "text", "text": text });
    match part {
        UserPart::Text { text: said } => text(said),
        UserPart::File { media_type, data, filename } => {
            let kind = file::detect_media_type(media_type, data);
            let filename = filename.as_deref();
            match data {
                _ if file::is_image(kind) => {
                    json!({ "type": "image_url", "image_url": { "url": file_url(kind, data) } })
                }
                FileData::Base64(_) if kind == "application/pdf" => {
                    let filename = filename.unwrap_or("document.pdf");
                    json!({ "type": "file", "file": { "filename": filename, "file_data": file_url(kind, data) } })
                }
                FileData::Base64(data) if audio_format(kind).is_some() => {
                    json!({ "type": "input_audio", "input_audio": { "data": data, "format": audio_format(kind) } })
                }
                FileData::Base64(base64) if file::is_text(kind) => {
                    text(&file::decode_text(base64).unwrap_or_else(|| file::unreadable_note(kind, filename)))
                }
                _ => text(&file::unreadable_note(kind, filename)),
            }
        }
    }
}

/// Returns the API's name of an audio format; `None` if it is not supported.
fn audio_format(kind: &str) -> Option<&'static str> {
    match kind {
        "audio/wav" | "audio/x-wav" => Some("wav"),
        "audio/mp3" | "audio/mpeg" => Some("mp3"),
        _ => None,
    }
}

fn file_url(kind: &str, data: &FileData) -> String {
    match data {
        FileData::Base64(data) => format!("data:{kind};base64,{data}"),
        FileData::Url(url) => url.clone(),
    }
}

fn assistant_message(parts: &[AssistantPart]) -> Option<Value> {
    let (mut text, mut reasoning, mut calls) = (String::new(), String::new(), Vec::new());
    for part in parts {
        match part {
            AssistantPart::Text { text: more, .. } => text.push_str(more),
            AssistantPart::Reasoning { text: more, metadata } if is_reasoning_content(metadata.as_ref()) => {
                reasoning.push_str(more);
            }
            AssistantPart::ToolCall(call) if !call.provider_executed => calls.push(tool_call(call)),
            _ => {}
        }
    }
    if text.is_empty() && calls.is_empty() {
        return None;
    }
    let content = if text.is_empty() { Value::Null } else { text.into() };
    let mut message = json!({ "role": "assistant", "content": content });
    // DeepSeek expects its reasoning back only while it calls tools.
    if !reasoning.is_empty() && !calls.is_empty() {
        message["reasoning_content"] = reasoning.into();
    }
    if !calls.is_empty() {
        message["tool_calls"] = calls.into();
    }
    Some(message)
}

/// Returns whether reasoning arrived as `reasoning_content`. Only then it is sent back, because
/// gateways with another field reject this one.
fn is_reasoning_content(metadata: Option<&ProviderMetadata>) -> bool {
    metadata.and_then(|metadata| metadata.get(PROVIDER)?.get("reasoningField")?.as_str()) == Some("reasoning_content")
}

fn tool_call(call: &ToolCall) -> Value {
    let arguments = if call.input.is_object() { call.input.to_string() } else { "{}".to_owned() };
    let mut written = json!({ "id": call.id, "type": "function", "function": { "name": sanitize_identifier(&call.name), "arguments": arguments } });
    if let Some(extra) = call.metadata.as_ref().and_then(|metadata| metadata.get(PROVIDER)?.get("extraContent")) {
        written["extra_content"] = extra.clone();
    }
    written
}
