//! Requests to the chat and their responses. Server functions and the HTTP API share these types.

use crate::change::Feedback;
use crate::read::{Fields, Read, Unreadable, deserialize_by_reading, read_names, read_struct};
use crate::{EndReason, FinishReason, UiMessage, error::UserError};
use litemap::LiteMap;
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
        /// Earlier messages to import when the conversation is new (user and assistant text only).
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

/// The scope of a standing approval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ApprovalScope {
    /// This conversation.
    Conversation,
    /// All conversations of the user.
    Always,
}

/// A standing approval: it covers further calls of this tool by this agent, as long as the tool's
/// declaration does not change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct StandingApproval {
    /// The id by which it is revoked.
    pub id: String,
    /// The agent.
    pub agent_id: String,
    /// The tool.
    pub tool_name: String,
    /// The conversation to which it is limited; absent if it covers all conversations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conversation_id: Option<String>,
    /// That conversation's title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conversation_title: Option<String>,
    /// Unix time, milliseconds.
    pub created_at: i64,
}

read_struct!(StandingApproval {
    id: "id",
    agent_id: "agentId",
    tool_name: "toolName",
    conversation_id: "conversationId",
    conversation_title: "conversationTitle",
    created_at: "createdAt",
});

/// The user's standing approvals.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StandingApprovals {
    /// Newest first.
    pub items: Vec<StandingApproval>,
}

read_struct!(StandingApprovals { items: "items" });

/// The server's metadata on a message (its `metadata` field).
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct MessageMetadata {
    /// Unix time in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_at: Option<i64>,
    /// How the newest run of this message ended; absent while it runs and on user messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    /// The error that the user reads, with [`Outcome::Failed`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<UserError>,
    /// Why the newest run of this message ended; more specific than `outcome`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<EndReason>,
    /// The limit that was reached, with [`Outcome::Limit`]; equal to `reason`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<EndReason>,
    /// Why the model ended its newest reply; absent if the run was stopped or interrupted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finish_reason: Option<FinishReason>,
    /// The token usage of all runs of this message so far.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<TokenUsage>,
    /// The cost in US dollars, as far as prices are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    /// The model that answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Tokens of the context window that the newest request and its reply used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_used: Option<u64>,
    /// The size of the model's context window in tokens, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_size: Option<u64>,
}

read_struct!(MessageMetadata {
    created_at: "createdAt",
    outcome: "outcome",
    error: "error",
    reason: "reason",
    limit: "limit",
    finish_reason: "finishReason",
    usage: "usage",
    cost_usd: "costUsd",
    model: "model",
    context_used: "contextUsed",
    context_size: "contextSize",
});

impl MessageMetadata {
    /// Returns the outcome if the answer is incomplete. An answer that ended with a tool of
    /// `stopOnToolCall` is complete.
    pub fn incomplete_outcome(&self) -> Option<Outcome> {
        let is_wanted = self.outcome == Some(Outcome::Limit) && self.limit == Some(EndReason::StopOnToolCall);
        self.outcome.filter(|outcome| outcome.is_incomplete() && !is_wanted)
    }

    /// Reads a message's metadata; empty if it is absent or cannot be read.
    pub fn from_message(message: &UiMessage) -> Self {
        let read = |metadata: Value| serde_json::from_value(metadata).ok();
        message.metadata.clone().and_then(read).unwrap_or_default()
    }
}

/// How a run ended; [`EndReason`] says why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum Outcome {
    /// The model finished.
    Done,
    /// A call waits for a decision or for a browser tool.
    Waiting,
    /// The user, an administrator or a deletion stopped it.
    Stopped,
    /// A limit was reached (steps, tokens, time).
    Limit,
    /// It failed. The UI offers Retry.
    Failed,
    /// The server died during the run. The UI offers Continue.
    Interrupted,
}

impl Outcome {
    /// Returns whether the answer is incomplete.
    pub fn is_incomplete(self) -> bool {
        matches!(self, Self::Stopped | Self::Limit | Self::Failed | Self::Interrupted)
    }

    /// The name in storage and in the UI.
    pub fn name(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Waiting => "waiting",
            Self::Stopped => "stopped",
            Self::Limit => "limit",
            Self::Failed => "failed",
            Self::Interrupted => "interrupted",
        }
    }
}

read_names!(Outcome {
    "done" => Done,
    "waiting" => Waiting,
    "stopped" => Stopped,
    "limit" => Limit,
    "failed" => Failed,
    "interrupted" => Interrupted,
});

/// Token usage, summed over the steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct TokenUsage {
    /// All input tokens, including cached ones.
    pub input_tokens: u64,
    /// All output tokens, including reasoning.
    pub output_tokens: u64,
    /// The part of the input that was read from a cache.
    pub cache_read_tokens: u64,
    /// The part of the input that was written to a cache.
    pub cache_write_tokens: u64,
    /// The part of the output that was reasoning.
    pub reasoning_tokens: u64,
}

