//! Footnotes, as GFM has them. Their numbers are the labels that the text gives them: a number that counts could change while the text
//! is being written.

use crate::node::{Node, element};
use crate::texts::{Text, fill};
use std::collections::HashSet;

/// Longer labels are text.
const LONGEST: usize = 32;

/// The labels of what looks like a reference, `[^label]`, each once.
pub(super) fn labels(text: &str) -> Vec<&str> {
    let mut seen = HashSet::new();
    bracketed(text).map(|(label, _)| label).filter(|label| seen.insert(*label)).collect()
}

/// The labels of what looks like a note, `[^label]:`.
pub(super) fn defined(text: &str) -> HashSet<&str> {
    bracketed(text).filter(|(_, rest)| rest.starts_with(':')).map(|(label, _)| label).collect()
}

/// Each label in brackets, with what stands behind it.
fn bracketed(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.match_indices("[^").filter_map(|(at, _)| {
        let rest = &text[at + 2..];
        // No further than a label may reach, so that a text of beginnings is not read to its end for each of them.
        let reach = &rest.as_bytes()[..rest.len().min(LONGEST + 1)];
        let end = reach.iter().position(|byte| *byte == b']')?;
        is_label(&rest[..end]).then(|| (&rest[..end], &rest[end + 1..]))
    })
}

fn is_label(label: &str) -> bool {
    let is_sign = |sign: char| sign.is_alphanumeric() || matches!(sign, '-' | '_');
    !label.is_empty() && label.len() <= LONGEST && label.chars().all(is_sign)
}

/// The number in the text.
pub(super) fn reference(label: &str) -> Node {
    let link = element("button").with("type", "button").with("class", "cw-md-note-link").with("data-note", label);
    element("sup").around(vec![link.with("aria-label", fill(Text::FootnoteNumber, &[label])).text(label)])
}

/// The note itself. It takes the focus of whoever comes from its number.
pub(super) fn note(label: &str, content: Vec<Node>) -> Node {
    let back = element("button").with("type", "button").with("class", "cw-md-note-back").with("data-note", label);
    let back = back.with("aria-label", fill(Text::BackToFootnote, &[label])).text("↩");
    let number = element("span").with("class", "cw-md-note-number").text(label);
    let note = element("div").with("class", "cw-md-note").with("data-note", label).with("tabindex", "-1");
    let note = note.with("role", "note").with("aria-label", fill(Text::FootnoteNumber, &[label]));
    note.around(vec![number, element("div").around(content), back])
}

#[cfg(test)]
mod tests {
    use super::{defined, labels};
    use std::collections::HashSet;

    #[test]
    fn labels_are_found_once_each() {
        fn check(text: &str, expected: &[&str]) {
            assert_eq!(labels(text), expected, "{text}");
        }
        check("a[^1] b[^note-2] c[^1]", &["1", "note-2"]);
        check("[^] [^a b] [^", &[]);
        check("[^é]: x [^[^2]]", &["é", "2"]);
    }

    #[test]
    fn notes_are_told_from_references() {
        assert_eq!(defined("a[^1] [^2]: x\n[^3] :[^é]: [^[^4]:"), HashSet::from(["2", "é", "4"]));
    }
}
