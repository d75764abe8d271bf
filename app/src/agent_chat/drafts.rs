//! What was typed and not sent, by user and conversation: in the browser's storage, and where there is none, as long as the page is open.
//! Several people may use one browser, one after the other: none sees what another has typed.

use crate::prelude::*;
use leptos::web_sys::Storage;
use std::cell::RefCell;

/// Before the key of a draft; the user's mark follows.
const PREFIX: &str = "cw-text/";
/// The same before drafts knew their users. Nobody can tell whose those are.
const NOBODYS: &str = "cw-draft/";
/// Drafts that are kept; the oldest go.
const MAX_DRAFTS: usize = 50;
/// A longer draft, in bytes, is kept as long as the page is open.
const MAX_BYTES: usize = 64 * 1024;

thread_local! {
    /// What the storage does not take, newest last.
    static UNSTORED: RefCell<Vec<(String, String)>> = const { RefCell::new(Vec::new()) };
}

/// The draft under a key.
pub(super) fn read(key: &str) -> Option<String> {
    let unstored = UNSTORED.with_borrow(|all| all.iter().find(|(known, _)| known == key).map(|(_, text)| text.clone()));
    unstored.or_else(|| {
        let kept = storage()?.get_item(&place(key)).ok()??;
        Some(kept.split_once(' ')?.1.to_owned())
    })
}

/// Keeps a draft under a key; an empty one is none.
pub(super) fn keep(key: &str, text: &str) {
    UNSTORED.with_borrow_mut(|all| all.retain(|(known, _)| known != key));
    let place = place(key);
    let storage = storage();
    if text.is_empty() {
        let _ = storage.map(|storage| storage.remove_item(&place));
        return;
    }
    let stored = storage.filter(|_| text.len() <= MAX_BYTES).is_some_and(|storage| {
        if !matches!(storage.get_item(&place), Ok(Some(_))) {
            make_room(&storage);
        }
        // In front of it when it was written, so that the oldest can be told.
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

fn place(key: &str) -> String {
    format!("{PREFIX}{}/{key}", reader())
}

/// The mark of the user for whom the page was made: see `shell.rs`.
pub(super) fn reader() -> String {
    let mark = document().query_selector("meta[name=reader]").ok().flatten();
    mark.and_then(|mark| mark.get_attribute("content")).unwrap_or_default()
}

/// Takes the oldest away when there are as many as there may be.
fn make_room(storage: &Storage) {
    let keys = (0..storage.length().unwrap_or_default()).filter_map(|index| storage.key(index).ok().flatten());
    let (old, keys): (Vec<_>, Vec<_>) = keys.partition(|key| key.starts_with(NOBODYS));
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

/// None where the browser blocks it.
fn storage() -> Option<Storage> {
    window().local_storage().ok().flatten()
}
