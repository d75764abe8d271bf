//! Completes the end of a reply that is being written. Incomplete markup would flash up as
//! characters, or make a paragraph a heading for a moment, and move the text below. It is held back
//! or closed until the rest arrives.

use crate::code_spans::run_length;
use std::borrow::Cow;

/// Returns the part of an unfinished block that is shown.
pub fn presentable(source: &str) -> Cow<'_, str> {
    let last = source.rfind('\n').map_or(0, |end| end + 1);
    if let Some(fence) = open_fence(source) {
        let begins_here = fence.at == last;
        let ends_here =
            !source[last..].trim().is_empty() && source[last..].trim().chars().all(|sign| sign == fence.sign);
        return Cow::Borrowed(if begins_here || ends_here { &source[..last] } else { source });
    }
    let shown = without_table_head(without_bare_markup(source, last));
    let line = last_inline_run(shown);
    match close_inline(&shown[line..]) {
        Cow::Borrowed(_) => Cow::Borrowed(shown),
        Cow::Owned(closed) => Cow::Owned(format!("{}{closed}", &shown[..line])),
    }
}

/// A fenced code block that is open at the end.
struct OpenFence {
    sign: char,
    length: usize,
    /// The start of its first line.
    at: usize,
}

fn open_fence(source: &str) -> Option<OpenFence> {
    let mut open: Option<OpenFence> = None;
    let mut at = 0;
    for line in source.split_inclusive('\n') {
        let content = line.trim_start_matches([' ', '\t', '>']).trim_end();
        let sign = if content.starts_with('~') { '~' } else { '`' };
        let length = content.len() - content.trim_start_matches(sign).len();
        match &open {
            None if length >= 3 && !(sign == '`' && content[length..].contains('`')) => {
                open = Some(OpenFence { sign, length, at });
            }
            Some(fence) if sign == fence.sign && length >= fence.length && length == content.len() => open = None,
            _ => {}
        }
        at += line.len();
    }
    open
}

/// Removes an unfinished last line without letters: a `-` may become a list item or the underline
/// of a heading.
fn without_bare_markup(source: &str, last: usize) -> &str {
    let line = source[last..].trim();
    let is_markup =
        |sign: char| matches!(sign, '-' | '=' | '*' | '_' | '+' | '#' | '>' | '|' | ':' | '`' | '~' | '.' | ')' | ' ');
    let is_number = line.len() <= 3 && line.bytes().all(|byte| byte.is_ascii_digit());
    let is_item = line.trim_start_matches(|sign: char| sign.is_ascii_digit()).chars().all(is_markup);
    if is_number || is_item { &source[..last] } else { source }
}

/// Removes the first row of a table while the line that makes it a table is incomplete.
fn without_table_head(source: &str) -> &str {
    let mut start = source.len();
    let mut lines = 0;
    for line in source.split_inclusive('\n').rev() {
        if !line.trim_start().starts_with('|') {
            break;
        }
        start -= line.len();
        lines += 1;
    }
    let undecided = lines == 1 || (lines == 2 && !source.ends_with('\n'));
    if undecided { &source[..start] } else { source }
}

/// Returns the start of the last run of inline text: emphasis does not extend across an empty line,
/// a list item or a heading.
fn last_inline_run(source: &str) -> usize {
    let mut start = source.len();
    for line in source.split_inclusive('\n').rev() {
        if line.trim().is_empty() {
            break;
        }
        start -= line.len();
        if line.trim_start().starts_with('|') {
            return start + line.rfind('|').map_or(0, |cell| cell + 1);
        }
        if line.trim_start().starts_with(['-', '*', '+', '#', '>'])
            || line.starts_with(|sign: char| sign.is_ascii_digit())
        {
            break;
        }
    }
    start
}

/// Closes emphasis, code and links that are open at the end.
fn close_inline(text: &str) -> Cow<'_, str> {
    if !text.contains(['*', '_', '`', '~', '[']) {
        return Cow::Borrowed(text);
    }
    let mut closer = InlineCloser { rest: text, out: String::with_capacity(text.len() + 4), open: Vec::new() };
    while closer.step() {}
    Cow::Owned(closer.finish())
}

struct InlineCloser<'t> {
    rest: &'t str,
    out: String,
    /// The delimiters of open emphasis, innermost last, each with its length.
    open: Vec<(char, usize)>,
}

