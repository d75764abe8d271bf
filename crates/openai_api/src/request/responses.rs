//! The body of `POST /v1/responses`.

use super::content::ContentReader;
use super::parameters::{SharedParameters, max_tokens};
use super::{Entry, EntryKind, MAX_TEXT, Parameters, arguments, check_rest, check_size, part, read};
use crate::error::ApiError;
use contract::Sampling;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// Parameters of OpenAI that this server does not have.
const UNSUPPORTED: [&str; 10] = [
    "context_management",
    "conversation",
    "max_tool_calls",
    "moderation",
    "prompt",
    "prompt_cache_options",
    "prompt_cache_retention",
    "top_logprobs",
    "verbosity",
    "stop",
];

/// A request for a response. Parameters that are not here are refused.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub(crate) struct ResponsesRequest {
    /// The id of the agent.
    model: String,
    /// A text of the user, or items: messages, `function_call` and `function_call_output`.
    input: Value,
    /// Instructions beside those of the agent.
    instructions: Option<String>,
    /// The response that this one continues.
    previous_response_id: Option<String>,
    #[serde(flatten)]
    shared: SharedParameters,
    /// The options of a stream.
    stream_options: Option<Map<String, Value>>,
    /// The form of the answer, as `format`.
    text: Option<TextOptions>,
    /// The longest reply of the model in tokens.
    max_output_tokens: Option<u32>,
    /// Whether the response is stored, in a conversation of the user. Default: `true`.
    store: Option<bool>,
    /// Always `false`.
    background: Option<bool>,
    /// Whether the response has what the model reports of its reasoning: `{summary: auto}`.
    reasoning: Option<ReasoningOptions>,
    /// Always `disabled`: a history that is too long is an error.
    truncation: Option<String>,
    /// Additional contents of the response. Only `reasoning.encrypted_content` is accepted, and there is none.
    include: Option<Vec<String>>,
    #[serde(flatten)]
    #[schemars(skip)]
    rest: Map<String, Value>,
}

/// The form of the answer.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
struct TextOptions {
    /// `{type: text}`, `{type: json_object}` or `{type: json_schema, name, schema}`.
    format: Option<Value>,
    /// Not supported.
    verbosity: Option<Value>,
}

/// The options of the model's reasoning.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
struct ReasoningOptions {
    /// `auto`.
    summary: Option<String>,
    /// Not supported: the agent's config sets it.
    effort: Option<Value>,
    /// The former name of `summary`.
    generate_summary: Option<String>,
}

/// An item of the input. Other fields are ignored.
#[derive(Clone, Debug, Deserialize)]
struct InputItem {
    id: Option<String>,
    #[serde(rename = "type")]
    kind: Option<String>,
    role: Option<String>,
    content: Option<Value>,
    call_id: Option<String>,
    name: Option<String>,
    arguments: Option<String>,
    output: Option<Value>,
}

/// A request that was read.
#[derive(Clone, Debug)]
pub(crate) struct ResponseCall {
    pub(crate) parameters: Parameters,
    pub(crate) entries: Vec<Entry>,
    /// The items of the input as they are listed, without ids.
    pub(crate) items: Vec<Value>,
    pub(crate) instructions: Option<String>,
    pub(crate) previous_response_id: Option<String>,
    pub(crate) store: bool,
    pub(crate) shows_reasoning: bool,
    /// The form of the answer and the tools, as the response repeats them.
    pub(crate) text: Value,
    pub(crate) tools: Vec<Value>,
    pub(crate) tool_choice: Value,
}

impl ResponseCall {
    /// Reads a body.
    ///
    /// # Errors
    /// 400 with the parameter that cannot be used.
    pub(crate) fn read(body: &[u8]) -> Result<Self, ApiError> {
        let request: ResponsesRequest = read(body)?;
        check_rest(&request.rest, &UNSUPPORTED)?;
        request.check_fixed()?;
        let (items, entries) = request.read_input()?;
        check_size(&entries, "input")?;
        if request.instructions.as_ref().is_some_and(|text| text.len() > MAX_TEXT) {
            let message = format!("Instructions have at most {} MB.", MAX_TEXT >> 20);
            return Err(ApiError::invalid("instructions", message));
        }
        let format = request.text.as_ref().and_then(|text| text.format.as_ref());
        let sampling = Sampling {
            max_output_tokens: max_tokens("max_output_tokens", request.max_output_tokens)?,
            ..Sampling::default()
        };
        let parameters = request.shared.check(&request.model, (format, "text.format"), sampling)?;
        Ok(Self {
            parameters,
            entries,
            items,
            shows_reasoning: request.shows_reasoning(),
            text: json!({ "format": format.cloned().unwrap_or_else(|| json!({ "type": "text" })) }),
            tools: request.shared.tools.clone().unwrap_or_default(),
            tool_choice: request.shared.tool_choice.clone().unwrap_or_else(|| "auto".into()),
            instructions: request.instructions.filter(|text| !text.trim().is_empty()),
            previous_response_id: request.previous_response_id,
            store: request.store.unwrap_or(true),
        })
    }
}

