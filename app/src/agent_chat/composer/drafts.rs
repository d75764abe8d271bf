//! Unsent drafts, by user and conversation: in the browser's local storage, or in memory if the
//! storage is blocked. Drafts are kept per user, so that users of the same browser do not see each
//! other's drafts.

use crate::prelude::*;
use leptos::web_sys::Storage;
use std::cell::RefCell;

/// The prefix of a draft's storage key; the user mark follows.
const PREFIX: &str = "cw-text/";
/// The prefix of drafts that were saved before drafts belonged to users. They are deleted, because
/// their users are unknown.
const LEGACY_PREFIX: &str = "cw-draft/";
/// The number of drafts that are kept; the oldest is deleted.
const MAX_DRAFTS: usize = 50;
/// Longer drafts, in bytes, are kept in memory only.
const MAX_BYTES: usize = 64 * 1024;

thread_local! {
    /// Drafts that are not in the storage, newest last.
    static UNSTORED: RefCell<Vec<(String, String)>> = const { RefCell::new(Vec::new()) };
}

/// Returns the draft with a key.
pub(in crate::agent_chat) fn read(key: &str) -> Option<String> {
    let unstored = UNSTORED.with_borrow(|all| all.iter().find(|(known, _)| known == key).map(|(_, text)| text.clone()));
    unstored.or_else(|| {
        let kept = storage()?.get_item(&storage_key(key)).ok()??;
        Some(kept.split_once(' ')?.1.to_owned())
    })
}

/// Saves a draft under a key; an empty text deletes it.
pub(in crate::agent_chat) fn keep(key: &str, text: &str) {
    UNSTORED.with_borrow_mut(|all| all.retain(|(known, _)| known != key));
    let place = storage_key(key);
    let storage = storage();
    if text.is_empty() {
        let _ = storage.map(|storage| storage.remove_item(&place));
        return;
    }
    let stored = storage.filter(|_| text.len() <= MAX_BYTES).is_some_and(|storage| {
        if !matches!(storage.get_item(&place), Ok(Some(_))) {
            make_room(&storage);
        }
        // The time comes first, so that the oldest draft can be found.
        storage.set_item(&place, &format!("{} {text}", js_sys::Date::now() as u64)).is_ok()
    });
    if !stored {
        UNSTORED.with_borrow_mut(|all| {
            if all.len() >= MAX_DRAFTS {
                all.remove(0);
            }
            all.push((key.to_owned(), text.to_owned()));
        });
    }
}

fn storage_key(key: &str) -> String {
    format!("{PREFIX}{}/{key}", user_mark())
}

/// The mark of the user for whom the page was rendered, from a `meta` element; see `shell.rs`.
pub(in crate::agent_chat) fn user_mark() -> String {
    let mark = document().query_selector("meta[name=reader]").ok().flatten();
    mark.and_then(|mark| mark.get_attribute("content")).unwrap_or_default()
}

/// Deletes the oldest draft when the limit is reached.
fn make_room(storage: &Storage) {
    let keys = (0..storage.length().unwrap_or_default()).filter_map(|index| storage.key(index).ok().flatten());
    let (old, keys): (Vec<_>, Vec<_>) = keys.partition(|key| key.starts_with(LEGACY_PREFIX));
    for key in old {
        let _ = storage.remove_item(&key);
    }
    let written = |key: &String| {
        let kept = storage.get_item(key).ok().flatten().unwrap_or_default();
        kept.split_once(' ').and_then(|(time, _)| time.parse::<u64>().ok()).unwrap_or_default()
    };
    let drafts: Vec<String> = keys.into_iter().filter(|key| key.starts_with(PREFIX)).collect();
    if drafts.len() >= MAX_DRAFTS
        && let Some(oldest) = drafts.iter().min_by_key(|key| written(key))
    {
        let _ = storage.remove_item(oldest);
    }
}

/// The local storage; none if the browser blocks it.
fn storage() -> Option<Storage> {
    window().local_storage().ok().flatten()
}
