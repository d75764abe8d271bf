//! The UI message, which the UI shows and the store keeps. The JSON is that of the AI SDK v6
//! `UIMessage`.

pub(crate) mod context_edit;
pub(crate) mod provider_output;
mod read;
#[cfg(feature = "schema")]
mod schema;
mod tool;

pub use tool::{Approval, ApprovalTerms, CutOff, Exposure, PASSED_OVER, ToolPart, ToolState};

use crate::ProviderMetadata;
use crate::read::read_names;
use read::lenient;
use serde::{Deserialize, Serialize, Serializer, ser::SerializeMap};
use serde_json::Value;

/// One message of a conversation.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UiMessage {
    /// Unique within the conversation.
    pub id: String,
    /// The author.
    pub role: Role,
    /// Metadata of the message; the server writes [`crate::api::MessageMetadata`].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<crate::api::MessageMetadata>"))]
    pub metadata: Option<Value>,
    /// The content, in order.
    #[cfg_attr(feature = "schema", schemars(default))]
    pub parts: Vec<UiPart>,
}

/// The author of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Instructions; never accepted from a client.
    System,
    /// The user.
    User,
    /// The model.
    Assistant,
}

read_names!(Role { "system" => System, "user" => User, "assistant" => Assistant });

/// A part of a message.
#[derive(Clone, Debug, PartialEq)]
pub enum UiPart {
    /// `text`
    Text(TextPart),
    /// `reasoning`
    Reasoning(TextPart),
    /// `file`
    File(FilePart),
    /// `source-url`
    SourceUrl(SourceUrl),
    /// `source-document`
    SourceDocument(SourceDocument),
    /// `step-start`
    StepStart,
    /// `data-{name}`
    Data(DataPart),
    /// `tool-{name}` or `dynamic-tool`
    Tool(Box<ToolPart>),
    /// A part of a type that this version does not know, kept unchanged.
    Other(Value),
}

/// Text or reasoning.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct TextPart {
    /// The stream's id of a reasoning part; absent on text.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The text so far.
    pub text: String,
    /// Whether the part is still growing.
    #[serde(default, deserialize_with = "read::text_state", skip_serializing_if = "Option::is_none")]
    pub state: Option<TextState>,
    /// See [`ProviderMetadata`].
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub provider_metadata: Option<ProviderMetadata>,
    /// The citations of a text: `{source, startIndex?, endIndex?, citedText?}`, in the order of the
    /// text.
    #[cfg_attr(feature = "schema", schemars(default))]
    #[serde(default, deserialize_with = "read::lenient_list", skip_serializing_if = "Vec::is_empty")]
    pub citations: Vec<Value>,
}

/// The state of a text part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum TextState {
    /// The part is still growing.
    Streaming,
    /// The part is complete.
    Done,
}

read_names!(TextState { "streaming" => Streaming, "done" => Done });

/// A file, by URL or inline as a `data:` URL.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct FilePart {
    /// The media type, for example `image/png`.
    pub media_type: String,
    /// An `https:` or `data:` URL.
    pub url: String,
    /// The name that the user gave it.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub filename: Option<String>,
    /// See [`ProviderMetadata`].
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub provider_metadata: Option<ProviderMetadata>,
}

/// A web page that the model used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SourceUrl {
    /// Unique within the message.
    pub source_id: String,
    /// The URL.
    pub url: String,
    /// Its title.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// See [`ProviderMetadata`].
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub provider_metadata: Option<ProviderMetadata>,
}

/// A document that the model used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SourceDocument {
    /// Unique within the message.
    pub source_id: String,
    /// The media type, for example `application/pdf`.
    pub media_type: String,
    /// Its title.
    pub title: String,
    /// Its file name.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub filename: Option<String>,
    /// See [`ProviderMetadata`].
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub provider_metadata: Option<ProviderMetadata>,
}

/// A data part, `data-{name}`: application data for the page, for example `data-chat-title`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DataPart {
    /// The whole type, including `data-`.
    #[serde(rename = "type")]
    pub kind: String,
    /// A later part of the same kind and id replaces this one.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The content.
    pub data: Value,
}

impl UiMessage {
    /// Creates an empty message.
    pub fn new(id: impl Into<String>, role: Role) -> Self {
        Self { id: id.into(), role, metadata: None, parts: Vec::new() }
    }

    /// Creates a user message with one text part.
    pub fn user(id: impl Into<String>, text: impl Into<String>) -> Self {
        let part = UiPart::Text(TextPart { text: text.into(), ..TextPart::default() });
        Self { parts: vec![part], ..Self::new(id, Role::User) }
    }

