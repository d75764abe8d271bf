//! The API of the admin console for users, conversations, feedback and the audit log.

use crate::ADMINISTRATION;
use crate::audit::{self, AuditItem, AuditQuery};
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
use axum::response::NoContent;
use chat::ConversationUsage;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::{AuditRow, UserRow};
use web::HttpError;
use web::admin::Admin;
use web::admin::lists::{ListPage, list_page, split_page, valid_query};
use web::json_error;
use web::openapi::{Accepted, ApiRouter, Created};
use wire::api::ConversationView;

/// Returns the routes.
pub(crate) fn routes() -> ApiRouter<ConsoleState> {
    ApiRouter::new(&ADMINISTRATION)
        .get("/api/admin/overview", overview, "Get the usage of the last days")
        .get("/api/admin/users", users, "List users")
        .post("/api/admin/users", add_user, "Add a user")
        .get("/api/admin/users/{id}", user, "Get a user")
        .patch("/api/admin/users/{id}", change_user, "Change a user's roles, or disable them")
        .delete("/api/admin/users/{id}", delete_user, "Delete a user and everything they own, in the background")
        .post("/api/admin/users/{id}/password", reset_password, "Reset a user's password")
        .delete("/api/admin/users/{id}/sessions", end_sessions, "Sign a user out everywhere")
        .get("/api/admin/conversations", conversations, "List the conversations of all users")
        .get("/api/admin/conversations/{id}", conversation, "Get a conversation with its tool calls and model requests")
        .delete("/api/admin/conversations/{id}", delete_conversation, "Delete a conversation")
        .get("/api/admin/feedback", feedback, "List feedback on answers")
        .get("/api/admin/audit", audit, "List the audit log, newest first")
        .get("/api/admin/audit/verify", verify, "Verify the chain of the audit log")
}

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
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewUserBody {
    /// The name for signing in.
    name: String,
    /// The roles.
    #[serde(default)]
    roles: Vec<String>,
    /// Also accepts roles that the config does not name.
    #[serde(default, rename = "allowUnknownRoles")]
    allow_unknown_roles: bool,
}

/// A new user.
#[derive(Serialize, JsonSchema)]
pub(crate) struct NewUserResult {
    /// The user's id.
    id: String,
    /// The password, which is shown only once.
    password: String,
}

/// `POST /api/admin/users`
pub(crate) async fn add_user(
    admin: Admin,
    State(state): State<ConsoleState>,
    sent: Result<Json<NewUserBody>, JsonRejection>,
) -> Result<Created<NewUserResult>, HttpError> {
    let Json(sent) = sent.map_err(|rejection| json_error(&rejection))?;
    let (id, password) = UserAdmin::new(&state, &admin)?.add(&sent.name, sent.roles, sent.allow_unknown_roles).await?;
    Ok(Created(NewUserResult { id, password }))
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
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct UserChangeBody {
    /// The new roles; absent to keep them.
    roles: Option<Vec<String>>,
    /// Whether the user may not sign in; absent to keep it.
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

/// A new password.
#[derive(Serialize, JsonSchema)]
pub(crate) struct NewPassword {
    /// The password, which is shown only once.
    password: String,
}

/// `POST /api/admin/users/{id}/password`
pub(crate) async fn reset_password(
    admin: Admin,
    State(state): State<ConsoleState>,
    Path(id): Path<String>,
) -> Result<Json<NewPassword>, HttpError> {
    Ok(Json(NewPassword { password: UserAdmin::new(&state, &admin)?.reset_password(&id).await? }))
}

/// `DELETE /api/admin/users/{id}/sessions`
pub(crate) async fn end_sessions(
    admin: Admin,
    State(state): State<ConsoleState>,
    Path(id): Path<String>,
) -> Result<NoContent, HttpError> {
    UserAdmin::new(&state, &admin)?.end_sessions(&id).await?;
    Ok(NoContent)
}

/// The query of a deletion: the name of the user, as a confirmation.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct DeleteQuery {
    /// The user's name, as a confirmation.
    #[serde(default)]
    name: String,
}

/// `DELETE /api/admin/users/{id}?name=…`
pub(crate) async fn delete_user(
    admin: Admin,
    State(state): State<ConsoleState>,
    Path(id): Path<String>,
    query: Result<Query<DeleteQuery>, QueryRejection>,
) -> Result<Accepted, HttpError> {
    UserAdmin::new(&state, &admin)?.delete(&id, &valid_query(query)?.name).await?;
    Ok(Accepted)
}

/// `GET /api/admin/conversations`
pub(crate) async fn conversations(
    _: Admin,
    State(state): State<ConsoleState>,
    query: Result<Query<ConversationQuery>, QueryRejection>,
) -> Result<Json<ListPage<store::AdminConversation>>, HttpError> {
    Ok(list_page(split_page(conversations::fetch_page(&state, &valid_query(query)?).await?)))
}

/// A conversation with everything about it.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ConversationReport {
    /// Its entry in the list.
    conversation: store::AdminConversation,
    /// The conversation with its messages.
    view: ConversationView,
    /// Its usage, with the last requests to models.
    usage: ConversationUsage,
    /// Its tool calls, as in the audit log.
    calls: Vec<AuditItem>,
}

