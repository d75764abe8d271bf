//! Shows JSON in a readable form: keys as words with their values, arrays as lists.
//!
//! No part of a value is omitted: values that are nested too deeply, are too long, or have too many entries are folded,
//! and a call cannot be approved until the user has opened them. Invisible characters are marked, see
//! [`crate::ui::hidden_characters`].

use crate::page_state::label_from_id;
use crate::texts;
use crate::texts::{Text, fill, t};
use crate::ui::hidden_characters::{TextKind, escaped_json, visible_nodes};
use crate::ui::node::{Node, element};
use crate::ui::numbers;
use crate::ui::web_link::web_link;
use markdown_stream::link::{LinkSegment, allowed_url, split_bare_urls};
use serde_json::{Map, Value};

/// Values nested more deeply are folded.
const MAX_DEPTH: usize = 6;
/// The number of entries of an array or object that are shown; the others are folded.
pub(crate) const MAX_ENTRIES: usize = 100;
/// The number of entries of a whole value that are drawn as elements.
const MAX_TOTAL: usize = 2_000;
/// The number of web addresses in a whole value that are links; the others are text.
const MAX_LINKS: usize = 500;
/// The number of bytes and lines up to which a text needs no scroll bar in the narrowest card.
const MAY_SCROLL: (usize, usize) = (400, 9);
/// The number of bytes after which the rest of a text is folded.
const MAX_TEXT: usize = 20_000;
/// The number of lines after which the rest of a text is folded.
const MAX_LINES: usize = 200;
/// The same limit for keys.
const MAX_KEY: usize = 200;
/// The class of folded parts.
const FOLDED: &str = "cw-value-more";

/// The bounds of the rest of a value.
struct Budget {
    entries: usize,
    links: usize,
}

/// A value as nodes.
pub(crate) fn value_nodes(value: &Value) -> Vec<Node> {
    nodes_at(value, None, 0, &mut Budget { entries: MAX_TOTAL, links: 0 })
}

/// The result of a tool as nodes. Web addresses in it are links by the rules of Markdown, unlike those in arguments,
/// which are shown exactly as they are sent.
pub(crate) fn result_value_nodes(value: &Value) -> Vec<Node> {
    nodes_at(value, None, 0, &mut Budget { entries: MAX_TOTAL, links: MAX_LINKS })
}

/// A part of a call's arguments as nodes. `others` are the arguments that are shown elsewhere on the
/// card: a key that would look like one of theirs is shown as it is written.
pub(crate) fn argument_nodes(value: &Value, others: Option<&Value>) -> Vec<Node> {
    let budget = &mut Budget { entries: MAX_TOTAL, links: 0 };
    nodes_at(value, others.and_then(Value::as_object), 0, budget)
}

/// The number of folded parts in a tree.
pub(crate) fn folded_parts(nodes: &[Node]) -> usize {
    let folded = |node: &Node| match node {
        Node::Text(_) => 0,
        Node::Element { attributes, .. } if attributes.iter().any(|(_, value)| value == FOLDED) => 1,
        Node::Element { children, .. } => folded_parts(children),
    };
    nodes.iter().map(folded).sum()
}

