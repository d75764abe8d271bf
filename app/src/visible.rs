//! Makes characters visible that a reader cannot see: what is shown must be what will run, and a name must not look like
//! another one.
//!
//! A text is split into pieces that are shown as they are and runs of hidden characters, which are shown as a small marked box
//! with their code points (`U+202E`). How much counts as hidden depends on the [`Kind`] of text: writing systems need some of
//! these characters, and there they are not marked.

use crate::node::{Node, element};
use crate::texts::{Text, fill};
use std::borrow::Cow;
use std::fmt::Write;
use std::ops::Range;

/// What a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// An argument, a result, the name of a tool or a file: every hidden character is marked.
    Value,
    /// Source code: as prose, but every control of direction is marked.
    Code,
    /// Words of people or of a model: characters that writing systems and emoji need are left alone.
    Prose,
}

/// A part of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Piece<'t> {
    /// Shown as it is.
    Text(&'t str),
    /// A run of hidden characters.
    Hidden(&'t str),
}

/// Of one text at most this many runs become boxes; what follows is shown with escapes, in one piece.
const MAX_BOXES: usize = 300;

/// Characters without a glyph of their own: `Default_Ignorable_Code_Point` of Unicode 16 (DerivedCoreProperties.txt), the
/// controls (general category Cc), the separators of lines and paragraphs (Zl, Zp), the annotation characters and the blank
/// Braille pattern. A test compares the list with the tables of the `regex` crate.
const HIDDEN: [(char, char); 21] = [
    ('\u{0}', '\u{1f}'),
    ('\u{7f}', '\u{9f}'),
    ('\u{ad}', '\u{ad}'),
    ('\u{34f}', '\u{34f}'),
    ('\u{61c}', '\u{61c}'),
    ('\u{115f}', '\u{1160}'),
    ('\u{17b4}', '\u{17b5}'),
    ('\u{180b}', '\u{180f}'),
    ('\u{200b}', '\u{200f}'),
    ('\u{2028}', '\u{2029}'),
    ('\u{202a}', '\u{202e}'),
    ('\u{2060}', '\u{206f}'),
    ('\u{2800}', '\u{2800}'),
    ('\u{3164}', '\u{3164}'),
    ('\u{fe00}', '\u{fe0f}'),
    ('\u{feff}', '\u{feff}'),
    ('\u{ffa0}', '\u{ffa0}'),
    ('\u{fff0}', '\u{fffb}'),
    ('\u{1bca0}', '\u{1bca3}'),
    ('\u{1d173}', '\u{1d17a}'),
    ('\u{e0000}', '\u{e0fff}'),
];

/// Whether a reader sees nothing of the character, line breaks and tabs excepted.
fn is_hidden(sign: char) -> bool {
    let at = HIDDEN.partition_point(|(_, last)| *last < sign);
    HIDDEN.get(at).is_some_and(|(first, _)| *first <= sign) && !matches!(sign, '\n' | '\t')
}

/// Whether prose may hold the character without a mark: joiners (emoji, Indic scripts, Persian), marks of direction (Arabic,
/// Hebrew), selectors of variants (emoji, Mongolian), fillers and invisible breaks. Overrides, embeddings and isolates are judged
/// by [`unbalanced`], tags and supplementary selectors by what stands before them.
fn is_of_writing(sign: char) -> bool {
    matches!(
        sign,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{2800}' | '\u{fe00}'..='\u{fe0f}' | '\r'
    )
}

fn is_of_direction(sign: char) -> bool {
    matches!(sign, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Splits a text. The pieces in their order are the text.
pub(crate) fn pieces(text: &str, kind: Kind) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut begin = 0;
    for run in hidden_runs(text, kind) {
        if begin < run.start {
            pieces.push(Piece::Text(&text[begin..run.start]));
        }
        begin = run.end;
        pieces.push(Piece::Hidden(&text[run]));
    }
    if begin < text.len() {
        pieces.push(Piece::Text(&text[begin..]));
    }
    pieces
}

fn hidden_runs(text: &str, kind: Kind) -> Vec<Range<usize>> {
    // Most texts have none.
    if !text.chars().any(is_hidden) {
        return Vec::new();
    }
    let unbalanced = if kind == Kind::Prose { unbalanced(text) } else { Vec::new() };
    let mut runs: Vec<Range<usize>> = Vec::new();
    let mut before = None;
    let mut flag_until = 0;
    for (at, sign) in text.char_indices() {
        let end = at + sign.len_utf8();
        if sign == FLAG {
            flag_until = end + flag_tags(&text[end..]);
        }
        let is_shown = match sign {
            _ if !is_hidden(sign) => true,
            // The two characters of a line break that Windows writes.
            '\r' => text[end..].starts_with('\n'),
            _ if kind == Kind::Value => false,
            _ if is_of_direction(sign) => kind == Kind::Prose && unbalanced.binary_search(&at).is_err(),
            '\u{e0100}'..='\u{e01ef}' => before.is_some_and(|before| !is_hidden(before)),
            _ => is_of_writing(sign) || at < flag_until,
        };
        if !is_shown {
            match runs.last_mut() {
                Some(last) if last.end == at => last.end = end,
                _ => runs.push(at..end),
            }
        }
        before = Some(sign);
    }
    runs
}

/// The black flag with which emoji of regions begin; tags follow.
const FLAG: char = '\u{1f3f4}';

/// The bytes of the tags that make a flag that of a region: at most six, then the tag that ends them.
fn flag_tags(after: &str) -> usize {
    let tags = after.chars().take_while(|sign| matches!(sign, '\u{e0030}'..='\u{e007a}')).count();
    let length = tags * '\u{e0030}'.len_utf8();
    let is_whole = (3..=6).contains(&tags) && after[length..].starts_with('\u{e007f}');
    if is_whole { length + '\u{e007f}'.len_utf8() } else { 0 }
}

/// Where the controls of direction stand that reorder what others see: overrides with their ends, and embeddings and isolates
/// that are not closed within their paragraph, or close nothing. In the order of the text.
fn unbalanced(text: &str) -> Vec<usize> {
    let mut found = Vec::new();
    // What is open, outermost first: its place and the character.
    let mut open: Vec<(usize, char)> = Vec::new();
    for (at, sign) in text.char_indices() {
        match sign {
            '\n' | '\r' | '\u{85}' | '\u{2029}' => found.extend(open.drain(..).map(|(at, _)| at)),
            '\u{202a}' | '\u{202b}' | '\u{202d}' | '\u{202e}' | '\u{2066}'..='\u{2068}' => open.push((at, sign)),
            '\u{202c}' => match open.last() {
                Some((_, '\u{202a}' | '\u{202b}')) => drop(open.pop()),
                Some((_, '\u{202d}' | '\u{202e}')) => {
                    found.push(at);
                    found.extend(open.pop().map(|(at, _)| at));
                }
                _ => found.push(at),
            },
            '\u{2069}' => match open.iter().rposition(|(_, sign)| ('\u{2066}'..='\u{2068}').contains(sign)) {
                Some(isolate) => {
                    // What was opened within it ends here without an end of its own.
                    found.extend(open.drain(isolate + 1..).map(|(at, _)| at));
                    open.pop();
                }
                None => found.push(at),
            },
            _ => {}
        }
    }
    found.extend(open.into_iter().map(|(at, _)| at));
    found.sort_unstable();
    found
}

/// A text as nodes, its hidden characters as boxes.
pub(crate) fn nodes(text: &str, kind: Kind) -> Vec<Node> {
    let mut boxes = 0;
    let mut at = 0;
    let mut nodes = Vec::new();
    for piece in pieces(text, kind) {
        let (Piece::Text(part) | Piece::Hidden(part)) = piece;
        if boxes == MAX_BOXES {
            nodes.push(element("code").with("class", "cw-hidden-rest").with("dir", "ltr").text(quoted(&text[at..])));
            break;
        }
        nodes.push(match piece {
            Piece::Text(part) => Node::Text(part.to_owned()),
            Piece::Hidden(part) => {
                boxes += 1;
                hidden_box(part)
            }
        });
        at += part.len();
    }
    nodes
}

/// A box that stands for hidden characters.
fn hidden_box(hidden: &str) -> Node {
    let points = code_points(hidden);
    let label = fill(Text::HiddenCharacters, &[&points]);
    element("span")
        .with("class", "cw-hidden-sign")
        .with("role", "img")
        .with("aria-label", label.clone())
        .with("title", label)
        .with("dir", "ltr")
        .text(points)
}

/// A text where only text can stand: the code points of hidden characters are in brackets.
pub(crate) fn plain(text: &str, kind: Kind) -> Cow<'_, str> {
    let pieces = pieces(text, kind);
    if !pieces.iter().any(|piece| matches!(piece, Piece::Hidden(_))) {
        return Cow::Borrowed(text);
    }
    let shown = |piece: Piece<'_>| match piece {
        Piece::Text(text) => text.to_owned(),
        Piece::Hidden(hidden) => format!("[{}]", code_points(hidden)),
    };
    Cow::Owned(pieces.into_iter().map(shown).collect())
}

