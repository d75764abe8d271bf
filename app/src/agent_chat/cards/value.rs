//! Shows JSON in a readable form: keys as words with their values, arrays as lists.
//!
//! Nothing is omitted: values that are nested too deeply, are too long, or have too many entries
//! are folded, and a call cannot be approved until the user has opened them. Invisible characters
//! are marked, see [`crate::ui::hidden_characters`].

use crate::page_state::label_from_id;
use crate::texts;
use crate::texts::{Text, fill, t};
use crate::ui::hidden_characters;
use crate::ui::hidden_characters::{TextKind, escaped_json};
use crate::ui::node::{Node, element};
use crate::ui::numbers;
use serde_json::{Map, Value};

/// Values nested more deeply are folded.
const MAX_DEPTH: usize = 6;
/// The number of entries of an array or object that are shown; the others are folded.
pub(in crate::agent_chat) const MAX_ENTRIES: usize = 100;
/// The number of entries of a whole value that are drawn as elements.
const MAX_TOTAL: usize = 2_000;
/// The number of bytes and lines up to which a text needs no scroll bar in the narrowest card.
const MAY_SCROLL: (usize, usize) = (400, 9);
/// The number of bytes after which the rest of a text is folded.
const MAX_TEXT: usize = 20_000;
/// The same limit for keys.
const MAX_KEY: usize = 200;
/// The class of folded parts.
const FOLDED: &str = "cw-value-more";

/// A value as nodes.
pub(in crate::agent_chat) fn value_nodes(value: &Value) -> Vec<Node> {
    nodes_at(value, 0, &mut { MAX_TOTAL })
}

/// The number of folded parts in a tree.
pub(in crate::agent_chat) fn folded_parts(nodes: &[Node]) -> usize {
    let folded = |node: &Node| match node {
        Node::Text(_) => 0,
        Node::Element { attributes, .. } if attributes.iter().any(|(_, value)| value == FOLDED) => 1,
        Node::Element { children, .. } => folded_parts(children),
    };
    nodes.iter().map(folded).sum()
}

/// `left` is the number of entries that may still be drawn.
fn nodes_at(value: &Value, depth: usize, left: &mut usize) -> Vec<Node> {
    match value {
        Value::Null => vec![label_node(t(Text::ValueNone))],
        Value::Bool(true) => vec![label_node(t(Text::ValueYes))],
        Value::Bool(false) => vec![label_node(t(Text::ValueNo))],
        Value::Number(number) => long_text(&number.to_string(), MAX_TEXT),
        Value::String(content) if content.is_empty() => vec![label_node(t(Text::ValueEmpty))],
        // A text of spaces would look empty, so it is shown in quotes.
        Value::String(content) if content.trim().is_empty() => long_text(&value.to_string(), MAX_TEXT),
        Value::String(content) => long_text(content, MAX_TEXT),
        Value::Array(items) if items.is_empty() => vec![label_node(t(Text::ValueNone))],
        Value::Object(entries) if entries.is_empty() => vec![label_node(t(Text::ValueNone))],
        Value::Array(items) if depth >= MAX_DEPTH || *left == 0 => vec![folded_json(items.len(), value)],
        Value::Object(entries) if depth >= MAX_DEPTH || *left == 0 => vec![folded_json(entries.len(), value)],
        Value::Array(items) => {
            let count = reserve_entries(left, items.len());
            let shown = items[..count].iter().map(|item| element("li").children(nodes_at(item, depth + 1, left)));
            let mut nodes = vec![element("ul").attr("class", "cw-value-list").children(shown.collect())];
            if count < items.len() {
                nodes.push(folded_json(items.len() - count, &Value::from(&items[count..])));
            }
            nodes
        }
        Value::Object(entries) => {
            let count = reserve_entries(left, entries.len());
            let shown = entries.iter().take(count).map(|(key, value)| {
                let content = element("dd").children(nodes_at(value, depth + 1, left));
                element("div").children(vec![element("dt").children(key_nodes(key)), content])
            });
            let mut nodes = vec![element("dl").attr("class", "cw-value").children(shown.collect())];
            if count < entries.len() {
                let rest: Map<_, _> =
                    entries.iter().skip(count).map(|(key, value)| (key.clone(), value.clone())).collect();
                nodes.push(folded_json(rest.len(), &rest.into()));
            }
            nodes
        }
    }
}

/// Returns how many of `count` entries are drawn, and subtracts them from `left`.
fn reserve_entries(left: &mut usize, count: usize) -> usize {
    let count = count.min(MAX_ENTRIES).min(*left);
    *left -= count;
    count
}

/// A key as words; a key that is no identifier is shown unchanged.
fn key_nodes(key: &str) -> Vec<Node> {
    let is_name = |sign: char| sign.is_alphanumeric() || matches!(sign, '_' | '-' | '.' | ' ');
    if !key.is_empty() && key.chars().all(is_name) {
        return long_text(&label_from_id(key), MAX_KEY);
    }
    long_text(&if key.trim().is_empty() { Value::from(key).to_string() } else { key.to_owned() }, MAX_KEY)
}

