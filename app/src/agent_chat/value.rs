//! JSON for people: keys in words with their values, lists as lists.

use crate::node::{Node, element};
use crate::page_state::words;
use crate::texts::{self, Text, t};
use serde_json::Value;

/// Deeper values are shown as "…".
const MAX_DEPTH: usize = 6;
/// Of a list or an object at most this many entries are shown.
pub(super) const MAX_ENTRIES: usize = 100;
/// Of a text at most this many bytes are shown.
const MAX_TEXT: usize = 20_000;

/// A value as a part of a tree.
pub(super) fn value_nodes(value: &Value) -> Vec<Node> {
    nodes_at(value, 0)
}

fn nodes_at(value: &Value, depth: usize) -> Vec<Node> {
    match value {
        Value::Null => vec![word(t(Text::ValueNone))],
        Value::Bool(true) => vec![word(t(Text::ValueYes))],
        Value::Bool(false) => vec![word(t(Text::ValueNo))],
        Value::Number(number) => vec![text(number.to_string())],
        Value::String(content) if content.is_empty() => vec![word(t(Text::ValueEmpty))],
        Value::String(content) => vec![text(shortened(content))],
        Value::Array(items) if items.is_empty() => vec![word(t(Text::ValueNone))],
        Value::Object(entries) if entries.is_empty() => vec![word(t(Text::ValueNone))],
        _ if depth >= MAX_DEPTH => vec![word("…")],
        Value::Array(items) => {
            let shown = items.iter().take(MAX_ENTRIES).map(|item| element("li").around(nodes_at(item, depth + 1)));
            let list = element("ul").with("class", "cw-value-list").around(shown.collect());
            with_rest(list, items.len())
        }
        Value::Object(entries) => {
            let shown = entries.iter().take(MAX_ENTRIES).map(|(key, value)| {
                let (term, content) =
                    (element("dt").text(words(key)), element("dd").around(nodes_at(value, depth + 1)));
                element("div").around(vec![term, content])
            });
            let list = element("dl").with("class", "cw-value").around(shown.collect());
            with_rest(list, entries.len())
        }
    }
}

/// A list, and how much of it is not shown.
pub(super) fn with_rest(list: Node, count: usize) -> Vec<Node> {
    if count <= MAX_ENTRIES {
        return vec![list];
    }
    vec![list, word(texts::count(Text::AndMore, count - MAX_ENTRIES))]
}

/// A text that is cut where it becomes too long to be read in a card.
pub(super) fn shortened(text: &str) -> String {
    if text.len() <= MAX_TEXT {
        return text.to_owned();
    }
    format!("{}…", &text[..text.floor_char_boundary(MAX_TEXT)])
}

fn text(text: String) -> Node {
    element("span").with("class", "cw-value-text").with("dir", "auto").text(text)
}

/// A word of ours, not of the data.
pub(super) fn word(word: impl Into<String>) -> Node {
    element("span").with("class", "cw-value-word").text(word)
}
