//! Makes hidden characters visible: the shown arguments must be those that will run, and a name must not look like
//! another one.
//!
//! A text is split into parts that are shown as they are, and runs of hidden characters, which are
//! shown as their code points (`U+202E`). Which characters count as hidden depends on the [`TextKind`] of
//! text: writing systems need some of them, and in prose those are not marked.

use std::borrow::Cow;
use std::fmt::Write;
use std::ops::Range;

/// The kind of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextKind {
    /// An argument, a result, or the name of a tool or a file: every hidden character is marked, and
    /// so are unassigned and private characters, more than six combining marks on one character, and
    /// more than three blank lines.
    Value,
    /// Source code: as prose, but every bidirectional control is marked.
    Code,
    /// Text of users or of a model: characters that writing systems and emoji need are not marked.
    Prose,
}

/// A part of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextRun<'t> {
    /// Shown as it is.
    Text(&'t str),
    /// A run of hidden characters.
    Hidden(&'t str),
}

/// The number of combining marks on one character that a value shows; the pointed scripts need up to
/// five.
const MAX_MARKS: usize = 6;

/// The number of successive blank lines that a value shows.
const MAX_BLANK_LINES: usize = 3;

/// Characters without a glyph of their own: `Default_Ignorable_Code_Point` of Unicode 16
/// (DerivedCoreProperties.txt), controls (general category Cc), line and paragraph separators (Zl,
/// Zp), annotation characters, the object replacement character, and letters and symbols that are
/// drawn blank: Braille, Egyptian, Khitan, musical. A test compares the list with the tables of the
/// `regex` crate.
const HIDDEN: [(char, char); 24] = [
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
    ('\u{fff0}', '\u{fffc}'),
    ('\u{13441}', '\u{13442}'),
    ('\u{16fe4}', '\u{16fe4}'),
    ('\u{1bca0}', '\u{1bca3}'),
    ('\u{1d159}', '\u{1d159}'),
    ('\u{1d173}', '\u{1d17a}'),
    ('\u{e0000}', '\u{e0fff}'),
];

/// Returns whether a character is invisible; line breaks and tabs do not count.
fn is_hidden(sign: char) -> bool {
    let at = HIDDEN.partition_point(|(_, last)| *last < sign);
    HIDDEN.get(at).is_some_and(|(first, _)| *first <= sign) && !matches!(sign, '\n' | '\t')
}

/// Returns whether a character is drawn as nothing or in a way that depends on the font: format
/// controls (Cf), private use (Co) and unassigned ones. It uses the tables of the standard library,
/// which the program contains anyway: within a text, `escape_debug` escapes what cannot be printed.
fn is_unprintable(sign: char) -> bool {
    let mut text = [b'a', 0, 0, 0, 0];
    let length = 1 + sign.encode_utf8(&mut text[1..]).len();
    let is_escaped = |text| str::escape_debug(text).nth(2).is_some();
    !sign.is_ascii() && !sign.is_whitespace() && str::from_utf8(&text[..length]).is_ok_and(is_escaped)
}

/// Returns whether a printable character is drawn onto the one before it. `escape_debug` escapes
/// such a character at the begin of a text.
fn is_mark(sign: char) -> bool {
    !sign.is_ascii() && sign.escape_debug().nth(1).is_some()
}

/// Returns whether prose may contain the character without a mark: joiners (emoji, Indic scripts,
/// Persian), directional marks (Arabic, Hebrew), variation selectors (emoji, Mongolian), fillers
/// and invisible breaks. Overrides, embeddings and isolates are checked by [`unbalanced_controls`], tags and
/// supplementary selectors by the preceding character.
fn is_allowed_in_prose(sign: char) -> bool {
    matches!(
        sign,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{2800}' | '\u{fe00}'..='\u{fe0f}' | '\r'
    )
}

fn is_direction_control(sign: char) -> bool {
    matches!(sign, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Splits a text into its parts, in order.
pub fn text_runs(text: &str, kind: TextKind) -> Vec<TextRun<'_>> {
    let mut pieces = Vec::new();
    let mut begin = 0;
    for run in hidden_runs(text, kind) {
        if begin < run.start {
            pieces.push(TextRun::Text(&text[begin..run.start]));
        }
        begin = run.end;
        pieces.push(TextRun::Hidden(&text[run]));
    }
    if begin < text.len() {
        pieces.push(TextRun::Text(&text[begin..]));
    }
    pieces
}

fn hidden_runs(text: &str, kind: TextKind) -> Vec<Range<usize>> {
    // Most texts have none.
    if !text.chars().any(is_hidden) && (kind != TextKind::Value || text.is_ascii() && !text.contains("\n\n")) {
        return Vec::new();
    }
    let unbalanced = if kind == TextKind::Prose { unbalanced_controls(text) } else { Vec::new() };
    let mut runs: Vec<Range<usize>> = Vec::new();
    let mut before = None;
    let mut flag_until = 0;
    // The marks on the current character, and the line breaks since the last one that is not blank.
    let (mut marks, mut breaks) = (0, 0);
    for (at, sign) in text.char_indices() {
        let end = at + sign.len_utf8();
        if sign == FLAG {
            flag_until = end + flag_tags(&text[end..]);
        }
        marks = if is_mark(sign) { marks + 1 } else { 0 };
        breaks = if sign.is_whitespace() { breaks + usize::from(sign == '\n') } else { 0 };
        let is_shown = match sign {
            '\n' => kind != TextKind::Value || breaks <= MAX_BLANK_LINES + 1,
            _ if !is_hidden(sign) => kind != TextKind::Value || marks <= MAX_MARKS && !is_unprintable(sign),
            // A Windows line break.
            '\r' => text[end..].starts_with('\n'),
            _ if kind == TextKind::Value => false,
            _ if is_direction_control(sign) => kind == TextKind::Prose && unbalanced.binary_search(&at).is_err(),
            '\u{e0100}'..='\u{e01ef}' => before.is_some_and(|before| !is_hidden(before)),
            _ => is_allowed_in_prose(sign) || at < flag_until,
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

/// The black flag that begins the emoji of regions; tags follow it.
const FLAG: char = '\u{1f3f4}';

/// Returns the length in bytes of the tags that make a flag that of a region: three to six, then
/// the cancel tag.
fn flag_tags(after: &str) -> usize {
    let tags = after.chars().take_while(|sign| matches!(sign, '\u{e0030}'..='\u{e007a}')).count();
    let length = tags * '\u{e0030}'.len_utf8();
    let is_whole = (3..=6).contains(&tags) && after[length..].starts_with('\u{e007f}');
    if is_whole { length + '\u{e007f}'.len_utf8() } else { 0 }
}

/// Returns the positions of the bidirectional controls that reorder other text: overrides with
/// their ends, and embeddings and isolates that are not closed within their paragraph or close
/// nothing. In ascending order.
fn unbalanced_controls(text: &str) -> Vec<usize> {
    let mut found = Vec::new();
    // The open controls, outermost first: position and character.
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
                    // The end of an isolate also ends everything that was opened within it.
                    found.extend(open.drain(isolate + 1..).map(|(at, _)| at));
                    open.pop();
                }
                None => found.push(at),
            },
            _ => {}
        }
    }
    found.extend(open.into_iter().map(|(at, _)| at));
    in_order(&found, text.len())
}

/// Sorts positions below `length`. Not by comparisons, since a sort function of the library would
/// be 4 KB of the page's first download.
fn in_order(positions: &[usize], length: usize) -> Vec<usize> {
    if positions.is_empty() {
        return Vec::new();
    }
    let mut is_found = vec![false; length];
    positions.iter().for_each(|at| is_found[*at] = true);
    (0..length).filter(|at| is_found[*at]).collect()
}

/// Returns a text for contexts without markup: the code points of hidden characters are in
/// brackets.
pub fn text_with_code_points(text: &str, kind: TextKind) -> Cow<'_, str> {
    let runs = text_runs(text, kind);
    if !runs.iter().any(|run| matches!(run, TextRun::Hidden(_))) {
        return Cow::Borrowed(text);
    }
    let shown = |run: TextRun<'_>| match run {
        TextRun::Text(text) => text.to_owned(),
        TextRun::Hidden(hidden) => format!("[{}]", code_points(hidden)),
    };
    Cow::Owned(runs.into_iter().map(shown).collect())
}

/// Lists the code points, repeated ones with their number: `U+200B ×3 U+202E`.
pub fn code_points(hidden: &str) -> String {
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

/// Escapes the hidden characters of values in JSON; the result parses to the same value.
pub fn escaped_json(json: &str) -> String {
    let mut escaped = String::with_capacity(json.len());
    for run in text_runs(json, TextKind::Value) {
        let hidden = match run {
            TextRun::Hidden(hidden) => hidden,
            TextRun::Text(text) => {
                escaped.push_str(text);
                continue;
            }
        };
        // JSON has hidden characters only within strings, where an escape is valid.
        for unit in hidden.encode_utf16() {
            // Writing to a string cannot fail.
            let _ = write!(escaped, "\\u{unit:04x}");
        }
    }
    escaped
}

/// Returns a text as a JSON string with escapes for hidden characters.
pub fn quoted_json(text: &str) -> String {
    escaped_json(&serde_json::Value::from(text).to_string())
}

#[cfg(test)]
mod tests;