impl InlineCloser<'_> {
    /// Processes the next part of the text; returns false at its end.
    fn step(&mut self) -> bool {
        let Some(sign) = self.rest.chars().next() else {
            return false;
        };
        match sign {
            '\\' => self.copy(1 + self.rest[1..].chars().next().map_or(0, char::len_utf8)),
            '`' => self.code(),
            '*' | '_' | '~' => self.emphasis(sign),
            '[' => self.link(),
            _ => self.copy(sign.len_utf8()),
        }
        true
    }

    fn copy(&mut self, bytes: usize) {
        let (taken, rest) = self.rest.split_at(bytes);
        self.out.push_str(taken);
        self.rest = rest;
    }

    fn code(&mut self) {
        let ticks = run_length(self.rest, '`');
        let content = &self.rest[ticks..];
        let mut at = 0;
        while let Some(found) = content[at..].find('`') {
            let length = run_length(&content[at + found..], '`');
            at += found + length;
            if length == ticks {
                return self.copy(ticks + at);
            }
        }
        let content = content.trim_end_matches('`').trim_end();
        if !content.is_empty() {
            let fence = "`".repeat(ticks);
            self.out.push_str(&format!("{fence}{content}{fence}"));
        }
        self.rest = "";
    }

    fn emphasis(&mut self, sign: char) {
        let length = run_length(self.rest, sign);
        let before = self.out.chars().next_back();
        let after = self.rest[length..].chars().next();
        let word = |letter: Option<char>| letter.is_some_and(char::is_alphanumeric);
        let space = |letter: Option<char>| letter.is_none_or(char::is_whitespace);
        let inside_word = sign != '*' && word(before) && word(after);
        let closes = !space(before) && !inside_word && self.open.last().is_some_and(|(open, _)| *open == sign);
        if closes {
            if let Some((_, open)) = self.open.last_mut() {
                *open = open.saturating_sub(length);
            }
            self.open.retain(|(_, open)| *open > 0);
            self.copy(length);
        } else if after.is_none() {
            // The emphasized text has not arrived yet.
            self.rest = "";
        } else {
            if !space(after) && !inside_word && (sign != '~' || length == 2) {
                self.open.push((sign, length));
            }
            self.copy(length);
        }
    }

    /// Shows a link whose URL is still arriving as its text, and an image not at all.
    fn link(&mut self) {
        let is_image = self.out.ends_with('!');
        let Some(end) = closing_bracket(self.rest) else {
            return self.open_link(1, is_image);
        };
        match self.rest[end + 1..].chars().next() {
            Some('(') => match self.rest[end..].find(')') {
                Some(length) => self.copy(end + length + 1),
                None => {
                    let text = &self.rest[1..end];
                    self.rest = if is_image { "" } else { text };
                    self.open_link(0, is_image);
                }
            },
            Some(_) => self.copy(1),
            None => {
                let text = &self.rest[1..end];
                self.rest = if is_image { "" } else { text };
                self.open_link(0, is_image);
            }
        }
    }

    fn open_link(&mut self, bracket: usize, is_image: bool) {
        if is_image {
            self.out.pop();
            self.rest = "";
        } else {
            self.rest = &self.rest[bracket..];
        }
    }

    fn finish(mut self) -> String {
        if !self.open.is_empty() {
            self.out.truncate(self.out.trim_end().len());
        }
        for (sign, length) in self.open.iter().rev() {
            self.out.extend(std::iter::repeat_n(*sign, *length));
        }
        self.out
    }
}

fn closing_bracket(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, sign) in text.char_indices() {
        match sign {
            '[' => depth += 1,
            ']' if depth == 1 => return Some(at),
            ']' => depth -= 1,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(source: &str, expected: &str) {
        assert_eq!(presentable(source), expected, "{source:?}");
    }

    #[test]
    fn ambiguous_last_lines_are_held_back() {
        check("The list:\n-", "The list:\n");
        check("The list:\n- ", "The list:\n");
        check("The list:\n- a", "The list:\n- a");
        check("Text\n===", "Text\n");
        check("Text\n1", "Text\n");
        check("Text\n1.", "Text\n");
        check("#", "");
        check("a - b", "a - b");
    }

    #[test]
    fn incomplete_table_heads_are_held_back() {
        check("Prices:\n\n| a | b", "Prices:\n\n");
        check("| a | b |\n", "");
        check("| a | b |\n|--", "");
        check("| a | b |\n|---|---|\n", "| a | b |\n|---|---|\n");
        check("| a |\n|---|\n| **x", "| a |\n|---|\n| **x**");
    }

    #[test]
    fn incomplete_fences_are_held_back() {
        check("a\n```ru", "a\n");
        check("```rust\nlet a = 1; // **\n``", "```rust\nlet a = 1; // **\n");
        check("```\na\n```\n**b", "```\na\n```\n**b**");
        check("```\n* [a", "```\n* [a");
    }

    #[test]
    fn open_inline_markup_is_closed() {
        check("a **b", "a **b**");
        check("a **b c ", "a **b c**");
        check("a **b*", "a **b**");
        check("a **", "a ");
        check("a *b **c", "a *b **c***");
        check("a `b", "a `b`");
        check("a `b` c", "a `b` c");
        check("snake_case_name", "snake_case_name");
        check("2 * 3", "2 * 3");
        check("~~gone", "~~gone~~");
        check("- **a", "- **a**");
        check("* a", "* a");
    }

    #[test]
    fn incomplete_links_are_shown_as_text() {
        check("see [the do", "see the do");
        check("see [the docs](https://ex", "see the docs");
        check("see [the docs]", "see the docs");
        check("see [the docs](https://a) no", "see [the docs](https://a) no");
        check("see ![alt](https://ex", "see ");
        check("array[0] is", "array[0] is");
    }

    proptest! {
        #[test]
        fn takes_any_text(source in "[-a1 \n*_`~\\[\\]()!|>#=:\\\\é]{0,40}") {
            let shown = presentable(&source);
            prop_assert!(shown.len() <= source.len() * 2 + 1);
        }
    }
}
