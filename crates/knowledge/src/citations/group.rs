//! The forms in which models cite.
//!
//! A bracket begins with a source (`[S1`). Up to the closing bracket, there may be further sources (`[S1, S2]`,
//! `[S1–S3]`), quoted words, and the place of the words (`[S1, page 2]`). The place is dropped, because the
//! server knows it. `[^S1]`, `[[S1]]`, `[**S1**]`, `[Source: S1]`, `[cite: S1]` and `[S1](url)` are
//! citations, too. Brackets that may mean something else, such as `(S3)`, `[refunds.md, S1]`, `["words" S1]` and `\[S1\]`,
//! are uncertain.

use super::marker::{MAX_MARKER, Marker};
use super::scan::{Scan, Stop};

/// The most sources of a range.
const MAX_RANGE: u32 = 20;
/// Words that join sources, or say where in a source words stand.
const PLAIN_WORDS: &[&str] = &[
    "and", "or", "to", "through", "p", "pp", "page", "pages", "line", "lines", "section", "sections", "sheet", "row",
    "rows", "slide", "slides", "chapter", "table", "und", "bis", "seite", "seiten", "zeile", "zeilen", "et", "y",
];
/// Words of [`PLAIN_WORDS`] between the ends of a range.
const RANGE_WORDS: &[&str] = &["to", "through", "bis"];

/// The classification of the beginning of a text.
pub(super) enum Beginning {
    /// Citations.
    Markers(Brackets),
    /// It may become a citation.
    Open,
    Text,
}

/// Brackets with citations.
pub(super) struct Brackets {
    pub(super) markers: Vec<Marker>,
    /// The length in bytes.
    pub(super) length: usize,
    /// Whether the brackets can mean nothing else.
    pub(super) is_certain: bool,
    /// Whether the emphasis before the brackets ends behind them.
    pub(super) has_emphasis: bool,
}

/// Reads a text that begins with a bracket, which may be escaped, and follows an emphasis that ends with `emphasis`. The
/// result for the beginning of a text is that for the whole, or [`Beginning::Open`], which it never is at the end.
pub(super) fn beginning(text: &str, emphasis: &str, is_escaped: bool, is_end: bool) -> Beginning {
    match brackets(text, emphasis, is_escaped, is_end) {
        // A longer match is not a citation, also in a text that arrives at once: of a text that arrives in pieces, no
        // more than this is held back.
        Ok(brackets) if brackets.length <= MAX_MARKER => Beginning::Markers(brackets),
        Err(Stop::Open) if !is_end && text.len() <= MAX_MARKER => Beginning::Open,
        _ => Beginning::Text,
    }
}

fn brackets(text: &str, emphasis: &str, is_escaped: bool, is_end: bool) -> Result<Brackets, Stop> {
    let mut scan = Scan { rest: text };
    let opening = scan.next()?;
    let closing = match opening {
        '[' => ']',
        '【' => '】',
        '(' => ')',
        _ => return Err(Stop::Text),
    };
    scan.skip(opening);
    let is_double = opening == '[' && !is_escaped && scan.take("[");
    let mut reader = BracketReader::new(closing);
    reader.read(&mut scan, is_escaped)?;
    // `\[…\]` may be a formula.
    let is_certain = reader.is_certain() && !is_escaped;
    if is_double {
        // In `[[S1] words]`, only the inner brackets are a citation.
        if scan.next()? != ']' {
            return Err(Stop::Text);
        }
        scan.skip(']');
    }
    let end = text.floor_char_boundary(MAX_MARKER.min(text.len()));
    let begin = text.len() - scan.rest.len();
    // A link or emphasis after the brackets counts only within `MAX_MARKER` bytes: a text that arrives in pieces is not
    // held back for longer, and must be read in the same way as one that arrives at once.
    let mut tail = Scan { rest: text.get(begin..end).unwrap_or_default() };
    let is_end = is_end || text.len() > MAX_MARKER;
    if closing == ']' {
        tail.link(is_certain, is_end)?;
    }
    let has_emphasis = tail.emphasis(emphasis, is_end)?;
    let length = begin.max(end) - tail.rest.len();
    Ok(Brackets { is_certain, markers: reader.markers, length, has_emphasis })
}

/// The last token within brackets.
#[derive(Clone, Copy, PartialEq)]
enum Token {
    Begin,
    Source,
    /// A dash or a word behind a source, before which a range may begin.
    Range,
    Separator,
    Word,
    Other,
}

/// Reads the content of brackets.
struct BracketReader {
    closing: char,
    markers: Vec<Marker>,
    last: Token,
    has_label: bool,
    /// The quoted words before the first source; empty for the name of a file.
    lead: Option<String>,
    has_inner: bool,
    /// Whether a word follows a source, which may be a name: `[S3 bucket]`.
    may_be_name: bool,
}

