//! What changes conversations. Part of the chunk.

use super::keys::focus_row;
use super::list::{Conversations, Entry};
use super::move_dialog::into;
use crate::api::folders;
use crate::prelude::*;
use std::time::Duration;
use wire::api::ConversationSummary;
use wire::order::{ConversationChange, FolderList, MoveTo};

/// How long a deletion is offered to be undone.
const UNDO_FOR: Duration = Duration::from_secs(12);

impl Conversations {
    /// Makes a folder and moves those there that the dialog is about.
    pub fn move_to_new(self, name: String) {
        let (before, ids) = (self.folders.get_untracked(), self.moving.get_value());
        self.chosen.set(None);
        leptos::task::spawn_local(async move {
            match folders(None, Some(name)).await {
                Ok(FolderList { items }) => {
                    let new = items.iter().find(|folder| !before.contains(folder)).map(|folder| folder.id.clone());
                    self.folders.try_set(items);
                    if new.is_some() {
                        self.change(ids, into(new));
                    }
                }
                Err(error) => self.fail(error),
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

    /// Deletes conversations, which can be undone for a while.
    pub fn delete(self, ids: Vec<String>) {
        self.change(ids, ConversationChange { deleted: Some(true), ..ConversationChange::default() });
    }

    /// Brings back what was deleted last.
    pub fn undo(self) {
        let ids = self.deleted.get_untracked();
        self.deleted.set(Vec::new());
        self.change(ids, ConversationChange { deleted: Some(false), ..ConversationChange::default() });
    }

    /// Changes conversations: at once here, then on the server.
    pub fn change(self, ids: Vec<String>, change: ConversationChange) {
        if ids.is_empty() {
            return;
        }
        for id in &ids {
            if let Some(entry) = self.entry(id) {
                entry.summary.update(|summary| apply(summary, &change));
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
        self.tell(
            ids,
            change,
            Box::new(move || {
                if is_end {
                    self.offer_undo(deleted);
                }
            }),
        );
    }

    fn offer_undo(self, ids: Vec<String>) {
        let shown = self.chat.conversation.try_get_untracked().flatten();
        if shown.is_some_and(|shown| ids.contains(&shown)) {
            self.chat.select(None, true);
        }
        self.deleted.try_set(ids.clone());
        let forget = move || {
            if self.deleted.try_with_untracked(|now| *now == ids) == Some(true) {
                self.deleted.set(Vec::new());
            }
        };
        set_timeout(forget, UNDO_FOR);
    }

    /// The row that comes to stand where the first of these stood takes the focus, if one of them had it.
    fn focus_beside(self, ids: &[String]) {
        let beside = self.items.with_untracked(|items| {
            let at = items.iter().position(|item| ids.contains(&item.id))?;
            let stays = |item: &&Entry| !ids.contains(&item.id);
            items[at..].iter().find(stays).or_else(|| items[..at].iter().rfind(stays)).map(|item| item.id.clone())
        });
        match beside {
            Some(id) => request_animation_frame(move || focus_row(&id)),
            None => self.fallback_focus.with_value(|link| crate::blocks::control::focus(link)),
        }
    }
}

/// What the server will make of it.
fn apply(summary: &mut ConversationSummary, change: &ConversationChange) {
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
