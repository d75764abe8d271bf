//! The UI message, which the UI shows and the store keeps. The JSON is that of the AI SDK v6
//! `UIMessage`.

#[cfg(not(target_arch = "wasm32"))]
mod direct;
mod read;
#[cfg(feature = "schema")]
mod schema;

use crate::ProviderMetadata;
use crate::question::ASK_USER;
use crate::read::{read_names, read_struct};
use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::{Map, Value};

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
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct TextPart {
    /// The stream's id of a reasoning part; absent on text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The text so far.
    pub text: String,
    /// Whether the part is still growing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<TextState>,
    /// Opaque data that the provider needs back: `{provider: {…}}`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider_metadata: Option<ProviderMetadata>,
    /// The citations of a text: `{source, startIndex?, endIndex?, citedText?}`, in the order of the
    /// text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(default))]
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

/// A file, by URL or inline as a `data:` URL.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct FilePart {
    /// The media type, for example `image/png`.
    pub media_type: String,
    /// An `https:` or `data:` URL.
    pub url: String,
    /// The name that the user gave it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filename: Option<String>,
    /// Opaque data that the provider needs back: `{provider: {…}}`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider_metadata: Option<ProviderMetadata>,
}

/// A web page that the model used.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SourceUrl {
    /// Unique within the message.
    pub source_id: String,
    /// The URL.
    pub url: String,
    /// Its title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Opaque data that the provider needs back: `{provider: {…}}`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider_metadata: Option<ProviderMetadata>,
}

/// A document that the model used.
#[derive(Clone, Debug, PartialEq, Serialize)]
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
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filename: Option<String>,
    /// Opaque data that the provider needs back: `{provider: {…}}`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider_metadata: Option<ProviderMetadata>,
}

/// A data part, `data-{name}`: application data for the page, for example `data-chat-title`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DataPart {
    /// The whole type, including `data-`.
    #[serde(rename = "type")]
    pub kind: String,
    /// A later part of the same kind and id replaces this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The content.
    pub data: Value,
}

/// A tool call and its result. Which fields are present depends on `state`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ToolPart {
    /// The tool's name. In JSON it is part of the type, or the `toolName` of a `dynamic-tool`.
    #[serde(skip)]
    pub tool_name: String,
    /// Whether the tool is not a declared one (type `dynamic-tool`).
    #[serde(skip)]
    pub dynamic: bool,
    /// Unique within the conversation.
    pub tool_call_id: String,
    /// The state of the call.
    pub state: ToolState,
    /// A human-readable name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Whether the provider itself runs the tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider_executed: Option<bool>,
    /// The arguments; incomplete while `input-streaming`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<Value>,
    /// Unusable arguments, as received.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raw_input: Option<Value>,
    /// The result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<Value>,
    /// The error message, if the call failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_text: Option<String>,
    /// Whether a later output will replace this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preliminary: Option<bool>,
    /// The approval request and its decision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval: Option<Approval>,
    /// The provider's metadata of the call: `{provider: {…}}`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call_provider_metadata: Option<ProviderMetadata>,
    /// The provider's metadata of the result: `{provider: {…}}`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result_provider_metadata: Option<ProviderMetadata>,
    /// Metadata of the tool call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_metadata: Option<Value>,
}

/// The text that the model reads as the result of a call that the user left undecided when sending
/// a new message.
pub const PASSED_OVER: &str = "The user did not answer and sent a new message instead.";

/// The key in [`ToolPart::tool_metadata`] of the page that runs the call: `{by, at}`.
const STARTED: &str = "started";

/// The state of a tool call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ToolState {
    /// The arguments are arriving.
    InputStreaming,
    /// The arguments are complete; there is no result yet.
    InputAvailable,
    /// The call waits for the user's decision.
    ApprovalRequested,
    /// The user decided; the call has not run yet.
    ApprovalResponded,
    /// The call succeeded.
    OutputAvailable,
    /// The call failed.
    OutputError,
    /// The user denied the call.
    OutputDenied,
}

impl ToolState {
    /// Returns whether the state is final. A result may still be
    /// [preliminary](ToolPart::preliminary).
    pub fn is_final(self) -> bool {
        matches!(self, Self::OutputAvailable | Self::OutputError | Self::OutputDenied)
    }
}

/// An approval request for a tool call, and the user's decision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Approval {
    /// A unique id; a decision names it.
    pub id: String,
    /// The decision, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approved: Option<bool>,
    /// The user's comment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// A signature that binds the request to its arguments, for clients that return it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
    /// The terms of the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub terms: Option<Box<ApprovalTerms>>,
    /// Whether the request expired without a decision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expired: Option<bool>,
    /// Whether the user sent a new message instead of deciding.
    #[serde(rename = "passedOver", skip_serializing_if = "Option::is_none")]
    pub passed_over: Option<bool>,
}

/// The terms of an approval request.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ApprovalTerms {
    /// The fingerprint of the tool when the request was made; absent for a nested call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Whether the user may create a standing approval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub may_remember: Option<bool>,
    /// When the request expires; Unix time in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<i64>,
    /// The arguments that are shown first and that the user may edit; all if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub visible_parameters: Option<Vec<String>>,
    /// What the agent has read that makes it necessary to ask before a tool sends data out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exposed: Option<Exposure>,
    /// Set if the call was interrupted while it ran: the request asks whether to run it again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut_off: Option<CutOff>,
}

/// What happens to an interrupted call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum CutOff {
    /// Undecided: the user is asked, or the call runs again when the answer continues.
    Open,
    /// It was repeated, or must not be repeated any more.
    Again,
}

