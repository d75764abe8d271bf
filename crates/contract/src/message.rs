//! The messages of a conversation in the form in which a model reads them.

use crate::ProviderMetadata;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One message of a history. A history is valid when every tool call of an assistant message has
/// exactly one result in the tool message that follows it; the code that builds a history must
/// ensure that.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", content = "content", rename_all = "lowercase")]
pub enum Message {
    /// The instructions.
    System(String),
    /// A message of the user.
    User(Vec<UserPart>),
    /// A message of the model.
    Assistant(Vec<AssistantPart>),
    /// The results of the calls in the preceding assistant message, in call order.
    Tool(Vec<ToolResult>),
}

impl Message {
    /// Returns the length of all texts, arguments and results in bytes. Files and reasoning, which is
    /// usually not sent back, are not counted.
    pub fn text_length(&self) -> usize {
        match self {
            Self::System(text) => text.len(),
            Self::User(parts) => {
                parts.iter().map(|part| if let UserPart::Text { text } = part { text.len() } else { 0 }).sum()
            }
            Self::Assistant(parts) => parts.iter().map(AssistantPart::text_length).sum(),
            Self::Tool(results) => results.iter().map(|result| result.output.to_text().len()).sum(),
        }
    }
}

impl AssistantPart {
    /// Returns the length of a text or of a tool call in bytes, 0 for other parts.
    pub fn text_length(&self) -> usize {
        match self {
            Self::Text { text, .. } => text.len(),
            Self::ToolCall(ToolCall { name, input, .. }) => name.len() + input.to_string().len(),
            Self::Reasoning { .. } | Self::File { .. } | Self::ToolResult(_) | Self::ProviderItem { .. } => 0,
        }
    }
}

/// A part of a user's message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum UserPart {
    /// Text.
    Text {
        /// The text.
        text: String,
    },
    /// An image or a document.
    File {
        /// The media type, for example `image/png`.
        media_type: String,
        /// The content, or its address.
        data: FileData,
        /// The name that the user gave the file.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        filename: Option<String>,
    },
}

/// The content of a file, or its address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FileData {
    /// The content as Base64.
    Base64(String),
    /// An `https:` URL that the provider fetches itself.
    Url(String),
}

impl FileData {
    /// Reads a URL: a `data:` URL yields its Base64 content, anything else is kept as an address.
    pub fn from_url(url: &str) -> Self {
        match url.strip_prefix("data:").and_then(|data| data.split_once(";base64,")) {
            Some((_, base64)) => Self::Base64(base64.to_owned()),
            None => Self::Url(url.to_owned()),
        }
    }
}

/// A part of a model's message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum AssistantPart {
    /// Text.
    Text {
        /// The text.
        text: String,
        /// Data that goes back to the same provider.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        metadata: Option<ProviderMetadata>,
    },
    /// Reasoning.
    Reasoning {
        /// The readable reasoning; empty when it is redacted.
        text: String,
        /// A signature or redacted data. Without it some providers reject the part, and their codec
        /// leaves it out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        metadata: Option<ProviderMetadata>,
    },
    /// A file that the model generated, such as an image. It goes back to providers that accept
    /// files of a model.
    File {
        /// The media type, for example `image/png`.
        media_type: String,
        /// The content, or its address.
        data: FileData,
        /// The file name, if it has one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        filename: Option<String>,
        /// Data that goes back to the same provider.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        metadata: Option<ProviderMetadata>,
    },
    /// A tool call.
    ToolCall(ToolCall),
    /// The result of a tool that the provider ran itself.
    ToolResult(ToolResult),
    /// A provider's item of a kind that has no part here, verbatim. Other providers leave it out.
    ProviderItem {
        /// The provider, for example `anthropic`.
        provider: String,
        /// The item as it was received.
        item: Value,
    },
}

/// A tool call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolCall {
    /// The id, unique within the conversation.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// The arguments; an object.
    pub input: Value,
    /// Whether the provider runs the tool itself.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub provider_executed: bool,
    /// Data that goes back to the same provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<ProviderMetadata>,
}

impl ToolCall {
    /// Returns whether the provider runs the call itself once the user has approved it. The
    /// provider's codec marks such a call with `approvalRequestId` in the metadata, and reads the
    /// user's decision from the call's result.
    pub fn needs_provider_approval(&self) -> bool {
        let mut own = self.metadata.iter().flat_map(|metadata| metadata.values());
        !self.provider_executed && own.any(|own| own.get("approvalRequestId").is_some())
    }
}

/// The result of a tool call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolResult {
    /// The id of the call.
    pub call_id: String,
    /// The tool's name.
    pub name: String,
    /// The output that the model reads.
    pub output: ToolOutput,
    /// Data that goes back to the same provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<ProviderMetadata>,
}

/// The output of a tool call in the form in which the model reads it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", content = "value", rename_all = "kebab-case")]
pub enum ToolOutput {
    /// Plain text.
    Text(String),
    /// JSON data.
    Json(Value),
    /// Texts and files; at least one file.
    Content(Vec<OutputPart>),
    /// The message of a failed call.
    ErrorText(String),
    /// The user denied the call, with the reason if one was given.
    Denied(Option<String>),
}

/// A part of an output.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum OutputPart {
    /// Text.
    Text {
        /// The text.
        text: String,
    },
    /// An image or another file.
    File {
        /// The media type, for example `image/png`.
        media_type: String,
        /// The content as Base64.
        data: String,
    },
}

impl ToolOutput {
    /// Converts the value that a tool returned. Text stays text. Of the view of a sub-agent
    /// (`_subAgent`) only its answer, `text`, is used. An object whose only key is `content`, a
    /// list of MCP content blocks with at least one file
    /// (<https://modelcontextprotocol.io/specification/2025-11-25/server/tools#tool-result>),
    /// becomes texts and files. Anything else is JSON data.
    pub fn from_url(value: Value) -> Self {
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

    /// Returns whether the model should read this as a failure.
    pub fn is_error(&self) -> bool {
        matches!(self, Self::ErrorText(_) | Self::Denied(_))
    }

    /// Returns the output as text, for providers that accept only text.
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
    /// Returns the text, or a note that the file cannot be shown.
    pub fn to_text(&self) -> String {
        match self {
            Self::Text { text } => text.clone(),
            Self::File { media_type, .. } => format!("[a file of the type {media_type}, which cannot be shown here]"),
        }
    }
}

impl From<OutputPart> for UserPart {
    /// Most providers accept the files of a result in the same form as a user's files.
    fn from(part: OutputPart) -> Self {
        match part {
            OutputPart::Text { text } => Self::Text { text },
            OutputPart::File { media_type, data } => {
                Self::File { media_type, data: FileData::Base64(data), filename: None }
            }
        }
    }
}

/// Returns the parts of a result in MCP's form, if one of them is a file.
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
