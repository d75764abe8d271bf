//! The routes for programs and pages.

use crate::fact::{Category, single_line};
use crate::page;
use crate::prompt::is_acceptable;
use crate::service::{Memory, failed, not_a_fact};
use crate::store::{self, FactChange};
use crate::views::{ConfigView, MemoryView, StatusView, UpdateItem, UpdateItems};
use auth::password::KeyScope;
use axum::extract::{Path, State};
use axum::response::NoContent;
use axum::{Extension, Json};
use chat::Caller;
use schemars::JsonSchema;
use serde::Deserialize;
use web::openapi::{Access, ApiRouter, JsonFile, Tag};
use web::times::now_millis;
use web::{HttpError, SentJson, SentQuery, signed_in, valid_json, valid_query};
use wire::UserError;

/// The group in the OpenAPI document.
const MEMORY: Tag = Tag {
    name: "memory",
    description: "The facts that agents remember about the caller. Only for signed-in users. Scope `conversations`.",
    access: Access::Users { scope: Some(KeyScope::Conversations) },
};

/// Returns the routes.
pub(crate) fn routes(memory: Memory) -> ApiRouter {
    ApiRouter::new(&MEMORY)
        .get("/api/memory", show, "Get the facts about the caller")
        .delete("/api/memory", delete_all, "Delete all facts about the caller")
        .post("/api/memory/reload", reload, "Give the current facts to all conversations with their next message")
        .get("/api/memory/config", config, "Get the settings of memory")
        .get("/api/memory/status", status, "Get the settings of memory and the facts about the caller")
        .put("/api/memory/enabled", switch, "Switch memory on or off for the caller")
        .get("/api/memory/export", export, "Download the facts about the caller")
        .patch("/api/memory/facts/{id}", change, "Change a fact")
        .delete("/api/memory/facts/{id}", delete, "Delete a fact")
        .get("/api/memory/updates", updates, "List the facts that a conversation has changed in the last day")
        .post("/api/memory/updates/{id}/undo", undo, "Undo the changes that a conversation has made to the facts")
        .with_pages(page::routes())
        .map(|router| router.with_state(memory))
}

/// Whether memory is on.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct EnabledBody {
    /// Whether facts about the caller may be stored and read.
    enabled: bool,
}

/// The body that changes a fact.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct FactBody {
    /// One sentence, at most 300 characters.
    content: String,
    /// The category.
    category: Category,
}

/// The query of the updates.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct UpdatesQuery {
    /// The conversation.
    conversation_id: String,
}

async fn view(memory: &Memory, caller: &Caller) -> Result<MemoryView, UserError> {
    Ok(MemoryView::new(memory.load_facts(signed_in(caller)?).await?, now_millis()))
}

async fn show(
    State(memory): State<Memory>,
    Extension(caller): Extension<Caller>,
) -> Result<Json<MemoryView>, HttpError> {
    Ok(Json(view(&memory, &caller).await?))
}

async fn export(
    State(memory): State<Memory>,
    Extension(caller): Extension<Caller>,
) -> Result<JsonFile<MemoryView>, HttpError> {
    Ok(JsonFile("memory.json", view(&memory, &caller).await?))
}

async fn reload(
    State(memory): State<Memory>,
    Extension(caller): Extension<Caller>,
) -> Result<Json<MemoryView>, HttpError> {
    memory.reload(signed_in(&caller)?).await?;
    Ok(Json(view(&memory, &caller).await?))
}

async fn config(
    State(memory): State<Memory>,
    Extension(caller): Extension<Caller>,
) -> Result<Json<ConfigView>, HttpError> {
    let (switches, _) = memory.load_facts(signed_in(&caller)?).await?;
    Ok(Json(ConfigView::new(&memory.settings(), switches)))
}

async fn status(
    State(memory): State<Memory>,
    Extension(caller): Extension<Caller>,
) -> Result<Json<StatusView>, HttpError> {
    let known = memory.load_facts(signed_in(&caller)?).await?;
    let config = ConfigView::new(&memory.settings(), known.0);
    Ok(Json(StatusView { config, data: MemoryView::new(known, now_millis()) }))
}

async fn switch(
    State(memory): State<Memory>,
    Extension(caller): Extension<Caller>,
    body: SentJson<EnabledBody>,
) -> Result<NoContent, HttpError> {
    let user_id = signed_in(&caller)?;
    let EnabledBody { enabled } = valid_json(body)?;
    memory.set_enabled(user_id, enabled).await?;
    Ok(NoContent)
}

async fn change(
    State(memory): State<Memory>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    body: SentJson<FactBody>,
) -> Result<NoContent, HttpError> {
    let user_id = signed_in(&caller)?;
    let FactBody { content, category } = valid_json(body)?;
    let content = single_line(&content);
    if !is_acceptable(&content) {
        return Err(not_a_fact("/content").into());
    }
    memory.change(user_id, &id, FactChange { content, category }).await?;
    Ok(NoContent)
}

async fn delete(
    State(memory): State<Memory>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<NoContent, HttpError> {
    memory.delete(signed_in(&caller)?, &id).await?;
    Ok(NoContent)
}

async fn delete_all(
    State(memory): State<Memory>,
    Extension(caller): Extension<Caller>,
) -> Result<NoContent, HttpError> {
    memory.delete_all(signed_in(&caller)?).await?;
    Ok(NoContent)
}

async fn updates(
    State(memory): State<Memory>,
    Extension(caller): Extension<Caller>,
    query: SentQuery<UpdatesQuery>,
) -> Result<Json<UpdateItems>, HttpError> {
    let UpdatesQuery { conversation_id } = valid_query(query)?;
    // The chat asks for visitors, too, for whom nothing is remembered.
    let may_change = caller.is_authenticated;
    let updates = if may_change {
        store::updates(memory.store(), &caller.user_id, &conversation_id).await.map_err(failed)?
    } else {
        Vec::new()
    };
    let items = updates.into_iter().map(UpdateItem::from).collect();
    Ok(Json(UpdateItems { items, may_change }))
}

async fn undo(
    State(memory): State<Memory>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<NoContent, HttpError> {
    memory.undo(signed_in(&caller)?, &id).await?;
    Ok(NoContent)
}
