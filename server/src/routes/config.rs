//! The status of the config, for open pages.

use super::tags::OPERATION;
use crate::compose::ConfigStatus;
use crate::state::AppState;
use axum::extract::{Query, State};
use axum::{Extension, Json};
use chat::Caller;
use config::OWNER_ROLES;
use schemars::JsonSchema;
use serde::Deserialize;
use web::openapi::ApiRouter;

/// Returns the routes.
pub(crate) fn routes() -> ApiRouter<AppState> {
    ApiRouter::new(&OPERATION).get("/api/config/status", status, "Get the version of the config, and of a page")
}

/// The query of an open page.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct StatusQuery {
    /// The id of a page; empty for the one at `/`.
    page: Option<String>,
}

/// `GET /api/config/status?page=ID`: `{"version"}`, the page's version as `"page"` if the caller
/// may open it, and for administrators `"problems"` while the config on disk has errors.
/// `"problems"` may quote the config.
pub(crate) async fn status(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Query(StatusQuery { page }): Query<StatusQuery>,
) -> Json<ConfigStatus> {
    let is_admin = OWNER_ROLES.iter().any(|role| caller.has_role(role));
    let current = &state.composition.current;
    let page = page.and_then(|id| current.page_version(&caller, Some(&*id).filter(|id| !id.is_empty())));
    Json(current.status(is_admin).with_page_version(page))
}
