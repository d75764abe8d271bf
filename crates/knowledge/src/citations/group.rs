//! The forms in which models cite.
//!
//! After a bracket and a number of a source, the rest up to the closing bracket may have further sources
//! (`[S1, S2]`, `[S1–S3]`), quoted words, and where the words stand (`[S1, page 2]`), which is dropped: the
//! server knows the page. `[^S1]`, `[[S1]]`, `[**S1**]`, `[Source: S1]`, `[cite: S1]` and `[S1](url)` are
//! citations, too. Brackets that may mean something else, such as `(S3)`, are uncertain.

use super::marker::{MAX_MARKER, Marker};

/// The most sources of a range.
const MAX_RANGE: u32 = 20;
/// The most digits of a number.
const MAX_DIGITS: usize = 9;
/// Words that join sources, or say where in a source words stand.
const PLAIN_WORDS: &[&str] = &[
    "and", "or", "to", "through", "p", "pp", "page", "pages", "line", "lines", "section", "sections", "sheet", "row",
    "rows", "slide", "slides", "chapter", "table", "und", "bis", "seite", "seiten", "zeile", "zeilen", "et", "y",
];
/// Words of [`PLAIN_WORDS`] between the ends of a range.
const RANGE_WORDS: &[&str] = &["to", "through", "bis"];

/// Words before the first source, after which round brackets can mean nothing else.
const LABELS: &[&str] =
    &["Sources", "sources", "Source", "source", "Citations", "citations", "Citation", "citation", "Cite", "cite"];
/// Words before the first source that are also written before other names: `(document S3)`.
const OTHER_LABELS: &[&str] = &[
    "Refs", "refs", "Ref", "ref", "Document", "document", "Passages", "passages", "Passage", "passage", "IDs", "ids",
    "ID", "id", "See", "see",
];

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

/// Why no citation was read.
enum Stop {
    /// The text ends before it is known.
    Open,
    Text,
}

/// Reads a text that begins with a bracket and follows an emphasis. The result for the beginning of a text
/// is that for the whole, or [`Beginning::Open`], which it never is at the end.
pub(super) fn beginning(text: &str, emphasis: &str, is_end: bool) -> Beginning {
    match brackets(text, emphasis, is_end) {
        // However it arrives, the same is a citation: what is held back is never longer.
        Ok(brackets) if brackets.length <= MAX_MARKER => Beginning::Markers(brackets),
        Err(Stop::Open) if !is_end && text.len() <= MAX_MARKER => Beginning::Open,
        _ => Beginning::Text,
    }
}

