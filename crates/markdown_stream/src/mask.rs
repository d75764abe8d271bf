//! Masks formulas, so that the Markdown parser does not take `_`, `*`, `|` or a leading `-` in them
//! for markup.
//!
//! A formula is enclosed in `\(` and `\)`, `\[` and `\]`, `$$` and `$$`, or `$` and `$`. A single
//! `$` is also used for prices, so it counts only where a price is ruled out. Code contains no
//! formulas. A masked formula is a run of control characters of the same length, which begins with
//! the formula's number.

use crate::code_spans::{CodeSpans, ForwardSearch, begins_with_digit, first_line, run_length};
use std::borrow::Cow;

/// The length of a formula's delimiter, in bytes.
const DELIMITER_LENGTH: usize = 2;
/// The maximum length of a formula, in bytes; a longer one is text.
const MAX_FORMULA_LENGTH: usize = 4_000;
/// The maximum length of a formula between single dollar signs, in bytes.
const MAX_DOLLAR_FORMULA_LENGTH: usize = 200;
/// The maximum number of formulas in a text: the number takes two characters of 16 values each.
const MAX_FORMULAS: usize = 256;
/// The first character of a masked formula.
const MARK: char = '\u{2}';
/// The padding of a masked formula.
const FILL: u8 = 1;
/// The digit 0 of a formula's number; the digits are hexadecimal.
const DIGIT_ZERO: u8 = 0x10;

/// A formula in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Formula<'t> {
    /// The source with its delimiters.
    pub source: &'t str,
    /// The TeX code between the delimiters.
    pub tex: &'t str,
    /// Whether it is a block of its own, and not inline.
    pub display: bool,
}

/// A text with its formulas masked.
#[derive(Debug)]
pub struct Masked<'t> {
    /// The text, with control characters in place of the formulas.
    pub text: Cow<'t, str>,
    /// The formulas, by their numbers.
    pub formulas: Vec<Formula<'t>>,
    /// The beginning of a formula whose end may still arrive.
    pub open: Option<usize>,
    /// The beginning of a code span whose end may still arrive: until then it is unknown whether
    /// formulas follow.
    pub open_code: Option<usize>,
}

impl<'t> Masked<'t> {
    /// Returns a text without looking for formulas.
    pub fn plain(text: &'t str) -> Self {
        Self { text: Cow::Borrowed(text), formulas: Vec::new(), open: None, open_code: None }
    }
}

/// A part of a [masked](mask_formulas) text.
#[derive(Debug, PartialEq, Eq)]
pub enum MaskedSegment<'m> {
    /// Text without formulas.
    Text(&'m str),
    /// A formula.
    Formula(Formula<'m>),
}

/// Masks the formulas of a text. A text that contains the control characters of a mask has none.
pub fn mask_formulas(text: &str) -> Masked<'_> {
    let mut masked = Masked::plain(text);
    let is_special = |byte: u8| byte == b'$' || byte == b'\\' || byte < 3;
    if !text.bytes().any(is_special) || text.contains(|sign: char| sign == MARK || is_filling(sign)) {
        return masked;
    }
    let mut scan = FormulaScanner::new(text);
    let mut hidden = Vec::new();
    while let Some(found) = scan.next() {
        match found {
            ScanMatch::Formula(from, formula) if hidden.len() < MAX_FORMULAS => hidden.push((from, formula)),
            ScanMatch::Formula(..) => break,
            ScanMatch::Open(at) => masked.open = masked.open.or(Some(at)),
        }
    }
    masked.open_code = scan.open_code;
    if hidden.is_empty() {
        return masked;
    }
    let mut bytes = text.as_bytes().to_vec();
    for (number, (from, formula)) in hidden.iter().enumerate() {
        let place = &mut bytes[*from..from + formula.source.len()];
        place.fill(FILL);
        place[0] = MARK as u8;
        place[1] = DIGIT_ZERO + (number / 16) as u8;
        place[2] = DIGIT_ZERO + (number % 16) as u8;
    }
    masked.formulas = hidden.into_iter().map(|(_, formula)| formula).collect();
    // Whole formulas were replaced by ASCII, so it is still UTF-8.
    masked.text = Cow::Owned(String::from_utf8(bytes).unwrap_or_default());
    masked
}

