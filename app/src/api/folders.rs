//! Folders of conversations.

use super::transport::codec::Json;
use super::transport::error::ApiError;
use crate::prelude::*;
use wire::organize::FolderList;

/// Returns the caller's folders, by name. Before that it creates one (only a name is given),
/// renames one (both are given) or deletes one (only an id is given).
#[server(prefix = "/ui", endpoint = "folders", input = Json, output = Json)]
pub async fn folders(
    /// The folder to change.
    id: Option<String>,
    /// Its new name.
    name: Option<String>,
) -> Result<FolderList, ApiError> {
    let (context, caller) = crate::context::authorize()?;
    let chat = &context.chat;
    match (id, name) {
        (None, None) => {}
        (None, Some(name)) => drop(chat.add_folder(&caller, &name).await?),
        (Some(id), Some(name)) => chat.rename_folder(&caller, &id, &name).await?,
        (Some(id), None) => chat.delete_folder(&caller, &id).await?,
    }
    Ok(chat.folders(&caller).await?)
}

/// Moves a folder into another one, into a new one, or out of any folder. Returns the folders.
#[server(prefix = "/ui", endpoint = "move-folder", input = Json, output = Json)]
pub async fn move_folder(
    /// The folder to move.
    id: String,
    /// The folder that it is in afterwards.
    parent_id: Option<String>,
    /// The name of a new folder that it is in afterwards, in place of `parent_id`.
    new_name: Option<String>,
) -> Result<FolderList, ApiError> {
    let (context, caller) = crate::context::authorize()?;
    let chat = &context.chat;
    match new_name {
        Some(name) => chat.move_to_new_folder(&caller, &id, &name).await?,
        None => chat.move_folder(&caller, &id, parent_id.as_deref()).await?,
    }
    Ok(chat.folders(&caller).await?)
}
