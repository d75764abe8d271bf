//! API keys over HTTP. A user makes them who is signed in; a key makes no key.

use super::Trouble;
use super::account::{KeyProblem, new_key};
use crate::auth::password::{NewKey, Scope};
use crate::auth::rates::too_often_text;
use crate::auth::{Asker, Keys, Via};
use crate::error::HttpError;
use crate::router::AppState;
use crate::routes::agent::unreadable;
use axum::extract::rejection::JsonRejection;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::{Extension, Json};
use chat::Caller;
use serde::{Deserialize, Serialize};
use wire::{ErrorCode, UserError};

/// The key that is asked for.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct KeyRequest {
    name: String,
    scopes: Vec<Scope>,
    expires_in_days: u32,
}

/// A key without its text.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Listed {
    id: String,
    name: String,
    scopes: Vec<String>,
    created_at: i64,
    expires_at: i64,
    used_at: Option<i64>,
}

/// `GET /api/keys`
pub(crate) async fn list_keys(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Extension(asker): Extension<Asker>,
) -> Result<Json<Vec<Listed>>, HttpError> {
    let keys = keys(&state, &caller, &asker)?;
    let keys = keys.of(&caller.user_id).await.map_err(|error| of_trouble(error.into()))?;
    let listed = keys.into_iter().map(|key| Listed {
        id: key.id,
        name: key.name,
        scopes: key.scopes,
        created_at: key.created_at,
        expires_at: key.expires_at,
        used_at: key.used_at,
    });
    Ok(Json(listed.collect()))
}

/// `POST /api/keys`
pub(crate) async fn make_key(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Extension(asker): Extension<Asker>,
    request: Result<Json<KeyRequest>, JsonRejection>,
) -> Result<(StatusCode, Json<NewKey>), HttpError> {
    let keys = keys(&state, &caller, &asker)?;
    let Json(request) = request.map_err(|rejection| unreadable(&rejection))?;
    let wanted = (request.name.as_str(), request.scopes.as_slice(), request.expires_in_days);
    let made = new_key(&keys, &caller, wanted, asker.recorded.as_deref()).await;
    let made = made.map_err(of_trouble)?.map_err(of_problem)?;
    Ok((StatusCode::CREATED, Json(made)))
}

fn of_problem(problem: KeyProblem) -> UserError {
    match problem {
        KeyProblem::Wrong(problem) => UserError::invalid("/", problem),
        KeyProblem::TooMany(seconds) => {
            let error = UserError::new(ErrorCode::RateLimited, too_often_text(seconds));
            UserError { retry_after: Some(seconds), ..error }
        }
    }
}

/// `DELETE /api/keys/{id}`
pub(crate) async fn delete_key(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Extension(asker): Extension<Asker>,
    Path(id): Path<String>,
) -> Result<StatusCode, HttpError> {
    let keys = keys(&state, &caller, &asker)?;
    let done =
        keys.delete(&caller.user_id, &id, asker.recorded.as_deref()).await.map_err(|error| of_trouble(error.into()))?;
    if done { Ok(StatusCode::NO_CONTENT) } else { Err(UserError::not_found().into()) }
}

fn keys(state: &AppState, caller: &Caller, asker: &Asker) -> Result<Keys, HttpError> {
    let keys = state.composition.current.authentication().keys().ok_or_else(UserError::not_found)?;
    match (&asker.via, caller.is_authenticated) {
        (Via::Session(_) | Via::Whole, true) => Ok(keys),
        _ => Err(UserError::unauthenticated().into()),
    }
}

fn of_trouble(trouble: Trouble) -> HttpError {
    if let Trouble::Broken(error) = trouble {
        tracing::error!(%error, "an API key could not be read or written");
    }
    UserError::new(ErrorCode::Unavailable, "This is not possible right now. Try again in a moment.").into()
}
