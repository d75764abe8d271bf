//! Requests to the chat and its answers, the same behind every door (server function, HTTP).

use crate::change::Feedback;
use crate::read::{Fields, Read, Unreadable, deserialize_by_reading, read_names, read_struct};
use crate::{EndReason, FinishReason, UiMessage, error::UserError};
use litemap::LiteMap;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Something for the agent to do in a conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SendRequest {
    /// The page on which the chat stands.
    pub page_id: String,
    /// The chat on the page, by the id of its block. Needed where a page has several chats with
    /// this agent: each has its own shared state and client tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block_id: Option<String>,
    /// The agent that answers.
    pub agent_id: String,
    /// Chosen by the client (letters, digits, `-`, `_`; at most 128); a new one makes a new conversation.
    pub conversation_id: String,
    /// What is sent.
    pub submission: Submission,
    /// The page's shared state at this moment, by declared key (L-64). Empty: the agent sees none.
    #[serde(default)]
    pub shared_state: Map<String, Value>,
    /// The page's query string.
    #[serde(default)]
    pub url_query: Map<String, Value>,
    /// The switches of the composer: `true` or `false`, by key.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub switches: Map<String, Value>,
}

/// What is sent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Submission {
    /// A new message of the user. Its id is the idempotency key: sent again, it is the same message and the same run.
    Message {
        /// Role `user`.
        message: UiMessage,
        /// For an edit: the user message that it replaces; the old one stays as another branch.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        replaces: Option<String>,
        /// Earlier messages, taken over (user and assistant text only) when the conversation is new.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        history: Vec<UiMessage>,
    },
    /// Answer the same user message again, in a new branch.
    Regenerate {
        /// The assistant message to answer anew; absent: the newest.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message_id: Option<String>,
    },
    /// Decisions and outputs for calls that are pending in the newest assistant message.
    Answers {
        /// One for each call that is answered; the run starts when none is pending any more.
        answers: Vec<Answer>,
    },
    /// Go on with an answer that was interrupted.
    Continue,
}

/// What became of one pending call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Answer {
    /// The user's decision on a call that asked for it.
    Approval {
        /// The call.
        tool_call_id: String,
        /// The question, as [`crate::Approval::id`]; a decision on another one than the open one is refused. Without it, whichever is open.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        approval_id: Option<String>,
        /// The decision.
        approved: bool,
        /// The arguments that were shown, as [`crate::arguments_hash`]; a decision on other ones than those of the open question
        /// is refused. Without it, whichever they are.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        input_hash: Option<String>,
        /// In the user's words.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        /// With a yes: other arguments than the agent's, an object. They take their place in the record.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        input: Option<Value>,
        /// With a yes: also for further calls of this tool.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        remember: Option<Remember>,
    },
    /// A browser is about to run the call. Whoever says so first may run it; to say it again is harmless.
    Started {
        /// The call.
        tool_call_id: String,
        /// Which page says so, by a random id of its own.
        by: String,
    },
    /// The result of a tool that the browser ran.
    Output {
        /// The call.
        tool_call_id: String,
        /// Its result.
        output: Value,
    },
    /// The failure of a tool that the browser ran.
    Error {
        /// The call.
        tool_call_id: String,
        /// For the model.
        error_text: String,
    },
}

/// How far a yes holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Remember {
    /// In this conversation.
    Conversation,
    /// In all of the user's conversations.
    Always,
}

/// A yes that holds for further calls, too: calls of this tool by this agent, as long as the tool says the same of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StandingApproval {
    /// By which it is revoked.
    pub id: String,
    /// The agent.
    pub agent_id: String,
    /// The tool.
    pub tool_name: String,
    /// The conversation that it holds in; in all without it.
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
pub struct StandingApprovals {
    /// Newest first.
    pub items: Vec<StandingApproval>,
}

read_struct!(StandingApprovals { items: "items" });

