//! Converts passages of Markdown to plain text, for search results.

use super::citation::strip_citations;
use markdown_stream::ReferenceLookup;
use markdown_stream::split::OPTIONS;
use pulldown_cmark::{Event, Parser, Tag, TagEnd};

/// The delimiters of a match while the passage is one text. Removed from the text itself.
const MATCH_START: char = '\u{2}';
const MATCH_END: char = '\u{3}';

/// Removes the markup from a passage. The passage alternates between other text and matches: every
/// second item is a match. It may be cut out of the middle of a text, so that markup may be
/// incomplete.
pub(crate) fn plain_passage(pieces: &[String]) -> Vec<String> {
    let mut source = String::new();
    for (at, piece) in pieces.iter().enumerate() {
        if at > 0 {
            source.push(if at % 2 == 1 { MATCH_START } else { MATCH_END });
        }
        source.extend(piece.chars().filter(|sign| !matches!(*sign, MATCH_START | MATCH_END)));
    }
    let text = strip_unpaired_markers(&plain_text(&strip_citations(&source)));
    text.split([MATCH_START, MATCH_END]).map(str::to_owned).collect()
}

/// Returns the text of a Markdown source on one line.
fn plain_text(source: &str) -> String {
    let mut text = String::new();
    for event in Parser::new_with_broken_link_callback(source, OPTIONS, Some(ReferenceLookup(None))) {
        match event {
            Event::Text(words) | Event::Code(words) | Event::Html(words) | Event::InlineHtml(words) => {
                text.push_str(&words)
            }
            Event::SoftBreak | Event::HardBreak | Event::Rule => text.push(' '),
            Event::End(end) if !is_inline(end) => text.push(' '),
            Event::Start(Tag::FootnoteDefinition(_)) => text.push(' '),
            _ => {}
        }
    }
    text.split(char::is_whitespace).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

fn is_inline(end: TagEnd) -> bool {
    matches!(end, TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough | TagEnd::Link | TagEnd::Image)
}

/// Removes delimiters of emphasis and code whose counterpart was cut off: they touch a word on one
/// side only.
fn strip_unpaired_markers(text: &str) -> String {
    let signs: Vec<char> = text.chars().collect();
    let is_sign = |at: usize| matches!(signs.get(at), Some('*' | '`'));
    let is_gap = |sign: Option<&char>| sign.is_none_or(|sign| sign.is_whitespace());
    let mut plain = String::new();
    let mut at = 0;
    while at < signs.len() {
        let end = (at..).find(|at| !is_sign(*at)).unwrap_or(at);
        if end == at {
            plain.push(signs[at]);
            at += 1;
            continue;
        }
        let before = at.checked_sub(1).and_then(|before| signs.get(before));
        let stands_alone = is_gap(before) && is_gap(signs.get(end));
        let is_between = !is_gap(before)
            && !is_gap(signs.get(end))
            && before.is_some_and(|sign| sign.is_alphanumeric())
            && signs.get(end).is_some_and(|sign| sign.is_alphanumeric());
        if stands_alone || is_between {
            plain.extend(&signs[at..end]);
        }
        at = end;
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Matches are in brackets, in the passage and in the result.
    fn check(passage: &str, expected: &str) {
        let pieces: Vec<String> = passage.split(['[', ']']).map(str::to_owned).collect();
        let plain = plain_passage(&pieces);
        assert_eq!(plain.len(), pieces.len());
        let shown = |(at, piece): (usize, &String)| if at % 2 == 1 { format!("[{piece}]") } else { piece.clone() };
        assert_eq!(plain.iter().enumerate().map(shown).collect::<String>(), expected, "{passage}");
    }

    #[test]
    fn markup_is_removed_from_passages() {
        check("where is my [refund]?", "where is my [refund]?");
        check("*Delete the [article] about*", "Delete the [article] about");
        check("*[Delete] the article", "[Delete] the article");
        check("…delete* / *. Done, **[refunds]** are", "…delete / . Done, [refunds] are");
        check("# A [heading]\n\n- one\n- `two`", "A [heading] one two");
        check("2 * 3 = [6] and a*b", "2 * 3 = [6] and a*b");
        check("snake_case_[name]", "snake_case_[name]");
        check("| a | [b] |\n|---|---|\n| 1 | 2 |", "a [b] 1 2");
        check("", "");
    }
}
