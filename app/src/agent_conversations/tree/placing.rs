//! The user's own order of the folders: a folder is put between two others, or moved up and down.

use super::keys::focus_folder;
use super::order::{Order, placed, shifted, siblings};
use crate::agent_conversations::list::ConversationListState;
use crate::api::move_folder;
use crate::api::transport::http::{self, Method};
use crate::prelude::*;
use crate::texts::{Text, fill, t};
use leptos::task::spawn_local;
use serde::de::IgnoredAny;
use serde_json::json;
use std::sync::atomic::{AtomicBool, Ordering};
use wire::organize::{Folder, FolderList};

/// Whether an order is being sent. Orders are sent one after the other, so that the newest one is kept.
static IS_SENDING: AtomicBool = AtomicBool::new(false);

impl ConversationListState {
    /// Moves a folder by one position among those that are in the same one.
    pub(super) fn shift_folder(self, id: &str, is_down: bool) {
        if let Some(ids) = self.folders.with_untracked(|folders| shifted(folders, id, is_down)) {
            self.order_folders(&ids);
        }
    }

    /// Puts a folder in front of another one, or behind it, in the folder that the other one is in. Its row gets the focus.
    pub(super) fn place_folder(self, id: String, beside: String, is_behind: bool) {
        let parent = |folders: &[Folder], id: &str| find(folders, id).map(|folder| folder.parent_id.clone());
        let parents = self.folders.with_untracked(|folders| parent(folders, &id).zip(parent(folders, &beside)));
        let Some((from, to)) = parents else { return };
        spawn_local(async move {
            if from != to {
                match move_folder(id.clone(), to, None).await {
                    Ok(FolderList { items }) => drop(self.folders.try_set(items)),
                    Err(error) => return self.set_error(error),
                }
            }
            // The page may be gone by now.
            let order = self.folders.try_with_untracked(|folders| placed(folders, &id, &beside, is_behind));
            if let Some(ids) = order {
                self.order_folders(&ids);
                request_animation_frame(move || focus_folder(&id, None));
            }
        });
    }

    /// Orders all folders: in the list immediately, then on the server.
    fn order_folders(self, ids: &[String]) {
        self.folders.update(|folders| folders.sort_by_key(|folder| ids.iter().position(|id| *id == folder.id)));
        if IS_SENDING.swap(true, Ordering::Relaxed) {
            return;
        }
        spawn_local(async move {
            self.send_order().await;
            IS_SENDING.store(false, Ordering::Relaxed);
        });
    }

    /// Sends the order of the folders, again if it has changed meanwhile.
    async fn send_order(self) {
        let mut next = self.folder_ids();
        while let Some(sent) = next {
            let body = json!({ "ids": sent });
            if let Err(error) = http::send::<IgnoredAny>(Method::Put, "/api/folders/order", &body).await {
                self.set_error(error);
                // The list shows the order that the server has.
                return self.update_folders(None, None);
            }
            next = self.folder_ids().filter(|now| *now != sent);
        }
    }

    /// Returns the ids of the folders in their order. None if the page is gone.
    fn folder_ids(self) -> Option<Vec<String>> {
        self.folders.try_with_untracked(|folders| folders.iter().map(|folder| folder.id.clone()).collect())
    }
}

/// Returns the buttons of the move dialog that move a folder up and down, with its position, which screen readers
/// announce when it changes. Nothing if it is in no order of the user's own, or the only one in its folder.
pub(in crate::agent_conversations) fn order_buttons(list: ConversationListState, id: String) -> Option<AnyView> {
    let count = list.folders.with_untracked(|folders| siblings(folders, &id).map(|(_, all)| all.len()));
    if Order::remembered() != Order::Own || count.is_none_or(|count| count < 2) {
        return None;
    }
    let button = |text: Text, is_down: bool| {
        let id = id.clone();
        let shift = move |_| list.shift_folder(&id, is_down);
        view! {
            <button type="button" class="cw-button" on:click=shift>
                {t(text)}
            </button>
        }
        .into_any()
    };
    let (up, down) = (button(Text::MoveUp, false), button(Text::MoveDown, true));
    let place = move || list.folders.with(|folders| position(folders, &id));
    Some(
        view! {
            <div class="cw-move-order">
                {up} {down} <span role="status" dir="auto">
                    {place}
                </span>
            </div>
        }
        .into_any(),
    )
}

/// Returns the folder with an id.
fn find<'f>(folders: &'f [Folder], id: &str) -> Option<&'f Folder> {
    folders.iter().find(|folder| folder.id == id)
}

/// Returns the sentence with the position of a folder among those that are in the same one.
pub(super) fn position(folders: &[Folder], id: &str) -> String {
    let Some((at, all)) = siblings(folders, id) else { return String::new() };
    let name = find(folders, id).map(|folder| folder.name.as_str()).unwrap_or_default();
    fill(Text::FolderPlace, &[name, &(at + 1).to_string(), &all.len().to_string()])
}
