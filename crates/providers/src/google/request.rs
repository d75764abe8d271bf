//! Converts a request to JSON for `generateContent`.

use super::PROVIDER;
use super::parts::contents;
use crate::options::{self, OptionMapping};
use contract::{Message, Request, ToolChoice, ToolSpec};
use serde_json::{Map, Value, json};

/// The keys of `generationConfig` that determine the response format.
const FORMAT_KEYS: [&str; 5] =
    ["responseMimeType", "responseSchema", "responseJsonSchema", "responseModalities", "response_schema"];

/// Returns the body of `POST /models/MODEL:streamGenerateContent`.
pub(crate) fn body(model: &str, request: &Request) -> Value {
    let mut body = Map::new();
    if let Some(system) = system(request) {
        body.insert("systemInstruction".to_owned(), system);
    }
    body.insert("contents".to_owned(), contents(&request.messages, model.contains("gemini-3")).into());
    if !request.tools.is_empty() {
        let declared: Vec<_> = request.tools.iter().map(function_declaration).collect();
        body.insert("tools".to_owned(), json!([{ "functionDeclarations": declared }]));
        body.insert(
            "toolConfig".to_owned(),
            json!({ "functionCallingConfig": function_calling_config(&request.tool_choice) }),
        );
    }
    body.insert("generationConfig".to_owned(), generation_config(request));
    if let Some(Value::Object(options)) = request.provider_options.get(PROVIDER) {
        merge_options(&mut body, options, request.response_format.is_some());
    }
    Value::Object(body)
}

/// The mapping of the AI SDK's options, most of which belong to `generationConfig`.
const OPTION_MAPPING: OptionMapping = OptionMapping {
    paths: &[
        ("thinkingConfig", &["generationConfig", "thinkingConfig"]),
        ("responseModalities", &["generationConfig", "responseModalities"]),
        ("audioTimestamp", &["generationConfig", "audioTimestamp"]),
        ("mediaResolution", &["generationConfig", "mediaResolution"]),
        ("imageConfig", &["generationConfig", "imageConfig"]),
        ("retrievalConfig", &["toolConfig", "retrievalConfig"]),
        ("streamFunctionCallArguments", &["toolConfig", "functionCallingConfig", "streamFunctionCallArguments"]),
    ],
    snake_case_values: &[],
};

/// Merges the options into the body. With `has_format`, the request's response format takes
/// precedence over theirs.
fn merge_options(body: &mut Map<String, Value>, options: &Map<String, Value>, has_format: bool) {
    let mut options = OPTION_MAPPING.translate(options);
    if let (true, Some(Value::Object(config))) = (has_format, options.get_mut("generationConfig")) {
        config.retain(|key, _| !FORMAT_KEYS.contains(&key.as_str()));
    }
    let takes_schema = options.shift_remove("structuredOutputs") != Some(Value::Bool(false));
    if let (false, Some(Value::Object(config))) = (takes_schema, body.get_mut("generationConfig")) {
        config.shift_remove("responseJsonSchema");
    }
    // A single threshold applies to all harm categories.
    if let Some(threshold) = options.shift_remove("threshold") {
        let every = HARM_CATEGORIES.map(|harm| json!({ "category": harm, "threshold": threshold }));
        options.entry("safetySettings").or_insert_with(|| every.to_vec().into());
    }
    options::merge(body, &options);
}

/// The harm categories that have a threshold.
const HARM_CATEGORIES: [&str; 5] = [
    "HARM_CATEGORY_HATE_SPEECH",
    "HARM_CATEGORY_DANGEROUS_CONTENT",
    "HARM_CATEGORY_HARASSMENT",
    "HARM_CATEGORY_SEXUALLY_EXPLICIT",
    "HARM_CATEGORY_CIVIC_INTEGRITY",
];

fn system(request: &Request) -> Option<Value> {
    let inside = request.messages.iter().filter_map(|message| match &**message {
        Message::System(text) => Some(text),
        _ => None,
    });
    let parts: Vec<_> = request.system.iter().chain(inside).map(|text| json!({ "text": text })).collect();
    (!parts.is_empty()).then(|| json!({ "parts": parts }))
}

fn generation_config(request: &Request) -> Value {
    let sampling = &request.sampling;
    let mut config = Map::new();
    let mut set = |key: &str, value: Option<Value>| {
        if let Some(value) = value {
            config.insert(key.to_owned(), value);
        }
    };
    set("maxOutputTokens", sampling.max_output_tokens.map(Into::into));
    set("temperature", sampling.temperature.map(Into::into));
    set("topP", sampling.top_p.map(Into::into));
    set("topK", sampling.top_k.map(Into::into));
    set("frequencyPenalty", sampling.frequency_penalty.map(Into::into));
    set("presencePenalty", sampling.presence_penalty.map(Into::into));
    set("seed", sampling.seed.map(Into::into));
    set("stopSequences", (!sampling.stop_sequences.is_empty()).then(|| json!(sampling.stop_sequences)));
    if let Some(format) = &request.response_format {
        set("responseMimeType", Some("application/json".into()));
        // A schema that is not enforced is only part of the instructions, because the API accepts
        // only a subset of JSON Schema.
        set("responseJsonSchema", format.strict.then(|| format.schema.clone()));
    }
    Value::Object(config)
}

fn function_declaration(tool: &ToolSpec) -> Value {
    json!({ "name": tool.name, "description": tool.description, "parametersJsonSchema": tool.input_schema })
}

fn function_calling_config(choice: &ToolChoice) -> Value {
    match choice {
        ToolChoice::Auto => json!({ "mode": "AUTO" }),
        ToolChoice::Required => json!({ "mode": "ANY" }),
        ToolChoice::None => json!({ "mode": "NONE" }),
        ToolChoice::Tool(name) => json!({ "mode": "ANY", "allowedFunctionNames": [name] }),
    }
}
