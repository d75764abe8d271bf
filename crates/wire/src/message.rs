//! The UI message: what the log shows, what the store keeps. The JSON is that of the AI SDK v6 `UIMessage`.

#[cfg(not(target_arch = "wasm32"))]
mod direct;
mod read;

use crate::ProviderMetadata;
use crate::question::ASK_USER;
use crate::read::{read_names, read_struct};
use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::{Map, Value};

/// One message of a conversation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct UiMessage {
    /// Unique within the conversation.
    pub id: String,
    /// Who speaks.
    pub role: Role,
    /// Free data about the message; ours holds [`crate::api::MessageMetadata`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Value>,
    /// What was said and done, in order.
    pub parts: Vec<UiPart>,
}

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Instructions; never taken from a client.
    System,
    /// The person.
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
    /// A part of a kind that this version does not know, kept as it came.
    Other(Value),
}

/// Text or reasoning.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TextPart {
    /// The stream's name for a reasoning part; absent on text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The text so far.
    pub text: String,
    /// Whether more may come.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<TextState>,
    /// See [`ProviderMetadata`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider_metadata: Option<ProviderMetadata>,
    /// What a text cites: `{source, startIndex?, endIndex?, citedText?}`, in the order of the text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub citations: Vec<Value>,
}

/// Whether a text part is still growing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TextState {
    /// More may come.
    Streaming,
    /// Complete.
    Done,
}

/// A file, by address or as a `data:` URL.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FilePart {
    /// For example `image/png`.
    pub media_type: String,
    /// `https:` or `data:`.
    pub url: String,
    /// As the user named it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filename: Option<String>,
    /// See [`ProviderMetadata`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider_metadata: Option<ProviderMetadata>,
}

/// A web page that the model used.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SourceUrl {
    /// Unique within the message.
    pub source_id: String,
    /// Its address.
    pub url: String,
    /// Its title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// See [`ProviderMetadata`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider_metadata: Option<ProviderMetadata>,
}

/// A document that the model used.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SourceDocument {
    /// Unique within the message.
    pub source_id: String,
    /// For example `application/pdf`.
    pub media_type: String,
    /// Its title.
    pub title: String,
    /// Its file name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filename: Option<String>,
    /// See [`ProviderMetadata`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider_metadata: Option<ProviderMetadata>,
}

/// `data-{name}`: something for the page, for example `data-chat-title`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DataPart {
    /// The whole type, `data-` included.
    #[serde(rename = "type")]
    pub kind: String,
    /// A later part of the same kind and id replaces this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Its content.
    pub data: Value,
}

/// A tool call and what became of it. Which fields are there follows from `state`.
#[derive(Clone, Debug, PartialEq, Serialize)]
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
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Run by the provider itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider_executed: Option<bool>,
    /// The arguments; partial while `input-streaming`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<Value>,
    /// Arguments that could not be used, as they came.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raw_input: Option<Value>,
    /// The result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<Value>,
    /// Why there is no result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_text: Option<String>,
    /// More of the result will come.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preliminary: Option<bool>,
    /// The question to the user and the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval: Option<Approval>,
    /// Of the call; see [`ProviderMetadata`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call_provider_metadata: Option<ProviderMetadata>,
    /// Of the result; see [`ProviderMetadata`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result_provider_metadata: Option<ProviderMetadata>,
    /// Free data about the tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_metadata: Option<Value>,
}

/// What the model reads of a question that the user passed over with a new message.
pub const PASSED_OVER: &str = "The user did not answer and sent a new message instead.";

/// In [`ToolPart::tool_metadata`]: `{by, at}` of the page that runs the call.
const STARTED: &str = "started";

/// Where a tool call stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
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
    /// Whether nothing more will happen to the call, unless its result is [preliminary](ToolPart::preliminary).
    pub fn is_final(self) -> bool {
        matches!(self, Self::OutputAvailable | Self::OutputError | Self::OutputDenied)
    }
}

/// The question whether a tool may run, and the answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Approval {
    /// Unique; a decision names it.
    pub id: String,
    /// The decision, once there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approved: Option<bool>,
    /// In the user's words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Binds the question to its arguments, for clients that carry it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
    /// How it is asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub terms: Option<Box<ApprovalTerms>>,
    /// Nobody decided in time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expired: Option<bool>,
    /// The user sent a new message instead of deciding.
    #[serde(rename = "passedOver", skip_serializing_if = "Option::is_none")]
    pub passed_over: Option<bool>,
}

/// How the user is asked whether a tool may run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ApprovalTerms {
    /// The tool as it was when the question was asked, by its fingerprint; none for a call within another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// A yes may be given for further calls, too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub may_remember: Option<bool>,
    /// Until when it waits for an answer; Unix time, milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<i64>,
    /// The arguments that are shown first and may be changed; all without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub visible_parameters: Option<Vec<String>>,
    /// Why it is asked about a tool that can send something away.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exposed: Option<Exposure>,
    /// The call was cut off when it ran: it is asked whether it is made once more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut_off: Option<CutOff>,
}

