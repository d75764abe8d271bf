//! What an open page may know of the config behind it.

use crate::compose::Status;
use crate::router::AppState;
use axum::extract::{Query, State};
use axum::{Extension, Json};
use chat::Caller;
use config::OWNER_ROLES;
use serde::Deserialize;

/// What an open page asks for.
#[derive(Deserialize)]
pub(crate) struct About {
    /// The id of the page; empty for the one at `/`.
    page: Option<String>,
}

/// `GET /api/config/status?page=ID`: `{"version"}`, the version of the page as `"page"` where the caller may open it, and for
/// administrators `"problems"` while the text on disk is wrong; they quote it.
pub(crate) async fn status(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Query(About { page }): Query<About>,
) -> Json<Status> {
    let is_admin = caller.is_authenticated && caller.roles.iter().any(|role| OWNER_ROLES.contains(&role.as_str()));
    let current = &state.composition.current;
    let page = page.and_then(|id| current.page_version(&caller, Some(&*id).filter(|id| !id.is_empty())));
    Json(current.status(is_admin).of_page(page))
}
