//! Changes that a user makes to a conversation without a run: switching branches, deleting, rating,
//! copying.

use crate::read::{read_names, read_struct};
use serde::{Deserialize, Serialize};

/// A change to a conversation; each names one of its messages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum MessageChange {
    /// Makes the branch with this message active, down to the newest message below it.
    Switch {
        /// The message.
        message_id: String,
    },
    /// Deletes the message and everything that follows it. It can be restored for a while.
    Delete {
        /// The message.
        message_id: String,
    },
    /// Undoes a deletion.
    Restore {
        /// The deleted message.
        message_id: String,
    },
    /// Sets the user's feedback on an answer.
    Rate {
        /// The answer.
        message_id: String,
        /// The feedback; absent to remove it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        feedback: Option<Feedback>,
    },
    /// Creates a conversation with everything up to this message.
    Copy {
        /// The message.
        message_id: String,
    },
}

/// A user's feedback on an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Feedback {
    /// The rating.
    pub rating: Rating,
    /// The user's comment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

read_struct!(Feedback { rating: "rating", reason: "reason" });

/// A rating of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum Rating {
    /// Good.
    Up,
    /// Bad.
    Down,
}

read_names!(Rating { "up" => Up, "down" => Down });

/// The conversation with which the user continues: the changed one, or the copy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ChangeResult {
    /// Its id.
    pub conversation_id: String,
}

read_struct!(ChangeResult { conversation_id: "conversationId" });

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn changes_round_trip() {
        let check = |json: Value| {
            let change: MessageChange = serde_json::from_value(json.clone()).unwrap();
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
