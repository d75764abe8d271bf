//! The UI message: what the log shows, what the store keeps. The JSON is that of the AI SDK v6 `UIMessage`.

use crate::ProviderMetadata;
use serde::{Deserialize, Deserializer, Serialize, Serializer, ser::SerializeMap};
use serde_json::Value;

/// One message of a conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UiMessage {
    /// Unique within the conversation.
    pub id: String,
    /// Who speaks.
    pub role: Role,
    /// Free data about the message; ours holds [`crate::api::MessageMetadata`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Value>,
    /// What was said and done, in order.
    #[serde(default)]
    pub parts: Vec<UiPart>,
}

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Instructions; never taken from a client.
    System,
    /// The person.
    User,
    /// The model.
    Assistant,
}

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
    /// A part of a kind that this version does not know, kept as it came.
    Other(Value),
}

/// Text or reasoning.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TextPart {
    /// The stream's name for a reasoning part; absent on text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The text so far.
    pub text: String,
    /// Whether more may come.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<TextState>,
    /// See [`ProviderMetadata`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider_metadata: Option<ProviderMetadata>,
}

/// Whether a text part is still growing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TextState {
    /// More may come.
    Streaming,
    /// Complete.
    Done,
}

/// A file, by address or as a `data:` URL.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FilePart {
    /// For example `image/png`.
    pub media_type: String,
    /// `https:` or `data:`.
    pub url: String,
    /// As the user named it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filename: Option<String>,
    /// See [`ProviderMetadata`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider_metadata: Option<ProviderMetadata>,
}

/// A web page that the model used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SourceUrl {
    /// Unique within the message.
    pub source_id: String,
    /// Its address.
    pub url: String,
    /// Its title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// See [`ProviderMetadata`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider_metadata: Option<ProviderMetadata>,
}

/// A document that the model used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SourceDocument {
    /// Unique within the message.
    pub source_id: String,
    /// For example `application/pdf`.
    pub media_type: String,
    /// Its title.
    pub title: String,
    /// Its file name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filename: Option<String>,
    /// See [`ProviderMetadata`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider_metadata: Option<ProviderMetadata>,
}

/// `data-{name}`: something for the page, for example `data-chat-title`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DataPart {
    /// The whole type, `data-` included.
    #[serde(rename = "type")]
    pub kind: String,
    /// A later part of the same kind and id replaces this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Its content.
    pub data: Value,
}

/// A tool call and what became of it. Which fields are there follows from `state`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolPart {
    /// The tool's name; on the wire it is part of the type, or `toolName` of a `dynamic-tool`.
    #[serde(skip)]
    pub tool_name: String,
    /// A tool that was not declared, on the wire `dynamic-tool`.
    #[serde(skip)]
    pub dynamic: bool,
    /// Unique within the conversation.
    pub tool_call_id: String,
    /// Where the call stands.
    pub state: ToolState,
    /// A readable name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Run by the provider itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider_executed: Option<bool>,
    /// The arguments; partial while `input-streaming`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Value>,
    /// Arguments that could not be used, as they came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw_input: Option<Value>,
    /// The result.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "some")]
    pub output: Option<Value>,
    /// Why there is no result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_text: Option<String>,
    /// More of the result will come.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preliminary: Option<bool>,
    /// The question to the user and the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<Approval>,
    /// Of the call; see [`ProviderMetadata`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_provider_metadata: Option<ProviderMetadata>,
    /// Of the result; see [`ProviderMetadata`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result_provider_metadata: Option<ProviderMetadata>,
    /// Free data about the tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_metadata: Option<Value>,
}

/// A `null` output is an output: keep `Some(Value::Null)` apart from an absent field.
fn some<'de, D: Deserializer<'de>>(d: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(d).map(Some)
}

/// Where a tool call stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ToolState {
    /// The arguments are arriving.
    InputStreaming,
    /// Called; no result yet.
    InputAvailable,
    /// Waits for the user's decision.
    ApprovalRequested,
    /// Decided; not run yet.
    ApprovalResponded,
    /// Done.
    OutputAvailable,
    /// Failed.
    OutputError,
    /// The user said no.
    OutputDenied,
}

