//! The format of recordings: a header, entries in the order in which they happened, and blobs,
//! which are values that entries refer to by their hash.

mod file;
mod lines;
mod parts;
mod provider;
mod request;
mod tool;

pub(crate) use file::entry_line;
pub use file::{read, write};
pub use lines::FormatError;
pub(crate) use parts::masked_parts;
pub use provider::{AnyFile, ProviderReply, RawReply, read_any};
pub use request::{Message, NeutralRequest};
pub use tool::RecordedTool;
pub(crate) use tool::{annotation_names, annotations_from_names};

use agent::{Decision, Grant, PendingCall, TurnUsage};
use contract::{Exposure, FinishReason, Part, ToolCall, Usage};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// The version of the format that this program writes. It reads no other.
pub const VERSION: u32 = 1;

/// The hash of a value: SHA-256 of its JSON text, as 64 hexadecimal digits.
pub type BlobId = String;

/// Returns the id of a value.
pub(crate) fn blob_id(value: &Value) -> BlobId {
    text_id(&value.to_string())
}

/// Returns the id of a value from its JSON text.
pub(crate) fn text_id(json: &str) -> BlobId {
    hex::encode(Sha256::digest(json))
}

/// The recording of one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Recording {
    /// The run and the program that recorded it.
    pub header: Header,
    /// The entries in the order in which they happened.
    pub entries: Vec<Entry>,
    /// The values that entries refer to.
    pub blobs: BTreeMap<BlobId, Value>,
}

impl Recording {
    /// Returns the turn that the run has answered.
    pub fn turn(&self) -> Option<&Turn> {
        self.entries.iter().find_map(|entry| match entry {
            Entry::Turn(turn) => Some(&**turn),
            _ => None,
        })
    }

    /// Returns how the run ended.
    pub fn end(&self) -> Option<&End> {
        self.entries.iter().find_map(|entry| match entry {
            Entry::End(end) => Some(end),
            _ => None,
        })
    }

    /// Returns the recording as one of an agent with another id, so that it can be compared with a
    /// recording of that agent.
    #[must_use]
    pub fn with_agent(mut self, agent_id: &str) -> Self {
        let before = std::mem::replace(&mut self.header.agent_id, agent_id.to_owned());
        for path in self.entries.iter_mut().filter_map(Entry::agent_mut) {
            if path.split('/').next() == Some(before.as_str()) {
                path.replace_range(..before.len(), agent_id);
            }
        }
        self
    }

    /// Returns a blob; `null` if the recording lacks it, which readers refuse.
    pub fn blob(&self, id: &str) -> &Value {
        self.blobs.get(id).unwrap_or(&Value::Null)
    }
}

/// The recorded run, and the program that recorded it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Header {
    /// The version of the format.
    pub version: u32,
    /// The run.
    pub run_id: String,
    /// The conversation.
    pub conversation_id: String,
    /// The agent.
    pub agent_id: String,
    /// The version of the program.
    pub program: String,
    /// The hash of the config's files.
    pub config: String,
    /// When the run began; Unix time, milliseconds.
    pub started_at: i64,
    /// The parts of the user's request beside the message.
    pub input: RequestInput,
}

/// The values on which the agent's configuration may depend, beside the user.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RequestInput {
    /// The page; empty if there is none.
    pub page_id: String,
    /// The id of the chat's block.
    pub block_id: Option<String>,
    /// The shared state of the page.
    pub shared_state: Map<String, Value>,
    /// The page's query string.
    pub url_query: Map<String, Value>,
    /// The states of the composer's switches.
    pub switches: Map<String, Value>,
    /// The user's options for the answer.
    pub options: wire::api::RunOptions,
}

/// Something that happened in a run. `agent` is the path of the agent: the id of the agent that was
/// asked, then the names of the sub-agents on the way, separated by `/`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Entry {
    /// The input of the run.
    Turn(Box<Turn>),
    /// A request to a model.
    Request {
        /// The number of the request in the run, which its reply repeats.
        id: u32,
        /// The agent.
        agent: String,
        /// The request.
        request: NeutralRequest,
    },
    /// The reply to a request, possibly incomplete.
    Reply {
        /// The number of the request.
        id: u32,
        /// The parts, with consecutive deltas joined where a secret was masked.
        parts: Vec<Part>,
        /// The kind of the failure, if it failed.
        error: Option<String>,
        /// The reply as the provider sent it, if it was imported. A replay decodes it anew.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        raw: Option<RawReply>,
        /// The cost in US dollars, if the price is known.
        cost_usd: Option<f64>,
        /// The time to the first part in milliseconds.
        first_part_ms: u64,
        /// The time to the end in milliseconds.
        whole_ms: u64,
    },
    /// A call that a tool has run.
    Tool {
        /// The agent.
        agent: String,
        /// The id of the call.
        call_id: String,
        /// The name of the tool.
        tool: String,
        /// The arguments.
        input: Value,
        /// The result.
        outcome: Outcome,
        /// The duration in milliseconds.
        ms: u64,
    },
    /// The answer of a source of tools.
    Source {
        /// The agent.
        agent: String,
        /// The name of the source.
        source: String,
        /// The tools: a list of [`RecordedTool`].
        tools: BlobId,
        /// The context for the model, beside its instructions.
        context: Option<String>,
        /// The annotations of the context, as in [`RecordedTool::annotations`].
        context_annotations: Vec<String>,
        /// The annotations of its notes in this turn.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        note_annotations: Vec<String>,
        /// The reason why the source was unavailable.
        error: Option<String>,
    },
    /// A note of a source for the model before a step.
    Note {
        /// The agent.
        agent: String,
        /// The name of the source.
        source: String,
        /// The text; absent if there was none.
        text: Option<String>,
    },
    /// The decision of a policy about a call.
    Ruling {
        /// The agent whose policy it is.
        agent: String,
        /// The id of the call.
        call_id: String,
        /// `allow`, `ask` or `deny`.
        ruling: String,
        /// The reason for a denial.
        reason: Option<String>,
    },
    /// Whether a tool requires an approval for these arguments.
    Approval {
        /// The agent.
        agent: String,
        /// The name of the tool.
        tool: String,
        /// The arguments.
        input: Value,
        /// Whether it does.
        needed: bool,
    },
    /// A standing approval that was looked up.
    Grant {
        /// The agent's id.
        agent: String,
        /// The name of the tool.
        tool: String,
        /// The fingerprint of the tool.
        fingerprint: String,
        /// The standing approval, if there was one.
        grant: Option<Grant>,
    },
    /// The end of the run.
    End(End),
}