impl BracketReader {
    fn new(closing: char) -> Self {
        let last = Token::Begin;
        Self { closing, markers: Vec::new(), last, has_label: false, lead: None, has_inner: false, may_be_name: false }
    }

    fn is_certain(&self) -> bool {
        (self.closing != ')' || self.has_label) && !self.may_be_name && self.lead.is_none()
    }

    /// Reads up to the closing bracket, which may be escaped if the opening one is.
    fn read(&mut self, scan: &mut Scan<'_>, is_escaped: bool) -> Result<(), Stop> {
        if self.closing == ']' {
            scan.take("^");
        }
        self.has_label = scan.label()?;
        if self.closing != ')' && !self.has_label {
            self.lead = scan.lead()?;
        }
        loop {
            let has_space = scan.spaces();
            let emphasis = scan.emphasis_begin();
            if is_escaped {
                scan.take("\\");
            }
            let sign = scan.next()?;
            if sign == self.closing && emphasis.is_empty() && !self.has_inner && !self.markers.is_empty() {
                scan.skip(sign);
                return Ok(());
            }
            if let Some(number) = scan.source()? {
                if !emphasis.is_empty() && !scan.emphasis(emphasis, false)? {
                    return Err(Stop::Text);
                }
                self.source(number);
            } else if self.markers.is_empty() || !emphasis.is_empty() {
                return Err(Stop::Text);
            } else {
                self.token(scan, sign, has_space)?;
            }
        }
    }

    fn source(&mut self, number: u32) {
        let before = self.markers.last().filter(|_| self.last == Token::Range).map(|marker| marker.number);
        let begin = before.map(|before| before.saturating_add(1));
        let begin = begin.filter(|begin| number.checked_sub(*begin).is_some_and(|more| more < MAX_RANGE));
        let numbers = begin.unwrap_or(number)..=number;
        let mut quote = self.lead.clone().filter(|quote| self.markers.is_empty() && !quote.trim().is_empty());
        self.markers.extend(numbers.map(|number| Marker { number, quote: quote.take() }));
        self.last = Token::Source;
    }

    fn token(&mut self, scan: &mut Scan<'_>, sign: char, has_space: bool) -> Result<(), Stop> {
        let is_apart = has_space || self.last != Token::Source;
        match sign {
            '"' | '“' | '„' | '«' | '»' | '‹' | '「' | '『' if self.last != Token::Word => self.quote(scan),
            '\'' | '‘' if self.last != Token::Word && is_apart => self.quote(scan),
            '(' | ')' if self.closing != ')' && self.has_inner == (sign == ')') => {
                scan.skip(sign);
                self.has_inner = sign == '(';
                self.last = Token::Separator;
                Ok(())
            }
            '-' | '–' | '—' | '‑' | '‐' => {
                scan.skip(sign);
                let is_range = self.last == Token::Source;
                self.last = if is_range { Token::Range } else { Token::Separator };
                Ok(())
            }
            ',' | ';' | '.' | '&' | '/' | '|' | '#' | '§' | '†' => {
                scan.skip(sign);
                self.last = Token::Separator;
                Ok(())
            }
            sign if sign.is_alphanumeric() => self.word(scan, has_space),
            _ => Err(Stop::Text),
        }
    }

    fn quote(&mut self, scan: &mut Scan<'_>) -> Result<(), Stop> {
        let quote = scan.quote(self.closing)?;
        if let Some(marker) = self.markers.last_mut().filter(|marker| marker.quote.is_none()) {
            marker.quote = Some(quote).filter(|quote| !quote.trim().is_empty());
        }
        self.last = Token::Other;
        Ok(())
    }

    fn word(&mut self, scan: &mut Scan<'_>, has_space: bool) -> Result<(), Stop> {
        let word = scan.word()?.to_lowercase();
        if let Ok(number) = word.parse::<u32>() {
            if self.last == Token::Range && !has_space {
                self.source(number);
            } else {
                self.last = Token::Other;
            }
            // A number shows that the word before it names a place: `[S1 p. 3]`.
            self.may_be_name = false;
            return Ok(());
        }
        // A compound word: `[S3-compatible]`.
        if self.last == Token::Range && !has_space {
            return Err(Stop::Text);
        }
        if self.last == Token::Source && RANGE_WORDS.contains(&word.as_str()) {
            self.last = Token::Range;
        } else if PLAIN_WORDS.contains(&word.as_str()) || word.contains(|c: char| c.is_ascii_digit()) {
            self.last = Token::Separator;
        } else if self.closing == ')' {
            return Err(Stop::Text);
        } else {
            self.may_be_name |= self.last == Token::Source;
            self.last = Token::Word;
        }
        Ok(())
    }
}
