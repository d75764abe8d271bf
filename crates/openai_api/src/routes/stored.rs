//! Stored responses: reading, deleting and stopping them.

use super::admit::section;
use super::responses::ResponseObject;
use crate::answer::response::failure;
use crate::error::ApiError;
use crate::store::{self, Deletion, StoredResponse};
use axum::extract::{Path, Query, State};
use axum::{Extension, Json};
use capability::Context;
use chat::Caller;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::time::Duration;
use wire::invoke::InvocationStatus;
use wire::{ErrorCode, UserError};

/// The default number of items in a list, and the most.
const DEFAULT_LIMIT: usize = 20;
const MAX_LIMIT: usize = 100;
/// The pause between two looks for the end of a response, and the most looks.
const END_INTERVAL: Duration = Duration::from_millis(100);
const END_LOOKS: usize = 30;

/// The query of a request for a response.
#[derive(Deserialize, JsonSchema)]
pub(super) struct ShowQuery {
    /// Always `false`: what is stored is not streamed again.
    stream: Option<bool>,
}

/// Which items are listed.
#[derive(Deserialize, JsonSchema)]
pub(super) struct ItemsQuery {
    /// The most items: 1 to 100, 20 by default.
    limit: Option<usize>,
    /// `asc` or `desc`, the default.
    order: Option<String>,
    /// The id of the item before the first one.
    after: Option<String>,
}

/// The items of the input of a response.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "OpenAiItemList")]
pub(super) struct ItemList {
    object: &'static str,
    data: Vec<Value>,
    first_id: Option<String>,
    last_id: Option<String>,
    has_more: bool,
}

/// A response was deleted.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "OpenAiDeleted")]
pub(super) struct Deleted {
    id: String,
    object: &'static str,
    deleted: bool,
}

/// Returns a response of the caller. One whose server died while it was written has failed.
async fn find(context: &Context, caller: &Caller, id: &str) -> Result<StoredResponse, ApiError> {
    let found = one(context, caller, id).await?;
    if found.status != "in_progress" {
        return Ok(found);
    }
    let run = context.chat.invocation(caller, &found.run_id).await?;
    if matches!(run.status, InvocationStatus::Pending | InvocationStatus::Running) {
        return Ok(found);
    }
    // The end of a response is stored a moment after that of its run.
    let mut found = until_ended(context, caller, id).await?;
    if found.status == "in_progress" {
        found.status = "failed".to_owned();
        found.body["status"] = "failed".into();
        found.body["error"] = failure(&ApiError::cut_off());
        store::fail(&context.store, &caller.user_id, id, &found.body).await?;
    }
    Ok(found)
}

/// Returns a response of the caller as it is stored.
async fn one(context: &Context, caller: &Caller, id: &str) -> Result<StoredResponse, ApiError> {
    section(&context.current.config())?;
    let found = store::one(&context.store, &caller.user_id, id).await?;
    found.ok_or_else(|| {
        let id: String = id.chars().take(100).collect();
        UserError::new(ErrorCode::NotFound, format!("Response with id `{id}` not found.")).into()
    })
}

/// Returns a response when its end is stored, or as it is after some time.
async fn until_ended(context: &Context, caller: &Caller, id: &str) -> Result<StoredResponse, ApiError> {
    for _ in 1..END_LOOKS {
        let found = one(context, caller, id).await?;
        if found.status != "in_progress" {
            return Ok(found);
        }
        tokio::time::sleep(END_INTERVAL).await;
    }
    one(context, caller, id).await
}

/// `GET /v1/responses/{id}`
pub(super) async fn show(
    State(context): State<Context>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    Query(query): Query<ShowQuery>,
) -> Result<ResponseObject, ApiError> {
    if query.stream == Some(true) {
        return Err(ApiError::unsupported("stream", "A stored response is not streamed again."));
    }
    Ok(ResponseObject(find(&context, &caller, &id).await?.body))
}

/// `GET /v1/responses/{id}/input_items`
pub(super) async fn input_items(
    State(context): State<Context>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    Query(query): Query<ItemsQuery>,
) -> Result<Json<ItemList>, ApiError> {
    let limit = query.limit.unwrap_or(DEFAULT_LIMIT);
    if !(1..=MAX_LIMIT).contains(&limit) {
        return Err(ApiError::invalid("limit", format!("A limit is 1 to {MAX_LIMIT}.")));
    }
    let mut items = find(&context, &caller, &id).await?.input;
    match query.order.as_deref() {
        None | Some("desc") => items.reverse(),
        Some("asc") => {}
        Some(_) => return Err(ApiError::invalid("order", "An order is `asc` or `desc`.")),
    }
    if let Some(after) = &query.after {
        let at = items.iter().position(|item| item["id"] == after.as_str());
        let at = at.ok_or_else(|| ApiError::invalid("after", "The response has no such item."))?;
        items.drain(..=at);
    }
    let has_more = items.len() > limit;
    items.truncate(limit);
    let id_of = |item: Option<&Value>| item.and_then(|item| item["id"].as_str()).map(str::to_owned);
    let (first_id, last_id) = (id_of(items.first()), id_of(items.last()));
    Ok(Json(ItemList { object: "list", data: items, first_id, last_id, has_more }))
}

/// `DELETE /v1/responses/{id}`
pub(super) async fn delete(
    State(context): State<Context>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<Json<Deleted>, ApiError> {
    let found = find(&context, &caller, &id).await?;
    let conversation = found.kept.map(|(conversation, _)| conversation);
    match store::delete(&context.store, &caller.user_id, &id, conversation).await? {
        Deletion::Nothing => {
            let message = "The response is being written. Stop it first.";
            return Err(UserError::new(ErrorCode::Conflict, message).into());
        }
        Deletion::Response => {}
        Deletion::Last(conversation) => context.chat.delete(&caller, &conversation).await?,
    }
    Ok(Json(Deleted { id, object: "response", deleted: true }))
}

/// `POST /v1/responses/{id}/cancel`
pub(super) async fn cancel(
    State(context): State<Context>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<ResponseObject, ApiError> {
    let found = find(&context, &caller, &id).await?;
    if found.status != "in_progress" {
        let message = format!("The response cannot be stopped: it is `{}`.", found.status);
        return Err(ApiError::invalid("response_id", message));
    }
    context.chat.stop_run(&caller, &found.run_id).await?;
    // The run notices it within a second.
    Ok(ResponseObject(until_ended(&context, &caller, &id).await?.body))
}