/// What becomes of a call that was cut off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CutOff {
    /// It is not made once more yet: the user is asked, or it is made when the answer goes on.
    Open,
    /// It is made once more.
    Again,
}

read_names!(CutOff { "open" => Open, "again" => Again });

/// What an agent has read in a conversation, by the names of the tools that it came from first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Exposure {
    /// Private data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub private: Option<String>,
    /// Text from outside, which may hold instructions.
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
    /// A question that nobody has decided on.
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

    /// The same, to change it.
    pub fn as_tool_mut(&mut self) -> Option<&mut ToolPart> {
        match self {
            Self::Tool(tool) => Some(tool),
            _ => None,
        }
    }
}

impl ToolPart {
    /// Whether nothing more will happen to the call.
    pub fn is_final(&self) -> bool {
        self.state.is_final() && !(self.state == ToolState::OutputAvailable && self.preliminary == Some(true))
    }

    /// Whether the user sent a new message instead of deciding about the call.
    pub fn is_passed_over(&self) -> bool {
        // Messages that were stored before there was a mark have the reason alone.
        let is_marked =
            |approval: &Approval| approval.passed_over == Some(true) || approval.reason.as_deref() == Some(PASSED_OVER);
        self.state == ToolState::OutputDenied && self.approval.as_ref().is_some_and(is_marked)
    }

    /// Whether it waits for its user at this time (Unix, milliseconds): for a decision that can
    /// still be made, or for the answer to a question. A call that the page runs waits for the
    /// page.
    pub fn waits_for_user(&self, now: i64) -> bool {
        let terms = self.approval.as_ref().and_then(|approval| approval.terms.as_ref());
        match self.state {
            ToolState::ApprovalRequested => terms.and_then(|terms| terms.expires_at).is_none_or(|until| until > now),
            ToolState::InputAvailable => self.tool_name == ASK_USER && self.provider_executed != Some(true),
            _ => false,
        }
    }

    /// What becomes of it, if it was cut off when it ran.
    pub fn cut_off(&self) -> Option<CutOff> {
        self.approval.as_ref()?.terms.as_ref()?.cut_off
    }

    /// Whether it is made once more when the answer goes on, without a question: it was cut off, and its tool may be called twice.
    pub fn runs_again(&self) -> bool {
        self.state == ToolState::OutputError && self.cut_off() == Some(CutOff::Open)
    }

    /// Sees to it that a call that was cut off is not made once more, however it ended.
    pub fn disarm(&mut self) {
        if self.cut_off().is_some() {
            self.set_cut_off(CutOff::Again);
        }
    }

    /// Enters what becomes of a call that was cut off. What else was said of its question stays.
    pub fn set_cut_off(&mut self, to: CutOff) {
        let approval = self.approval.get_or_insert_with(|| Approval::new(""));
        approval.terms.get_or_insert_default().cut_off = Some(to);
    }

    /// The arguments that the user may change, by the question that is open; none where all may be.
    pub fn visible_parameters(&self) -> Option<&[String]> {
        self.approval.as_ref()?.terms.as_ref()?.visible_parameters.as_deref()
    }

    /// The arguments that an open question is about: of a call that a sub-agent waits with, that call's.
    pub fn asked_arguments(&self) -> Option<&Value> {
        let waiting = self.output.as_ref().filter(|output| output.get("_subAgent") == Some(&Value::Bool(true)));
        match waiting.and_then(|output| output.get("waiting")).filter(|waiting| waiting.is_object()) {
            Some(waiting) => waiting.get("input"),
            None => self.input.as_ref(),
        }
    }

    /// Puts the user's arguments in the place of the agent's. Those that he may not change stay as they are.
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

    /// Which page of the user's runs the call, by the id that it gave itself; none where nobody has begun.
    pub fn runner(&self) -> Option<&str> {
        self.tool_metadata.as_ref()?.get(STARTED)?.get("by")?.as_str()
    }

    /// Enters that a page runs the call. `at` is Unix time in milliseconds.
    pub fn begin(&mut self, by: &str, at: i64) {
        let mut started = Map::new();
        started.insert("by".to_owned(), by.into());
        started.insert("at".to_owned(), at.into());
        let metadata = self.tool_metadata.get_or_insert_with(|| Value::Object(Map::new()));
        if let Value::Object(known) = metadata {
            known.insert(STARTED.to_owned(), Value::Object(started));
        }
    }

    /// When a page began to run the call; Unix time, milliseconds.
    pub fn began_at(&self) -> Option<i64> {
        self.tool_metadata.as_ref()?.get(STARTED)?.get("at")?.as_i64()
    }

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_part_survives_the_wire() {
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
    fn parts_that_are_none() {
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
