//! Organizing conversations: changes of one or several, folders and search.

use crate::errors::Result;
use crate::ids::{check_id, new_id};
use crate::{Caller, Chat, Inner, errors};
use std::collections::HashSet;
use store::{MAX_FOLDER_LEVELS, MoveFolderOutcome, RunsToStop, SearchCursor, StoreError};
use wire::api::ConversationSummary;
use wire::organize::{ConversationChange, Folder, FolderList, MAX_TITLE, SearchHitList};
use wire::{EndReason, UserError};

/// The maximum length of a folder's name in characters.
const MAX_NAME: usize = 60;
/// The maximum number of conversations in one change.
const MAX_CHANGED: usize = 100;
/// The maximum length of a search text in characters.
const MAX_SEARCH: usize = 200;
/// The maximum number of hits on a page, one less than the store's maximum.
const MAX_PAGE: u32 = store::MAX_HITS - 1;

impl Chat {
    /// Changes up to 100 conversations atomically. A deletion stops an active run and can be undone
    /// for five minutes.
    ///
    /// # Errors
    /// 404 if the caller does not own one of them or the folder, 422 for an invalid title or too
    /// many conversations.
    pub async fn change(&self, caller: &Caller, ids: Vec<String>, change: ConversationChange) -> Result<(), UserError> {
        Ok(self.inner.change(caller, ids, change).await?)
    }

    /// Deletes a conversation. For five minutes a change can restore it; then it is deleted for
    /// good with everything in it.
    ///
    /// # Errors
    /// 404 for a conversation that the caller does not own.
    pub async fn delete(&self, caller: &Caller, id: &str) -> Result<(), UserError> {
        Ok(self.inner.delete(caller, id).await?)
    }

    /// Returns the caller's folders: in the order of the caller, and new ones before them, by name.
    ///
    /// # Errors
    /// 503 if the store fails.
    pub async fn folders(&self, caller: &Caller) -> Result<FolderList, UserError> {
        Ok(self.inner.folders(caller).await?)
    }

    /// Returns a folder and those in it, on all levels; outer ones come first.
    ///
    /// # Errors
    /// 404 for a folder that the caller does not own.
    pub async fn folders_in(&self, caller: &Caller, id: &str) -> Result<Vec<Folder>, UserError> {
        Ok(self.inner.folders_in(caller, id).await?)
    }

    /// Creates a folder (name: 1 to 60 characters).
    ///
    /// # Errors
    /// 422 for an invalid name, or if the caller has the maximum number of folders.
    pub async fn add_folder(&self, caller: &Caller, name: &str) -> Result<Folder, UserError> {
        Ok(self.inner.add_folder(caller, name).await?)
    }

    /// Renames a folder.
    ///
    /// # Errors
    /// 404 for a folder that the caller does not own, 422 for an invalid name.
    pub async fn rename_folder(&self, caller: &Caller, id: &str, name: &str) -> Result<(), UserError> {
        Ok(self.inner.rename_folder(caller, id, name).await?)
    }

    /// Sets the order of the caller's folders; those that are not named come before them, by name.
    ///
    /// # Errors
    /// 404 for a folder that the caller does not own, 422 for more ids than there can be folders, or one twice.
    pub async fn order_folders(&self, caller: &Caller, ids: Vec<String>) -> Result<(), UserError> {
        Ok(self.inner.order_folders(caller, ids).await?)
    }

    /// Moves a folder, with what is in it, into another one, or out of any folder.
    ///
    /// # Errors
    /// 404 for a folder that the caller does not own, 422 if it would be in itself, or in too many others.
    pub async fn move_folder(&self, caller: &Caller, id: &str, parent: Option<&str>) -> Result<(), UserError> {
        Ok(self.inner.move_folder(caller, id, parent).await?)
    }

    /// Creates a folder (name: 1 to 60 characters) and moves another one, with what is in it, into it. Does neither if
    /// one of them is impossible.
    ///
    /// # Errors
    /// 404 for a folder that the caller does not own, 422 for an invalid name, if the folder would be in too many others,
    /// or if the caller has the maximum number of folders.
    pub async fn move_to_new_folder(&self, caller: &Caller, id: &str, name: &str) -> Result<(), UserError> {
        Ok(self.inner.move_to_new_folder(caller, id, name).await?)
    }

