//! A question of a running tool to the user.

use crate::read::{read_names, read_struct};
use serde::Serialize;
use serde_json::Value;

/// A question of a running tool: the data part of the message that is being written.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolQuestion {
    /// Its id.
    pub id: String,
    /// The name of the server that asks.
    pub server: String,
    /// The text of the question.
    pub message: String,
    /// The JSON Schema of the values to fill in; `null` for a page to open, and once the question has ended.
    pub form: Value,
    /// The address of a page to open: an `https` URL that the server gave, or a path of this site.
    pub url: Option<String>,
    /// The host of the address.
    pub host: String,
    /// When it lapses; Unix time, milliseconds.
    pub expires_at: i64,
    /// How it has ended; absent while it waits.
    pub outcome: Option<QuestionOutcome>,
}

read_struct!(ToolQuestion {
    id: "id",
    server: "server",
    message: "message" or default,
    form: "form" or default,
    url: "url",
    host: "host" or default,
    expires_at: "expiresAt",
    outcome: "outcome",
});

/// How a question has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum QuestionOutcome {
    /// The user has answered, or agreed.
    Accepted,
    /// The user has declined.
    Declined,
    /// It ended without a decision.
    Cancelled,
}

read_names!(QuestionOutcome { "accepted" => Accepted, "declined" => Declined, "cancelled" => Cancelled });
