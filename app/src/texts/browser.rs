//! The browser's half: the config's words stand in the document's head.

use super::Texts;
use crate::agent_conversations::when::moment;
use leptos::prelude::document;
use std::cell::{OnceCell, RefCell};
use wire::locale::{Locale, Text};

thread_local! {
    static PAGE: OnceCell<Option<Texts>> = const { OnceCell::new() };
    static KEPT: RefCell<Vec<&'static str>> = const { RefCell::new(Vec::new()) };
}

/// A text for as long as the page is open, kept once.
pub(super) fn kept(text: &str) -> &'static str {
    KEPT.with_borrow_mut(|kept| {
        kept.iter().find(|known| **known == text).copied().unwrap_or_else(|| {
            let new: &'static str = Box::leak(text.into());
            kept.push(new);
            new
        })
    })
}

pub(super) fn is_other() -> bool {
    PAGE.with(|page| page.get_or_init(read).is_some())
}

pub(super) fn page() -> Option<Texts> {
    PAGE.with(|page| page.get_or_init(read).clone())
}

pub(super) fn find(text: Text) -> Option<&'static str> {
    PAGE.with(|page| page.get_or_init(read).as_ref()?.find(text))
}

/// What the shell has written: see `shell.rs`.
fn read() -> Option<Texts> {
    let written = document().query_selector("meta[name=locale]").ok()??.get_attribute("content")?;
    let locale: serde_json::Value = serde_json::from_str(&written).ok()?;
    Some(Texts::new(&Locale::read(locale.as_object()?)))
}

/// When a number of seconds are over.
pub(super) fn time_after(seconds: u32) -> String {
    moment(js_sys::Date::now() as i64 + i64::from(seconds) * 1000)
}
