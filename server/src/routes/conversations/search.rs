//! The API for searching the caller's conversations.

use crate::routes::tags::CONVERSATIONS;
use crate::state::AppState;
use axum::extract::{Query, State};
use axum::{Extension, Json};
use chat::Caller;
use schemars::JsonSchema;
use serde::Deserialize;
use web::HttpError;
use web::openapi::ApiRouter;
use wire::organize::SearchHitList;

/// The default number of hits per page.
const DEFAULT_LIMIT: u32 = 20;

/// Returns the routes.
pub(crate) fn routes() -> ApiRouter<AppState> {
    ApiRouter::new(&CONVERSATIONS).get("/api/search", search, "Search titles and messages")
}

/// The search text, and the page of the results.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct SearchQuery {
    /// The text to search for.
    q: String,
    /// Items per page.
    limit: Option<u32>,
    /// `next` of the previous page.
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
