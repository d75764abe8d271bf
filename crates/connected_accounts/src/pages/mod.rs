//! The page `/account/connections`, on which users connect and disconnect accounts. It needs no script.

mod connect;
mod variables;
mod view;

use crate::accounts::PATH;
use crate::connect::CALLBACK_PATH;
use crate::routes::RouteState;
use axum::Extension;
use axum::Router;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::middleware::from_fn_with_state;
use axum::response::Response;
use axum::routing::{get, post};
use chat::Caller;
use serde::Deserialize;
use web::admin::from_store_error;
use web::{HttpError, require_account, see_other};

/// The title of the page.
pub(crate) const TITLE: &str = "Connected accounts";

/// Returns the pages and the routes of their forms.
pub(super) fn routes() -> Router<RouteState> {
    Router::new()
        .route(PATH, get(show))
        .route("/account/connections/{service}/connect", post(connect::begin))
        .route("/account/connections/{service}/disconnect", post(disconnect))
        .route("/account/connections/{connection}/variables", post(variables::enter))
        .route(CALLBACK_PATH, get(connect::finish))
        .layer(from_fn_with_state(PATH, require_account))
}

/// The query of the page.
#[derive(Default, Deserialize)]
struct PageQuery {
    /// The change that was just made.
    done: Option<String>,
    /// The service for which the page was opened.
    connect: Option<String>,
}

/// `GET /account/connections`
async fn show(
    State(state): State<RouteState>,
    Extension(caller): Extension<Caller>,
    Query(query): Query<PageQuery>,
) -> Result<Response, HttpError> {
    let done = match query.done.as_deref() {
        Some("connected") => Some("The account was connected. An agent that waits for it continues automatically."),
        Some("signed-in") => Some("You have signed in again. An agent that waits for it continues automatically."),
        Some("entered") => Some("Saved. An agent that waits for it continues automatically."),
        Some("disconnected") => Some("The account was disconnected."),
        _ => None,
    };
    let notice = view::Notice { done, wrong: None };
    view::page(&state, &caller, StatusCode::OK, query.connect.as_deref(), notice).await
}

/// `POST /account/connections/{service}/disconnect`
async fn disconnect(
    State(state): State<RouteState>,
    Extension(caller): Extension<Caller>,
    Path(service): Path<String>,
) -> Result<Response, HttpError> {
    if state.accounts.disconnect(&caller.user_id, &service).await.map_err(from_store_error)? {
        Ok(see_other(&format!("{PATH}?done=disconnected"), None))
    } else {
        Ok(web::html::not_found_page())
    }
}
