//! Conversations: the list, and single ones with their messages.

use crate::UiMessage;
use crate::change::Feedback;
use crate::read::{Fields, Read, Unreadable, deserialize_by_reading, read_struct};
use litemap::LiteMap;
use serde::Serialize;
use serde_json::Value;

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
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ConversationList {
    /// At most the requested number of entries.
    pub items: Vec<ConversationSummary>,
    /// The opaque cursor of the next page; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// The tasks of workflows that wait for the user, for pages of the site only.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(skip))]
    pub tasks: Option<WaitingTasks>,
    /// When the server made the list, in Unix milliseconds, for pages of the site only: until the
    /// browser's clock and time zone are known, the days of the list are counted from it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(skip))]
    pub listed_at: Option<i64>,
}

read_struct!(ConversationList { items: "items", next: "next", tasks: "tasks", listed_at: "listedAt" });

/// The tasks of workflows that wait for a user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WaitingTasks {
    /// How many.
    pub count: u32,
    /// The id of the page that shows them.
    pub page: String,
}

read_struct!(WaitingTasks { count: "count", page: "page" });

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
    /// The id of the model that answers first, until the user chooses another one, if the conversation began with one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_model: Option<String>,
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
        let first_model = fields.take("firstModel")?;
        let forks = fields.take::<Option<_>>("forks")?.unwrap_or_default();
        let feedback = fields.take::<Option<_>>("feedback")?.unwrap_or_default();
        Ok(Self { messages, active, first_model, forks, feedback, summary: Read::read(fields.rest())? })
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