    /// Deletes a folder and keeps its conversations; its folders move to the one around it.
    ///
    /// # Errors
    /// 404 for a folder that the caller does not own.
    pub async fn delete_folder(&self, caller: &Caller, id: &str) -> Result<(), UserError> {
        Ok(self.inner.delete_folder(caller, id).await?)
    }

    /// Finds the caller's conversations whose title or one of whose messages contains all words of
    /// `text` (the last one also as a prefix), newest first, at most `limit` (1 to 50). `cursor` is
    /// the `next` of an earlier page.
    ///
    /// # Errors
    /// 400 for an invalid cursor, 422 for a text of more than 200 characters.
    pub async fn search(
        &self,
        caller: &Caller,
        text: &str,
        limit: u32,
        cursor: Option<&str>,
    ) -> Result<SearchHitList, UserError> {
        Ok(self.inner.search(caller, text, limit, cursor).await?)
    }
}

impl Inner {
    /// See [`Chat::change`].
    async fn change(&self, caller: &Caller, ids: Vec<String>, change: ConversationChange) -> Result<()> {
        if ids.len() > MAX_CHANGED {
            return Err(UserError::invalid(
                "/ids",
                format!("At most {MAX_CHANGED} conversations are changed at once."),
            )
            .into());
        }
        if ids.iter().any(|id| check_id("/id", id).is_err()) {
            return Err(UserError::not_found().into());
        }
        let title = change.title.as_deref().map(|title| named("/title", "A title", title, MAX_TITLE)).transpose()?;
        let deleted = change.deleted == Some(true);
        let change = ConversationChange { title, ..change };
        let (store, temporary) = (&self.store, change.temporary);
        store.change_conversations(&caller.user_id, ids.clone(), change, crate::now()).await?;
        if let Some(is_temporary) = temporary {
            self.set_temporary(caller, &ids, is_temporary).await?;
        }
        if deleted {
            self.end_runs(caller, &ids).await?;
        }
        Ok(())
    }

    /// Sets or removes the expiry. The preceding change has checked that the caller owns the
    /// conversations.
    async fn set_temporary(&self, caller: &Caller, ids: &[String], is_temporary: bool) -> Result<()> {
        let at = is_temporary.then(|| self.clock.now() + self.agents.retention().temporary.as_millis() as i64);
        for id in ids {
            self.store.set_expiry(&caller.user_id, id, at).await?;
        }
        Ok(())
    }

    /// Stops the runs of deleted conversations. It takes each conversation's lock, so that a
    /// submission that was being accepted has started its run by then.
    async fn end_runs(&self, caller: &Caller, ids: &[String]) -> Result<(), StoreError> {
        let store = &self.store;
        for id in ids {
            let _turn = self.conversation_locks.lock(store, id).await?;
            if let Some(live) = self.registry.get(&caller.user_id, id) {
                live.stop(EndReason::Deleted);
            } else if store.is_shared() {
                store.request_stop(&caller.user_id, RunsToStop::OfConversation(id), EndReason::Deleted).await?;
            }
        }
        Ok(())
    }

    /// See [`Chat::delete`].
    async fn delete(&self, caller: &Caller, id: &str) -> Result<()> {
        let change = ConversationChange { deleted: Some(true), ..ConversationChange::default() };
        self.change(caller, vec![id.to_owned()], change).await
    }

    /// See [`Chat::folders`].
    async fn folders(&self, caller: &Caller) -> Result<FolderList> {
        let folders = self.store.folders(&caller.user_id).await?;
        Ok(FolderList { items: folders.into_iter().map(|folder| self.folder_links.linked(folder)).collect() })
    }

    /// See [`Chat::folders_in`].
    async fn folders_in(&self, caller: &Caller, id: &str) -> Result<Vec<Folder>> {
        let mut all = self.folders(caller).await?.items;
        let mut found: Vec<_> = all.extract_if(.., |folder| folder.id == id).collect();
        if found.is_empty() {
            return Err(UserError::not_found().into());
        }
        for _ in 1..MAX_FOLDER_LEVELS {
            let ids: HashSet<_> = found.iter().map(|folder| folder.id.clone()).collect();
            let is_inside = |folder: &mut Folder| folder.parent_id.as_ref().is_some_and(|parent| ids.contains(parent));
            found.extend(all.extract_if(.., is_inside));
        }
        Ok(found)
    }

    /// See [`Chat::add_folder`].
    async fn add_folder(&self, caller: &Caller, name: &str) -> Result<Folder> {
        let folder = self.folder_links.linked(Folder::new(new_id(), folder_name(name)?));
        let added = self.store.add_folder(&caller.user_id, folder.clone(), crate::now());
        if added.await? { Ok(folder) } else { Err(too_many_folders().into()) }
    }

