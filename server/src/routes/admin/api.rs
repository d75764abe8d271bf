//! The console for programs, as JSON.

use super::Admin;
use super::audit::{self, AuditQuery};
use super::conversations::{self, ConversationQuery, Opened};
use super::feedback::{self, FeedbackQuery};
use super::lists::paged;
use super::names;
use super::overview::{self, Overview, OverviewQuery};
use super::users::{UserQuery, Users};
use crate::auth::password::now;
use crate::error::HttpError;
use crate::router::AppState;
use crate::routes::agent::unreadable;
use axum::Json;
use axum::extract::rejection::{JsonRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use store::{AuditRow, UserRow};

/// A page of a list.
#[derive(Serialize)]
pub(crate) struct Listed<T> {
    items: Vec<T>,
    /// For `after`, where there is more.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

pub(super) fn listed<T>((items, next): (Vec<T>, Option<String>)) -> Json<Listed<T>> {
    Json(Listed { items, next })
}

pub(super) fn asked<T>(query: Result<Query<T>, QueryRejection>) -> Result<T, HttpError> {
    query.map(|Query(query)| query).map_err(|_| HttpError::malformed("The query is not one of this list."))
}

/// `GET /api/admin/overview?days=7|30`
pub(crate) async fn overview(
    _: Admin,
    State(state): State<AppState>,
    query: Result<Query<OverviewQuery>, QueryRejection>,
) -> Result<Json<Overview>, HttpError> {
    Ok(Json(overview::overview(&state, &asked(query)?, now()).await?))
}

/// `GET /api/admin/users`
pub(crate) async fn users(
    admin: Admin,
    State(state): State<AppState>,
    query: Result<Query<UserQuery>, QueryRejection>,
) -> Result<Json<Listed<UserRow>>, HttpError> {
    Ok(listed(paged(Users::of(&state, &admin)?.list(&asked(query)?).await?)))
}

/// A new user.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewUser {
    name: String,
    #[serde(default)]
    roles: Vec<String>,
    /// Also roles that the config does not name.
    #[serde(default, rename = "allowUnknownRoles")]
    allow_unknown_roles: bool,
}

/// `POST /api/admin/users`
pub(crate) async fn add_user(
    admin: Admin,
    State(state): State<AppState>,
    sent: Result<Json<NewUser>, JsonRejection>,
) -> Result<(StatusCode, Json<Value>), HttpError> {
    let Json(sent) = sent.map_err(|rejection| unreadable(&rejection))?;
    let (id, password) = Users::of(&state, &admin)?.add(&sent.name, sent.roles, sent.allow_unknown_roles).await?;
    Ok((StatusCode::CREATED, Json(json!({ "id": id, "password": password }))))
}

/// `GET /api/admin/users/{id}`
pub(crate) async fn user(
    admin: Admin,
    State(state): State<AppState>,
    Path(id): Path<String>,
) -> Result<Json<UserRow>, HttpError> {
    Ok(Json(Users::of(&state, &admin)?.one(&id).await?))
}

/// What may be changed about a user.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct UserPatch {
    roles: Option<Vec<String>>,
    disabled: Option<bool>,
    /// Also roles that the config does not name.
    #[serde(default, rename = "allowUnknownRoles")]
    allow_unknown_roles: bool,
}

/// `PATCH /api/admin/users/{id}`
pub(crate) async fn change_user(
    admin: Admin,
    State(state): State<AppState>,
    Path(id): Path<String>,
    sent: Result<Json<UserPatch>, JsonRejection>,
) -> Result<Json<UserRow>, HttpError> {
    let Json(sent) = sent.map_err(|rejection| unreadable(&rejection))?;
    let users = Users::of(&state, &admin)?;
    if let Some(roles) = sent.roles {
        users.set_roles(&id, roles, sent.allow_unknown_roles).await?;
    }
    if let Some(disabled) = sent.disabled {
        users.set_disabled(&id, disabled).await?;
    }
    Ok(Json(users.one(&id).await?))
}

