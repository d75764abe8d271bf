//! What is asked of a model.

use crate::{Message, ToolSpec};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::sync::Arc;

/// One request. Messages are shared, since a turn of many steps sends the same history again and again.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Instructions, if any.
    pub system: Option<String>,
    /// The valid history, oldest first (see [`Message`]).
    pub messages: Vec<Arc<Message>>,
    /// The tools on offer.
    pub tools: Vec<ToolSpec>,
    /// Whether and which tool must be called.
    pub tool_choice: ToolChoice,
    /// Sampling settings.
    pub sampling: Sampling,
    /// The answer as JSON of this form. Codecs pass it on where their provider has such a mode; whoever sets it also says so in
    /// words, and checks the answer.
    pub response_format: Option<ResponseFormat>,
    /// The config's `providerOptions`, keyed by provider, merged last into the request as written.
    pub provider_options: Map<String, Value>,
}

/// JSON that is asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ResponseFormat {
    /// A name for it; providers want letters, digits, `_` and `-`, at most 64.
    pub name: String,
    /// Whether the provider is to enforce the schema.
    #[serde(default)]
    pub strict: bool,
    /// A JSON Schema.
    pub schema: Value,
}

/// Whether and which tool must be called.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ToolChoice {
    /// The model decides.
    #[default]
    Auto,
    /// Some tool.
    Required,
    /// None.
    None,
    /// This one.
    Tool(String),
}

/// Sampling settings; absent means the provider's default.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Sampling {
    /// At least 1.
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
    /// For repeatable replies, where the provider can.
    pub seed: Option<i64>,
    /// Ends the reply where one of these would be written.
    pub stop_sequences: Vec<String>,
}