/// Splits a part of a masked text into plain text and formulas, in order.
pub fn split_masked<'m>(text: &'m str, formulas: &[Formula<'m>]) -> Vec<MaskedSegment<'m>> {
    let mut found = Vec::new();
    let mut rest = text;
    // Without a formula, such characters are the text's own.
    while let Some(at) = rest.find(MARK).filter(|_| !formulas.is_empty()) {
        let (before, from) = rest.split_at(at);
        if !before.is_empty() {
            found.push(MaskedSegment::Text(before));
        }
        let digit = |at: usize| from.as_bytes().get(at).map(|byte| usize::from(byte.wrapping_sub(DIGIT_ZERO)));
        let number = digit(1).zip(digit(2)).map(|(high, low)| high * 16 + low);
        rest = from[1..].trim_start_matches(|sign: char| is_filling(sign));
        found.extend(number.and_then(|number| formulas.get(number)).map(|formula| MaskedSegment::Formula(*formula)));
    }
    if !rest.is_empty() {
        found.push(MaskedSegment::Text(rest));
    }
    found
}

/// Restores the source of a part of a masked text.
pub fn unmask_formulas<'m>(text: &'m str, formulas: &[Formula<'m>]) -> Cow<'m, str> {
    if formulas.is_empty() || !text.contains(MARK) {
        return Cow::Borrowed(text);
    }
    let written = split_masked(text, formulas).into_iter().map(|piece| match piece {
        MaskedSegment::Text(text) => text,
        MaskedSegment::Formula(formula) => formula.source,
    });
    Cow::Owned(written.collect())
}

fn is_filling(sign: char) -> bool {
    sign == char::from(FILL) || ('\u{10}'..'\u{20}').contains(&sign)
}

enum ScanMatch<'t> {
    Formula(usize, Formula<'t>),
    Open(usize),
}

struct FormulaScanner<'t> {
    text: &'t str,
    at: usize,
    /// Within an HTML block, from a line that begins with a tag to an empty line; no fence begins
    /// in it.
    in_html: bool,
    open_code: Option<usize>,
    code: CodeSpans,
    paragraph_end: ForwardSearch,
    /// The closing delimiters: `\)`, `\]` and `$$`.
    ends: [ForwardSearch; 3],
}

impl<'t> FormulaScanner<'t> {
    fn new(text: &'t str) -> Self {
        let ends = ["\\)", "\\]", "$$"].map(ForwardSearch::new);
        let paragraph_end = ForwardSearch::new("\n\n");
        Self { text, at: 0, in_html: false, open_code: None, code: CodeSpans::default(), paragraph_end, ends }
    }

    fn next(&mut self) -> Option<ScanMatch<'t>> {
        loop {
            while self.is_at_line_start() && self.skip_fence() {}
            let rest = &self.text[self.at..];
            let length = rest.find(['\n', '\\', '$', '`'])?;
            let (at, rest) = (self.at + length, &rest[length..]);
            self.at = at;
            match rest.as_bytes()[0] {
                b'\n' => self.at += 1,
                b'`' => self.skip_code(),
                _ => {
                    let found = self.scan_formula(rest);
                    if found.is_some() {
                        return found;
                    }
                }
            }
        }
    }

    /// Scans a formula at the current position; if there is none, moves past its delimiter.
    fn scan_formula(&mut self, rest: &'t str) -> Option<ScanMatch<'t>> {
        let at = self.at;
        let (kind, display) = match rest.as_bytes() {
            [b'\\', b'(', ..] => (0, false),
            [b'\\', b'[', ..] => (1, true),
            [b'$', b'$', ..] => (2, true),
            [b'$', ..] => return self.scan_dollar_formula(rest),
            _ => {
                // An escaped character begins nothing.
                self.at += 1 + rest[1..].chars().next().map_or(0, char::len_utf8);
                return None;
            }
        };
        let from = at + DELIMITER_LENGTH;
        self.at = from;
        let limit = self.text.floor_char_boundary(from + MAX_FORMULA_LENGTH);
        let limit = self.paragraph_end.find(self.text, from, limit).unwrap_or(limit);
        let Some(end) = self.ends[kind].find(self.text, from, limit) else {
            // The end may still arrive, if the text so far does not rule it out.
            return (limit == self.text.len()).then_some(ScanMatch::Open(at));
        };
        let tex = &self.text[from..end];
        if tex.trim().is_empty() || (kind == 2 && !is_formula(tex.trim())) {
            return None;
        }
        self.at = end + DELIMITER_LENGTH;
        Some(ScanMatch::Formula(at, Formula { source: &self.text[at..self.at], tex, display }))
    }

    fn scan_dollar_formula(&mut self, rest: &'t str) -> Option<ScanMatch<'t>> {
        let at = self.at;
        self.at += 1;
        let in_word = self.text[..at].ends_with(|sign: char| sign.is_alphanumeric());
        let content = bounded_prefix(&rest[1..], MAX_DOLLAR_FORMULA_LENGTH, "\n");
        if in_word || content.starts_with(|sign: char| sign.is_whitespace()) {
            return None;
        }
        let Some(length) = closing_dollar(content) else {
            let is_at_end = content.len() == rest.len() - 1;
            let is_formula =
                content.starts_with(|sign: char| sign.is_alphabetic() || sign == '\\') && is_formula(content);
            // Held back only while it is short, because most dollar signs are prices.
            let may_come = is_at_end && is_formula && !content.contains(' ');
            return may_come.then_some(ScanMatch::Open(at));
        };
        let tex = &content[..length];
        let is_formula =
            !tex.ends_with(char::is_whitespace) && is_formula(tex) && !begins_with_digit(&content[length + 1..]);
        if !is_formula {
            return None;
        }
        let source = &rest[..length + 2];
        self.at = at + source.len();
        Some(ScanMatch::Formula(at, Formula { source, tex, display: false }))
    }

    fn is_at_line_start(&self) -> bool {
        self.at == 0 || self.text.as_bytes()[self.at - 1] == b'\n'
    }

    /// Skips a fenced code block that begins in this line; returns whether there was one.
    fn skip_fence(&mut self) -> bool {
        let line = first_line(&self.text[self.at..]);
        let is_tag = line.trim_start().starts_with('<') && !line.contains("://");
        self.in_html = !line.trim().is_empty() && (self.in_html || is_tag);
        if self.in_html {
            return false;
        }
        let content = line.trim_start_matches([' ', '\t', '>', '-', '*', '+']);
        let sign = if content.starts_with('~') { '~' } else { '`' };
        let length = run_length(content, sign);
        if length < 3 || (sign == '`' && content[length..].contains('`')) {
            return false;
        }
        self.at += line.len();
        while self.at < self.text.len() {
            let line = first_line(&self.text[self.at..]);
            self.at += line.len();
            let content = line.trim_start_matches([' ', '\t', '>']).trim_end();
            if run_length(content, sign) >= length && content.chars().all(|other| other == sign) {
                break;
            }
        }
        true
    }

    /// Skips a code span.
    fn skip_code(&mut self) {
        let (begun, ticks) = (self.at, run_length(&self.text[self.at..], '`'));
        self.at += ticks;
        match self.code.find_end(self.text, self.at, ticks) {
            Some(end) => self.at = end,
            None if self.code.paragraph_end() == self.text.len() => self.open_code = self.open_code.or(Some(begun)),
            None => {}
        }
    }
}

/// Returns whether the text between dollar signs is a formula. After a price there are words.
fn is_formula(tex: &str) -> bool {
    let Some(first) = tex.chars().next() else { return false };
    let has_sign = tex.contains(['\\', '^', '_', '=', '+', '<', '>', '{', '|']);
    let words =
        tex.split([' ', ',', '.']).filter(|word| word.len() > 2 && word.chars().all(char::is_alphabetic)).count();
    if first.is_ascii_digit() { words == 0 } else { has_sign || words < 2 }
}

fn closing_dollar(content: &str) -> Option<usize> {
    let mut escaped = false;
    for (at, byte) in content.bytes().enumerate() {
        match byte {
            b'$' if !escaped => return (at > 0).then_some(at),
            b'\\' if !escaped => escaped = true,
            _ => escaped = false,
        }
    }
    None
}

/// Returns the beginning of a text, up to a delimiter or a maximum length.
fn bounded_prefix<'t>(text: &'t str, longest: usize, end: &str) -> &'t str {
    let text = if text.len() > longest { &text[..text.floor_char_boundary(longest)] } else { text };
    text.find(end).map_or(text, |end| &text[..end])
}

#[cfg(test)]
mod tests;
