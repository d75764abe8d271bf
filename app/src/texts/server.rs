//! The server's texts of the config, which are a context of the request.

use super::Texts;
use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};
use wire::locale::Text;

/// Returns the text with a static lifetime; equal texts are stored once. They are never freed: they
/// come from configs, of which a server reads few.
pub(super) fn intern(text: &str) -> &'static str {
    static INTERNED: Mutex<Option<HashSet<&'static str>>> = Mutex::new(None);
    let mut kept = INTERNED.lock().unwrap_or_else(PoisonError::into_inner);
    let kept = kept.get_or_insert_default();
    if let Some(known) = kept.get(text) {
        return known;
    }
    let new: &'static str = Box::leak(text.into());
    kept.insert(new);
    new
}

pub(super) fn has_page_texts() -> bool {
    false
}

pub(super) fn page_texts() -> Option<Texts> {
    None
}

pub(super) fn page_text(_: Text) -> Option<&'static str> {
    None
}

/// Empty, since the server does not know the user's time zone.
pub(super) fn local_time_after(_: u32) -> String {
    String::new()
}