/// The code points, of one that is repeated how often: `U+200B ×3 U+202E`.
fn code_points(hidden: &str) -> String {
    let mut points: Vec<(char, usize)> = Vec::new();
    for sign in hidden.chars() {
        match points.last_mut() {
            Some((last, count)) if *last == sign => *count += 1,
            _ => points.push((sign, 1)),
        }
    }
    let point = |(sign, count): (char, usize)| match count {
        1 => format!("U+{:04X}", u32::from(sign)),
        _ => format!("U+{:04X} ×{count}", u32::from(sign)),
    };
    points.into_iter().map(point).collect::<Vec<_>>().join(" ")
}

/// JSON in which hidden characters are written with escapes: it reads back as the same value.
pub(crate) fn escaped_json(json: &str) -> String {
    let mut escaped = String::with_capacity(json.len());
    for sign in json.chars() {
        if !is_hidden(sign) {
            escaped.push(sign);
            continue;
        }
        // Outside of strings JSON has none, so an escape always stands in a string.
        let mut units = [0; 2];
        for unit in sign.encode_utf16(&mut units) {
            // A string takes all that is written.
            let _ = write!(escaped, "\\u{unit:04x}");
        }
    }
    escaped
}

/// A text as a string of JSON, with escapes for all that is hidden.
fn quoted(text: &str) -> String {
    escaped_json(&serde_json::Value::from(text).to_string())
}

#[cfg(test)]
mod tests;
