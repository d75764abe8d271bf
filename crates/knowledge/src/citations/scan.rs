//! Reads the parts of a citation.

/// The most digits of a number.
const MAX_DIGITS: usize = 9;
/// The longest extension of the name of a file in bytes.
const MAX_EXTENSION: usize = 5;

/// Words before the first source, after which round brackets can mean nothing else.
const LABELS: &[&str] =
    &["Sources", "sources", "Source", "source", "Citations", "citations", "Citation", "citation", "Cite", "cite"];
/// Words before the first source that are also written before other names: `(document S3)`.
const OTHER_LABELS: &[&str] = &[
    "Refs", "refs", "Ref", "ref", "Document", "document", "Passages", "passages", "Passage", "passage", "IDs", "ids",
    "ID", "id", "See", "see",
];

/// Why no citation was read.
pub(super) enum Stop {
    /// The text ends before it is known.
    Open,
    Text,
}

/// The rest of a text.
pub(super) struct Scan<'t> {
    pub(super) rest: &'t str,
}

impl<'t> Scan<'t> {
    pub(super) fn take(&mut self, begin: &str) -> bool {
        let rest = self.rest.strip_prefix(begin);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    pub(super) fn skip(&mut self, sign: char) {
        self.rest = &self.rest[sign.len_utf8()..];
    }

    pub(super) fn next(&self) -> Result<char, Stop> {
        self.rest.chars().next().ok_or(Stop::Open)
    }

    /// Skips spaces and colons; returns whether there were any.
    pub(super) fn spaces(&mut self) -> bool {
        let length = self.rest.len();
        self.rest = self.rest.trim_start_matches([' ', '\u{a0}', '\u{202f}', ':']);
        self.rest.len() < length
    }

    /// Reads a label such as `Source`; returns whether it is one of [`LABELS`].
    pub(super) fn label(&mut self) -> Result<bool, Stop> {
        if LABELS.iter().chain(OTHER_LABELS).any(|label| label.starts_with(self.rest)) {
            return Err(Stop::Open);
        }
        let before = self.rest;
        let is_label = LABELS.iter().any(|label| self.take(label));
        let has_any = is_label || OTHER_LABELS.iter().any(|label| self.take(label));
        // A longer word: `[cited S1]`, `[source.pdf, S1]`.
        if has_any && self.rest.starts_with(is_in_name) {
            self.rest = before;
            return Ok(false);
        }
        Ok(is_label)
    }

    /// Reads what may stand before the first source, and what separates them: quoted words, which it returns, or the
    /// name of a file, for which it returns an empty text.
    pub(super) fn lead(&mut self) -> Result<Option<String>, Stop> {
        self.spaces();
        match (Scan { rest: self.rest }).source() {
            Ok(Some(_)) => return Ok(None),
            Err(Stop::Open) => return Err(Stop::Open),
            _ => {}
        }
        let lead = match self.first_quote()? {
            Some(quote) => Some(quote.to_owned()),
            None => self.file_name()?.then(String::new),
        };
        if lead.is_some() {
            self.rest = self.rest.trim_start_matches([' ', '\u{a0}', ',', ';', ':', '|', '-', '–', '—']);
        }
        Ok(lead)
    }

    /// Reads words in quotation marks, in one line and without brackets. Otherwise these could be a list of texts.
    fn first_quote(&mut self) -> Result<Option<&'t str>, Stop> {
        let Some(inner) = self.rest.strip_prefix(['"', '“', '„', '«']) else { return Ok(None) };
        let end = inner.find(['"', '“', '”', '»', '[', ']', '\n']).ok_or(Stop::Open)?;
        let (quote, after) = inner.split_at(end);
        self.rest = after.strip_prefix(['"', '“', '”', '»']).ok_or(Stop::Text)?;
        Ok(Some(quote))
    }

    /// Reads the name of a file, such as `refunds.md`, before a separator; returns whether there is one.
    fn file_name(&mut self) -> Result<bool, Stop> {
        let end = self.rest.find(|c: char| !is_in_name(c)).ok_or(Stop::Open)?;
        let (name, rest) = self.rest.split_at(end);
        let is_file = name.rsplit_once('.').is_some_and(|(stem, extension)| {
            !stem.is_empty() && extension.len() <= MAX_EXTENSION && extension.contains(char::is_alphabetic)
        });
        let is_found = is_file && rest.starts_with([' ', ',', ';', ':', '|']);
        if is_found {
            self.rest = rest;
        }
        Ok(is_found)
    }

    /// Skips signs of emphasis; returns them.
    pub(super) fn emphasis_begin(&mut self) -> &'t str {
        let rest = self.rest.trim_start_matches(['*', '_', '`']);
        let emphasis = &self.rest[..self.rest.len() - rest.len()];
        self.rest = rest;
        emphasis
    }

    /// Reads the id of a source; returns its number.
    pub(super) fn source(&mut self) -> Result<Option<u32>, Stop> {
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
    pub(super) fn word(&mut self) -> Result<&'t str, Stop> {
        let end = self.rest.find(|c: char| !c.is_alphanumeric()).ok_or(Stop::Open)?;
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        Ok(word)
    }

    /// Reads words in quotation marks. They may have quotation marks themselves, so only a mark ends them
    /// before what may follow a quotation.
    pub(super) fn quote(&mut self, closing: char) -> Result<String, Stop> {
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
    pub(super) fn link(&mut self, is_certain: bool, is_end: bool) -> Result<(), Stop> {
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
    pub(super) fn emphasis(&mut self, emphasis: &str, is_end: bool) -> Result<bool, Stop> {
        if self.rest.len() < emphasis.len() && emphasis.starts_with(self.rest) && !is_end {
            return Err(Stop::Open);
        }
        Ok(!emphasis.is_empty() && self.take(emphasis))
    }
}

/// Returns whether a character may be in the name of a file.
fn is_in_name(sign: char) -> bool {
    sign.is_alphanumeric() || matches!(sign, '.' | '-' | '_')
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
