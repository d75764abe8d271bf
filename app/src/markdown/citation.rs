//! Citations: numbers of sources within a text. A mark with the number is inserted into the text
//! where a cited passage ends; it is rendered as a button that leads to the source.

use crate::texts::{Text, fill};
use crate::ui::node::{Node, element};
use std::borrow::Cow;
use std::sync::Arc;

/// The delimiters of a mark: control characters, which mean nothing in Markdown and which no model
/// writes.
const BEGIN: char = '\u{e}';
const END: char = '\u{f}';

/// How the [marks](citation_mark) of sources in a text are rendered.
#[derive(Clone)]
pub enum CitationStyle {
    /// Not at all.
    Hidden,
    /// As numbers that lead to the list of sources below the text.
    Listed,
    /// As numbers with the source's title that open a popover. The function returns the id of the
    /// popover and the title for a number.
    Titled(Arc<dyn Fn(usize) -> (String, String) + Send + Sync>),
    /// As numbers that open the passages of documents. The function returns the title of the passage with a number;
    /// other sources have none, and a style of their own.
    Opened {
        /// Returns the title of a passage.
        passage: Arc<dyn Fn(usize) -> Option<String> + Send + Sync>,
        /// How the other sources are rendered.
        others: Box<CitationStyle>,
    },
    /// As links to notes on the same page, which needs no script. The function returns the id of the note.
    Noted(Arc<dyn Fn(usize) -> String + Send + Sync>),
}

/// A part of a text with marks.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum CitationSegment<'t> {
    Text(&'t str),
    Source(&'t str),
}

/// Returns the mark to insert into a text for the source with this number.
pub(crate) fn citation_mark(number: usize) -> String {
    format!("{BEGIN}{number}{END}")
}

/// Removes the marks from a text.
pub(crate) fn strip_citations(text: &str) -> Cow<'_, str> {
    if !text.contains(BEGIN) {
        return Cow::Borrowed(text);
    }
    let texts = split_citations(text).into_iter().filter_map(|piece| match piece {
        CitationSegment::Text(text) => Some(text),
        CitationSegment::Source(_) => None,
    });
    Cow::Owned(texts.collect())
}

/// Replaces the marks in a text by references to Markdown footnotes.
pub(crate) fn footnoted(text: &str) -> Cow<'_, str> {
    if !text.contains(BEGIN) {
        return Cow::Borrowed(text);
    }
    let written = split_citations(text).into_iter().map(|piece| match piece {
        CitationSegment::Text(text) => Cow::Borrowed(text),
        CitationSegment::Source(number) => Cow::Owned(format!("[^{number}]")),
    });
    Cow::Owned(written.collect())
}

/// Splits a text into plain text and marks, in order.
pub(super) fn split_citations(text: &str) -> Vec<CitationSegment<'_>> {
    let mut found = Vec::new();
    for (at, piece) in text.split(BEGIN).enumerate() {
        let is_number = |number: &str| !number.is_empty() && number.bytes().all(|sign| sign.is_ascii_digit());
        let marked = piece.split_once(END).filter(|(number, _)| at > 0 && is_number(number));
        let (number, text) = marked.map_or((None, piece), |(number, text)| (Some(number), text));
        found.extend(number.map(CitationSegment::Source));
        found.extend(Some(text).filter(|text| !text.is_empty()).map(CitationSegment::Text));
    }
    found
}

/// Returns the button for the number of a source.
pub(super) fn citation_node(number: &str, marks: &CitationStyle) -> Option<Node> {
    if let CitationStyle::Noted(of) = marks {
        let link = element("a").attr("class", "cw-md-cite").attr("href", format!("#{}", of(number.parse().ok()?)));
        return Some(link.attr("aria-label", fill(Text::SourceNumber, &[number])).text(number));
    }
    let button = element("button").attr("type", "button");
    if let CitationStyle::Opened { passage, others } = marks {
        return match passage(number.parse().ok()?) {
            Some(title) => {
                let label = fill(Text::SourceNamed, &[number, &title]);
                let button = button.attr("class", "cw-md-cite cw-passage").attr("data-source", number);
                Some(button.attr("aria-haspopup", "dialog").attr("aria-label", label).text(number))
            }
            None => citation_node(number, others),
        };
    }
    let button = button.attr("class", "cw-md-cite");
    let button = match marks {
        CitationStyle::Hidden | CitationStyle::Noted(_) | CitationStyle::Opened { .. } => return None,
        CitationStyle::Listed => {
            button.attr("data-source", number).attr("aria-label", fill(Text::SourceNumber, &[number]))
        }
        CitationStyle::Titled(of) => {
            let (popover, title) = of(number.parse().ok()?);
            button.attr("popovertarget", popover).attr("aria-label", fill(Text::SourceNamed, &[number, &title]))
        }
    };
    Some(button.text(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_split_off_and_removed() {
        let text = format!("one{}{}, two{}", citation_mark(1), citation_mark(12), citation_mark(3));
        let expected = [
            CitationSegment::Text("one"),
            CitationSegment::Source("1"),
            CitationSegment::Source("12"),
            CitationSegment::Text(", two"),
            CitationSegment::Source("3"),
        ];
        assert_eq!(split_citations(&text), expected);
        assert_eq!(strip_citations(&text), "one, two");
        assert_eq!(footnoted(&text), "one[^1][^12], two[^3]");
        // An incomplete mark stays text.
        assert_eq!(strip_citations("a\u{e}b\u{f}c"), "ab\u{f}c");
    }
}