/// What the message's `metadata` holds.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MessageMetadata {
    /// Unix time, milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_at: Option<i64>,
    /// How the newest run of this message ended; absent while it runs and on user messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    /// With [`Outcome::Failed`]: what the user reads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<UserError>,
    /// Why the newest run of this message ended, more exactly than `outcome`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<EndReason>,
    /// With [`Outcome::Limit`]: which one, the same as `reason`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<EndReason>,
    /// Why the model ended its newest reply; absent where the run was stopped or cut off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finish_reason: Option<FinishReason>,
    /// Tokens so far, of all runs of this message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// What they cost in US dollars, as far as prices are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    /// The model that answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Tokens that the newest request and its answer took of what the model can read at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_used: Option<u64>,
    /// Tokens that the model can read at once, where that is known.
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
    /// How the answer ended, if it did not come to its end. One that a tool ends by the config's
    /// wish is complete.
    pub fn broken_off(&self) -> Option<Outcome> {
        let is_wanted = self.outcome == Some(Outcome::Limit) && self.limit == Some(EndReason::StopOnToolCall);
        self.outcome.filter(|outcome| outcome.is_broken_off() && !is_wanted)
    }

    /// What a message says of itself; nothing where that cannot be read.
    pub fn of(message: &UiMessage) -> Self {
        let read = |metadata: Value| serde_json::from_value(metadata).ok();
        message.metadata.clone().and_then(read).unwrap_or_default()
    }
}

/// How a run ended; [`EndReason`] says why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Outcome {
    /// The model finished.
    Done,
    /// Waits for a decision or a browser tool.
    Waiting,
    /// The user, an administrator or a deletion stopped it.
    Stopped,
    /// A limit ended it (steps, tokens, time).
    Limit,
    /// It failed; Retry is offered.
    Failed,
    /// The server died under it; Continue is offered.
    Interrupted,
}

impl Outcome {
    /// Whether the answer did not come to its end: what there is of it is not the whole.
    pub fn is_broken_off(self) -> bool {
        matches!(self, Self::Stopped | Self::Limit | Self::Failed | Self::Interrupted)
    }

    /// The name that is stored and shown.
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

/// Tokens, summed over the steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    /// All input, cached included.
    pub input_tokens: u64,
    /// All output, reasoning included.
    pub output_tokens: u64,
    /// Of the input: read from a cache.
    pub cache_read_tokens: u64,
    /// Of the input: written to a cache.
    pub cache_write_tokens: u64,
    /// Of the output: reasoning.
    pub reasoning_tokens: u64,
}

read_struct!(Usage {
    input_tokens: "inputTokens",
    output_tokens: "outputTokens",
    cache_read_tokens: "cacheReadTokens" or default,
    cache_write_tokens: "cacheWriteTokens" or default,
    reasoning_tokens: "reasoningTokens" or default,
});

/// A line of the conversation list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ConversationSummary {
    /// The conversation.
    pub id: String,
    /// Its title; the first words of the first message until there is a better one.
    pub title: String,
    /// The page on which it was begun.
    pub page_id: String,
    /// The agent that answers.
    pub agent_id: String,
    /// Unix time, milliseconds.
    pub created_at: i64,
    /// Unix time, milliseconds; the list's order.
    pub updated_at: i64,
    /// Whether an answer is being written.
    pub running: bool,
    /// Whether the newest answer waits for its user: for a decision about a call, or for the answer
    /// to a question.
    pub waiting: bool,
    /// Whether it stands above the others.
    pub pinned: bool,
    /// Whether it is out of the list, in the archive.
    pub archived: bool,
    /// Whether an answer has come that its owner has not seen.
    pub unread: bool,
    /// Whether it goes by itself, for good.
    pub temporary: bool,
    /// The folder that it is in.
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

/// One page of the list: the pinned ones, then the others, each newest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ConversationList {
    /// At most the asked number.
    pub items: Vec<ConversationSummary>,
    /// Opaque; asks for the next page. Absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

read_struct!(ConversationList { items: "items", next: "next" });

/// A conversation as it stands: the active branch, oldest first.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ConversationView {
    /// Its line in the list.
    #[serde(flatten)]
    pub summary: ConversationSummary,
    /// The active branch. A message that is being written is here as far as it has come.
    pub messages: Vec<UiMessage>,
    /// The run that is writing, if one is. Its stream, read from the start, gives that message whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub active: Option<ActiveRun>,
    /// For each message of the branch that has others in its place: all of them, itself included, oldest first.
    #[serde(skip_serializing_if = "LiteMap::is_empty")]
    pub forks: LiteMap<String, Vec<String>>,
    /// What the user thinks of answers, by message.
    #[serde(skip_serializing_if = "LiteMap::is_empty")]
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

/// A run that is writing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ActiveRun {
    /// The run.
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
    fn a_conversation_is_read_as_it_is_written() {
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
    fn a_conversation_without_messages_is_none() {
        let error = serde_json::from_value::<ConversationView>(json!({"id": "c1"})).unwrap_err();
        assert_eq!(error.to_string(), "missing field `messages`");
    }
}
