//! The contract's request → a `generateContent` request.

use super::PROVIDER;
use super::parts::contents;
use crate::options::{self, Words};
use contract::{Message, Request, ToolChoice, ToolSpec};
use serde_json::{Map, Value, json};

/// Keys of `generationConfig` that say what form the answer has.
const FORMAT: [&str; 5] =
    ["responseMimeType", "responseSchema", "responseJsonSchema", "responseModalities", "response_schema"];

/// The body of `POST /models/MODEL:streamGenerateContent`.
pub(crate) fn body(model: &str, request: &Request) -> Value {
    let mut body = Map::new();
    if let Some(system) = system(request) {
        body.insert("systemInstruction".to_owned(), system);
    }
    body.insert("contents".to_owned(), contents(&request.messages, model.contains("gemini-3")).into());
    if !request.tools.is_empty() {
        let declared: Vec<_> = request.tools.iter().map(declaration).collect();
        body.insert("tools".to_owned(), json!([{ "functionDeclarations": declared }]));
        body.insert("toolConfig".to_owned(), json!({ "functionCallingConfig": calling(&request.tool_choice) }));
    }
    body.insert("generationConfig".to_owned(), generation(request));
    if let Some(Value::Object(options)) = request.provider_options.get(PROVIDER) {
        merge(&mut body, options, request.response_format.is_some());
    }
    Value::Object(body)
}

/// The AI SDK's options for this API, most of which belong to the generation.
const WORDS: Words = Words {
    places: &[
        ("thinkingConfig", &["generationConfig", "thinkingConfig"]),
        ("responseModalities", &["generationConfig", "responseModalities"]),
        ("audioTimestamp", &["generationConfig", "audioTimestamp"]),
        ("mediaResolution", &["generationConfig", "mediaResolution"]),
        ("imageConfig", &["generationConfig", "imageConfig"]),
        ("retrievalConfig", &["toolConfig", "retrievalConfig"]),
        ("streamFunctionCallArguments", &["toolConfig", "functionCallingConfig", "streamFunctionCallArguments"]),
    ],
    spelled: &[],
};

/// Merges the options into the body. `has_format`: the request asks for a form of the answer, which goes before theirs.
fn merge(body: &mut Map<String, Value>, options: &Map<String, Value>, has_format: bool) {
    let mut options = WORDS.of_api(options);
    if let (true, Some(Value::Object(config))) = (has_format, options.get_mut("generationConfig")) {
        config.retain(|key, _| !FORMAT.contains(&key.as_str()));
    }
    let takes_schema = options.shift_remove("structuredOutputs") != Some(Value::Bool(false));
    if let (false, Some(Value::Object(config))) = (takes_schema, body.get_mut("generationConfig")) {
        config.shift_remove("responseJsonSchema");
    }
    // One threshold for all kinds of content.
    if let Some(threshold) = options.shift_remove("threshold") {
        let every = HARMS.map(|harm| json!({ "category": harm, "threshold": threshold }));
        options.entry("safetySettings").or_insert_with(|| every.to_vec().into());
    }
    options::merge(body, &options);
}

/// Kinds of content that have a threshold.
const HARMS: [&str; 5] = [
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

fn generation(request: &Request) -> Value {
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
        // What is not enforced is said in words alone: the API takes only a part of JSON Schema.
        set("responseJsonSchema", format.strict.then(|| format.schema.clone()));
    }
    Value::Object(config)
}

fn declaration(tool: &ToolSpec) -> Value {
    json!({ "name": tool.name, "description": tool.description, "parametersJsonSchema": tool.input_schema })
}

fn calling(choice: &ToolChoice) -> Value {
    match choice {
        ToolChoice::Auto => json!({ "mode": "AUTO" }),
        ToolChoice::Required => json!({ "mode": "ANY" }),
        ToolChoice::None => json!({ "mode": "NONE" }),
        ToolChoice::Tool(name) => json!({ "mode": "ANY", "allowedFunctionNames": [name] }),
    }
}