    /// Joins all text parts with a blank line between them.
    pub fn text(&self) -> String {
        let texts = self.parts.iter().filter_map(|part| match part {
            UiPart::Text(text) => Some(text.text.as_str()),
            _ => None,
        });
        texts.collect::<Vec<_>>().join("\n\n")
    }

    /// Returns the tool parts, in order.
    pub fn tools(&self) -> impl DoubleEndedIterator<Item = &ToolPart> {
        self.parts.iter().filter_map(UiPart::as_tool)
    }

    /// Returns the newest tool part with this call id.
    pub fn tool_mut(&mut self, call_id: &str) -> Option<&mut ToolPart> {
        self.parts.iter_mut().rev().find_map(|part| match part {
            UiPart::Tool(tool) if tool.tool_call_id == call_id => Some(&mut **tool),
            _ => None,
        })
    }
}

impl UiPart {
    /// Returns the tool part, if this is one.
    pub fn as_tool(&self) -> Option<&ToolPart> {
        match self {
            Self::Tool(tool) => Some(tool),
            _ => None,
        }
    }

    /// Returns the tool part mutably, if this is one.
    pub fn as_tool_mut(&mut self) -> Option<&mut ToolPart> {
        match self {
            Self::Tool(tool) => Some(tool),
            _ => None,
        }
    }
}

/// Serializes as `{"type": kind, …fields of body}`.
#[derive(Serialize)]
struct Tagged<'a, T> {
    #[serde(rename = "type")]
    kind: &'a str,
    #[serde(flatten)]
    body: &'a T,
}

#[derive(Serialize)]
struct DynamicTool<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(rename = "toolName")]
    tool_name: &'a str,
    #[serde(flatten)]
    body: &'a ToolPart,
}

impl Serialize for UiPart {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(body) => Tagged { kind: "text", body }.serialize(s),
            Self::Reasoning(body) => Tagged { kind: "reasoning", body }.serialize(s),
            Self::File(body) => Tagged { kind: "file", body }.serialize(s),
            Self::SourceUrl(body) => Tagged { kind: "source-url", body }.serialize(s),
            Self::SourceDocument(body) => Tagged { kind: "source-document", body }.serialize(s),
            Self::Data(body) => body.serialize(s),
            Self::Other(value) => value.serialize(s),
            Self::StepStart => {
                let mut map = s.serialize_map(Some(1))?;
                map.serialize_entry("type", "step-start")?;
                map.end()
            }
            Self::Tool(body) if body.dynamic => {
                DynamicTool { kind: "dynamic-tool", tool_name: &body.tool_name, body }.serialize(s)
            }
            Self::Tool(body) => Tagged { kind: &format!("tool-{}", body.tool_name), body: &**body }.serialize(s),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_part_round_trips() {
        let check = |json: &str| {
            let part: UiPart = serde_json::from_str(json).unwrap();
            assert_eq!(serde_json::to_string(&part).unwrap(), json);
        };
        check(r#"{"type":"text","text":"x","state":"done"}"#);
        check(r#"{"type":"reasoning","id":"1","text":"x","state":"streaming","providerMetadata":{"p":{"a":1}}}"#);
        check(r#"{"type":"file","mediaType":"image/png","url":"data:,","filename":"f"}"#);
        check(r#"{"type":"source-url","sourceId":"s","url":"https://example.org","title":"T"}"#);
        check(r#"{"type":"source-document","sourceId":"s","mediaType":"application/pdf","title":"T"}"#);
        check(r#"{"type":"step-start"}"#);
        check(r#"{"type":"data-title","id":"1","data":null}"#);
        check(r#"{"type":"tool-a-b","toolCallId":"c","state":"output-available","input":{"a":1},"output":null}"#);
        check(
            r#"{"type":"dynamic-tool","toolName":"t","toolCallId":"c","state":"output-denied","approval":{"id":"a","approved":false,"reason":"no"}}"#,
        );
        check(r#"{"type":"later-kind","anything":[1,{"a":2}]}"#);
    }

    #[test]
    fn invalid_parts_are_rejected() {
        let check = |json: &str, expected: &str| {
            assert!(serde_json::from_str::<UiPart>(json).unwrap_err().to_string().starts_with(expected), "{json}");
        };
        check("7", "invalid type: integer `7`, expected an object");
        check("{}", "missing field `type`");
        check(r#"{"type":"text"}"#, "missing field `text`");
        check(r#"{"type":"tool-a","toolCallId":"c"}"#, "missing field `state`");
        check(r#"{"type":"tool-a","toolCallId":"c","state":"running"}"#, "unknown value `running`");
    }
}