read_struct!(TokenUsage {
    input_tokens: "inputTokens",
    output_tokens: "outputTokens",
    cache_read_tokens: "cacheReadTokens" or default,
    cache_write_tokens: "cacheWriteTokens" or default,
    reasoning_tokens: "reasoningTokens" or default,
});

/// An entry of the conversation list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ConversationSummary {
    /// The conversation's id.
    pub id: String,
    /// The title; the first words of the first message until a better one is set.
    pub title: String,
    /// The page on which the conversation started.
    pub page_id: String,
    /// The agent that answers.
    pub agent_id: String,
    /// Unix time, milliseconds.
    pub created_at: i64,
    /// Unix time, milliseconds; the list is sorted by it.
    pub updated_at: i64,
    /// Whether an answer is being generated.
    pub running: bool,
    /// Whether the newest answer waits for the user: for a decision on a call or for an answer to a
    /// question.
    pub waiting: bool,
    /// Whether it is pinned to the top of the list.
    pub pinned: bool,
    /// Whether it is archived, and so not in the list.
    pub archived: bool,
    /// Whether it has an answer that its owner has not seen.
    pub unread: bool,
    /// Whether it will be deleted automatically and for good.
    pub temporary: bool,
    /// The folder that contains it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub folder_id: Option<String>,
}

read_struct!(ConversationSummary {
    id: "id",
    title: "title",
    page_id: "pageId",
    agent_id: "agentId",
    created_at: "createdAt",
    updated_at: "updatedAt",
    running: "running",
    waiting: "waiting" or default,
    pinned: "pinned" or default,
    archived: "archived" or default,
    unread: "unread" or default,
    temporary: "temporary" or default,
    folder_id: "folderId",
});

/// One page of the conversation list: pinned conversations first, then the others, each newest
/// first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ConversationList {
    /// At most the requested number of entries.
    pub items: Vec<ConversationSummary>,
    /// The opaque cursor of the next page; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

read_struct!(ConversationList { items: "items", next: "next" });

/// A conversation with the messages of its active branch, oldest first.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ConversationView {
    /// Its entry in the conversation list.
    #[serde(flatten)]
    pub summary: ConversationSummary,
    /// The active branch, including a message that is still being generated, as far as it exists.
    pub messages: Vec<UiMessage>,
    /// The active run, if any. Its stream, read from the start, contains its whole message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub active: Option<ActiveRun>,
    /// For each message of the branch that has siblings: all siblings including itself, oldest
    /// first.
    #[serde(skip_serializing_if = "LiteMap::is_empty")]
    #[cfg_attr(feature = "schema", schemars(with = "std::collections::BTreeMap<String, Vec<String>>"))]
    pub forks: LiteMap<String, Vec<String>>,
    /// The user's feedback on answers, by message.
    #[serde(skip_serializing_if = "LiteMap::is_empty")]
    #[cfg_attr(feature = "schema", schemars(with = "std::collections::BTreeMap<String, Feedback>"))]
    pub feedback: LiteMap<String, Feedback>,
}

impl Read for ConversationView {
    fn read(value: Value) -> Result<Self, Unreadable> {
        let mut fields = Fields::of(value)?;
        let (messages, active) = (fields.take("messages")?, fields.take("active")?);
        let forks = fields.take::<Option<_>>("forks")?.unwrap_or_default();
        let feedback = fields.take::<Option<_>>("feedback")?.unwrap_or_default();
        Ok(Self { messages, active, forks, feedback, summary: Read::read(fields.rest())? })
    }
}

deserialize_by_reading!(ConversationView);

/// An active run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ActiveRun {
    /// The run's id.
    pub run_id: String,
    /// The assistant message that it writes.
    pub message_id: String,
}

read_struct!(ActiveRun { run_id: "runId", message_id: "messageId" });

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn conversation_view_round_trips() {
        let summary = json!({
            "id": "c1", "title": "Refunds", "pageId": "demo", "agentId": "demo",
            "createdAt": 1, "updatedAt": 2, "running": true, "waiting": false,
            "pinned": true, "archived": false, "unread": false, "temporary": false, "folderId": "f1",
        });
        let messages = json!([{"id": "m1", "role": "user", "parts": [{"type": "text", "text": "Hi"}]}]);
        for active in [json!(null), json!({"runId": "r1", "messageId": "m2"})] {
            let mut written = summary.clone();
            written["messages"] = messages.clone();
            if !active.is_null() {
                written["active"] = active;
                written["forks"] = json!({ "m1": ["m0", "m1"] });
                written["feedback"] = json!({ "m1": { "rating": "up" } });
            }
            let view: ConversationView = serde_json::from_value(written.clone()).unwrap();
            assert_eq!(serde_json::to_value(&view).unwrap(), written);
        }
    }

    #[test]
    fn conversation_view_without_messages_is_rejected() {
        let error = serde_json::from_value::<ConversationView>(json!({"id": "c1"})).unwrap_err();
        assert_eq!(error.to_string(), "missing field `messages`");
    }
}