/// Folded entries, as JSON.
fn folded_json(count: usize, value: &Value) -> Node {
    let json = serde_json::to_string_pretty(value).unwrap_or_default();
    let label = if count == 1 { t(Text::ShowOneEntry).to_owned() } else { texts::fill_count(Text::ShowEntries, count) };
    folded(label, json_node(&json))
}

/// JSON as text, with invisible characters escaped.
pub(in crate::agent_chat) fn json_node(json: &str) -> Node {
    let pre = element("pre").attr("class", "cw-value-json").attr("tabindex", "0").attr("dir", "ltr");
    pre.text(escaped_json(json))
}

fn folded(label: String, content: Node) -> Node {
    element("details").attr("class", FOLDED).children(vec![element("summary").text(label), content])
}

/// A text; beyond `most` bytes it is folded.
fn long_text(content: &str, most: usize) -> Vec<Node> {
    if content.len() <= most {
        return vec![text_node(content)];
    }
    let (begin, rest) = content.split_at(content.floor_char_boundary(most));
    let label = fill(Text::ShowRest, &[&numbers::byte_size(rest.len() as u64)]);
    vec![text_node(begin), folded(label, text_node(rest))]
}

/// A list, and the number of entries that are not shown.
pub(in crate::agent_chat) fn with_remainder(list: Node, count: usize) -> Vec<Node> {
    if count <= MAX_ENTRIES {
        return vec![list];
    }
    vec![list, label_node(texts::fill_count(Text::AndMore, count - MAX_ENTRIES))]
}

/// A text truncated to a length that is readable in a card.
pub(in crate::agent_chat) fn truncated(text: &str) -> String {
    if text.len() <= MAX_TEXT {
        return text.to_owned();
    }
    format!("{}…", &text[..text.floor_char_boundary(MAX_TEXT)])
}

/// `dir` isolates the text, so that its characters do not reorder the text around it.
fn text_node(text: &str) -> Node {
    let nodes = hidden_characters::visible_nodes(text, TextKind::Value);
    let shown = element("span").attr("class", "cw-value-text").attr("dir", "auto").children(nodes);
    // A text that may scroll must be reachable with the keyboard.
    let may_scroll = text.len() > MAY_SCROLL.0 || text.lines().nth(MAY_SCROLL.1).is_some();
    if may_scroll { shown.attr("tabindex", "0") } else { shown }
}

/// A label of the UI, as opposed to data.
pub(in crate::agent_chat) fn label_node(word: impl Into<String>) -> Node {
    element("span").attr("class", "cw-value-word").text(word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// The text of a tree, with folded parts in brackets.
    fn said(nodes: &[Node]) -> String {
        let node = |node: &Node| match node {
            Node::Text(text) => text.clone(),
            Node::Element { tag: "details", children, .. } => format!("[{}]", said(children)),
            Node::Element { children, .. } => said(children) + " ",
        };
        nodes.iter().map(node).collect()
    }

    fn check(value: &Value, folded: usize, expected: &str) {
        let nodes = value_nodes(value);
        let said = said(&nodes);
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!((folded_parts(&nodes), said.as_str()), (folded, expected), "{value}");
    }

    #[test]
    fn values_are_shown_by_type() {
        check(&json!({ "orderId": 7, "note": "" }), 0, "Order id 7 Note empty");
        check(&json!("  "), 0, "\" \"");
        check(&json!({ "a\u{202e}b": "pay \u{202e}001" }), 0, "aU+202E b pay U+202E 001");
        check(&json!({ "": 1 }), 0, "\"\" 1");
        check(&json!([true, null]), 0, "yes none");
    }

    #[test]
    fn deep_long_or_large_values_are_folded_completely() {
        let deep = json!([[[[[[["\u{200b}deep"]]]]]]]);
        check(&deep, 1, "[Show 1 more entry [ \"\\u200bdeep\" ] ]");
        let many: Value = (0..103).collect::<Vec<_>>().into();
        let shown = said(&value_nodes(&many));
        assert!(shown.contains("Show 3 more entries") && shown.contains("102"), "{shown}");
        let long = json!("x".repeat(MAX_TEXT) + "the end");
        let nodes = value_nodes(&long);
        assert_eq!(folded_parts(&nodes), 1);
        assert!(said(&nodes).ends_with("the end ]"));
        let key = json!({ ("k".repeat(300) + "end"): 1 });
        assert!(said(&value_nodes(&key)).contains("end ]"));
    }

    #[test]
    fn the_number_of_drawn_elements_is_limited() {
        let lists: Value = vec![vec![json!([1]); 90]; 90].into();
        let nodes = value_nodes(&lists);
        fn elements(nodes: &[Node]) -> usize {
            let of = |node: &Node| match node {
                Node::Text(_) => 1,
                Node::Element { children, .. } => 1 + elements(children),
            };
            nodes.iter().map(of).sum()
        }
        assert!(elements(&nodes) < 10 * MAX_TOTAL, "{}", elements(&nodes));
        assert!(folded_parts(&nodes) > 0);
    }
}
