//! A tool call within a message, and the approval that it may need.

use super::read::{lenient, present};
use crate::ProviderMetadata;
use crate::question::ASK_USER;
use crate::read::{read_names, read_struct};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The text that the model reads as the result of a call that the user left undecided when sending
/// a new message.
pub const PASSED_OVER: &str = "The user did not answer and sent a new message instead.";

/// The key in [`ToolPart::tool_metadata`] of the page that runs the call: `{by, at}`.
const STARTED: &str = "started";

/// The key in [`ToolPart::tool_metadata`] of a call that a client brought.
const PRESET: &str = "loaded";

/// A tool call and its result. Which fields are present depends on `state`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Whether the provider itself runs the tool.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub provider_executed: Option<bool>,
    /// The arguments; incomplete while `input-streaming`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<Value>,
    /// Unusable arguments, as received.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raw_input: Option<Value>,
    /// The result.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub output: Option<Value>,
    /// The error message, if the call failed.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub error_text: Option<String>,
    /// Whether a later output will replace this one.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub preliminary: Option<bool>,
    /// The approval request and its decision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval: Option<Approval>,
    /// The provider's metadata of the call; see [`ProviderMetadata`].
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub call_provider_metadata: Option<ProviderMetadata>,
    /// The provider's metadata of the result; see [`ProviderMetadata`].
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub result_provider_metadata: Option<ProviderMetadata>,
    /// Metadata of the tool call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_metadata: Option<Value>,
}

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

read_names!(ToolState {
    "input-streaming" => InputStreaming,
    "input-available" => InputAvailable,
    "approval-requested" => ApprovalRequested,
    "approval-responded" => ApprovalResponded,
    "output-available" => OutputAvailable,
    "output-error" => OutputError,
    "output-denied" => OutputDenied,
});

impl ToolState {
    /// Returns whether the state is final. A result may still be
    /// [preliminary](ToolPart::preliminary).
    pub fn is_final(self) -> bool {
        matches!(self, Self::OutputAvailable | Self::OutputError | Self::OutputDenied)
    }
}

/// An approval request for a tool call, and the user's decision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Approval {
    /// A unique id; a decision names it.
    pub id: String,
    /// The decision, if there is one.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub approved: Option<bool>,
    /// The user's comment.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// A signature that binds the request to its arguments, for clients that return it.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
    /// The terms of the request. Unreadable terms are dropped: the server never trusts a client's.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub terms: Option<Box<ApprovalTerms>>,
    /// Whether the request expired without a decision.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub expired: Option<bool>,
    /// Whether the user sent a new message instead of deciding.
    #[serde(rename = "passedOver", default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
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
    /// The data in the conversation because of which a tool that sends data out needs an approval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exposed: Option<Exposure>,
    /// Set if the call was interrupted while it ran: the request asks whether to run it again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut_off: Option<CutOff>,
}

/// The decision about an interrupted call.
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

/// The kinds of data that an agent has read in a conversation. Each field names the tool that first returned such data.
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

impl Exposure {
    /// Returns the kinds of data in English, such as "private data and text from outside, …".
    pub fn described(&self) -> String {
        let kinds =
            [(&self.private, "private data"), (&self.untrusted, "text from outside, which may contain instructions")];
        let read: Vec<_> = kinds.iter().filter(|(tool, _)| tool.is_some()).map(|(_, kind)| *kind).collect();
        read.join(" and ")
    }
}

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

    /// Returns the decision about the call, if it was interrupted while it ran.
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

    /// Records the decision about an interrupted call. Other terms of its approval request stay.
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
        match self.waiting_inside() {
            Some(waiting) => waiting.get("input"),
            None => self.input.as_ref(),
        }
    }

    /// Returns the name of the tool that the open request is about, for the user. If a sub-agent
    /// waits inside this call, it is that of the sub-agent's call, followed by the sub-agent.
    pub fn asked_name(&self) -> String {
        match self.waiting_inside().and_then(|waiting| waiting.get("toolName")?.as_str()) {
            Some(inner) => format!("{inner} (for {})", self.tool_name),
            None => self.tool_name.clone(),
        }
    }

    /// Returns the call of a sub-agent that waits for the user inside this call, with `toolName` and
    /// `input`. The outputs of other tools may have the same fields, but name no call.
    fn waiting_inside(&self) -> Option<&Value> {
        let output = self.output.as_ref().filter(|output| output.get("_subAgent") == Some(&Value::Bool(true)))?;
        output.get("waiting").filter(|waiting| waiting.is_object())
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

    /// Records that a client brought the call with earlier messages, or in an imported file.
    pub fn mark_preset(&mut self) {
        let metadata = self.tool_metadata.get_or_insert_with(|| Value::Object(Map::new()));
        if let Value::Object(known) = metadata {
            known.insert(PRESET.to_owned(), Value::Bool(true));
        }
    }

    /// Returns whether a client brought the call with earlier messages or in an imported file, so
    /// that nobody knows whether its result is true.
    pub fn is_preset(&self) -> bool {
        self.tool_metadata.as_ref().and_then(|metadata| metadata.get(PRESET)) == Some(&Value::Bool(true))
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