read_names!(CutOff { "open" => Open, "again" => Again });

/// What an agent has read in a conversation. Each field names the tool that first returned such
/// data.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Exposure {
    /// The tool that returned private data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub private: Option<String>,
    /// The tool that returned text from outside, which may contain instructions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub untrusted: Option<String>,
}

read_struct!(Exposure { private: "private", untrusted: "untrusted" });

read_struct!(ApprovalTerms {
    tool: "tool",
    may_remember: "mayRemember",
    expires_at: "expiresAt",
    visible_parameters: "visibleParameters",
    exposed: "exposed",
    cut_off: "cutOff",
});

impl Approval {
    /// Creates a request without a decision.
    pub fn new(id: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            approved: None,
            reason: None,
            signature: None,
            terms: None,
            expired: None,
            passed_over: None,
        }
    }
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

impl ToolPart {
    /// Returns whether the call is finished, and not merely with a preliminary result.
    pub fn is_final(&self) -> bool {
        self.state.is_final() && !(self.state == ToolState::OutputAvailable && self.preliminary == Some(true))
    }

    /// Returns whether the user sent a new message instead of deciding on the call.
    pub fn is_passed_over(&self) -> bool {
        // Older messages have only the reason, not the flag.
        let is_marked =
            |approval: &Approval| approval.passed_over == Some(true) || approval.reason.as_deref() == Some(PASSED_OVER);
        self.state == ToolState::OutputDenied && self.approval.as_ref().is_some_and(is_marked)
    }

    /// Returns whether the call waits for the user at this time (Unix, milliseconds): for a
    /// decision that has not expired, or for the answer to a question. A call that runs in the page
    /// waits for the page, not for the user.
    pub fn waits_for_user(&self, now: i64) -> bool {
        let terms = self.approval.as_ref().and_then(|approval| approval.terms.as_ref());
        match self.state {
            ToolState::ApprovalRequested => terms.and_then(|terms| terms.expires_at).is_none_or(|until| until > now),
            ToolState::InputAvailable => self.tool_name == ASK_USER && self.provider_executed != Some(true),
            _ => false,
        }
    }

    /// Returns what happens to the call, if it was interrupted while it ran.
    pub fn cut_off(&self) -> Option<CutOff> {
        self.approval.as_ref()?.terms.as_ref()?.cut_off
    }

    /// Returns whether the call runs again without asking when the answer continues, because it was
    /// interrupted and its tool is idempotent.
    pub fn repeats_on_continue(&self) -> bool {
        self.state == ToolState::OutputError && self.cut_off() == Some(CutOff::Open)
    }

    /// Prevents an interrupted call from running again, whatever its state is.
    pub fn prevent_repeat(&mut self) {
        if self.cut_off().is_some() {
            self.set_cut_off(CutOff::Again);
        }
    }

    /// Records what happens to an interrupted call. Other terms of its approval request stay.
    pub fn set_cut_off(&mut self, to: CutOff) {
        let approval = self.approval.get_or_insert_with(|| Approval::new(""));
        approval.terms.get_or_insert_default().cut_off = Some(to);
    }

    /// Returns the arguments that the user may edit, by the open request; `None` if all may be
    /// edited.
    pub fn visible_parameters(&self) -> Option<&[String]> {
        self.approval.as_ref()?.terms.as_ref()?.visible_parameters.as_deref()
    }

    /// Returns the arguments of the open request. If a sub-agent waits inside this call, these are
    /// the arguments of the sub-agent's call.
    pub fn asked_arguments(&self) -> Option<&Value> {
        let waiting = self.output.as_ref().filter(|output| output.get("_subAgent") == Some(&Value::Bool(true)));
        match waiting.and_then(|output| output.get("waiting")).filter(|waiting| waiting.is_object()) {
            Some(waiting) => waiting.get("input"),
            None => self.input.as_ref(),
        }
    }

    /// Replaces the agent's arguments with those of the user. Arguments that the user may not edit
    /// stay as they are.
    pub fn change_input(&mut self, input: &Value) {
        let mut changed = input.clone();
        if let (Some(visible), Some(Value::Object(before)), Some(after)) =
            (self.visible_parameters(), &self.input, changed.as_object_mut())
        {
            let hidden = before.iter().filter(|(key, _)| !visible.contains(key));
            after.extend(hidden.map(|(key, value)| (key.clone(), value.clone())));
        }
        self.input = Some(changed);
    }

    /// Returns the id of the browser page that runs the call; `None` if no page has claimed it.
    pub fn claimed_by(&self) -> Option<&str> {
        self.tool_metadata.as_ref()?.get(STARTED)?.get("by")?.as_str()
    }

    /// Records that a page runs the call. `at` is Unix time in milliseconds.
    pub fn claim(&mut self, by: &str, at: i64) {
        let mut started = Map::new();
        started.insert("by".to_owned(), by.into());
        started.insert("at".to_owned(), at.into());
        let metadata = self.tool_metadata.get_or_insert_with(|| Value::Object(Map::new()));
        if let Value::Object(known) = metadata {
            known.insert(STARTED.to_owned(), Value::Object(started));
        }
    }

    /// Returns when a page claimed the call; Unix time in milliseconds.
    pub fn claimed_at(&self) -> Option<i64> {
        self.tool_metadata.as_ref()?.get(STARTED)?.get("at")?.as_i64()
    }

    /// Creates a call whose arguments have not arrived yet.
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
        check(r#"{"type":"tool-a","toolCallId":"c","state":"running"}"#, "unknown state `running`");
    }
}
