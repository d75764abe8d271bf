//! GFM footnotes. They are numbered by the labels in the text: counted numbers could change while
//! the text is being written.

use crate::texts::{Text, fill};
use crate::ui::node::{Node, element};
use std::collections::HashSet;

/// The maximum length of a label in bytes; a longer one is text.
const MAX_LABEL_LENGTH: usize = 32;

/// Returns the labels of possible references, `[^label]`, without duplicates.
pub(super) fn reference_labels(text: &str) -> Vec<&str> {
    let mut seen = HashSet::new();
    bracketed_labels(text).map(|(label, _)| label).filter(|label| seen.insert(*label)).collect()
}

/// Returns the labels of possible definitions, `[^label]:`.
pub(super) fn defined_labels(text: &str) -> HashSet<&str> {
    bracketed_labels(text).filter(|(_, rest)| rest.starts_with(':')).map(|(label, _)| label).collect()
}

/// Iterates over the labels in brackets, each with the text that follows it.
fn bracketed_labels(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.match_indices("[^").filter_map(|(at, _)| {
        let rest = &text[at + 2..];
        // Limits the search to the maximum length of a label, so that many opening brackets do not
        // make it quadratic.
        let reach = &rest.as_bytes()[..rest.len().min(MAX_LABEL_LENGTH + 1)];
        let end = reach.iter().position(|byte| *byte == b']')?;
        is_label(&rest[..end]).then(|| (&rest[..end], &rest[end + 1..]))
    })
}

fn is_label(label: &str) -> bool {
    let is_sign = |sign: char| sign.is_alphanumeric() || matches!(sign, '-' | '_');
    !label.is_empty() && label.len() <= MAX_LABEL_LENGTH && label.chars().all(is_sign)
}

/// Renders a reference to a footnote.
pub(super) fn reference_node(label: &str) -> Node {
    let link = element("button").attr("type", "button").attr("class", "cw-md-note-link").attr("data-note", label);
    element("sup").children(vec![link.attr("aria-label", fill(Text::FootnoteNumber, &[label])).text(label)])
}

/// Renders a footnote. A click on its reference moves the focus to it.
pub(super) fn note_node(label: &str, content: Vec<Node>) -> Node {
    let back = element("button").attr("type", "button").attr("class", "cw-md-note-back").attr("data-note", label);
    let back = back.attr("aria-label", fill(Text::BackToFootnote, &[label])).text("↩");
    let number = element("span").attr("class", "cw-md-note-number").text(label);
    let note = element("div").attr("class", "cw-md-note").attr("data-note", label).attr("tabindex", "-1");
    let note = note.attr("role", "note").attr("aria-label", fill(Text::FootnoteNumber, &[label]));
    note.children(vec![number, element("div").children(content), back])
}

#[cfg(test)]
mod tests {
    use super::{defined_labels, reference_labels};
    use std::collections::HashSet;

    #[test]
    fn labels_have_no_duplicates() {
        fn check(text: &str, expected: &[&str]) {
            assert_eq!(reference_labels(text), expected, "{text}");
        }
        check("a[^1] b[^note-2] c[^1]", &["1", "note-2"]);
        check("[^] [^a b] [^", &[]);
        check("[^é]: x [^[^2]]", &["é", "2"]);
    }

    #[test]
    fn definitions_are_distinguished_from_references() {
        assert_eq!(defined_labels("a[^1] [^2]: x\n[^3] :[^é]: [^[^4]:"), HashSet::from(["2", "é", "4"]));
    }
}