impl Entry {
    /// Returns the path of the agent, if the entry has one.
    fn agent_mut(&mut self) -> Option<&mut String> {
        match self {
            Self::Request { agent, .. }
            | Self::Tool { agent, .. }
            | Self::Source { agent, .. }
            | Self::Note { agent, .. }
            | Self::Ruling { agent, .. }
            | Self::Approval { agent, .. }
            | Self::Grant { agent, .. } => Some(agent),
            Self::Turn(_) | Self::Reply { .. } | Self::End(_) => None,
        }
    }
}

/// The result of a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Outcome {
    /// The output of the tool.
    Output(Value),
    /// The error, as the model reads it.
    Error(String),
}

/// The input of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Turn {
    /// The history, oldest first: blobs of [`Message`].
    pub messages: Vec<BlobId>,
    /// The index of the first message of the turn.
    pub turn_start: usize,
    /// The calls that the user has decided on.
    pub pending: Vec<RecordedDecision>,
    /// The user and their rights.
    pub scope: RecordedScope,
    /// The exposure by earlier turns.
    pub exposure: Exposure,
    /// The usage of earlier runs of the turn.
    pub earlier: TurnUsage,
    /// Whether calls may wait for the user; absent if no standing approvals were looked up.
    pub can_ask: Option<bool>,
    /// The summary and clearings that replace parts of the history.
    pub context: RecordedContext,
}

/// A call with the user's decision.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RecordedDecision {
    call: ToolCall,
    decision: Decision,
    state: Option<Value>,
    tool_fingerprint: Option<String>,
    grant: Option<Grant>,
    cut_off: bool,
}

impl From<&PendingCall> for RecordedDecision {
    fn from(pending: &PendingCall) -> Self {
        let PendingCall { call, decision, state, tool_fingerprint, grant, cut_off } = pending.clone();
        let call = ToolCall { input: contract::mask_secrets(&call.input), ..call };
        let state = state.as_ref().map(contract::mask_secrets);
        Self { call, decision, state, tool_fingerprint, grant, cut_off }
    }
}

impl From<RecordedDecision> for PendingCall {
    fn from(recorded: RecordedDecision) -> Self {
        let RecordedDecision { call, decision, state, tool_fingerprint, grant, cut_off } = recorded;
        Self { call, decision, state, tool_fingerprint, grant, cut_off }
    }
}

/// The scope of a run without its token.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RecordedScope {
    /// The id of the user.
    pub user_id: String,
    /// The user's roles.
    pub roles: Vec<String>,
    /// Whether the user is signed in.
    pub is_authenticated: bool,
    /// Whether the user's message has files.
    pub has_files: bool,
}

/// The state of the history beside its messages.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RecordedContext {
    /// The summary of the oldest messages, and how many it replaces.
    pub summary: Option<(String, usize)>,
    /// The id of the newest call whose result is cleared.
    pub cleared_through: Option<String>,
    /// The id of the newest call whose result is shortened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shortened_through: Option<String>,
    /// The tokens of the newest request before: those estimated, and those that the provider
    /// counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured: Option<(u64, u64)>,
    /// The places at which the history can be cut, with the id of the message before.
    pub boundaries: Vec<(usize, String)>,
    /// Whether no summary is attempted.
    pub rests: bool,
    /// The content of the page, and whether the model has read it.
    pub page: Option<(String, bool)>,
    /// The summary that the user has asked for instead of an answer.
    pub compaction: Option<RecordedCompaction>,
}

/// A summary that the user has asked for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RecordedCompaction {
    /// The focus of the summary, in the user's words.
    pub focus: Option<String>,
}

/// The end of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct End {
    /// The reason why the run ended.
    pub ending: String,
    /// The reason why the last reply ended.
    pub finish_reason: FinishReason,
    /// The tokens of all requests.
    pub usage: Usage,
    /// The cost in US dollars, as far as prices are known.
    pub cost_usd: Option<f64>,
    /// The number of requests, without those of sub-agents.
    pub steps: u32,
    /// The history at the end: blobs of [`Message`].
    pub messages: Vec<BlobId>,
    /// The ids of the calls that wait for the user.
    pub waiting: Vec<String>,
    /// The duration of the run in milliseconds.
    pub ms: u64,
}