    /// See [`Chat::rename_folder`].
    async fn rename_folder(&self, caller: &Caller, id: &str, name: &str) -> Result<()> {
        let name = folder_name(name)?;
        found(self.store.rename_folder(&caller.user_id, id, &name).await?)
    }

    /// See [`Chat::order_folders`].
    async fn order_folders(&self, caller: &Caller, ids: Vec<String>) -> Result<()> {
        let different: HashSet<_> = ids.iter().collect();
        if ids.len() > store::MAX_FOLDERS as usize || different.len() < ids.len() {
            return Err(UserError::invalid("/ids", "Each folder is named once at most.").into());
        }
        Ok(self.store.order_folders(&caller.user_id, ids).await?)
    }

    /// See [`Chat::move_folder`].
    async fn move_folder(&self, caller: &Caller, id: &str, parent: Option<&str>) -> Result<()> {
        moved(self.store.move_folder(&caller.user_id, id, parent).await?)
    }

    /// See [`Chat::move_to_new_folder`].
    async fn move_to_new_folder(&self, caller: &Caller, id: &str, name: &str) -> Result<()> {
        let new = Folder::new(new_id(), folder_name(name)?);
        moved(self.store.move_to_new_folder(&caller.user_id, id, new, crate::now()).await?)
    }

    /// See [`Chat::delete_folder`].
    async fn delete_folder(&self, caller: &Caller, id: &str) -> Result<()> {
        found(self.store.delete_folder(&caller.user_id, id).await?)
    }

    /// See [`Chat::search`].
    async fn search(&self, caller: &Caller, text: &str, limit: u32, cursor: Option<&str>) -> Result<SearchHitList> {
        if text.chars().count() > MAX_SEARCH {
            return Err(UserError::invalid("/q", format!("A search has at most {MAX_SEARCH} characters.")).into());
        }
        let limit = limit.clamp(1, MAX_PAGE);
        let after = match cursor {
            Some(cursor) => Some(parse_cursor(cursor).ok_or_else(errors::foreign_cursor)?),
            None => None,
        };
        // One hit more than requested shows whether there is a next page.
        let found = self.store.search(&caller.user_id, text, limit + 1, after).await?;
        let more = found.len() > limit as usize;
        let items: Vec<_> = found.into_iter().take(limit as usize).collect();
        let cursor = |last: &ConversationSummary| format!("{}.{}", last.updated_at, last.id);
        let next = items.last().filter(|_| more).map(|last| cursor(&last.conversation));
        Ok(SearchHitList { items, next })
    }
}

/// Returns the error of a folder that was not moved.
fn moved(outcome: MoveFolderOutcome) -> Result<()> {
    let refused = match outcome {
        MoveFolderOutcome::Moved => return Ok(()),
        MoveFolderOutcome::Unknown => UserError::not_found(),
        MoveFolderOutcome::IntoItself => UserError::invalid("/parentId", "A folder cannot be moved into itself."),
        MoveFolderOutcome::TooDeep => {
            let message = format!("Folders can be in each other on {MAX_FOLDER_LEVELS} levels at most.");
            UserError::invalid("/parentId", message)
        }
        MoveFolderOutcome::TooMany => too_many_folders(),
    };
    Err(refused.into())
}

fn too_many_folders() -> UserError {
    let most = store::MAX_FOLDERS;
    UserError::invalid("/name", format!("There can be {most} folders. Delete one that you no longer need."))
}

fn parse_cursor(text: &str) -> Option<SearchCursor> {
    let (updated_at, id) = text.split_once('.')?;
    Some(SearchCursor { updated_at: updated_at.parse().ok()?, id: id.to_owned() })
}

fn folder_name(name: &str) -> Result<String, UserError> {
    named("/name", "A name", name, MAX_NAME)
}

/// Normalizes a name to one line, and checks that it has 1 to `most` characters.
fn named(path: &str, what: &str, name: &str, most: usize) -> Result<String, UserError> {
    let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
    if name.is_empty() || name.chars().count() > most {
        return Err(UserError::invalid(path, format!("{what} has 1 to {most} characters.")));
    }
    Ok(name)
}

fn found(found: bool) -> Result<()> {
    if found { Ok(()) } else { Err(UserError::not_found().into()) }
}
