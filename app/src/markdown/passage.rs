//! A passage of Markdown as plain text, for the results of a search.

use super::citation::without_marks;
use super::document::Lookup;
use super::split::OPTIONS;
use pulldown_cmark::{Event, Parser, Tag, TagEnd};

/// Stand around what was found while the passage is one text. No text that is shown has them.
const BEGIN: char = '\u{2}';
const END: char = '\u{3}';

/// Takes the markup out of a passage, which is given in pieces: every second one was found. It may be cut out of the middle of a
/// text, so markup may have no end.
pub(crate) fn plain_passage(pieces: &[String]) -> Vec<String> {
    let mut source = String::new();
    for (at, piece) in pieces.iter().enumerate() {
        if at > 0 {
            source.push(if at % 2 == 1 { BEGIN } else { END });
        }
        source.extend(piece.chars().filter(|sign| !matches!(*sign, BEGIN | END)));
    }
    let text = without_loose_signs(&plain(&without_marks(&source)));
    text.split([BEGIN, END]).map(str::to_owned).collect()
}

/// The words of a text in Markdown, on one line.
fn plain(source: &str) -> String {
    let mut text = String::new();
    for event in Parser::new_with_broken_link_callback(source, OPTIONS, Some(Lookup(None))) {
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

/// Without signs of emphasis and code whose other half was cut off: they touch a word on one side only.
fn without_loose_signs(text: &str) -> String {
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

    /// What was found stands in brackets, in the passage and in the text.
    fn check(passage: &str, expected: &str) {
        let pieces: Vec<String> = passage.split(['[', ']']).map(str::to_owned).collect();
        let plain = plain_passage(&pieces);
        assert_eq!(plain.len(), pieces.len());
        let shown = |(at, piece): (usize, &String)| if at % 2 == 1 { format!("[{piece}]") } else { piece.clone() };
        assert_eq!(plain.iter().enumerate().map(shown).collect::<String>(), expected, "{passage}");
    }

    #[test]
    fn passages_are_plain_text() {
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
