//! The body of `POST /v1/chat/completions`.

use super::content::ContentReader;
use super::parameters::{SharedParameters, max_tokens};
use super::{Entry, EntryKind, Parameters, arguments, check_rest, check_size, read};
use crate::error::ApiError;
use contract::Sampling;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

/// Parameters of OpenAI that this server does not have.
const UNSUPPORTED: [&str; 14] = [
    "audio",
    "function_call",
    "functions",
    "logit_bias",
    "logprobs",
    "moderation",
    "prediction",
    "prompt_cache_options",
    "prompt_cache_retention",
    "reasoning_effort",
    "top_logprobs",
    "verbosity",
    "web_search_options",
    "modalities",
];

/// A request for a chat completion. Parameters that are not here are refused.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub(crate) struct ChatRequest {
    /// The id of the agent.
    model: String,
    /// The history. The agent answers its end, which is of the user or of a tool.
    messages: Vec<ChatMessage>,
    #[serde(flatten)]
    shared: SharedParameters,
    /// The options of a stream.
    stream_options: Option<StreamOptions>,
    /// The form of the answer: `{type: text}`, `{type: json_object}` or `{type: json_schema, json_schema}`.
    response_format: Option<Value>,
    /// The longest reply of the model in tokens; also `max_completion_tokens`.
    max_tokens: Option<u32>,
    /// The longest reply of the model in tokens.
    max_completion_tokens: Option<u32>,
    /// Text, or up to four texts, before one of which a reply ends.
    stop: Option<Stop>,
    /// The random seed, if the provider supports it.
    seed: Option<i64>,
    /// From -2 to 2.
    frequency_penalty: Option<f64>,
    /// From -2 to 2.
    presence_penalty: Option<f64>,
    /// Always 1.
    n: Option<u32>,
    /// Always `false`: completions are not stored.
    store: Option<bool>,
    #[serde(flatten)]
    #[schemars(skip)]
    rest: Map<String, Value>,
}

/// A message of the history. Other fields are ignored.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
struct ChatMessage {
    /// `system`, `developer`, `user`, `assistant` or `tool`.
    role: String,
    /// Text, or parts: `text`, `image_url` and `file` with `data:` URLs.
    content: Option<Value>,
    /// The calls of the assistant.
    tool_calls: Option<Vec<ChatCall>>,
    /// The call whose result this is.
    tool_call_id: Option<String>,
}

/// A call of the assistant.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
struct ChatCall {
    id: String,
    function: CalledFunction,
}

/// The function that is called.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
struct CalledFunction {
    name: String,
    /// A JSON object as text.
    arguments: String,
}

/// The options of a stream.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
struct StreamOptions {
    /// Whether the last chunk has the usage.
    include_usage: Option<bool>,
    /// Always absent or `false`.
    include_obfuscation: Option<bool>,
}

/// Texts before which a reply ends.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Stop {
    One(String),
    Several(Vec<String>),
}

/// A request that was read.
#[derive(Clone, Debug)]
pub(crate) struct ChatCompletion {
    pub(crate) parameters: Parameters,
    pub(crate) entries: Vec<Entry>,
    pub(crate) include_usage: bool,
}

impl ChatCompletion {
    /// Reads a body.
    ///
    /// # Errors
    /// 400 with the parameter that cannot be used.
    pub(crate) fn read(body: &[u8]) -> Result<Self, ApiError> {
        let request: ChatRequest = read(body)?;
        check_rest(&request.rest, &UNSUPPORTED)?;
        if request.n.is_some_and(|n| n != 1) {
            return Err(ApiError::unsupported("n", "An agent gives one answer: `n` is 1."));
        }
        if request.store == Some(true) {
            let message = "Chat completions are not stored. Use the Responses API for that.";
            return Err(ApiError::unsupported("store", message));
        }
        let options = request.stream_options.as_ref();
        if options.is_some() && request.shared.stream != Some(true) {
            let message = "`stream_options` is possible only with `stream: true`.";
            return Err(ApiError::invalid("stream_options", message));
        }
        if options.is_some_and(|options| options.include_obfuscation == Some(true)) {
            let param = "stream_options.include_obfuscation";
            return Err(ApiError::unsupported(param, "This server does not pad its chunks."));
        }
        let mut entries = Vec::new();
        let mut content = ContentReader::default();
        for (at, message) in request.messages.iter().enumerate() {
            message.read(&format!("messages[{at}]"), &mut content, &mut entries)?;
        }
        check_size(&entries, "messages")?;
        let include_usage = options.is_some_and(|options| options.include_usage == Some(true));
        Ok(Self { parameters: request.parameters()?, entries, include_usage })
    }
}

impl ChatRequest {
    fn parameters(&self) -> Result<Parameters, ApiError> {
        let old = max_tokens("max_tokens", self.max_tokens)?;
        let sampling = Sampling {
            max_output_tokens: max_tokens("max_completion_tokens", self.max_completion_tokens)?.or(old),
            frequency_penalty: self.frequency_penalty,
            presence_penalty: self.presence_penalty,
            seed: self.seed,
            stop_sequences: match &self.stop {
                None => Vec::new(),
                Some(Stop::One(text)) => vec![text.clone()],
                Some(Stop::Several(texts)) => texts.clone(),
            },
            ..Sampling::default()
        };
        self.shared.check(&self.model, (self.response_format.as_ref(), "response_format"), sampling)
    }
}

impl ChatMessage {
    fn read(&self, param: &str, reader: &mut ContentReader, entries: &mut Vec<Entry>) -> Result<(), ApiError> {
        let content = self.content.as_ref().unwrap_or(&Value::Null);
        let of_content = format!("{param}.content");
        let mut add = |param: &str, kind| entries.push(Entry { param: param.to_owned(), kind });
        match self.role.as_str() {
            "system" | "developer" => add(param, EntryKind::Instructions(reader.text(content, &of_content)?)),
            "user" => add(param, EntryKind::User(reader.parts(content, &of_content)?)),
            "assistant" => {
                add(param, EntryKind::Assistant(reader.text(content, &of_content)?));
                for (at, call) in self.tool_calls.iter().flatten().enumerate() {
                    let param = format!("{param}.tool_calls[{at}]");
                    let arguments = arguments(&call.function.arguments, &format!("{param}.function.arguments"))?;
                    let (id, name) = (call.id.clone(), call.function.name.clone());
                    add(&param, EntryKind::Call { id, name, arguments });
                }
            }
            "tool" => {
                let missing = || ApiError::invalid(format!("{param}.tool_call_id"), "A result names its call.");
                let call_id = self.tool_call_id.clone().ok_or_else(missing)?;
                add(param, EntryKind::Output { call_id, output: reader.output(content, &of_content)? });
            }
            _ => {
                let message = "A role is `system`, `developer`, `user`, `assistant` or `tool`.";
                return Err(ApiError::invalid(format!("{param}.role"), message));
            }
        }
        Ok(())
    }
}
