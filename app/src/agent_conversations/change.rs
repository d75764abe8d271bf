//! Changes of conversations. Part of the chunk `organizing`.

use super::keys::focus_row;
use super::list::{ConversationEntry, ConversationListState};
use super::move_dialog::folder_change;
use super::tree::focus_folder;
use crate::api::{folders, move_folder};
use crate::prelude::*;
use std::time::Duration;
use wire::api::ConversationSummary;
use wire::organize::{ConversationChange, Folder, FolderList, MoveTo};

/// How long a deletion can be undone.
const UNDO_PERIOD: Duration = Duration::from_secs(12);

impl ConversationListState {
    /// Creates a folder and moves the conversations, or the folder, of the move dialog to it.
    pub fn move_to_new_folder(self, name: String) {
        self.selected.set(None);
        if let Some(folder) = self.folder_to_move.get_untracked() {
            self.move_folder(folder, None, Some(name));
            return;
        }
        let (before, ids) = (self.folders.get_untracked(), self.ids_to_move.get_value());
        leptos::task::spawn_local(async move {
            match folders(None, Some(name)).await {
                Ok(FolderList { items }) => {
                    let is_new = |folder: &&Folder| !before.iter().any(|known| known.id == folder.id);
                    let new = items.iter().find(is_new).map(|folder| folder.id.clone());
                    self.folders.try_set(items);
                    if new.is_some() {
                        self.change(ids, folder_change(new));
                    }
                }
                Err(error) => self.set_error(error),
            }
        });
    }

    /// Moves a folder into another one, into a new one with this name, or out of any folder. Its row, or that of the closed
    /// folder around it, gets the focus.
    pub(super) fn move_folder(self, id: String, parent: Option<String>, new_name: Option<String>) {
        leptos::task::spawn_local(async move {
            match move_folder(id.clone(), parent, new_name).await {
                Ok(FolderList { items }) => {
                    let parent =
                        items.iter().find(|folder| folder.id == id).and_then(|folder| folder.parent_id.clone());
                    self.folders.try_set(items);
                    request_animation_frame(move || focus_folder(&id, parent.as_deref()));
                }
                Err(error) => self.set_error(error),
            }
        });
    }

    /// Renames a conversation.
    pub fn rename(self, id: String, title: String) {
        let title = title.trim().to_owned();
        if !title.is_empty()
            && self.entry(&id).is_some_and(|entry| entry.summary.with_untracked(|now| now.title != title))
        {
            self.change(vec![id], ConversationChange { title: Some(title), ..ConversationChange::default() });
        }
    }

    /// Deletes conversations. This can be undone for a while.
    pub fn delete(self, ids: Vec<String>) {
        self.change(ids, ConversationChange { deleted: Some(true), ..ConversationChange::default() });
    }

    /// Restores the conversations that were deleted last.
    pub fn undo(self) {
        let ids = self.deleted_ids.get_untracked();
        self.deleted_ids.set(Vec::new());
        self.change(ids, ConversationChange { deleted: Some(false), ..ConversationChange::default() });
    }

    /// Changes conversations: in the list immediately, then on the server.
    pub fn change(self, ids: Vec<String>, change: ConversationChange) {
        if ids.is_empty() {
            return;
        }
        for id in &ids {
            if let Some(entry) = self.entry(id) {
                entry.summary.update(|summary| apply_change(summary, &change));
            }
        }
        let filter = self.filter.get_untracked();
        let is_end = change.deleted == Some(true);
        let leaves = is_end
            || change.archived.is_some_and(|archived| archived != filter.archived)
            || filter.folder_id.is_some() && change.folder_id.as_ref().is_some_and(|to| to.0 != filter.folder_id);
        if leaves {
            self.focus_beside(&ids);
            self.items.update(|items| items.retain(|item| !ids.contains(&item.id)));
        }
        let deleted = ids.clone();
        let folder_counts_change = change.folder_id.is_some() || change.archived.is_some() || change.deleted.is_some();
        self.send_change(
            ids,
            change,
            Box::new(move || {
                if is_end {
                    self.offer_undo(deleted);
                }
                if folder_counts_change {
                    self.update_folders(None, None);
                }
            }),
        );
    }

    fn offer_undo(self, ids: Vec<String>) {
        let shown = self.chat.conversation.try_get_untracked().flatten();
        if shown.is_some_and(|shown| ids.contains(&shown)) {
            self.chat.select(None, true);
        }
        self.deleted_ids.try_set(ids.clone());
        let forget = move || {
            if self.deleted_ids.try_with_untracked(|now| *now == ids) == Some(true) {
                self.deleted_ids.set(Vec::new());
            }
        };
        set_timeout(forget, UNDO_PERIOD);
    }

    /// Focuses the row that takes the position of the first of these; without any row, the fallback
    /// link.
    fn focus_beside(self, ids: &[String]) {
        let beside = self.items.with_untracked(|items| {
            let at = items.iter().position(|item| ids.contains(&item.id))?;
            let stays = |item: &&ConversationEntry| !ids.contains(&item.id);
            items[at..].iter().find(stays).or_else(|| items[..at].iter().rfind(stays)).map(|item| item.id.clone())
        });
        match beside {
            Some(id) => request_animation_frame(move || {
                focus_row(&id);
            }),
            None => self.fallback_focus.with_value(|link| crate::blocks::control::focus(link)),
        }
    }
}

/// Applies a change to a summary, as the server will.
fn apply_change(summary: &mut ConversationSummary, change: &ConversationChange) {
    let ConversationChange { title, pinned, archived, folder_id, unread, deleted: _, temporary } = change.clone();
    summary.title = title.unwrap_or(std::mem::take(&mut summary.title));
    summary.pinned = pinned.unwrap_or(summary.pinned);
    summary.archived = archived.unwrap_or(summary.archived);
    if let Some(MoveTo(folder)) = folder_id {
        summary.folder_id = folder;
    }
    summary.unread = unread.unwrap_or(summary.unread);
    summary.temporary = temporary.unwrap_or(summary.temporary);
}
