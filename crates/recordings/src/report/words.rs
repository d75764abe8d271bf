//! Differences of texts word by word, and of JSON token by token.

use similar::{ChangeTag, TextDiff};
use std::time::Duration;

/// The number of words around a change that are shown.
const CONTEXT: usize = 6;
/// The longest text that is compared, in bytes; only the beginning of longer ones is.
const MAX_TEXT: usize = 256 * 1024;
/// The time limit of the comparison of two texts; after that the rest counts as replaced.
const MAX_TIME: Duration = Duration::from_secs(2);

/// A piece of a difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// Text of both.
    Same(String),
    /// Text of the recording.
    Removed(String),
    /// Text of the replay.
    Added(String),
}

/// Returns the pieces of the difference between two texts. Longer equal passages are replaced by
/// `…`.
pub(crate) fn pieces(before: &str, after: &str) -> Vec<Piece> {
    let (before, after) = (beginning(before), beginning(after));
    let (before, after) = (tokens(before), tokens(after));
    let diff = TextDiff::configure().timeout(MAX_TIME).diff_slices(&before, &after);
    let mut pieces: Vec<(ChangeTag, Vec<&str>)> = Vec::new();
    for change in diff.iter_all_changes() {
        match pieces.last_mut() {
            Some((tag, words)) if *tag == change.tag() => words.push(change.value()),
            _ => pieces.push((change.tag(), vec![change.value()])),
        }
    }
    let last = pieces.len().saturating_sub(1);
    let piece = |(at, (tag, words)): (usize, (ChangeTag, Vec<&str>))| match tag {
        ChangeTag::Equal => Piece::Same(shortened(&words, at == 0, at == last)),
        ChangeTag::Delete => Piece::Removed(words.concat()),
        ChangeTag::Insert => Piece::Added(words.concat()),
    };
    pieces.into_iter().enumerate().map(piece).collect()
}

/// Splits a text into words and the spaces between them. Outside of quotes, the signs that separate
/// values in JSON are tokens of their own, since JSON need not have spaces.
fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let (mut begin, mut is_quoted, mut is_escaped) = (0, false, false);
    let mut last = None;
    for (at, sign) in text.char_indices() {
        let class = match sign {
            _ if sign.is_whitespace() => Class::Space,
            '{' | '}' | '[' | ']' | ',' | ':' if !is_quoted => Class::Separator,
            _ => Class::Word,
        };
        if last.is_some_and(|last| last != class || class == Class::Separator) {
            tokens.push(&text[begin..at]);
            begin = at;
        }
        last = Some(class);
        // No string of JSON goes over several lines, so an unpaired quote in prose has no effect
        // beyond its line.
        is_quoted = sign != '\n' && is_quoted != (sign == '"' && !is_escaped);
        is_escaped = sign == '\\' && !is_escaped;
    }
    if begin < text.len() {
        tokens.push(&text[begin..]);
    }
    tokens
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Space,
    Separator,
    Word,
}

fn beginning(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_TEXT)]
}

/// Shortens equal words: at the beginning only the last are shown, at the end only the first.
fn shortened(words: &[&str], is_first: bool, is_last: bool) -> String {
    // Words and the spaces between them.
    let kept = CONTEXT * 2;
    let most = if is_first || is_last { kept } else { kept * 2 };
    if words.len() <= most {
        return words.concat();
    }
    let head = if is_first { String::new() } else { words[..kept].concat() };
    let tail = if is_last { String::new() } else { words[words.len() - kept..].concat() };
    format!("{head}…{tail}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_compared_by_words() {
        let check = |before: &str, after: &str, expected: &str| {
            let text: String = pieces(before, after)
                .into_iter()
                .map(|piece| match piece {
                    Piece::Same(text) => text,
                    Piece::Removed(text) => format!("[-{text}-]"),
                    Piece::Added(text) => format!("{{+{text}+}}"),
                })
                .collect();
            assert_eq!(text, expected);
        };
        check("a b c", "a x c", "a [-b-]{+x+} c");
        check("", "new", "{+new+}");
        check("old", "", "[-old-]");
        check("1 2 3 4 5 6 7 8 9 old", "1 2 3 4 5 6 7 8 9 new", "…4 5 6 7 8 9 [-old-]{+new+}");
        check("same", "same", "same");
        check(r#"find {"query":"1234"}"#, r#"find {"number":"1234"}"#, r#"find {[-"query"-]{+"number"+}:"1234"}"#);
        check(
            r#"{"a":"x, \"y\", z","b":[1,2]}"#,
            r#"{"a":"x, \"y\", w","b":[1,3]}"#,
            r#"{"a":"x, \"y\", [-z"-]{+w"+},"b":[1,[-2-]{+3+}]}"#,
        );
    }
}
