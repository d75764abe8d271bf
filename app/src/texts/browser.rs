//! The browser's texts of the config, which are in the document's head.

use super::Texts;
use crate::ui::dates::local_time;
use leptos::prelude::document;
use std::cell::{OnceCell, RefCell};
use wire::locale::{Locale, Text};

thread_local! {
    static PAGE: OnceCell<Option<Texts>> = const { OnceCell::new() };
    static INTERNED: RefCell<Vec<&'static str>> = const { RefCell::new(Vec::new()) };
}

/// Returns the text with a static lifetime; equal texts are stored once.
pub(super) fn intern(text: &str) -> &'static str {
    INTERNED.with_borrow_mut(|kept| {
        kept.iter().find(|known| **known == text).copied().unwrap_or_else(|| {
            let new: &'static str = Box::leak(text.into());
            kept.push(new);
            new
        })
    })
}

pub(super) fn has_page_texts() -> bool {
    PAGE.with(|page| page.get_or_init(read_page_texts).is_some())
}

pub(super) fn page_texts() -> Option<Texts> {
    PAGE.with(|page| page.get_or_init(read_page_texts).clone())
}

pub(super) fn page_text(text: Text) -> Option<&'static str> {
    PAGE.with(|page| page.get_or_init(read_page_texts).as_ref()?.find(text))
}

/// Reads the texts that `shell.rs` wrote into the head.
fn read_page_texts() -> Option<Texts> {
    let written = document().query_selector("meta[name=locale]").ok()??.get_attribute("content")?;
    let locale: serde_json::Value = serde_json::from_str(&written).ok()?;
    Some(Texts::new(&Locale::read(locale.as_object()?)))
}

/// Returns the time in this many seconds as text, in the user's time zone.
pub(super) fn local_time_after(seconds: u32) -> String {
    local_time(js_sys::Date::now() as i64 + i64::from(seconds) * 1000)
}
