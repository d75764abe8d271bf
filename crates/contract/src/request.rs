//! The request to a model.

use crate::{Message, ToolSpec};
use schemars::JsonSchema;
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
    /// Whether the provider's own search finds the tools that are `deferrable`, so that the model does not read
    /// them before. Codecs of providers without such a search list them.
    pub provider_search: bool,
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

/// Whether the model must call a tool, and which.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "ToolChoiceForm", into = "ToolChoiceForm")]
pub enum ToolChoice {
    /// The model decides.
    #[default]
    Auto,
    /// The model must call some tool.
    Required,
    /// The model must not call a tool.
    None,
    /// The model must call the tool with this name.
    Tool(String),
}

/// How a tool choice is written.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum ToolChoiceForm {
    /// A general rule.
    Mode(ToolChoiceMode),
    /// A certain tool.
    Tool(NamedTool),
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(extend("x-names" = "tool choice"))]
enum ToolChoiceMode {
    /// The model decides.
    Auto,
    /// The model must call some tool.
    Required,
    /// The model must not call a tool.
    None,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct NamedTool {
    /// Always `tool`.
    #[serde(rename = "type")]
    kind: ToolWord,
    /// The name of the tool.
    #[schemars(regex(pattern = settings::pattern::TOOL_NAME))]
    tool_name: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum ToolWord {
    Tool,
}

impl From<ToolChoiceForm> for ToolChoice {
    fn from(form: ToolChoiceForm) -> Self {
        match form {
            ToolChoiceForm::Mode(ToolChoiceMode::Auto) => Self::Auto,
            ToolChoiceForm::Mode(ToolChoiceMode::Required) => Self::Required,
            ToolChoiceForm::Mode(ToolChoiceMode::None) => Self::None,
            ToolChoiceForm::Tool(tool) => Self::Tool(tool.tool_name),
        }
    }
}

impl From<ToolChoice> for ToolChoiceForm {
    fn from(choice: ToolChoice) -> Self {
        match choice {
            ToolChoice::Auto => Self::Mode(ToolChoiceMode::Auto),
            ToolChoice::Required => Self::Mode(ToolChoiceMode::Required),
            ToolChoice::None => Self::Mode(ToolChoiceMode::None),
            ToolChoice::Tool(tool_name) => Self::Tool(NamedTool { kind: ToolWord::Tool, tool_name }),
        }
    }
}

/// Sampling settings. Absent values leave the provider's default.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Sampling {
    /// The longest reply in tokens.
    #[schemars(range(min = 1))]
    pub max_output_tokens: Option<u32>,
    /// The sampling temperature: low values make replies more predictable, high values more varied.
    #[schemars(range(min = 0, max = 2))]
    pub temperature: Option<f64>,
    /// Nucleus sampling: only the likeliest tokens up to this total probability are considered.
    #[schemars(range(min = 0, max = 1))]
    pub top_p: Option<f64>,
    /// Only this many of the likeliest tokens are considered.
    #[schemars(range(min = 1))]
    pub top_k: Option<u32>,
    /// Values above 0 make tokens less likely the more often they have occurred.
    #[schemars(range(min = -1, max = 1))]
    pub frequency_penalty: Option<f64>,
    /// Values above 0 make tokens less likely that have occurred at all.
    #[schemars(range(min = -1, max = 1))]
    pub presence_penalty: Option<f64>,
    /// The random seed for reproducible replies, if the provider supports it.
    pub seed: Option<i64>,
    /// The reply ends before one of these texts.
    #[schemars(inner(length(min = 1)))]
    pub stop_sequences: Vec<String>,
}
