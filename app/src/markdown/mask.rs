//! Formulas, hidden from the Markdown parser: to it `_`, `*`, `|` or a line that begins with `-` would be markup.
//!
//! A formula stands between `\(` and `\)`, `\[` and `\]`, `$$` and `$$`, or `$` and `$`. The last is also what prices begin with, so
//! it counts only where it cannot be one. In code there are none. A hidden formula is a run of control characters of the same length,
//! the first of which says which formula it is.

use super::code_spans::{CodeSpans, Next, begins_with_digit, line_of, run};
use std::borrow::Cow;

/// The length of the signs around a formula, in bytes.
const SIGN: usize = 2;
/// A longer formula is text, in bytes.
const LONGEST: usize = 4_000;
/// The longest formula between single dollar signs, in bytes.
const LONGEST_DOLLAR: usize = 200;
/// So many are hidden in one text; each says its number in two characters.
const MOST: usize = 256;
/// Begins what stands for a formula.
const MARK: char = '\u{2}';
/// Fills what stands for a formula.
const FILL: u8 = 1;
/// The digits of its number, to base 16, begin here.
const ZERO: u8 = 0x10;

/// A formula in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Formula<'t> {
    /// As it was written, signs included.
    pub(super) source: &'t str,
    /// What is between the signs.
    pub(super) tex: &'t str,
    /// It stands by itself, and not in a line of text.
    pub(super) display: bool,
}

/// A text whose formulas are hidden.
#[derive(Debug)]
pub(super) struct Masked<'t> {
    pub(super) text: Cow<'t, str>,
    pub(super) formulas: Vec<Formula<'t>>,
    /// Where a formula begins whose end may still come.
    pub(super) open: Option<usize>,
    /// Where code begins whose end may still come: whether what follows holds formulas is not known before.
    pub(super) open_code: Option<usize>,
}

impl<'t> Masked<'t> {
    /// A text in which no formulas are looked for.
    pub(super) fn plain(text: &'t str) -> Self {
        Self { text: Cow::Borrowed(text), formulas: Vec::new(), open: None, open_code: None }
    }
}

