//! JSON for people: keys in words with their values, lists as lists.

use crate::erase::{Erase, Erased};
use crate::page_state::words;
use leptos::html;
use leptos::prelude::*;
use serde_json::Value;

/// Deeper values are shown as "…".
const MAX_DEPTH: usize = 6;
/// Of a list or an object at most this many entries are shown.
const MAX_ENTRIES: usize = 100;
/// Of a text at most this many bytes are shown.
const MAX_TEXT: usize = 20_000;

/// A value as a view.
pub(super) fn value_view(value: &Value) -> Erased {
    view_at(value, 0)
}

fn view_at(value: &Value, depth: usize) -> Erased {
    match value {
        Value::Null => word("none"),
        Value::Bool(true) => word("yes"),
        Value::Bool(false) => word("no"),
        Value::Number(number) => text(number.to_string()),
        Value::String(content) if content.is_empty() => word("empty"),
        Value::String(content) => text(shortened(content)),
        Value::Array(items) if items.is_empty() => word("none"),
        Value::Object(entries) if entries.is_empty() => word("none"),
        _ if depth >= MAX_DEPTH => word("…"),
        Value::Array(items) => {
            let shown = items.iter().take(MAX_ENTRIES).map(|item| html::li().child(view_at(item, depth + 1)).erase());
            let list = html::ul().class("cw-value-list").child(shown.collect::<Vec<_>>());
            with_rest(list.erase(), items.len())
        }
        Value::Object(entries) => {
            let shown = entries.iter().take(MAX_ENTRIES).map(|(key, value)| {
                let entry = (html::dt().child(words(key)), html::dd().child(view_at(value, depth + 1)));
                html::div().child(entry).erase()
            });
            let list = html::dl().class("cw-value").child(shown.collect::<Vec<_>>());
            with_rest(list.erase(), entries.len())
        }
    }
}

fn with_rest(list: Erased, count: usize) -> Erased {
    if count <= MAX_ENTRIES {
        return list;
    }
    let rest = word_owned(format!("and {} more", count - MAX_ENTRIES));
    vec![list, rest].erase()
}

fn shortened(text: &str) -> String {
    if text.len() <= MAX_TEXT {
        return text.to_owned();
    }
    format!("{}…", &text[..text.floor_char_boundary(MAX_TEXT)])
}

fn text(text: String) -> Erased {
    html::span().class("cw-value-text").dir("auto").child(text).erase()
}

/// A word of ours, not of the data.
fn word(word: &'static str) -> Erased {
    word_owned(word.to_owned())
}

fn word_owned(word: String) -> Erased {
    html::span().class("cw-value-word").child(word).erase()
}