fn brackets(text: &str, emphasis: &str, is_end: bool) -> Result<Brackets, Stop> {
    let mut scan = Scan { rest: text };
    let opening = scan.next()?;
    let closing = match opening {
        '[' => ']',
        '【' => '】',
        '(' => ')',
        _ => return Err(Stop::Text),
    };
    scan.skip(opening);
    let is_double = opening == '[' && scan.take("[");
    let mut reader = BracketReader::new(closing);
    reader.read(&mut scan)?;
    if is_double {
        // Of `[[S1] words]`, the inner brackets are read on their own.
        if scan.next()? != ']' {
            return Err(Stop::Text);
        }
        scan.skip(']');
    }
    let end = text.floor_char_boundary(MAX_MARKER.min(text.len()));
    let begin = text.len() - scan.rest.len();
    // What follows counts only as far as it is held back.
    let mut tail = Scan { rest: text.get(begin..end).unwrap_or_default() };
    let is_end = is_end || text.len() > MAX_MARKER;
    if closing == ']' {
        tail.link(reader.is_certain(), is_end)?;
    }
    let has_emphasis = tail.emphasis(emphasis, is_end)?;
    let length = begin.max(end) - tail.rest.len();
    Ok(Brackets { is_certain: reader.is_certain(), markers: reader.markers, length, has_emphasis })
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

/// Reads what brackets have.
struct BracketReader {
    closing: char,
    markers: Vec<Marker>,
    last: Token,
    has_label: bool,
    has_inner: bool,
    /// Whether a word follows a source, which may be a name: `[S3 bucket]`.
    may_be_name: bool,
}

impl BracketReader {
    fn new(closing: char) -> Self {
        let last = Token::Begin;
        Self { closing, markers: Vec::new(), last, has_label: false, has_inner: false, may_be_name: false }
    }

    fn is_certain(&self) -> bool {
        (self.closing != ')' || self.has_label) && !self.may_be_name
    }

    /// Reads up to the closing bracket.
    fn read(&mut self, scan: &mut Scan<'_>) -> Result<(), Stop> {
        if self.closing == ']' {
            scan.take("^");
        }
        self.has_label = scan.label()?;
        loop {
            let has_space = scan.spaces();
            let emphasis = scan.emphasis_begin();
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
        self.markers.extend(numbers.map(|number| Marker { number, quote: None }));
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
            // A number tells that what precedes it is a place: `[S1 p. 3]`.
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

/// The rest of a text.
struct Scan<'t> {
    rest: &'t str,
}

impl<'t> Scan<'t> {
    fn take(&mut self, begin: &str) -> bool {
        let rest = self.rest.strip_prefix(begin);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn skip(&mut self, sign: char) {
        self.rest = &self.rest[sign.len_utf8()..];
    }

    fn next(&self) -> Result<char, Stop> {
        self.rest.chars().next().ok_or(Stop::Open)
    }

    /// Skips spaces and colons; returns whether there were any.
    fn spaces(&mut self) -> bool {
        let length = self.rest.len();
        self.rest = self.rest.trim_start_matches([' ', '\u{a0}', '\u{202f}', ':']);
        self.rest.len() < length
    }

    /// Reads a label such as `Source`; returns whether it is one of [`LABELS`].
    fn label(&mut self) -> Result<bool, Stop> {
        if LABELS.iter().chain(OTHER_LABELS).any(|label| label.starts_with(self.rest)) {
            return Err(Stop::Open);
        }
        let is_label = LABELS.iter().any(|label| self.take(label));
        let has_any = is_label || OTHER_LABELS.iter().any(|label| self.take(label));
        // A longer word: `[cited S1]`.
        if has_any && self.rest.starts_with(char::is_alphanumeric) {
            return Err(Stop::Text);
        }
        Ok(is_label)
    }

    /// Skips signs of emphasis; returns them.
    fn emphasis_begin(&mut self) -> &'t str {
        let rest = self.rest.trim_start_matches(['*', '_', '`']);
        let emphasis = &self.rest[..self.rest.len() - rest.len()];
        self.rest = rest;
        emphasis
    }

    /// Reads the id of a source; returns its number.
    fn source(&mut self) -> Result<Option<u32>, Stop> {
        let Some(after) = self.rest.strip_prefix(['S', 's']) else { return Ok(None) };
        let digits = after.bytes().take_while(u8::is_ascii_digit).count();
        if digits > MAX_DIGITS {
            return Err(Stop::Text);
        }
        let next = after[digits..].chars().next().ok_or(Stop::Open)?;
        match after[..digits].parse() {
            Ok(_) if next.is_alphanumeric() => Err(Stop::Text),
            Ok(number) => {
                self.rest = &after[digits..];
                Ok(Some(number))
            }
            Err(_) => Ok(None),
        }
    }

    /// Reads letters and digits.
    fn word(&mut self) -> Result<&'t str, Stop> {
        let end = self.rest.find(|c: char| !c.is_alphanumeric()).ok_or(Stop::Open)?;
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        Ok(word)
    }

    /// Reads words in quotation marks. They may have quotation marks themselves, so only a mark ends them
    /// before what may follow a quotation.
    fn quote(&mut self, closing: char) -> Result<String, Stop> {
        let begin = self.next()?;
        let marks: &[char] = match begin {
            '\'' | '‘' => &['\'', '’'],
            '«' => &['»'],
            '»' => &['«'],
            '‹' => &['›'],
            '「' => &['」'],
            '『' => &['』'],
            _ => &['"', '”', '“'],
        };
        let inner = &self.rest[begin.len_utf8()..];
        for (at, mark) in inner.match_indices(marks) {
            let after = &inner[at + mark.len()..];
            if ends_quote(after, marks, closing).ok_or(Stop::Open)? {
                self.rest = after;
                return Ok(inner[..at].to_owned());
            }
        }
        Err(Stop::Open)
    }

    /// Skips the link of a citation, which the model has made up.
    fn link(&mut self, is_certain: bool, is_end: bool) -> Result<(), Stop> {
        if self.rest.is_empty() && !is_end {
            return Err(Stop::Open);
        }
        let Some(inner) = self.rest.strip_prefix('(') else { return Ok(()) };
        if !is_certain {
            return Err(Stop::Text);
        }
        match inner.find(|c: char| c == ')' || c.is_whitespace()) {
            Some(end) if inner[end..].starts_with(')') => self.rest = &inner[end + 1..],
            None if !is_end => return Err(Stop::Open),
            _ => {}
        }
        Ok(())
    }

    /// Skips the end of an emphasis; returns whether it is there.
    fn emphasis(&mut self, emphasis: &str, is_end: bool) -> Result<bool, Stop> {
        if self.rest.len() < emphasis.len() && emphasis.starts_with(self.rest) && !is_end {
            return Err(Stop::Open);
        }
        Ok(!emphasis.is_empty() && self.take(emphasis))
    }
}

/// Returns whether a quotation ends before a text; `None` if the text ends before it is known.
fn ends_quote(after: &str, marks: &[char], closing: char) -> Option<bool> {
    let spaces = [' ', '\u{a0}', '.'];
    let rest = after.trim_start_matches(spaces);
    let next = rest.chars().next()?;
    // `None` if the text ends behind the `S`.
    let is_source = |text: &str| match text.strip_prefix('S').map(|after| after.chars().next()) {
        Some(None) => None,
        Some(Some(next)) => Some(next.is_ascii_digit()),
        None => Some(false),
    };
    if next == closing || rest.len() < after.len() && is_source(rest)? {
        return Some(true);
    }
    if !",;:/&|†(-–—".contains(next) {
        return Some(false);
    }
    let tail = rest[next.len_utf8()..].trim_start_matches(spaces);
    if tail.is_empty() {
        return None;
    }
    if is_source(tail)? {
        return Some(true);
    }
    // Where the words stand, up to the bracket or the next source; not the beginning of another quotation.
    let (end, sign) = tail.char_indices().find(|(_, c)| *c == closing || *c == '\n' || marks.contains(c))?;
    let mut words = tail[..end].split(|c: char| !c.is_alphanumeric());
    Some(sign == closing || words.any(|word| is_source(word) == Some(true)))
}