fn nodes_at(value: &Value, others: Option<&Map<String, Value>>, depth: usize, budget: &mut Budget) -> Vec<Node> {
    match value {
        Value::Null => vec![label_node(t(Text::ValueNone))],
        Value::Bool(true) => vec![label_node(t(Text::ValueYes))],
        Value::Bool(false) => vec![label_node(t(Text::ValueNo))],
        Value::Number(number) => long_text(&number.to_string(), MAX_TEXT),
        Value::String(content) if content.is_empty() => vec![label_node(t(Text::ValueEmpty))],
        // A text of spaces would look empty, so it is shown in quotes.
        Value::String(content) if content.trim().is_empty() => long_text(&value.to_string(), MAX_TEXT),
        Value::String(content) => linked_text(content, MAX_TEXT, &mut budget.links),
        Value::Array(items) if items.is_empty() => vec![label_node(t(Text::ValueNone))],
        Value::Object(entries) if entries.is_empty() => vec![label_node(t(Text::ValueNone))],
        Value::Array(items) if depth >= MAX_DEPTH || budget.entries == 0 => vec![folded_json(items.len(), value)],
        Value::Object(entries) if depth >= MAX_DEPTH || budget.entries == 0 => vec![folded_json(entries.len(), value)],
        Value::Array(items) => {
            let count = reserve_entries(budget, items.len());
            let shown =
                items[..count].iter().map(|item| element("li").children(nodes_at(item, None, depth + 1, budget)));
            let mut nodes = vec![element("ul").attr("class", "cw-value-list").children(shown.collect())];
            if count < items.len() {
                nodes.push(folded_json(items.len() - count, &Value::from(&items[count..])));
            }
            nodes
        }
        Value::Object(entries) => {
            let count = reserve_entries(budget, entries.len());
            let labels: Vec<_> =
                entries.keys().chain(others.into_iter().flat_map(Map::keys)).map(|key| key_label(key)).collect();
            let shown = entries.iter().zip(&labels).take(count).map(|((key, value), label)| {
                let is_unique = labels.iter().filter(|other| *other == label).count() == 1;
                let key = long_text(if is_unique { label } else { key }, MAX_KEY);
                let content = element("dd").children(nodes_at(value, None, depth + 1, budget));
                element("div").children(vec![element("dt").children(key), content])
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

/// Returns how many of `count` entries are drawn, and subtracts them from the budget.
fn reserve_entries(budget: &mut Budget, count: usize) -> usize {
    let count = count.min(MAX_ENTRIES).min(budget.entries);
    budget.entries -= count;
    count
}

/// A key as words. A key that is no identifier stays unchanged, and one that begins or ends with a
/// separator is shown in quotes.
fn key_label(key: &str) -> String {
    let is_name = |sign: char| sign.is_alphanumeric() || is_separator(sign);
    if key.is_empty() || key.starts_with(is_separator) || key.ends_with(is_separator) {
        return Value::from(key).to_string();
    }
    if key.chars().all(is_name) { label_from_id(key) } else { key.to_owned() }
}

fn is_separator(sign: char) -> bool {
    matches!(sign, '_' | '-' | '.' | ' ')
}

/// Folded entries, as JSON.
fn folded_json(count: usize, value: &Value) -> Node {
    let json = serde_json::to_string_pretty(value).unwrap_or_default();
    let label = if count == 1 { t(Text::ShowOneEntry).to_owned() } else { texts::fill_count(Text::ShowEntries, count) };
    folded(label, json_node(&json))
}

/// JSON as text, with invisible characters escaped.
pub(crate) fn json_node(json: &str) -> Node {
    let pre = element("pre").attr("class", "cw-value-json").attr("tabindex", "0").attr("dir", "ltr");
    pre.text(escaped_json(json))
}

fn folded(label: String, content: Node) -> Node {
    element("details").attr("class", FOLDED).children(vec![element("summary").text(label), content])
}

/// A text without links; beyond `most` bytes or [`MAX_LINES`] lines it is folded.
fn long_text(content: &str, most: usize) -> Vec<Node> {
    linked_text(content, most, &mut 0)
}

/// A text in which up to `links` web addresses are links; beyond `most` bytes or [`MAX_LINES`] lines it is folded.
fn linked_text(content: &str, most: usize, links: &mut usize) -> Vec<Node> {
    let lines = content.match_indices('\n').nth(MAX_LINES).map_or(content.len(), |(at, _)| at);
    let shown = content.floor_char_boundary(most).min(lines);
    if shown == content.len() {
        return vec![text_node(content, links)];
    }
    let (begin, rest) = content.split_at(shown);
    let label = fill(Text::ShowRest, &[&numbers::byte_size(rest.len() as u64)]);
    // An address may go on behind the place where the text is divided.
    vec![text_node(begin, &mut 0), folded(label, text_node(rest, &mut 0))]
}

/// A list, and the number of entries that are not shown.
pub(crate) fn with_remainder(list: Node, count: usize) -> Vec<Node> {
    if count <= MAX_ENTRIES {
        return vec![list];
    }
    vec![list, label_node(texts::fill_count(Text::AndMore, count - MAX_ENTRIES))]
}

/// A text truncated to a length that is readable in a card.
pub(crate) fn truncated(text: &str) -> String {
    if text.len() <= MAX_TEXT {
        return text.to_owned();
    }
    format!("{}…", &text[..text.floor_char_boundary(MAX_TEXT)])
}

/// `dir` isolates the text, so that its characters do not reorder the text around it.
fn text_node(text: &str, links: &mut usize) -> Node {
    let nodes = if *links == 0 { visible_nodes(text, TextKind::Value) } else { nodes_with_links(text, links) };
    let shown = element("span").attr("class", "cw-value-text").attr("dir", "auto").children(nodes);
    // A text that may scroll must be reachable with the keyboard.
    let may_scroll = text.len() > MAY_SCROLL.0 || text.lines().nth(MAY_SCROLL.1).is_some();
    if may_scroll { shown.attr("tabindex", "0") } else { shown }
}

/// A text whose web addresses are links, up to `links`.
fn nodes_with_links(text: &str, links: &mut usize) -> Vec<Node> {
    let mut nodes = Vec::new();
    for segment in split_bare_urls(text) {
        match segment {
            LinkSegment::Url(url) if *links > 0 && allowed_url(url).is_some() => {
                *links -= 1;
                nodes.push(web_link(url).children(visible_nodes(url, TextKind::Value)));
            }
            LinkSegment::Text(part) | LinkSegment::Url(part) => nodes.extend(visible_nodes(part, TextKind::Value)),
        }
    }
    nodes
}

/// A label of the UI, as opposed to data.
pub(crate) fn label_node(word: impl Into<String>) -> Node {
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
        check(&json!({ "_": 1 }), 0, "\"_\" 1");
        check(&json!([true, null]), 0, "yes none");
    }

    #[test]
    fn keys_that_would_look_the_same_are_shown_as_written() {
        let keys = json!({ "toAddress": 1, "to-address": 2, "to_address": 3, "amount": 4, "amount_": 5 });
        check(&keys, 0, "toAddress 1 to-address 2 to_address 3 Amount 4 \"amount_\" 5");
        let nodes = argument_nodes(&json!({ "to_address": 1, "sum": 2 }), Some(&json!({ "toAddress": 3 })));
        assert_eq!(said(&nodes).split_whitespace().collect::<Vec<_>>(), ["to_address", "1", "Sum", "2"]);
    }

    #[test]
    fn blank_lines_do_not_hide_the_end() {
        let value = json!(format!("pay 1 EUR{}and more", "\n".repeat(150)));
        check(&value, 0, "pay 1 EUR U+000A ×146 and more");
        let value = json!(format!("pay 1 EUR{}and more", "\n.".repeat(MAX_LINES + 1)));
        assert_eq!(folded_parts(&value_nodes(&value)), 1);
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

    /// The addresses of the links in a tree.
    fn addresses(nodes: &[Node]) -> Vec<&str> {
        let mut found = Vec::new();
        for node in nodes {
            if let Node::Element { attributes, children, .. } = node {
                found.extend(attributes.iter().filter(|(name, _)| *name == "href").map(|(_, url)| url.as_str()));
                found.extend(addresses(children));
            }
        }
        found
    }

    /// Only in results, and by the rules of Markdown.
    #[test]
    fn web_addresses_in_results_are_links() {
        let check = |value: Value, expected: &[&str]| {
            assert_eq!(addresses(&result_value_nodes(&value)), expected, "{value}");
            assert!(addresses(&value_nodes(&value)).is_empty() && addresses(&argument_nodes(&value, None)).is_empty());
        };
        check(json!({ "page": "https://a.example/x?y=1" }), &["https://a.example/x?y=1"]);
        check(
            json!(["See http://a.example/x. Or not.", "https://b.example"]),
            &["http://a.example/x", "https://b.example"],
        );
        check(json!({ "https://key.example": "javascript:alert(1)" }), &[]);
        check(
            json!(["https://bank.example@evil.test/", "https:///a@evil.test", "data:text/html,x", "ftp://a.example"]),
            &[],
        );
        check(json!([[[[[[["https://folded.example"]]]]]]]), &[]);
        let many = json!("https://a.example/ ".repeat(MAX_LINKS + 100));
        assert_eq!(addresses(&result_value_nodes(&many)).len(), MAX_LINKS);
        let hidden = json!("https://a.example/\u{202e}x");
        assert!(said(&result_value_nodes(&hidden)).contains("U+202E"));
        let long = json!(format!("{} https://a.example/1234", "x".repeat(MAX_TEXT - 20)));
        check(long, &[]);
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
