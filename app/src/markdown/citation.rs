//! Numbers of sources within a text: a mark is put into it where a passage ends, and becomes a number that leads to the source.

use crate::node::{Node, element};
use crate::texts::{Text, fill};
use std::borrow::Cow;
use std::sync::Arc;

/// Around the number: control characters, which mean nothing to Markdown and which no model writes.
const BEGIN: char = '\u{e}';
const END: char = '\u{f}';

/// What becomes of the [marks](mark) of sources in a text.
#[derive(Clone)]
pub enum Marks {
    /// Nothing.
    Hidden,
    /// Numbers that lead to the list of sources below the text.
    Listed,
    /// Numbers that say what they stand for, and open it: given the number, the id of the popover and the title.
    Named(Arc<dyn Fn(usize) -> (String, String) + Send + Sync>),
}

/// A piece of a text with marks.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece<'t> {
    Text(&'t str),
    Source(&'t str),
}

/// What is put into a text for the source of this number.
pub(crate) fn mark(number: usize) -> String {
    format!("{BEGIN}{number}{END}")
}

/// A text without its marks.
pub(crate) fn without_marks(text: &str) -> Cow<'_, str> {
    if !text.contains(BEGIN) {
        return Cow::Borrowed(text);
    }
    let texts = pieces(text).into_iter().filter_map(|piece| match piece {
        Piece::Text(text) => Some(text),
        Piece::Source(_) => None,
    });
    Cow::Owned(texts.collect())
}

/// The pieces of a text, in order.
pub(super) fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut found = Vec::new();
    for (at, piece) in text.split(BEGIN).enumerate() {
        let is_number = |number: &str| !number.is_empty() && number.bytes().all(|sign| sign.is_ascii_digit());
        let marked = piece.split_once(END).filter(|(number, _)| at > 0 && is_number(number));
        let (number, text) = marked.map_or((None, piece), |(number, text)| (Some(number), text));
        found.extend(number.map(Piece::Source));
        found.extend(Some(text).filter(|text| !text.is_empty()).map(Piece::Text));
    }
    found
}

/// The number of a source, which leads to it.
pub(super) fn number(number: &str, marks: &Marks) -> Option<Node> {
    let button = element("button").with("type", "button").with("class", "cw-md-cite");
    let button = match marks {
        Marks::Hidden => return None,
        Marks::Listed => button.with("data-source", number).with("aria-label", fill(Text::SourceNumber, &[number])),
        Marks::Named(of) => {
            let (popover, title) = of(number.parse().ok()?);
            button.with("popovertarget", popover).with("aria-label", fill(Text::SourceNamed, &[number, &title]))
        }
    };
    Some(button.text(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_found_and_left_out() {
        let text = format!("one{}{}, two{}", mark(1), mark(12), mark(3));
        let expected =
            [Piece::Text("one"), Piece::Source("1"), Piece::Source("12"), Piece::Text(", two"), Piece::Source("3")];
        assert_eq!(pieces(&text), expected);
        assert_eq!(without_marks(&text), "one, two");
        // What is no mark stays text.
        assert_eq!(without_marks("a\u{e}b\u{f}c"), "ab\u{f}c");
    }
}