/// A piece of a text that was [masked](mask).
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece<'m> {
    Text(&'m str),
    Formula(Formula<'m>),
}

/// Hides the formulas of a text.
pub(super) fn mask(text: &str) -> Masked<'_> {
    let mut masked = Masked::plain(text);
    let is_special = |byte: u8| byte == b'$' || byte == b'\\' || byte < 3;
    if !text.bytes().any(is_special) || text.contains([MARK, char::from(FILL)]) {
        return masked;
    }
    let mut scan = Scan::new(text);
    let mut hidden = Vec::new();
    while let Some(found) = scan.next() {
        match found {
            Found::Formula(from, formula) if hidden.len() < MOST => hidden.push((from, formula)),
            Found::Formula(..) => break,
            Found::Open(at) => masked.open = masked.open.or(Some(at)),
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
        place[1] = ZERO + (number / 16) as u8;
        place[2] = ZERO + (number % 16) as u8;
    }
    masked.formulas = hidden.into_iter().map(|(_, formula)| formula).collect();
    // Whole formulas were replaced by ASCII, so that it is UTF-8 still.
    masked.text = Cow::Owned(String::from_utf8(bytes).unwrap_or_default());
    masked
}

/// The pieces of a part of a masked text, in order.
pub(super) fn pieces<'m>(text: &'m str, formulas: &[Formula<'m>]) -> Vec<Piece<'m>> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(MARK) {
        let (before, from) = rest.split_at(at);
        if !before.is_empty() {
            found.push(Piece::Text(before));
        }
        let digit = |at: usize| from.as_bytes().get(at).map(|byte| usize::from(byte.wrapping_sub(ZERO)));
        let number = digit(1).zip(digit(2)).map(|(high, low)| high * 16 + low);
        rest = from[1..].trim_start_matches(|sign: char| is_filling(sign));
        found.extend(number.and_then(|number| formulas.get(number)).map(|formula| Piece::Formula(*formula)));
    }
    if !rest.is_empty() {
        found.push(Piece::Text(rest));
    }
    found
}

/// A part of a masked text as it was written.
pub(super) fn unmask<'m>(text: &'m str, formulas: &[Formula<'m>]) -> Cow<'m, str> {
    if !text.contains(MARK) {
        return Cow::Borrowed(text);
    }
    let written = pieces(text, formulas).into_iter().map(|piece| match piece {
        Piece::Text(text) => text,
        Piece::Formula(formula) => formula.source,
    });
    Cow::Owned(written.collect())
}

fn is_filling(sign: char) -> bool {
    sign == char::from(FILL) || ('\u{10}'..'\u{20}').contains(&sign)
}

enum Found<'t> {
    Formula(usize, Formula<'t>),
    Open(usize),
}

struct Scan<'t> {
    text: &'t str,
    at: usize,
    /// Lines from one that begins with a tag to an empty one: in them no fence begins.
    in_html: bool,
    open_code: Option<usize>,
    code: CodeSpans,
    paragraph_end: Next,
    /// The ends of the kinds of formulas: `\)`, `\]` and `$$`.
    ends: [Next; 3],
}

impl<'t> Scan<'t> {
    fn new(text: &'t str) -> Self {
        let ends = ["\\)", "\\]", "$$"].map(Next::new);
        let paragraph_end = Next::new("\n\n");
        Self { text, at: 0, in_html: false, open_code: None, code: CodeSpans::default(), paragraph_end, ends }
    }

    fn next(&mut self) -> Option<Found<'t>> {
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
                    let found = self.formula(rest);
                    if found.is_some() {
                        return found;
                    }
                }
            }
        }
    }

    /// A formula that begins here, or nothing and further on.
    fn formula(&mut self, rest: &'t str) -> Option<Found<'t>> {
        let at = self.at;
        let (kind, display) = match rest.as_bytes() {
            [b'\\', b'(', ..] => (0, false),
            [b'\\', b'[', ..] => (1, true),
            [b'$', b'$', ..] => (2, true),
            [b'$', ..] => return self.dollar(rest),
            _ => {
                // What is escaped begins nothing.
                self.at += 1 + rest[1..].chars().next().map_or(0, char::len_utf8);
                return None;
            }
        };
        let from = at + SIGN;
        self.at = from;
        let limit = self.text.floor_char_boundary(from + LONGEST);
        let limit = self.paragraph_end.find(self.text, from, limit).unwrap_or(limit);
        let Some(end) = self.ends[kind].find(self.text, from, limit) else {
            // Its end may come, if nothing has come yet that rules it out.
            return (limit == self.text.len()).then_some(Found::Open(at));
        };
        let tex = &self.text[from..end];
        if tex.trim().is_empty() || (kind == 2 && !is_formula(tex.trim())) {
            return None;
        }
        self.at = end + SIGN;
        Some(Found::Formula(at, Formula { source: &self.text[at..self.at], tex, display }))
    }

    fn dollar(&mut self, rest: &'t str) -> Option<Found<'t>> {
        let at = self.at;
        self.at += 1;
        let in_word = self.text[..at].ends_with(|sign: char| sign.is_alphanumeric());
        let content = reach(&rest[1..], LONGEST_DOLLAR, "\n");
        if in_word || content.starts_with(|sign: char| sign.is_whitespace()) {
            return None;
        }
        let Some(length) = closing_dollar(content) else {
            let is_at_end = content.len() == rest.len() - 1;
            let is_formula =
                content.starts_with(|sign: char| sign.is_alphabetic() || sign == '\\') && is_formula(content);
            // Held back only while it is short: most texts with a dollar sign speak of money.
            let may_come = is_at_end && is_formula && !content.contains(' ');
            return may_come.then_some(Found::Open(at));
        };
        let tex = &content[..length];
        let is_formula =
            !tex.ends_with(char::is_whitespace) && is_formula(tex) && !begins_with_digit(&content[length + 1..]);
        if !is_formula {
            return None;
        }
        let source = &rest[..length + 2];
        self.at = at + source.len();
        Some(Found::Formula(at, Formula { source, tex, display: false }))
    }

    fn is_at_line_start(&self) -> bool {
        self.at == 0 || self.text.as_bytes()[self.at - 1] == b'\n'
    }

    /// Over a fenced block of code that begins in this line, if one does.
    fn skip_fence(&mut self) -> bool {
        let line = line_of(&self.text[self.at..]);
        let is_tag = line.trim_start().starts_with('<') && !line.contains("://");
        self.in_html = !line.trim().is_empty() && (self.in_html || is_tag);
        if self.in_html {
            return false;
        }
        let content = line.trim_start_matches([' ', '\t', '>', '-', '*', '+']);
        let sign = if content.starts_with('~') { '~' } else { '`' };
        let length = run(content, sign);
        if length < 3 || (sign == '`' && content[length..].contains('`')) {
            return false;
        }
        self.at += line.len();
        while self.at < self.text.len() {
            let line = line_of(&self.text[self.at..]);
            self.at += line.len();
            let content = line.trim_start_matches([' ', '\t', '>']).trim_end();
            if run(content, sign) >= length && content.chars().all(|other| other == sign) {
                break;
            }
        }
        true
    }

    /// Over code within a line.
    fn skip_code(&mut self) {
        let (begun, ticks) = (self.at, run(&self.text[self.at..], '`'));
        self.at += ticks;
        match self.code.end_of(self.text, self.at, ticks) {
            Some(end) => self.at = end,
            None if self.code.paragraph_end() == self.text.len() => self.open_code = self.open_code.or(Some(begun)),
            None => {}
        }
    }
}

/// Whether what stands between dollar signs is a formula: money is followed by words.
fn is_formula(tex: &str) -> bool {
    let Some(first) = tex.chars().next() else { return false };
    let has_sign = tex.contains(['\\', '^', '_', '=', '+', '<', '>', '{', '|']);
    let words =
        tex.split([' ', ',', '.']).filter(|word| word.len() > 2 && word.chars().all(char::is_alphabetic)).count();
    match first.is_ascii_digit() {
        true => words == 0,
        false => has_sign || words < 2,
    }
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

/// The beginning of a text: as far as it may belong to what has begun.
fn reach<'t>(text: &'t str, longest: usize, end: &str) -> &'t str {
    let text = if text.len() > longest { &text[..text.floor_char_boundary(longest)] } else { text };
    text.find(end).map_or(text, |end| &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn found(text: &str) -> Vec<(&str, bool)> {
        mask(text).formulas.into_iter().map(|formula| (formula.tex, formula.display)).collect()
    }

    fn check(text: &str, expected: &[(&str, bool)]) {
        assert_eq!(found(text), expected, "{text}");
    }

    #[test]
    fn formulas_are_found() {
        check("so $x$ and $a_1 * b_2$.", &[("x", false), ("a_1 * b_2", false)]);
        check(r"so \(x\) and \[y\]", &[("x", false), ("y", true)]);
        check("$$\na\n- b\n$$", &[("\na\n- b\n", true)]);
        check("$5 + 5 = 10$, ($n$)", &[("5 + 5 = 10", false), ("n", false)]);
        check(r"$\text{if } x > 0$", &[(r"\text{if } x > 0", false)]);
        check("é$x$é $x$", &[("x", false)]);
    }

    #[test]
    fn prices_stay_text() {
        for text in [
            "$5 and $6",
            "from $5-$10",
            "$5/$6",
            "US$5 or US$6",
            "It is $100, she said; I pay $90, he said$",
            "$20, not more than $30",
            "costs $5M. Then $x",
            "$HOME and $PATH, $ and $",
            "$$ and many more $$",
            r"\$x$ and $5 are$",
            "it cost $1,000 last year and $2",
        ] {
            check(text, &[]);
        }
    }

    #[test]
    fn code_has_no_formulas() {
        check("`$x$` $y$", &[("y", false)]);
        check("```\n$x$\n```\n$y$", &[("y", false)]);
        check("- ```sh\n  $x$\n  ```\n", &[]);
        check("``a ` $x$`` $y$", &[("y", false)]);
        check("a ` $y$", &[("y", false)]);
        check("<div>\n```\n\n$y$", &[("y", false)]);
        check("<https://a.example>\n```\n$y$\n```\n", &[]);
    }

    #[test]
    fn code_ends_with_its_paragraph() {
        for end in ["\n", " \n", "# a\n", "> a\n", "- a\n", "12. a\n", "---\n", "<p>\n", "```\n```\n"] {
            check(&format!("a ` b\n{end}$y$ `"), &[("y", false)]);
        }
        for line in ["a", "(a)", "é", "`` `` a"] {
            check(&format!("a ` b\n{line}\n$y$ `"), &[]);
        }
        let open = |text: &str| mask(text).open_code;
        assert_eq!(open("$\na ` b\nc"), Some(4));
        assert_eq!(open("$\na ` b\n\nc"), None);
    }

    #[test]
    fn what_may_become_a_formula_is_known() {
        let open = |text: &str| mask(text).open;
        assert_eq!(open(r"so \(x + "), Some(3));
        assert_eq!(open("$$\nx\n"), Some(0));
        assert_eq!(open("so $x_"), Some(3));
        assert_eq!(open("a $$"), Some(2));
        for text in ["$5 a", "a $", "$x and then", "\\[x\n\ny", "$x$"] {
            assert_eq!(open(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_hidden_comes_back(text in "[-a1 \n$`~\\[\\]()\\\\é]{0,40}") {
            let Masked { text: hidden, formulas, .. } = mask(&text);
            prop_assert_eq!(hidden.len(), text.len());
            prop_assert_eq!(unmask(&hidden, &formulas), text.as_str());
        }
    }
}
