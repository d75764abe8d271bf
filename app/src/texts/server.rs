//! The server's half: the config's words are a context of the request.

use super::Texts;
use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};
use wire::locale::Text;

/// A text for as long as the server runs. Each is kept once: they come out of configs, of which a server reads few.
pub(super) fn kept(text: &str) -> &'static str {
    static KEPT: Mutex<Option<HashSet<&'static str>>> = Mutex::new(None);
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    let kept = kept.get_or_insert_default();
    if let Some(known) = kept.get(text) {
        return known;
    }
    let new: &'static str = Box::leak(text.into());
    kept.insert(new);
    new
}

pub(super) fn is_other() -> bool {
    false
}

pub(super) fn page() -> Option<Texts> {
    None
}

pub(super) fn find(_: Text) -> Option<&'static str> {
    None
}

/// The server does not know the reader's clock.
pub(super) fn time_after(_: u32) -> String {
    String::new()
}
