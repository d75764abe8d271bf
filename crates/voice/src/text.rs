//! The text of an answer that is read aloud, and its parts, which are read one after the other.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use std::mem;

/// The longest part in characters; services read at most 4,096.
const MAX_PART: usize = 1_000;
/// The length of the first part, which the user waits for, unless its first sentence is longer.
const FIRST_PART: usize = 200;
/// Where a sentence is too long for a part, it ends at a space among these last characters, if there is one.
const SLACK: usize = 100;

/// Returns the words of Markdown that can be read aloud: no code, pictures, footnotes and marks.
pub(crate) fn spoken_text(markdown: &str) -> String {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_FOOTNOTES;
    let (mut text, mut silent) = (String::new(), 0_usize);
    for event in Parser::new_ext(markdown, options) {
        match event {
            Event::Start(Tag::CodeBlock(_) | Tag::Image { .. } | Tag::FootnoteDefinition(_)) => silent += 1,
            Event::End(TagEnd::CodeBlock | TagEnd::Image | TagEnd::FootnoteDefinition) => {
                silent = silent.saturating_sub(1);
            }
            Event::Text(words) | Event::Code(words) if silent == 0 => text.push_str(&words),
            Event::SoftBreak | Event::HardBreak => text.push(' '),
            Event::End(TagEnd::TableCell) => text.push_str(", "),
            Event::End(
                TagEnd::Paragraph | TagEnd::Heading(_) | TagEnd::Item | TagEnd::TableHead | TagEnd::TableRow,
            ) => text.push('\n'),
            _ => {}
        }
    }
    text
}

/// Splits a text into parts of whole sentences. Characters after the first `most` are left out.
pub(crate) fn parts(text: &str, most: usize) -> Vec<String> {
    let text: String = text.chars().take(most).collect();
    let (mut parts, mut part) = (Vec::new(), String::new());
    for piece in sentences(&text).into_iter().flat_map(pieces) {
        let longest = if parts.is_empty() { FIRST_PART } else { MAX_PART };
        if !part.is_empty() && part.chars().count() + piece.chars().count() >= longest {
            parts.push(mem::take(&mut part));
        }
        if !part.is_empty() {
            part.push(' ');
        }
        part.push_str(&piece);
    }
    if !part.is_empty() {
        parts.push(part);
    }
    parts
}

/// Returns the sentences and lines that have words.
fn sentences(text: &str) -> Vec<&str> {
    let (mut found, mut start) = (Vec::new(), 0);
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let is_end = match c {
            // The marks of Chinese and Japanese stand without a space.
            '\n' | '\u{3002}' | '\u{ff01}' | '\u{ff1f}' => true,
            '.' | '!' | '?' | '\u{2026}' => chars.peek().is_none_or(|(_, next)| next.is_whitespace()),
            _ => false,
        };
        if is_end {
            let end = at + c.len_utf8();
            found.push(text[start..end].trim());
            start = end;
        }
    }
    found.push(text[start..].trim());
    found.retain(|sentence| sentence.chars().any(char::is_alphanumeric));
    found
}

/// Splits a sentence that is too long for a part.
fn pieces(sentence: &str) -> Vec<String> {
    let (mut pieces, mut piece, mut length) = (Vec::new(), String::new(), 0_usize);
    for c in sentence.chars() {
        if length >= MAX_PART || (length >= MAX_PART - SLACK && c.is_whitespace()) {
            pieces.push(mem::take(&mut piece).trim().to_owned());
            length = 0;
        }
        piece.push(c);
        length += 1;
    }
    pieces.push(piece.trim().to_owned());
    pieces.retain(|piece| !piece.is_empty());
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn marks_and_code_are_not_read() {
        let check = |markdown: &str, expected: &str| assert_eq!(spoken_text(markdown).trim(), expected, "{markdown}");
        check("# Refunds\n\nWithin **30** days.", "Refunds\nWithin 30 days.");
        check("See [the page](https://example.com/x) and `a.rs`.", "See the page and a.rs.");
        check("Before\n\n```rust\nfn main() {}\n```\n\nafter", "Before\nafter");
        check("![A cat](cat.png) sits[^1].\n\n[^1]: Really.", "sits.");
        check("- one\n- two", "one\ntwo");
        check("| a | b |\n|---|---|\n| 1 | 2 |", "a, b, \n1, 2,");
        check("one<br>two <script>x</script>", "onetwo x");
    }

    #[test]
    fn parts_are_whole_sentences() {
        let check = |text: &str, most: usize, expected: &[&str]| assert_eq!(parts(text, most), expected, "{text}");
        check("One. Two! Three?", 100, &["One. Two! Three?"]);
        check("Version 1.5 is out.\n\n***\nGet it", 100, &["Version 1.5 is out. Get it"]);
        check("One. Two. Three.", 9, &["One. Two."]);
        check("\u{4e00}\u{3002}\u{4e8c}\u{3002}", 9, &["\u{4e00}\u{3002} \u{4e8c}\u{3002}"]);
        check(" \n-\n", 9, &[]);
        let lengths = |text: &str| parts(text, 10_000).iter().map(|part| part.chars().count()).collect::<Vec<_>>();
        // The first part is short, so that it is heard soon.
        assert_eq!(lengths(&"Nine more. ".repeat(200)), [197, 1_000, 1_000]);
        assert_eq!(lengths(&"word ".repeat(500)), [904, 899, 694]);
        assert_eq!(lengths(&"x".repeat(2_500)), [1_000, 1_000, 500]);
    }

    proptest! {
        #[test]
        fn any_text_becomes_parts_within_the_bound(text in "(?s).{0,3000}", most in 0_usize..3_000) {
            let parts = parts(&spoken_text(&text), most);
            prop_assert!(parts.iter().all(|part| (1..=MAX_PART).contains(&part.chars().count())));
            prop_assert!(parts.iter().map(|part| part.chars().count()).sum::<usize>() <= most + parts.len() + most);
        }
    }
}
