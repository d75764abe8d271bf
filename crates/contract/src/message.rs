//! The conversation as a model reads it.

use crate::ProviderMetadata;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One message to a model. A history is valid when every tool call of an assistant message has exactly one result in
/// the tool message that follows it; whoever builds a history keeps that.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", content = "content", rename_all = "lowercase")]
pub enum Message {
    /// Instructions.
    System(String),
    /// The person.
    User(Vec<UserPart>),
    /// The model.
    Assistant(Vec<AssistantPart>),
    /// Results of the calls in the assistant message before it, in call order.
    Tool(Vec<ToolResult>),
}

/// What a person sends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum UserPart {
    /// Words.
    Text {
        /// The words.
        text: String,
    },
    /// An image or a document.
    File {
        /// For example `image/png`.
        media_type: String,
        /// Its bytes or where they are.
        data: FileData,
        /// As the user named it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        filename: Option<String>,
    },
}

/// A file's bytes, or where they are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FileData {
    /// Base64.
    Base64(String),
    /// An `https:` address that the provider fetches itself.
    Url(String),
}

impl FileData {
    /// A `data:` URL is split into its Base64, anything else is an address.
    pub fn of(url: &str) -> Self {
        match url.strip_prefix("data:").and_then(|data| data.split_once(";base64,")) {
            Some((_, base64)) => Self::Base64(base64.to_owned()),
            None => Self::Url(url.to_owned()),
        }
    }
}

/// What a model said.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum AssistantPart {
    /// Words.
    Text {
        /// The words.
        text: String,
        /// Goes back to the same provider.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        metadata: Option<ProviderMetadata>,
    },
    /// Thoughts.
    Reasoning {
        /// The readable thoughts; empty when redacted.
        text: String,
        /// Signature or redacted data; without it some providers refuse the part, and their codec leaves it out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        metadata: Option<ProviderMetadata>,
    },
    /// A file that the model made, such as an image. It goes back to providers that take files of a model.
    File {
        /// For example `image/png`.
        media_type: String,
        /// Its content.
        data: FileData,
        /// Its name, if it has one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        filename: Option<String>,
        /// Goes back to the same provider.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        metadata: Option<ProviderMetadata>,
    },
    /// A call of a tool.
    ToolCall(ToolCall),
    /// The result of a tool that the provider ran itself.
    ToolResult(ToolResult),
    /// A provider's own item of a kind that has no part here, verbatim; other providers leave it out.
    ProviderItem {
        /// For example `anthropic`.
        provider: String,
        /// As it came.
        item: Value,
    },
}

/// A call of a tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolCall {
    /// Unique within the conversation.
    pub id: String,
    /// The tool.
    pub name: String,
    /// The arguments; an object.
    pub input: Value,
    /// Run by the provider itself.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub provider_executed: bool,
    /// Goes back to the same provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<ProviderMetadata>,
}

impl ToolCall {
    /// Whether the provider runs it itself as soon as the user says yes. Its codec marks it with `approvalRequestId` in the
    /// metadata, and takes the call's result as the answer.
    pub fn asks_for_provider(&self) -> bool {
        let mut own = self.metadata.iter().flat_map(|metadata| metadata.values());
        !self.provider_executed && own.any(|own| own.get("approvalRequestId").is_some())
    }
}

/// What became of a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolResult {
    /// The call.
    pub call_id: String,
    /// The tool.
    pub name: String,
    /// The result.
    pub output: ToolOutput,
    /// Goes back to the same provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<ProviderMetadata>,
}

/// A result as the model reads it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", content = "value", rename_all = "kebab-case")]
pub enum ToolOutput {
    /// Plain text.
    Text(String),
    /// Data.
    Json(Value),
    /// Texts and files; at least one file.
    Content(Vec<OutputPart>),
    /// It failed; the text says why.
    ErrorText(String),
    /// The user said no, perhaps with a reason.
    Denied(Option<String>),
}

/// A piece of a result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum OutputPart {
    /// Words.
    Text {
        /// The words.
        text: String,
    },
    /// An image, or another file.
    File {
        /// For example `image/png`.
        media_type: String,
        /// Base64.
        data: String,
    },
}

impl ToolOutput {
    /// A tool's value. Text stays text; of an agent's work (`_subAgent`) only its answer, `text`, counts (L-55). An object whose only key
    /// is `content`, a list of MCP's blocks of content with a file among them
    /// (<https://modelcontextprotocol.io/specification/2025-11-25/server/tools#tool-result>), is texts and files; anything else is data.
    pub fn of(value: Value) -> Self {
        match value {
            Value::String(text) => Self::Text(text),
            Value::Object(mut fields) if fields.get("_subAgent") == Some(&Value::Bool(true)) => {
                let text = fields.remove("text");
                Self::Text(text.and_then(|text| text.as_str().map(str::to_owned)).unwrap_or_default())
            }
            other => match content(&other) {
                Some(parts) => Self::Content(parts),
                None => Self::Json(other),
            },
        }
    }

    /// Whether the model should read it as a failure.
    pub fn is_error(&self) -> bool {
        matches!(self, Self::ErrorText(_) | Self::Denied(_))
    }

    /// The text that goes to a provider that knows only text.
    pub fn to_text(&self) -> String {
        match self {
            Self::Text(text) | Self::ErrorText(text) => text.clone(),
            Self::Json(value) => value.to_string(),
            Self::Content(parts) => parts.iter().map(OutputPart::to_text).collect::<Vec<_>>().join("\n"),
            Self::Denied(Some(reason)) => reason.clone(),
            Self::Denied(None) => "Tool call execution denied.".to_owned(),
        }
    }
}

impl OutputPart {
    /// The words, or a note for the file that cannot be shown.
    pub fn to_text(&self) -> String {
        match self {
            Self::Text { text } => text.clone(),
            Self::File { media_type, .. } => format!("[a file of the type {media_type}, which cannot be shown here]"),
        }
    }
}

impl From<OutputPart> for UserPart {
    /// Most providers take the files of a result as they take a user's.
    fn from(part: OutputPart) -> Self {
        match part {
            OutputPart::Text { text } => Self::Text { text },
            OutputPart::File { media_type, data } => {
                Self::File { media_type, data: FileData::Base64(data), filename: None }
            }
        }
    }
}

/// The parts of a result in MCP's form, if one of them is a file.
fn content(value: &Value) -> Option<Vec<OutputPart>> {
    let object = value.as_object().filter(|object| object.len() == 1)?;
    let parts = object.get("content")?.as_array()?.iter().map(output_part).collect::<Option<Vec<_>>>()?;
    parts.iter().any(|part| matches!(part, OutputPart::File { .. })).then_some(parts)
}

fn output_part(block: &Value) -> Option<OutputPart> {
    let text = |key: &str| block.get(key).and_then(Value::as_str).map(str::to_owned);
    Some(match block.get("type")?.as_str()? {
        "text" => OutputPart::Text { text: text("text")? },
        "image" | "audio" => OutputPart::File { media_type: text("mimeType")?, data: text("data")? },
        _ => return None,
    })
}