/// `GET /api/admin/conversations/{id}`
pub(crate) async fn conversation(
    admin: Admin,
    State(state): State<ConsoleState>,
    Path(id): Path<String>,
) -> Result<Json<ConversationReport>, HttpError> {
    let opened: ConversationDetail = conversations::open_conversation(&state, &admin, &id, "read_conversation").await?;
    let calls = opened.calls.iter().map(AuditItem::from).collect();
    let ConversationDetail { conversation, view, usage, .. } = opened;
    Ok(Json(ConversationReport { conversation, view, usage, calls }))
}

/// `DELETE /api/admin/conversations/{id}`
pub(crate) async fn delete_conversation(
    admin: Admin,
    State(state): State<ConsoleState>,
    Path(id): Path<String>,
) -> Result<NoContent, HttpError> {
    conversations::delete_conversation(&state, &admin, &id).await?;
    Ok(NoContent)
}

/// `GET /api/admin/feedback`
pub(crate) async fn feedback(
    _: Admin,
    State(state): State<ConsoleState>,
    query: Result<Query<FeedbackQuery>, QueryRejection>,
) -> Result<Json<ListPage<store::FeedbackRow>>, HttpError> {
    Ok(list_page(split_page(feedback::fetch_page(&state, &valid_query(query)?).await?)))
}

/// A row of the audit log with the name of its user.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct NamedAuditItem {
    #[serde(flatten)]
    row: AuditItem,
    /// The user's name, if they have an account here.
    user_name: Option<String>,
}

/// `GET /api/admin/audit`
pub(crate) async fn audit(
    _: Admin,
    State(state): State<ConsoleState>,
    query: Result<Query<AuditQuery>, QueryRejection>,
) -> Result<Json<ListPage<NamedAuditItem>>, HttpError> {
    let (rows, next) = audit::fetch_page(&state, &valid_query(query)?).await?;
    let names = user_names::load(&state, rows.iter().map(|row| row.user_id.as_str())).await?;
    let named =
        |row: &AuditRow| NamedAuditItem { row: row.into(), user_name: names.get(&row.user_id).map(str::to_owned) };
    Ok(list_page((rows.iter().map(named).collect(), next)))
}

/// The result of a verification.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Verification {
    /// Whether the chain is intact.
    holds: bool,
    /// The number of rows, if it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    rows: Option<u64>,
    /// The hash of the newest row, if it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    head: Option<String>,
    /// Where and how it is broken, if it is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    fault: Option<String>,
}

/// `GET /api/admin/audit/verify`
pub(crate) async fn verify(_: Admin, State(state): State<ConsoleState>) -> Result<Json<Verification>, HttpError> {
    Ok(Json(match audit::verify_chain(&state).await? {
        Ok((rows, head)) => Verification { holds: true, rows: Some(rows), head: Some(head), fault: None },
        Err(fault) => Verification { holds: false, rows: None, head: None, fault: Some(fault) },
    }))
}
