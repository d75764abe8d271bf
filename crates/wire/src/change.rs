//! What a user does to a conversation without asking the agent anything: another branch, a deletion, a judgement, a copy.

use crate::read::{read_names, read_struct};
use serde::{Deserialize, Serialize};

/// A change to a conversation. Each names one of its messages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Change {
    /// The branch with this message becomes the active one, with what was said last below the message.
    Switch {
        /// The message.
        message_id: String,
    },
    /// The message goes, with everything that follows it. It can be restored for a while.
    Delete {
        /// The message.
        message_id: String,
    },
    /// A deletion is taken back.
    Restore {
        /// The message that was deleted.
        message_id: String,
    },
    /// What the user thinks of an answer.
    Rate {
        /// The answer.
        message_id: String,
        /// Absent: nothing any more.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        feedback: Option<Feedback>,
    },
    /// A new conversation begins with everything up to this message.
    Copy {
        /// The message.
        message_id: String,
    },
}

/// What a user thinks of an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Feedback {
    /// Good or bad.
    pub rating: Rating,
    /// In the user's words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

read_struct!(Feedback { rating: "rating", reason: "reason" });

/// Whether an answer was good.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Rating {
    /// It was.
    Up,
    /// It was not.
    Down,
}

read_names!(Rating { "up" => Up, "down" => Down });

/// The conversation in which the user goes on: the changed one, or the copy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Changed {
    /// Its id.
    pub conversation_id: String,
}

read_struct!(Changed { conversation_id: "conversationId" });

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn changes_are_read_as_they_are_written() {
        let check = |json: Value| {
            let change: Change = serde_json::from_value(json.clone()).unwrap();
            assert_eq!(serde_json::to_value(&change).unwrap(), json);
        };
        check(json!({ "kind": "switch", "messageId": "m1" }));
        check(json!({ "kind": "delete", "messageId": "m1" }));
        check(json!({ "kind": "restore", "messageId": "m1" }));
        check(json!({ "kind": "rate", "messageId": "m1" }));
        check(json!({ "kind": "rate", "messageId": "m1", "feedback": { "rating": "down", "reason": "Wrong year." } }));
        check(json!({ "kind": "copy", "messageId": "m1" }));
    }
}