impl ToolState {
    /// Whether nothing more will happen to the call.
    pub fn is_final(self) -> bool {
        matches!(self, Self::OutputAvailable | Self::OutputError | Self::OutputDenied)
    }
}

/// The question whether a tool may run, and the answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Approval {
    /// Unique; a decision names it.
    pub id: String,
    /// The decision, once there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approved: Option<bool>,
    /// In the user's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Binds the question to its arguments, for clients that carry it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
}

impl UiMessage {
    /// An empty message.
    pub fn new(id: impl Into<String>, role: Role) -> Self {
        Self { id: id.into(), role, metadata: None, parts: Vec::new() }
    }

    /// A user's message of one text part.
    pub fn user(id: impl Into<String>, text: impl Into<String>) -> Self {
        let part = UiPart::Text(TextPart { text: text.into(), ..TextPart::default() });
        Self { parts: vec![part], ..Self::new(id, Role::User) }
    }

    /// All text parts, joined by a blank line.
    pub fn text(&self) -> String {
        let texts = self.parts.iter().filter_map(|part| match part {
            UiPart::Text(text) => Some(text.text.as_str()),
            _ => None,
        });
        texts.collect::<Vec<_>>().join("\n\n")
    }

    /// The tool parts, in order.
    pub fn tools(&self) -> impl DoubleEndedIterator<Item = &ToolPart> {
        self.parts.iter().filter_map(UiPart::as_tool)
    }

    /// The newest tool part with this call id.
    pub fn tool_mut(&mut self, call_id: &str) -> Option<&mut ToolPart> {
        self.parts.iter_mut().rev().find_map(|part| match part {
            UiPart::Tool(tool) if tool.tool_call_id == call_id => Some(&mut **tool),
            _ => None,
        })
    }
}

impl UiPart {
    /// The tool part, if it is one.
    pub fn as_tool(&self) -> Option<&ToolPart> {
        match self {
            Self::Tool(tool) => Some(tool),
            _ => None,
        }
    }
}

impl ToolPart {
    /// A call whose arguments are about to arrive.
    pub fn new(call_id: impl Into<String>, tool_name: impl Into<String>) -> Self {
        Self {
            tool_name: tool_name.into(),
            dynamic: false,
            tool_call_id: call_id.into(),
            state: ToolState::InputStreaming,
            title: None,
            provider_executed: None,
            input: None,
            raw_input: None,
            output: None,
            error_text: None,
            preliminary: None,
            approval: None,
            call_provider_metadata: None,
            result_provider_metadata: None,
            tool_metadata: None,
        }
    }
}

/// Writes `{"type": kind, …fields of body}`.
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

impl<'de> Deserialize<'de> for UiPart {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        fn body<T: serde::de::DeserializeOwned, E: serde::de::Error>(value: Value) -> Result<T, E> {
            serde_json::from_value(value).map_err(E::custom)
        }
        let value = Value::deserialize(d)?;
        let Some(kind) = value.get("type").and_then(Value::as_str).map(str::to_owned) else {
            return Err(serde::de::Error::missing_field("type"));
        };
        Ok(match kind.as_str() {
            "text" => Self::Text(body(value)?),
            "reasoning" => Self::Reasoning(body(value)?),
            "file" => Self::File(body(value)?),
            "source-url" => Self::SourceUrl(body(value)?),
            "source-document" => Self::SourceDocument(body(value)?),
            "step-start" => Self::StepStart,
            "dynamic-tool" => {
                let name = value.get("toolName").and_then(Value::as_str).unwrap_or_default().to_owned();
                Self::Tool(Box::new(ToolPart { tool_name: name, dynamic: true, ..body(value)? }))
            }
            kind if kind.starts_with("data-") => Self::Data(body(value)?),
            kind => match kind.strip_prefix("tool-") {
                Some(name) => Self::Tool(Box::new(ToolPart { tool_name: name.to_owned(), ..body(value)? })),
                None => Self::Other(value),
            },
        })
    }
}