impl ResponsesRequest {
    /// Checks the parameters of which only one value is possible.
    fn check_fixed(&self) -> Result<(), ApiError> {
        if self.background == Some(true) {
            let message = "Responses in the background are not supported. Use `stream`.";
            return Err(ApiError::unsupported("background", message));
        }
        if self.truncation.as_deref().is_some_and(|mode| mode != "disabled") {
            let message = "A history that is too long is not cut. Leave it out, or set `disabled`.";
            return Err(ApiError::unsupported("truncation", message));
        }
        if let Some(wanted) = self.include.iter().flatten().find(|wanted| *wanted != "reasoning.encrypted_content") {
            let wanted: String = wanted.chars().take(60).collect();
            return Err(ApiError::unsupported("include", format!("`{wanted}` cannot be included.")));
        }
        if self.text.as_ref().is_some_and(|text| text.verbosity.is_some()) {
            return Err(ApiError::unsupported("text.verbosity", "The agent decides this; leave it out."));
        }
        if let Some(ReasoningOptions { summary, effort, generate_summary }) = &self.reasoning {
            if effort.is_some() {
                return Err(ApiError::unsupported("reasoning.effort", "The agent decides this; leave it out."));
            }
            if summary.iter().chain(generate_summary).any(|mode| mode != "auto") {
                return Err(ApiError::unsupported("reasoning.summary", "Only `auto` is possible."));
            }
        }
        let padding = self.stream_options.as_ref().and_then(|options| options.get("include_obfuscation"));
        match padding {
            Some(Value::Bool(true)) => {
                let param = "stream_options.include_obfuscation";
                Err(ApiError::unsupported(param, "This server does not pad its events."))
            }
            _ => Ok(()),
        }
    }

    fn shows_reasoning(&self) -> bool {
        self.reasoning.as_ref().is_some_and(|wanted| wanted.summary.is_some() || wanted.generate_summary.is_some())
    }

    /// Returns the items as they are listed, and what they say.
    fn read_input(&self) -> Result<(Vec<Value>, Vec<Entry>), ApiError> {
        let mut reader = ContentReader::default();
        let items = match &self.input {
            Value::String(text) => vec![json!({ "role": "user", "content": text })],
            Value::Array(items) => items.clone(),
            _ => return Err(ApiError::invalid("input", "The input is a text or a list of items.")),
        };
        let (mut listed, mut entries) = (Vec::new(), Vec::new());
        for (at, item) in items.iter().enumerate() {
            let param = format!("input[{at}]");
            let read: InputItem = part(item, &param)?;
            if let Some(kind) = read.entry(&param, &mut reader)? {
                entries.push(Entry { param, kind });
            }
            listed.extend(self::listed(item));
        }
        Ok((listed, entries))
    }
}

impl InputItem {
    fn entry(&self, param: &str, reader: &mut ContentReader) -> Result<Option<EntryKind>, ApiError> {
        let need = |value: &Option<String>, name: &str| {
            value.clone().ok_or_else(|| ApiError::invalid(format!("{param}.{name}"), format!("`{name}` is missing.")))
        };
        let kind = match self.kind.as_deref() {
            None | Some("message") => {
                let content = self.content.as_ref().unwrap_or(&Value::Null);
                let of_content = format!("{param}.content");
                match need(&self.role, "role")?.as_str() {
                    "user" => EntryKind::User(reader.parts(content, &of_content)?),
                    "assistant" => EntryKind::Assistant(reader.text(content, &of_content)?),
                    "system" | "developer" => EntryKind::Instructions(reader.text(content, &of_content)?),
                    _ => {
                        let message = "A role is `user`, `assistant`, `system` or `developer`.";
                        return Err(ApiError::invalid(format!("{param}.role"), message));
                    }
                }
            }
            Some("function_call") => EntryKind::Call {
                id: need(&self.call_id, "call_id")?,
                name: need(&self.name, "name")?,
                arguments: arguments(self.arguments.as_deref().unwrap_or_default(), &format!("{param}.arguments"))?,
            },
            Some("function_call_output") => EntryKind::Output {
                call_id: need(&self.call_id, "call_id")?,
                output: reader.output(self.output.as_ref().unwrap_or(&Value::Null), &format!("{param}.output"))?,
            },
            Some("item_reference") => EntryKind::Reference(need(&self.id, "id")?),
            // Only the model's provider could use what it once reasoned.
            Some("reasoning") => return Ok(None),
            Some(other) => {
                let other: String = other.chars().take(60).collect();
                let message = format!("Items of the type `{other}` are not supported.");
                return Err(ApiError::unsupported(format!("{param}.type"), message));
            }
        };
        Ok(Some(kind))
    }
}

/// Returns the entry of a stored item; `None` for one that no model reads again.
pub(crate) fn stored_entry(item: &Value, param: &str) -> Result<Option<EntryKind>, ApiError> {
    part::<InputItem>(item, param)?.entry(param, &mut ContentReader::default())
}

/// Returns an item as it is listed: with its type, with content as parts, and without the contents of files,
/// as OpenAI lists it. Fields that are not read are left out.
fn listed(item: &Value) -> Option<Value> {
    const FIELDS: [&str; 6] = ["role", "content", "call_id", "name", "arguments", "output"];
    let kind = item["type"].as_str().unwrap_or("message");
    if kind == "reasoning" {
        return None;
    }
    let mut listed = json!({ "type": kind });
    for name in FIELDS {
        let Some(value) = item.get(name).filter(|value| !value.is_null()) else { continue };
        let text = if item["role"] == "assistant" { "output_text" } else { "input_text" };
        listed[name] = match value {
            Value::String(value) if name == "content" => json!([{ "type": text, "text": value }]),
            Value::Array(parts) => parts.iter().map(listed_part).collect(),
            value => value.clone(),
        };
    }
    Some(listed)
}

fn listed_part(part: &Value) -> Value {
    let fields = ["type", "text", "refusal", "filename", "detail"];
    let kept = fields.into_iter().filter_map(|name| Some((name.to_owned(), part.get(name)?.clone())));
    Value::Object(kept.collect())
}