/// `POST /api/admin/users/{id}/password`
pub(crate) async fn reset_password(
    admin: Admin,
    State(state): State<AppState>,
    Path(id): Path<String>,
) -> Result<Json<Value>, HttpError> {
    Ok(Json(json!({ "password": Users::of(&state, &admin)?.reset_password(&id).await? })))
}

/// `DELETE /api/admin/users/{id}/sessions`
pub(crate) async fn end_sessions(
    admin: Admin,
    State(state): State<AppState>,
    Path(id): Path<String>,
) -> Result<StatusCode, HttpError> {
    Users::of(&state, &admin)?.end_sessions(&id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// The name of the user who is deleted, as a confirmation.
#[derive(Deserialize)]
pub(crate) struct DeleteQuery {
    #[serde(default)]
    name: String,
}

/// `DELETE /api/admin/users/{id}?name=…`
pub(crate) async fn delete_user(
    admin: Admin,
    State(state): State<AppState>,
    Path(id): Path<String>,
    query: Result<Query<DeleteQuery>, QueryRejection>,
) -> Result<StatusCode, HttpError> {
    Users::of(&state, &admin)?.delete(&id, &asked(query)?.name).await?;
    Ok(StatusCode::ACCEPTED)
}

/// `GET /api/admin/conversations`
pub(crate) async fn conversations(
    _: Admin,
    State(state): State<AppState>,
    query: Result<Query<ConversationQuery>, QueryRejection>,
) -> Result<Json<Listed<store::AdminConversation>>, HttpError> {
    Ok(listed(paged(conversations::found(&state, &asked(query)?).await?)))
}

/// `GET /api/admin/conversations/{id}`
pub(crate) async fn conversation(
    admin: Admin,
    State(state): State<AppState>,
    Path(id): Path<String>,
) -> Result<Json<Value>, HttpError> {
    let opened: Opened = conversations::open(&state, &admin, &id, "read_conversation").await?;
    let calls: Vec<_> = opened.calls.iter().map(row).collect();
    let Opened { conversation, view, usage, .. } = opened;
    Ok(Json(json!({ "conversation": conversation, "view": view, "usage": usage, "calls": calls })))
}

/// `DELETE /api/admin/conversations/{id}`
pub(crate) async fn delete_conversation(
    admin: Admin,
    State(state): State<AppState>,
    Path(id): Path<String>,
) -> Result<StatusCode, HttpError> {
    conversations::remove(&state, &admin, &id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// `GET /api/admin/feedback`
pub(crate) async fn feedback(
    _: Admin,
    State(state): State<AppState>,
    query: Result<Query<FeedbackQuery>, QueryRejection>,
) -> Result<Json<Listed<store::FeedbackRow>>, HttpError> {
    Ok(listed(paged(feedback::found(&state, &asked(query)?).await?)))
}

/// `GET /api/admin/audit`
pub(crate) async fn audit(
    _: Admin,
    State(state): State<AppState>,
    query: Result<Query<AuditQuery>, QueryRejection>,
) -> Result<Json<Listed<Value>>, HttpError> {
    let (rows, next) = audit::found(&state, &asked(query)?).await?;
    let names = names::of(&state, rows.iter().map(|row| row.user_id.as_str())).await?;
    let named = |audit_row: &AuditRow| {
        let mut line = row(audit_row);
        line["userName"] = names.get(&audit_row.user_id).into();
        line
    };
    Ok(listed((rows.iter().map(named).collect(), next)))
}

/// `GET /api/admin/audit/verify`
pub(crate) async fn verify(_: Admin, State(state): State<AppState>) -> Result<Json<Value>, HttpError> {
    Ok(Json(match audit::verified(&state).await? {
        Ok((rows, head)) => json!({ "holds": true, "rows": rows, "head": head }),
        Err(fault) => json!({ "holds": false, "fault": fault }),
    }))
}

/// A row of the audit log, as `chatwright audit export` prints it.
fn row(row: &AuditRow) -> Value {
    crate::cli::audit_line(row)
}
