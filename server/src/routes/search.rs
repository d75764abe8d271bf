//! Search in the caller's conversations, for programs.

use crate::error::HttpError;
use crate::router::AppState;
use axum::extract::{Query, State};
use axum::{Extension, Json};
use chat::Caller;
use serde::Deserialize;
use wire::order::FoundList;

/// Finds of a page when no number is asked for.
const DEFAULT_LIMIT: u32 = 20;

/// What is searched for, and which page of what is found.
#[derive(Deserialize)]
pub(crate) struct Search {
    q: String,
    limit: Option<u32>,
    cursor: Option<String>,
}

/// `GET /api/search?q=WORDS`
pub(crate) async fn search(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Query(search): Query<Search>,
) -> Result<Json<FoundList>, HttpError> {
    let limit = search.limit.unwrap_or(DEFAULT_LIMIT);
    Ok(Json(state.composition.chat.search(&caller, &search.q, limit, search.cursor.as_deref()).await?))
}
