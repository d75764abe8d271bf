//! The request to a model.

use crate::{Message, ToolSpec};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::sync::Arc;

/// One request to a model. Messages are shared, because a turn of many steps sends the same history
/// repeatedly.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// The instructions, if any.
    pub system: Option<String>,
    /// The valid history, oldest first (see [`Message`]).
    pub messages: Vec<Arc<Message>>,
    /// The tools that the model may call.
    pub tools: Vec<ToolSpec>,
    /// Whether the model must call a tool, and which one.
    pub tool_choice: ToolChoice,
    /// The sampling settings.
    pub sampling: Sampling,
    /// Requests the answer as JSON of this form. Codecs pass it on where the provider supports it.
    /// The caller must also ask for it in the prompt, and check the answer.
    pub response_format: Option<ResponseFormat>,
    /// The config's `providerOptions`, keyed by provider. They are merged last into the encoded
    /// request.
    pub provider_options: Map<String, Value>,
}

/// The form of a JSON answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ResponseFormat {
    /// The name of the form. Providers accept letters, digits, `_` and `-`, at most 64 characters.
    pub name: String,
    /// Whether the provider should enforce the schema.
    #[serde(default)]
    pub strict: bool,
    /// The JSON Schema.
    pub schema: Value,
}

/// Whether the model must call a tool, and which one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ToolChoice {
    /// The model decides.
    #[default]
    Auto,
    /// The model must call a tool.
    Required,
    /// The model must not call a tool.
    None,
    /// The model must call this tool.
    Tool(String),
}

/// Sampling settings. Absent values leave the provider's default.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Sampling {
    /// The maximum length of the reply in tokens; at least 1.
    pub max_output_tokens: Option<u32>,
    /// 0 to 2.
    pub temperature: Option<f64>,
    /// 0 to 1.
    pub top_p: Option<f64>,
    /// At least 1.
    pub top_k: Option<u32>,
    /// -1 to 1.
    pub frequency_penalty: Option<f64>,
    /// -1 to 1.
    pub presence_penalty: Option<f64>,
    /// A seed for reproducible replies, where the provider supports it.
    pub seed: Option<i64>,
    /// The reply ends where the model would write one of these.
    pub stop_sequences: Vec<String>,
}
