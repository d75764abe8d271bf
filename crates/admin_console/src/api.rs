//! The API of the admin console for users, conversations, feedback and the audit log.

use crate::audit::{self, AuditQuery};
use crate::conversations::feedback::{self, FeedbackQuery};
use crate::conversations::{self, ConversationDetail, ConversationQuery};
use crate::overview::{self, Overview, OverviewQuery};
use crate::state::ConsoleState;
use crate::users::names as user_names;
use crate::users::{UserAdmin, UserQuery};
use auth::password::now_millis;
use axum::Json;
use axum::extract::rejection::{JsonRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};
use store::{AuditRow, UserRow};
use web::HttpError;
use web::admin::Admin;
use web::admin::lists::{ListPage, list_page, split_page, valid_query};
use web::json_error;

/// `GET /api/admin/overview?days=7|30`
pub(crate) async fn overview(
    _: Admin,
    State(state): State<ConsoleState>,
    query: Result<Query<OverviewQuery>, QueryRejection>,
) -> Result<Json<Overview>, HttpError> {
    Ok(Json(overview::overview(&state, &valid_query(query)?, now_millis()).await?))
}

/// `GET /api/admin/users`
pub(crate) async fn users(
    admin: Admin,
    State(state): State<ConsoleState>,
    query: Result<Query<UserQuery>, QueryRejection>,
) -> Result<Json<ListPage<UserRow>>, HttpError> {
    Ok(list_page(split_page(UserAdmin::new(&state, &admin)?.list(&valid_query(query)?).await?)))
}

/// The body that adds a user.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewUserBody {
    name: String,
    #[serde(default)]
    roles: Vec<String>,
    /// Also accepts roles that the config does not name.
    #[serde(default, rename = "allowUnknownRoles")]
    allow_unknown_roles: bool,
}

/// `POST /api/admin/users`
pub(crate) async fn add_user(
    admin: Admin,
    State(state): State<ConsoleState>,
    sent: Result<Json<NewUserBody>, JsonRejection>,
) -> Result<(StatusCode, Json<Value>), HttpError> {
    let Json(sent) = sent.map_err(|rejection| json_error(&rejection))?;
    let (id, password) = UserAdmin::new(&state, &admin)?.add(&sent.name, sent.roles, sent.allow_unknown_roles).await?;
    Ok((StatusCode::CREATED, Json(json!({ "id": id, "password": password }))))
}

/// `GET /api/admin/users/{id}`
pub(crate) async fn user(
    admin: Admin,
    State(state): State<ConsoleState>,
    Path(id): Path<String>,
) -> Result<Json<UserRow>, HttpError> {
    Ok(Json(UserAdmin::new(&state, &admin)?.get(&id).await?))
}

/// The body that changes a user.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct UserChangeBody {
    roles: Option<Vec<String>>,
    disabled: Option<bool>,
    /// Also accepts roles that the config does not name.
    #[serde(default, rename = "allowUnknownRoles")]
    allow_unknown_roles: bool,
}

/// `PATCH /api/admin/users/{id}`
pub(crate) async fn change_user(
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
pub(crate) async fn reset_password(
    admin: Admin,
    State(state): State<ConsoleState>,
    Path(id): Path<String>,
) -> Result<Json<Value>, HttpError> {
    Ok(Json(json!({ "password": UserAdmin::new(&state, &admin)?.reset_password(&id).await? })))
}

/// `DELETE /api/admin/users/{id}/sessions`
pub(crate) async fn end_sessions(
    admin: Admin,
    State(state): State<ConsoleState>,
    Path(id): Path<String>,
) -> Result<StatusCode, HttpError> {
    UserAdmin::new(&state, &admin)?.end_sessions(&id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// The query of a deletion: the name of the user, as a confirmation.
#[derive(Deserialize)]
pub(crate) struct DeleteQuery {
    #[serde(default)]
    name: String,
}

/// `DELETE /api/admin/users/{id}?name=…`
pub(crate) async fn delete_user(
    admin: Admin,
    State(state): State<ConsoleState>,
    Path(id): Path<String>,
    query: Result<Query<DeleteQuery>, QueryRejection>,
) -> Result<StatusCode, HttpError> {
    UserAdmin::new(&state, &admin)?.delete(&id, &valid_query(query)?.name).await?;
    Ok(StatusCode::ACCEPTED)
}

/// `GET /api/admin/conversations`
pub(crate) async fn conversations(
    _: Admin,
    State(state): State<ConsoleState>,
    query: Result<Query<ConversationQuery>, QueryRejection>,
) -> Result<Json<ListPage<store::AdminConversation>>, HttpError> {
    Ok(list_page(split_page(conversations::fetch_page(&state, &valid_query(query)?).await?)))
}

/// `GET /api/admin/conversations/{id}`
pub(crate) async fn conversation(
    admin: Admin,
    State(state): State<ConsoleState>,
    Path(id): Path<String>,
) -> Result<Json<Value>, HttpError> {
    let opened: ConversationDetail = conversations::open_conversation(&state, &admin, &id, "read_conversation").await?;
    let calls: Vec<_> = opened.calls.iter().map(audit::row_json).collect();
    let ConversationDetail { conversation, view, usage, .. } = opened;
    Ok(Json(json!({ "conversation": conversation, "view": view, "usage": usage, "calls": calls })))
}

/// `DELETE /api/admin/conversations/{id}`
pub(crate) async fn delete_conversation(
    admin: Admin,
    State(state): State<ConsoleState>,
    Path(id): Path<String>,
) -> Result<StatusCode, HttpError> {
    conversations::delete_conversation(&state, &admin, &id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// `GET /api/admin/feedback`
pub(crate) async fn feedback(
    _: Admin,
    State(state): State<ConsoleState>,
    query: Result<Query<FeedbackQuery>, QueryRejection>,
) -> Result<Json<ListPage<store::FeedbackRow>>, HttpError> {
    Ok(list_page(split_page(feedback::fetch_page(&state, &valid_query(query)?).await?)))
}

/// `GET /api/admin/audit`
pub(crate) async fn audit(
    _: Admin,
    State(state): State<ConsoleState>,
    query: Result<Query<AuditQuery>, QueryRejection>,
) -> Result<Json<ListPage<Value>>, HttpError> {
    let (rows, next) = audit::fetch_page(&state, &valid_query(query)?).await?;
    let names = user_names::load(&state, rows.iter().map(|row| row.user_id.as_str())).await?;
    let named = |audit_row: &AuditRow| {
        let mut line = audit::row_json(audit_row);
        line["userName"] = names.get(&audit_row.user_id).into();
        line
    };
    Ok(list_page((rows.iter().map(named).collect(), next)))
}

/// `GET /api/admin/audit/verify`
pub(crate) async fn verify(_: Admin, State(state): State<ConsoleState>) -> Result<Json<Value>, HttpError> {
    Ok(Json(match audit::verify_chain(&state).await? {
        Ok((rows, head)) => json!({ "holds": true, "rows": rows, "head": head }),
        Err(fault) => json!({ "holds": false, "fault": fault }),
    }))
}
