//! The contract's request → a Chat Completions request.

use super::PROVIDER;
use crate::lenient::plain;
use crate::options::{self, Words};
use crate::{file, openai};
use contract::{
    AssistantPart, FileData, Message, ProviderMetadata, Request, ResponseFormat, ToolCall, ToolChoice, ToolSpec,
    UserPart,
};
use serde_json::{Map, Value, json};

/// Provider options under any of these keys count, the last one most.
const OPTIONS: [&str; 3] = ["openai-compatible", "openaiCompatible", PROVIDER];

/// The AI SDK's options for this API.
const WORDS: Words = Words {
    places: &[
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
    spelled: &["promptCacheOptions"],
};

/// The options under all keys, in the API's words.
fn options_of(request: &Request) -> Map<String, Value> {
    let mut all = Map::new();
    for key in OPTIONS {
        if let Some(Value::Object(options)) = request.provider_options.get(key) {
            options::merge(&mut all, &WORDS.of_api(options));
        }
    }
    // The AI SDK's word says at once of how many tokens.
    if let Some(most) = all.get("logprobs").filter(|most| most.is_number()).cloned() {
        all.insert("logprobs".to_owned(), true.into());
        all.entry("top_logprobs").or_insert(most);
    }
    all
}

/// The body of `POST /chat/completions`.
pub(crate) fn body(model: &str, request: &Request) -> Value {
    let mut body = without_options(model, request);
    options::merge(&mut body, &options_of(request));
    if body.contains_key("max_completion_tokens") {
        body.shift_remove("max_tokens");
    }
    let is_bare = |format: &Value| format.get("type").is_none();
    if body.get("response_format").is_some_and(is_bare) {
        body.shift_remove("response_format");
    }
    // The form of the answer that is asked for goes before one of the options.
    if let Some(format) = &request.response_format {
        body.insert("response_format".to_owned(), response_format(format));
    }
    Value::Object(body)
}

/// The body before the provider's options.
pub(crate) fn without_options(model: &str, request: &Request) -> Map<String, Value> {
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
    set(output_limit(model), sampling.max_output_tokens.map(Into::into));
    if openai::samples(model, effort(request).as_deref()) {
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

/// OpenAI's reasoning models refuse the field that everyone else knows.
fn output_limit(model: &str) -> &'static str {
    if openai::thinks(model) { "max_completion_tokens" } else { "max_tokens" }
}

/// How long the model is to think.
fn effort(request: &Request) -> Option<String> {
    options_of(request).get("reasoning_effort")?.as_str().map(str::to_owned)
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
            let kind = file::kind(media_type, data);
            let filename = filename.as_deref();
            match data {
                _ if file::is_image(kind) => {
                    json!({ "type": "image_url", "image_url": { "url": url(kind, data) } })
                }
                FileData::Base64(_) if kind == "application/pdf" => {
                    let filename = filename.unwrap_or("document.pdf");
                    json!({ "type": "file", "file": { "filename": filename, "file_data": url(kind, data) } })
                }
                FileData::Base64(data) if audio_format(kind).is_some() => {
                    json!({ "type": "input_audio", "input_audio": { "data": data, "format": audio_format(kind) } })
                }
                FileData::Base64(base64) if file::is_text(kind) => {
                    text(&file::text_of(base64).unwrap_or_else(|| file::unreadable(kind, filename)))
                }
                _ => text(&file::unreadable(kind, filename)),
            }
        }
    }
}

/// The kinds of audio that the API knows.
fn audio_format(kind: &str) -> Option<&'static str> {
    match kind {
        "audio/wav" | "audio/x-wav" => Some("wav"),
        "audio/mp3" | "audio/mpeg" => Some("mp3"),
        _ => None,
    }
}

fn url(kind: &str, data: &FileData) -> String {
    match data {
        FileData::Base64(data) => format!("data:{kind};base64,{data}"),
        FileData::Url(url) => url.clone(),
    }
}

fn assistant(parts: &[AssistantPart]) -> Option<Value> {
    let (mut text, mut reasoning, mut calls) = (String::new(), String::new(), Vec::new());
    for part in parts {
        match part {
            AssistantPart::Text { text: more, .. } => text.push_str(more),
            AssistantPart::Reasoning { text: more, metadata } if takes_back(metadata.as_ref()) => {
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
    // DeepSeek wants its thoughts back while it works with tools, and not otherwise.
    if !reasoning.is_empty() && !calls.is_empty() {
        message["reasoning_content"] = reasoning.into();
    }
    if !calls.is_empty() {
        message["tool_calls"] = calls.into();
    }
    Some(message)
}

/// Thoughts go back only where they came as `reasoning_content`: a gateway that calls them otherwise refuses the field.
fn takes_back(metadata: Option<&ProviderMetadata>) -> bool {
    metadata.and_then(|metadata| metadata.get(PROVIDER)?.get("reasoningField")?.as_str()) == Some("reasoning_content")
}

fn tool_call(call: &ToolCall) -> Value {
    let arguments = if call.input.is_object() { call.input.to_string() } else { "{}".to_owned() };
    let mut written =
        json!({ "id": call.id, "type": "function", "function": { "name": plain(&call.name), "arguments": arguments } });
    if let Some(extra) = call.metadata.as_ref().and_then(|metadata| metadata.get(PROVIDER)?.get("extraContent")) {
        written["extra_content"] = extra.clone();
    }
    written
}
