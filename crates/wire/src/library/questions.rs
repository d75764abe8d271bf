//! The questions that were asked of a library.

use serde::Deserialize;

/// Questions, the newest first.
#[derive(Clone, Debug, Deserialize)]
pub struct QuestionList {
    /// The questions of the page.
    pub items: Vec<LibraryQuestion>,
    /// The cursor of the next page.
    #[serde(default)]
    pub cursor: Option<String>,
}

/// A question that was asked of a library.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LibraryQuestion {
    /// Its text.
    pub question: String,
    /// The agent that has searched; absent for a search without an agent.
    #[serde(default)]
    pub agent_id: Option<String>,
    /// The number of passages that were found.
    pub found: u64,
    /// How often it was asked, by the same user within minutes.
    pub asked: u64,
    /// When it was asked last; Unix time in milliseconds.
    pub asked_at: i64,
    /// Whether the user has asked it.
    pub own: bool,
}
