//! The API for API keys. A signed-in user can create keys; an API key cannot.

use crate::account::{NewKeyError, create_key};
use crate::{AccountError, AccountState};
use auth::password::{KeyScope, NewKey};
use auth::rates::rate_limit_message;
use auth::{ApiKeys, AuthMethod};
use axum::extract::{Path, State};
use axum::response::NoContent;
use axum::{Extension, Json};
use chat::Caller;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use web::openapi::{Access, ApiRouter, Created, Tag};
use web::{HttpError, RequestContext, SentJson, valid_json};
use wire::{ErrorCode, UserError};

/// The group of the routes in the OpenAPI document.
const ACCOUNTS: Tag = Tag {
    name: "accounts",
    description: "The caller's API keys. Only for signed-in users: API keys cannot use these routes.",
    access: Access::Users { scope: None },
};

/// Returns the routes.
pub(crate) fn routes() -> ApiRouter<AccountState> {
    ApiRouter::new(&ACCOUNTS)
        .get("/api/keys", list_keys, "List the caller's API keys")
        .post("/api/keys", make_key, "Create an API key; it is shown once")
        .delete("/api/keys/{id}", delete_key, "Delete an API key")
}

/// The request for a new key.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct KeyRequest {
    /// A name, by which the user recognizes the key.
    name: String,
    /// The scopes of the key.
    scopes: Vec<KeyScope>,
    /// The number of days until it expires.
    #[schemars(range(min = 1, max = 366))]
    expires_in_days: u32,
}

/// An API key without its secret.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ApiKeyItem {
    /// The id, by which it is deleted.
    id: String,
    /// The name.
    name: String,
    /// Its scopes.
    scopes: Vec<String>,
    /// Unix time, milliseconds.
    created_at: i64,
    /// Unix time, milliseconds.
    expires_at: i64,
    /// When it was last used; Unix time, milliseconds.
    used_at: Option<i64>,
}

/// `GET /api/keys`
pub(crate) async fn list_keys(
    State(state): State<AccountState>,
    Extension(caller): Extension<Caller>,
    Extension(asker): Extension<RequestContext>,
) -> Result<Json<Vec<ApiKeyItem>>, HttpError> {
    let keys = keys_for_caller(&state, &caller, &asker)?;
    let keys = keys.list(&caller.user_id).await.map_err(|error| from_account_error(error.into()))?;
    let listed = keys.into_iter().map(|key| ApiKeyItem {
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
    State(state): State<AccountState>,
    Extension(caller): Extension<Caller>,
    Extension(asker): Extension<RequestContext>,
    request: SentJson<KeyRequest>,
) -> Result<Created<NewKey>, HttpError> {
    let keys = keys_for_caller(&state, &caller, &asker)?;
    let request = valid_json(request)?;
    let wanted = (request.name.as_str(), request.scopes.as_slice(), request.expires_in_days);
    let made = create_key(&keys, &caller, wanted, asker.audit_address.as_deref()).await;
    let made = made.map_err(from_account_error)?.map_err(from_new_key_error)?;
    Ok(Created(made))
}

fn from_new_key_error(problem: NewKeyError) -> UserError {
    match problem {
        NewKeyError::Invalid(problem) => UserError::invalid("/", problem),
        NewKeyError::TooMany(seconds) => {
            let error = UserError::new(ErrorCode::RateLimited, rate_limit_message(seconds));
            UserError { retry_after: Some(seconds), ..error }
        }
    }
}

/// `DELETE /api/keys/{id}`
pub(crate) async fn delete_key(
    State(state): State<AccountState>,
    Extension(caller): Extension<Caller>,
    Extension(asker): Extension<RequestContext>,
    Path(id): Path<String>,
) -> Result<NoContent, HttpError> {
    let keys = keys_for_caller(&state, &caller, &asker)?;
    let done = keys
        .delete(&caller.user_id, &id, asker.audit_address.as_deref())
        .await
        .map_err(|error| from_account_error(error.into()))?;
    if done { Ok(NoContent) } else { Err(UserError::not_found().into()) }
}

fn keys_for_caller(state: &AccountState, caller: &Caller, asker: &RequestContext) -> Result<ApiKeys, HttpError> {
    let keys = state.authentication().api_keys().ok_or_else(UserError::not_found)?;
    match (&asker.auth_method, caller.is_authenticated) {
        (AuthMethod::Session(_) | AuthMethod::Primary, true) => Ok(keys),
        _ => Err(UserError::unauthenticated().into()),
    }
}

fn from_account_error(trouble: AccountError) -> HttpError {
    if let AccountError::Failed(error) = trouble {
        tracing::error!(%error, "an API key could not be read or written");
    }
    UserError::new(ErrorCode::Unavailable, "API keys are not available right now. Try again in a moment.").into()
}
