//! The API for users. The list is in `list`.

use super::UserAdmin;
use crate::state::ConsoleState;
use axum::extract::rejection::{JsonRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::routing::{delete, get, post};
use axum::{Json, Router};
use serde::Deserialize;
use serde_json::{Value, json};
use store::UserRow;
use web::admin::Admin;
use web::{HttpError, json_error, valid_query};

pub(super) fn routes() -> Router<ConsoleState> {
    Router::new()
        .route("/api/admin/users", post(add))
        .route("/api/admin/users/{id}", get(show).patch(change).delete(remove))
        .route("/api/admin/users/{id}/password", post(reset_password))
        .route("/api/admin/users/{id}/sessions", delete(end_sessions))
}

/// The body that adds a user.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NewUserBody {
    pub(super) name: String,
    #[serde(default)]
    pub(super) roles: Vec<String>,
    /// Also accepts roles that the config does not name.
    #[serde(default, rename = "allowUnknownRoles")]
    pub(super) allow_unknown_roles: bool,
}

/// `POST /api/admin/users`
async fn add(
    admin: Admin,
    State(state): State<ConsoleState>,
    sent: Result<Json<NewUserBody>, JsonRejection>,
) -> Result<(StatusCode, Json<Value>), HttpError> {
    let Json(sent) = sent.map_err(|rejection| json_error(&rejection))?;
    let (id, password) = UserAdmin::new(&state, &admin)?.add(&sent).await?;
    Ok((StatusCode::CREATED, Json(json!({ "id": id, "password": password }))))
}

/// `GET /api/admin/users/{id}`
async fn show(
    admin: Admin,
    State(state): State<ConsoleState>,
    Path(id): Path<String>,
) -> Result<Json<UserRow>, HttpError> {
    Ok(Json(UserAdmin::new(&state, &admin)?.get(&id).await?))
}

/// The body that changes a user.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct UserChangeBody {
    roles: Option<Vec<String>>,
    disabled: Option<bool>,
    /// Also accepts roles that the config does not name.
    #[serde(default, rename = "allowUnknownRoles")]
    allow_unknown_roles: bool,
}

/// `PATCH /api/admin/users/{id}`
async fn change(
    admin: Admin,
    State(state): State<ConsoleState>,
    Path(id): Path<String>,
    sent: Result<Json<UserChangeBody>, JsonRejection>,
) -> Result<Json<UserRow>, HttpError> {
    let Json(sent) = sent.map_err(|rejection| json_error(&rejection))?;
    let users = UserAdmin::new(&state, &admin)?;
    if let Some(roles) = sent.roles {
        users.set_roles(&id, roles, sent.allow_unknown_roles).await?;
    }
    if let Some(disabled) = sent.disabled {
        users.set_disabled(&id, disabled).await?;
    }
    Ok(Json(users.get(&id).await?))
}

/// `POST /api/admin/users/{id}/password`
async fn reset_password(
    admin: Admin,
    State(state): State<ConsoleState>,
    Path(id): Path<String>,
) -> Result<Json<Value>, HttpError> {
    Ok(Json(json!({ "password": UserAdmin::new(&state, &admin)?.reset_password(&id).await? })))
}

/// `DELETE /api/admin/users/{id}/sessions`
async fn end_sessions(
    admin: Admin,
    State(state): State<ConsoleState>,
    Path(id): Path<String>,
) -> Result<StatusCode, HttpError> {
    UserAdmin::new(&state, &admin)?.end_sessions(&id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// The query of a deletion: the name of the user, as a confirmation.
#[derive(Deserialize)]
struct DeleteQuery {
    #[serde(default)]
    name: String,
}

/// `DELETE /api/admin/users/{id}?name=…`
async fn remove(
    admin: Admin,
    State(state): State<ConsoleState>,
    Path(id): Path<String>,
    query: Result<Query<DeleteQuery>, QueryRejection>,
) -> Result<StatusCode, HttpError> {
    UserAdmin::new(&state, &admin)?.delete(&id, &valid_query(query)?.name).await?;
    Ok(StatusCode::ACCEPTED)
}
