//! The questions that were asked of libraries.

use crate::service::Knowledge;
use crate::store::QuestionRow;
use axum::extract::{Path, State};
use axum::{Extension, Json};
use chat::{Caller, Viewer};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use web::{HttpError, SentQuery, valid_query};

/// The number of questions of a page.
const PAGE: u32 = 50;

/// A question that was asked of a library. It does not say who has asked.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct LibraryQuestion {
    /// Its id.
    id: String,
    /// The text, at most 500 characters.
    question: String,
    /// The agent that has searched; absent for a search without an agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    agent_id: Option<String>,
    /// The number of passages that were found in the library.
    found: i64,
    /// How often it was asked, by the same user within minutes.
    asked: i64,
    /// When it was asked last; Unix time in milliseconds.
    asked_at: i64,
    /// Whether the caller has asked it.
    own: bool,
}

/// Questions, the newest first.
#[derive(Serialize, JsonSchema)]
pub(super) struct LibraryQuestions {
    items: Vec<LibraryQuestion>,
    /// The cursor of the next page; absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<String>,
}

/// The query of the list.
#[derive(Default, Deserialize, JsonSchema)]
pub(super) struct QuestionsQuery {
    /// Only questions to which nothing was found.
    #[serde(default)]
    unanswered: bool,
    /// The cursor of the page before.
    #[serde(default)]
    cursor: Option<String>,
}

impl LibraryQuestion {
    /// Describes a question for a viewer.
    fn new(row: QuestionRow, viewer: &Viewer) -> Self {
        let QuestionRow { id, owner, agent_id, text, found, asked, asked_at } = row;
        let agent_id = Some(agent_id).filter(|agent_id| !agent_id.is_empty());
        Self { id, question: text, agent_id, found, asked, asked_at, own: owner == viewer.user_id }
    }
}

pub(super) async fn list(
    State(knowledge): State<Knowledge>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    query: SentQuery<QuestionsQuery>,
) -> Result<Json<LibraryQuestions>, HttpError> {
    let QuestionsQuery { unanswered, cursor } = valid_query(query)?;
    let viewer = Viewer::from(&caller);
    // One question more than a page has shows whether there is a next page.
    let after = cursor.unwrap_or_default();
    let mut found = knowledge.questions(&viewer, &id, after, unanswered, PAGE + 1).await?;
    let has_more = found.len() > PAGE as usize;
    found.truncate(PAGE as usize);
    let cursor = found.last().filter(|_| has_more).map(|last| last.id.clone());
    Ok(Json(LibraryQuestions {
        items: found.into_iter().map(|row| LibraryQuestion::new(row, &viewer)).collect(),
        cursor,
    }))
}
