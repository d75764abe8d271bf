//! JSON for people: keys in words with their values, lists as lists.
//!
//! Nothing is left out: what is too deep, too long or too many is folded, and the approval of a call waits until it has been
//! unfolded. Characters that cannot be seen are marked, see [`crate::visible`].

use crate::node::{Node, element};
use crate::numbers;
use crate::page_state::words;
use crate::texts::{self, Text, fill, t};
use crate::visible::{self, Kind, escaped_json};
use serde_json::{Map, Value};

/// Deeper values are folded.
const MAX_DEPTH: usize = 6;
/// Of a list or an object the entries after so many are folded.
pub(super) const MAX_ENTRIES: usize = 100;
/// Of a whole value at most so many entries are drawn as elements.
const MAX_TOTAL: usize = 2_000;
/// Bytes and lines up to which a text is shown without a scroll bar, in the narrowest card.
const MAY_SCROLL: (usize, usize) = (400, 9);
/// The bytes of a text before its rest is folded.
const MAX_TEXT: usize = 20_000;
/// The same of a key.
const MAX_KEY: usize = 200;
/// The class of what is folded.
const FOLDED: &str = "cw-value-more";

/// A value as a part of a tree.
pub(super) fn value_nodes(value: &Value) -> Vec<Node> {
    nodes_at(value, 0, &mut { MAX_TOTAL })
}

/// How many parts of a tree are folded.
pub(super) fn folded_parts(nodes: &[Node]) -> usize {
    let folded = |node: &Node| match node {
        Node::Text(_) => 0,
        Node::Element { attributes, .. } if attributes.iter().any(|(_, value)| value == FOLDED) => 1,
        Node::Element { children, .. } => folded_parts(children),
    };
    nodes.iter().map(folded).sum()
}

/// `left` is how many more entries may be drawn.
fn nodes_at(value: &Value, depth: usize, left: &mut usize) -> Vec<Node> {
    match value {
        Value::Null => vec![word(t(Text::ValueNone))],
        Value::Bool(true) => vec![word(t(Text::ValueYes))],
        Value::Bool(false) => vec![word(t(Text::ValueNo))],
        Value::Number(number) => long_text(&number.to_string(), MAX_TEXT),
        Value::String(content) if content.is_empty() => vec![word(t(Text::ValueEmpty))],
        // Spaces alone would look empty.
        Value::String(content) if content.trim().is_empty() => long_text(&value.to_string(), MAX_TEXT),
        Value::String(content) => long_text(content, MAX_TEXT),
        Value::Array(items) if items.is_empty() => vec![word(t(Text::ValueNone))],
        Value::Object(entries) if entries.is_empty() => vec![word(t(Text::ValueNone))],
        Value::Array(items) if depth >= MAX_DEPTH || *left == 0 => vec![folded_json(items.len(), value)],
        Value::Object(entries) if depth >= MAX_DEPTH || *left == 0 => vec![folded_json(entries.len(), value)],
        Value::Array(items) => {
            let count = take(left, items.len());
            let shown = items[..count].iter().map(|item| element("li").around(nodes_at(item, depth + 1, left)));
            let mut nodes = vec![element("ul").with("class", "cw-value-list").around(shown.collect())];
            if count < items.len() {
                nodes.push(folded_json(items.len() - count, &Value::from(&items[count..])));
            }
            nodes
        }
        Value::Object(entries) => {
            let count = take(left, entries.len());
            let shown = entries.iter().take(count).map(|(key, value)| {
                let content = element("dd").around(nodes_at(value, depth + 1, left));
                element("div").around(vec![element("dt").around(key_nodes(key)), content])
            });
            let mut nodes = vec![element("dl").with("class", "cw-value").around(shown.collect())];
            if count < entries.len() {
                let rest: Map<_, _> =
                    entries.iter().skip(count).map(|(key, value)| (key.clone(), value.clone())).collect();
                nodes.push(folded_json(rest.len(), &rest.into()));
            }
            nodes
        }
    }
}

/// How many of `count` entries are drawn.
fn take(left: &mut usize, count: usize) -> usize {
    let count = count.min(MAX_ENTRIES).min(*left);
    *left -= count;
    count
}

/// A key in words; one that is no identifier is shown as it is.
fn key_nodes(key: &str) -> Vec<Node> {
    let is_name = |sign: char| sign.is_alphanumeric() || matches!(sign, '_' | '-' | '.' | ' ');
    if !key.is_empty() && key.chars().all(is_name) {
        return long_text(&words(key), MAX_KEY);
    }
    long_text(&if key.trim().is_empty() { Value::from(key).to_string() } else { key.to_owned() }, MAX_KEY)
}

/// Entries that are folded, as JSON.
fn folded_json(count: usize, value: &Value) -> Node {
    let json = serde_json::to_string_pretty(value).unwrap_or_default();
    let label = if count == 1 { t(Text::ShowOneEntry).to_owned() } else { texts::count(Text::ShowEntries, count) };
    folded(label, json_node(&json))
}

/// JSON as it is written, with escapes for what cannot be seen.
pub(super) fn json_node(json: &str) -> Node {
    let pre = element("pre").with("class", "cw-value-json").with("tabindex", "0").with("dir", "ltr");
    pre.text(escaped_json(json))
}

fn folded(label: String, content: Node) -> Node {
    element("details").with("class", FOLDED).around(vec![element("summary").text(label), content])
}

/// A text, its end folded where it is longer than `most` bytes.
fn long_text(content: &str, most: usize) -> Vec<Node> {
    if content.len() <= most {
        return vec![text(content)];
    }
    let (begin, rest) = content.split_at(content.floor_char_boundary(most));
    let label = fill(Text::ShowRest, &[&numbers::size(rest.len() as u64)]);
    vec![text(begin), folded(label, text(rest))]
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

/// `dir` isolates it: its letters do not reorder what stands beside it.
fn text(text: &str) -> Node {
    let nodes = visible::nodes(text, Kind::Value);
    let shown = element("span").with("class", "cw-value-text").with("dir", "auto").around(nodes);
    // One that is long enough to scroll is reached by the keyboard.
    let may_scroll = text.len() > MAY_SCROLL.0 || text.lines().nth(MAY_SCROLL.1).is_some();
    if may_scroll { shown.with("tabindex", "0") } else { shown }
}

/// A word of ours, not of the data.
pub(super) fn word(word: impl Into<String>) -> Node {
    element("span").with("class", "cw-value-word").text(word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// All that a tree says, what is folded in brackets.
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
    fn values_are_shown_as_what_they_are() {
        check(&json!({ "orderId": 7, "note": "" }), 0, "Order id 7 Note empty");
        check(&json!("  "), 0, "\" \"");
        check(&json!({ "a\u{202e}b": "pay \u{202e}001" }), 0, "aU+202E b pay U+202E 001");
        check(&json!({ "": 1 }), 0, "\"\" 1");
        check(&json!([true, null]), 0, "yes none");
    }

    #[test]
    fn what_is_deep_long_or_many_is_folded_and_all_there() {
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
    fn many_small_lists_are_few_elements() {
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
