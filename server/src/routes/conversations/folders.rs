//! The API for the caller's folders of conversations.

use super::folder_export::export;
use crate::routes::tags::CONVERSATIONS;
use crate::state::AppState;
use axum::extract::{Path, State};
use axum::response::NoContent;
use axum::{Extension, Json};
use chat::Caller;
use schemars::JsonSchema;
use serde::Deserialize;
use web::openapi::{ApiRouter, Created};
use web::{HttpError, SentJson, valid_json};
use wire::organize::{Folder, FolderList};

/// Returns the routes.
pub(crate) fn routes() -> ApiRouter<AppState> {
    ApiRouter::new(&CONVERSATIONS)
        .get("/api/folders", list, "List folders")
        .post("/api/folders", add, "Create a folder")
        .put("/api/folders/order", order, "Set the order of the folders")
        .patch("/api/folders/{id}", rename, "Rename a folder")
        .put("/api/folders/{id}/parent", place, "Move a folder into another one, or out of it")
        .get(
            "/api/folders/{id}/export",
            export,
            "Download the conversations of a folder, and of those in it, as a ZIP archive",
        )
        .delete("/api/folders/{id}", delete, "Delete a folder; its conversations are kept")
}

/// The name of a folder.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FolderName {
    name: String,
}

/// The order of the folders.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FolderOrder {
    /// The ids of folders, at most 100. Others come before them, by name; without ids, all are sorted by name.
    ids: Vec<String>,
}

/// The folder that a folder moves into.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct FolderPlace {
    /// The id of the other folder. With `null` the folder is in no other one.
    // An absent field is an error and not `null`, so that an empty body moves nothing.
    #[serde(deserialize_with = "Option::deserialize")]
    parent_id: Option<String>,
}

/// `PUT /api/folders/{id}/parent` with `{parentId}`
pub(crate) async fn place(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    place: SentJson<FolderPlace>,
) -> Result<NoContent, HttpError> {
    let place = valid_json(place)?;
    state.composition.chat.move_folder(&caller, &id, place.parent_id.as_deref()).await?;
    Ok(NoContent)
}

/// `PUT /api/folders/order` with `{ids}`
pub(crate) async fn order(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    order: SentJson<FolderOrder>,
) -> Result<NoContent, HttpError> {
    let order = valid_json(order)?;
    state.composition.chat.order_folders(&caller, order.ids).await?;
    Ok(NoContent)
}

/// `GET /api/folders`
pub(crate) async fn list(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
) -> Result<Json<FolderList>, HttpError> {
    Ok(Json(state.composition.chat.folders(&caller).await?))
}

/// `POST /api/folders` with `{name}`
pub(crate) async fn add(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    folder: SentJson<FolderName>,
) -> Result<Created<Folder>, HttpError> {
    let folder = valid_json(folder)?;
    Ok(Created(state.composition.chat.add_folder(&caller, &folder.name).await?))
}

/// `PATCH /api/folders/{id}` with `{name}`
pub(crate) async fn rename(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    folder: SentJson<FolderName>,
) -> Result<NoContent, HttpError> {
    let folder = valid_json(folder)?;
    state.composition.chat.rename_folder(&caller, &id, &folder.name).await?;
    Ok(NoContent)
}

/// `DELETE /api/folders/{id}`; its conversations are kept, and its folders move to the one around it.
pub(crate) async fn delete(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<NoContent, HttpError> {
    state.composition.chat.delete_folder(&caller, &id).await?;
    Ok(NoContent)
}
