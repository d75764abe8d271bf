//! The API for searching the caller's conversations.

use crate::error::HttpError;
use crate::router::AppState;
use axum::extract::{Query, State};
use axum::{Extension, Json};
use chat::Caller;
use serde::Deserialize;
use wire::organize::SearchHitList;

/// The default number of hits per page.
const DEFAULT_LIMIT: u32 = 20;

/// The search text, and the page of the results.
#[derive(Deserialize)]
pub(crate) struct SearchQuery {
    q: String,
    limit: Option<u32>,
    cursor: Option<String>,
}

/// `GET /api/search?q=WORDS`
pub(crate) async fn search(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Query(search): Query<SearchQuery>,
) -> Result<Json<SearchHitList>, HttpError> {
    let limit = search.limit.unwrap_or(DEFAULT_LIMIT);
    Ok(Json(state.composition.chat.search(&caller, &search.q, limit, search.cursor.as_deref()).await?))
}
