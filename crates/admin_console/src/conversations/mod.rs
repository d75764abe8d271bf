//! The conversations of all users: the list, a single conversation, export and deletion. An
//! administrator's access to another user's conversation is recorded in the audit log before
//! anything is shown.

mod feedback;
mod list;
mod page;

use crate::audit::AuditLine;
use crate::state::ConsoleState;
use axum::extract::{Path, State};
use axum::response::{NoContent, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use chat::{Caller, ConversationUsage};
use list::ConversationsList;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;
use std::collections::HashMap;
use store::{AdminConversation, AuditFilter, AuditRow};
use web::admin::list::List;
use web::admin::{Admin, PageError, UserNames, from_store_error};
use web::openapi::ApiRouter;
use web::{HttpError, conversation_file_name, download, see_other};
use wire::api::ConversationView;
use wire::{ErrorCode, UserError};

pub(crate) fn routes() -> ApiRouter<ConsoleState> {
    let pages = Router::new()
        .route("/admin/conversations/{id}", get(show))
        .route("/admin/conversations/{id}/export", get(export))
        .route("/admin/conversations/{id}/delete", post(delete));
    web::admin::list::routes::<ConversationsList>()
        .get("/api/admin/conversations/{id}", show_api, "Get a conversation with its tool calls and model requests")
        .delete("/api/admin/conversations/{id}", delete_api, "Delete a conversation")
        .with_pages(pages)
        .merge(feedback::routes())
}

/// A conversation with its messages, usage and tool calls.
struct ConversationDetail {
    conversation: AdminConversation,
    view: ConversationView,
    usage: ConversationUsage,
    calls: Vec<AuditRow>,
    /// Why answers failed, or which limit they reached, by message.
    causes: HashMap<String, String>,
}

/// Reads a conversation. Access to another user's conversation is recorded before.
async fn open_conversation(
    state: &ConsoleState,
    admin: &Admin,
    id: &str,
    what: &str,
) -> Result<ConversationDetail, UserError> {
    let conversation = find_and_record(state, admin, id, what).await?;
    let owner = owner_as_caller(&conversation);
    let chat = &state.chat;
    let (view, usage) = (chat.conversation(&owner, id).await?, chat.usage(&owner, id).await?);
    let filter = AuditFilter { conversation_id: Some(id.to_owned()), ..AuditFilter::default() };
    let calls = state.store.audit_list(filter, store::MAX_AUDIT_ROWS, None).await.map_err(from_store_error)?;
    let causes = state.store.end_causes(id).await.map_err(from_store_error)?;
    Ok(ConversationDetail { conversation, view, usage, calls, causes })
}

/// Finds a conversation, and records the action `what` in the audit log if it belongs to another
/// user.
async fn find_and_record(
    state: &ConsoleState,
    admin: &Admin,
    id: &str,
    what: &str,
) -> Result<AdminConversation, UserError> {
    let store = &state.store;
    let found = store.any_conversation(id).await.map_err(from_store_error)?.ok_or_else(UserError::not_found)?;
    if found.owner != admin.caller.user_id {
        admin.record(store, what, id, json!({ "userId": found.owner })).await?;
    }
    Ok(found)
}

async fn delete_conversation(state: &ConsoleState, admin: &Admin, id: &str) -> Result<(), UserError> {
    let conversation = find_and_record(state, admin, id, "delete_conversation").await?;
    state.chat.delete(&owner_as_caller(&conversation), id).await
}

/// Returns the owner as a caller, since the chat shows conversations only to their owner.
fn owner_as_caller(conversation: &AdminConversation) -> Caller {
    Caller::visitor(&conversation.owner)
}

/// `GET /admin/conversations/{id}`
async fn show(admin: Admin, State(state): State<ConsoleState>, Path(id): Path<String>) -> Result<Response, PageError> {
    let opened = open_conversation(&state, &admin, &id, "read_conversation").await?;
    let names = UserNames::load(&state.store, opened.calls.iter().map(|row| row.user_id.as_str())).await?;
    Ok(page::show(&admin, opened, &names))
}

/// `GET /admin/conversations/{id}/export`
async fn export(
    admin: Admin,
    State(state): State<ConsoleState>,
    Path(id): Path<String>,
) -> Result<Response, PageError> {
    let conversation = find_and_record(&state, &admin, &id, "export_conversation").await?;
    let file = state.chat.export(&owner_as_caller(&conversation), &id).await?;
    let name = conversation_file_name(&file.title, file.created_at, "json");
    let file = serde_json::to_vec_pretty(&file);
    let file = file.map_err(|_| UserError::new(ErrorCode::Internal, "The conversation cannot be exported."))?;
    Ok(download("application/json", &name, file))
}

/// `POST /admin/conversations/{id}/delete`
async fn delete(
    admin: Admin,
    State(state): State<ConsoleState>,
    Path(id): Path<String>,
) -> Result<Response, PageError> {
    delete_conversation(&state, &admin, &id).await?;
    Ok(see_other(ConversationsList::PATH, None))
}

/// A conversation with everything about it.
#[derive(Serialize, JsonSchema)]
struct ConversationReport {
    /// Its entry in the list.
    conversation: AdminConversation,
    /// The conversation with its messages.
    view: ConversationView,
    /// Its usage, with the last requests to models.
    usage: ConversationUsage,
    /// Its tool calls, as in the audit log.
    calls: Vec<AuditLine>,
}

/// `GET /api/admin/conversations/{id}`
async fn show_api(
    admin: Admin,
    State(state): State<ConsoleState>,
    Path(id): Path<String>,
) -> Result<Json<ConversationReport>, HttpError> {
    let opened = open_conversation(&state, &admin, &id, "read_conversation").await?;
    let calls = opened.calls.iter().map(AuditLine::from).collect();
    let ConversationDetail { conversation, view, usage, .. } = opened;
    Ok(Json(ConversationReport { conversation, view, usage, calls }))
}

/// `DELETE /api/admin/conversations/{id}`
async fn delete_api(
    admin: Admin,
    State(state): State<ConsoleState>,
    Path(id): Path<String>,
) -> Result<NoContent, HttpError> {
    delete_conversation(&state, &admin, &id).await?;
    Ok(NoContent)
}
