//! The form with which users enter values for variables of remote agents.

use super::view;
use crate::accounts::PATH;
use crate::routes::RouteState;
use crate::variables::EntryProblem;
use axum::extract::rejection::FormRejection;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use axum::{Extension, Form};
use chat::Caller;
use serde::Deserialize;
use web::{HttpError, see_other};

/// A value that the user has entered; empty to delete it.
#[derive(Deserialize)]
pub(super) struct VariableForm {
    key: String,
    #[serde(default)]
    value: String,
}

/// `POST /account/connections/{connection}/variables`
pub(super) async fn enter(
    State(state): State<RouteState>,
    Extension(caller): Extension<Caller>,
    Path(connection): Path<String>,
    sent: Result<Form<VariableForm>, FormRejection>,
) -> Result<Response, HttpError> {
    let Some(wanted) = state.variables(&caller).remove(&connection) else { return Ok(web::html::not_found_page()) };
    let Ok(Form(VariableForm { key, value })) = sent else {
        return Ok(web::html::not_found_page());
    };
    let wrong = match state.accounts.enter(&wanted, &caller.user_id, (&key, &value)).await {
        Ok(()) => return Ok(see_other(&format!("{PATH}?done=entered"), None)),
        Err(EntryProblem::Invalid(text)) => text.to_owned(),
        Err(problem) => {
            tracing::error!(connection, %problem, "what a user has entered cannot be stored");
            "This cannot be saved now. Try again later, or tell an administrator.".to_owned()
        }
    };
    let notice = view::Notice { done: None, wrong: Some(wrong) };
    view::page(&state, &caller, StatusCode::UNPROCESSABLE_ENTITY, Some(&connection), notice).await
}
