//! Requests to the chat and their responses. Server functions and the HTTP API share these types.

mod approval;
mod conversation;
mod end;
mod metadata;

pub use approval::{ApprovalScope, StandingApproval, StandingApprovals};
pub use conversation::{ActiveRun, ConversationList, ConversationSummary, ConversationView, WaitingTasks};
pub use end::EndReason;
pub use metadata::{ContextParts, MessageMetadata, Outcome, TokenUsage};

use crate::UiMessage;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A submission to a conversation with an agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SendRequest {
    /// The page that shows the chat.
    pub page_id: String,
    /// The id of the chat's block on the page. Needed when a page has several chats with this
    /// agent: each has its own shared state and client tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block_id: Option<String>,
    /// The agent that answers.
    pub agent_id: String,
    /// The conversation. The client chooses the id (letters, digits, `-`, `_`; at most 128); an
    /// unknown id creates a conversation.
    pub conversation_id: String,
    /// The submission.
    pub submission: Submission,
    /// The current shared state of the page, by declared key. If it is empty, the agent sees no
    /// shared state.
    #[serde(default)]
    pub shared_state: Map<String, Value>,
    /// The page's query string.
    #[serde(default)]
    pub url_query: Map<String, Value>,
    /// The states of the composer's switches (`true` or `false`), by key.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub switches: Map<String, Value>,
    /// The user's choices for the answer.
    #[serde(default)]
    pub options: RunOptions,
}

/// The user's choices for an answer, where the agent allows them. The agent's config determines the absent ones.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunOptions {
    /// Whether the agent writes a plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan_mode: Option<bool>,
    /// Whether the agent may search its documents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub documents: Option<bool>,
    /// The ids of the libraries that the agent may search.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub libraries: Option<Vec<String>>,
    /// Whether the agent may use the web.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub web: Option<bool>,
    /// The id of the model that answers, among those that the agent allows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Whether the model thinks before it answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking: Option<bool>,
    /// Whether the agent may hand tasks to a copy of itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delegate: Option<bool>,
}

/// The kinds of submission.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Submission {
    /// A new user message. Its id is the idempotency key: sending it again yields the same message
    /// and the same run.
    Message {
        /// The message; its role is `user`.
        message: UiMessage,
        /// For an edit: the user message that this one replaces. The old one stays on another
        /// branch.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        replaces: Option<String>,
        /// Earlier messages, with which a new conversation begins, oldest first; at most 500. They
        /// keep their ids, which are unique, and all kinds of parts. Calls without a result are
        /// closed, and the model is told that nobody has checked the results of the others.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        history: Vec<UiMessage>,
    },
    /// Answers the same user message again on a new branch.
    Regenerate {
        /// The assistant message to regenerate; the newest one if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message_id: Option<String>,
    },
    /// Decisions and outputs for pending calls of the newest assistant message.
    Answers {
        /// One for each answered call. The run starts once no call is pending.
        answers: Vec<Answer>,
    },
    /// Continues an interrupted answer.
    Continue,
}

/// An answer to one pending call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Answer {
    /// The user's decision on a call that needs approval.
    Approval {
        /// The call.
        tool_call_id: String,
        /// The approval request, as [`crate::Approval::id`]. A decision on a request other than the
        /// open one is rejected. If absent, it applies to whichever is open.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        approval_id: Option<String>,
        /// The decision.
        approved: bool,
        /// The hash of the arguments that the user saw, as [`crate::arguments_hash`]. The decision
        /// is rejected if the open request has other arguments. If absent, the arguments are not
        /// compared.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        input_hash: Option<String>,
        /// The user's comment.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        /// When approving: arguments (an object) that replace those of the agent, also in the
        /// record.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        input: Option<Value>,
        /// When approving: creates a standing approval for this tool.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        remember: Option<ApprovalScope>,
    },
    /// Claims the call for one browser page. The first page to claim it may run it; repeating the
    /// claim is harmless.
    Started {
        /// The call.
        tool_call_id: String,
        /// A random id that the page gave itself.
        by: String,
    },
    /// The result of a tool that ran in the browser.
    Output {
        /// The call.
        tool_call_id: String,
        /// The result.
        output: Value,
    },
    /// The failure of a tool that ran in the browser.
    Error {
        /// The call.
        tool_call_id: String,
        /// The error message for the model.
        error_text: String,
    },
}
