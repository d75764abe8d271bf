//! As much of SQL as it takes to find the parameters.

use crate::Dialect;

/// What a piece of a statement is.
pub(crate) enum Kind {
    /// A space or a comment.
    Ignored,
    /// `;`
    End,
    /// `:name`
    Parameter,
    /// A parameter of another form.
    Nameless,
    Other,
}

/// The next piece of a statement.
pub(crate) struct Token {
    pub(crate) kind: Kind,
    /// In bytes.
    pub(crate) length: usize,
}

impl Token {
    /// The piece at the beginning; none if the text is empty. What is not closed goes to the end.
    pub(crate) fn first(text: &str, dialect: Dialect) -> Option<Self> {
        let first = text.chars().next()?;
        let (kind, length) = match first {
            '\'' | '"' => (Kind::Other, quoted(text)),
            ';' => (Kind::End, 1),
            // A cast.
            ':' if text.starts_with("::") => (Kind::Other, 2),
            space if space.is_whitespace() => (Kind::Ignored, space.len_utf8()),
            _ => match dialect {
                Dialect::Sqlite => sqlite(text, first),
                Dialect::Postgres => postgres(text, first),
            },
        };
        Some(Self { kind, length })
    }
}

fn sqlite(text: &str, first: char) -> (Kind, usize) {
    match first {
        '`' => (Kind::Other, quoted(text)),
        '[' => (Kind::Other, through(text, "]", 0)),
        '-' if text.starts_with("--") => (Kind::Ignored, until(text, |c| c == '\n')),
        '/' if text.starts_with("/*") => (Kind::Ignored, through(text, "*/", 2)),
        ':' => match name_length(&text[1..]) {
            0 => (Kind::Nameless, 1),
            length => (Kind::Parameter, 1 + length),
        },
        '?' => (Kind::Nameless, 1),
        '@' | '$' => (Kind::Nameless, 1 + name_length(&text[1..])),
        _ => (Kind::Other, word(text, first)),
    }
}

fn postgres(text: &str, first: char) -> (Kind, usize) {
    match first {
        'e' | 'E' if text[1..].starts_with('\'') => (Kind::Other, escaped(text)),
        '-' if text.starts_with("--") => (Kind::Ignored, until(text, |c| matches!(c, '\n' | '\r'))),
        '/' if text.starts_with("/*") => (Kind::Ignored, nested_comment(text)),
        // In a slice, `list[1:2]`, and in `f(name := 1)`, it is followed by something else than a name.
        ':' => match text[1..].starts_with(|c: char| c.is_ascii_digit()) {
            false if name_length(&text[1..]) > 0 => (Kind::Parameter, 1 + name_length(&text[1..])),
            _ => (Kind::Other, 1),
        },
        '$' => match (dollar_tag(text), until(&text[1..], |c| !c.is_ascii_digit())) {
            (Some(tag), _) => (Kind::Other, through(text, tag, tag.len())),
            (None, 0) => (Kind::Other, 1),
            (None, digits) => (Kind::Nameless, 1 + digits),
        },
        // `?` and `@` are operators.
        _ => (Kind::Other, word(text, first)),
    }
}

/// A text or a name in quotes. One that is doubled inside begins the next piece, which is quoted too.
fn quoted(text: &str) -> usize {
    through(text, &text[..1], 1)
}

/// `E'…'`, in which a backslash takes what follows it.
fn escaped(text: &str) -> usize {
    let mut letters = text.char_indices().skip(2).peekable();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' => drop(letters.next()),
            '\'' if letters.next_if(|(_, next)| *next == '\'').is_none() => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// PostgreSQL's comments stand in one another.
fn nested_comment(text: &str) -> usize {
    let (mut at, mut depth) = (2, 1_usize);
    while depth > 0 {
        let rest = &text[at..];
        let Some(next) = rest.find(['/', '*']) else { return text.len() };
        let mark = rest.get(next..next + 2);
        at += next + if matches!(mark, Some("/*" | "*/")) { 2 } else { 1 };
        match mark {
            Some("/*") => depth += 1,
            Some("*/") => depth -= 1,
            _ => {}
        }
    }
    at
}

/// The `$tag$` that a text in dollars begins with.
fn dollar_tag(text: &str) -> Option<&str> {
    let end = 1 + until(&text[1..], |c| !is_in_word(c) || c == '$');
    let is_tag = text[end..].starts_with('$') && !text[1..].starts_with(|c: char| c.is_ascii_digit());
    is_tag.then(|| &text[..=end])
}

/// A word is one piece, since `$` may stand in it; anything else is a piece by itself.
fn word(text: &str, first: char) -> usize {
    if is_in_word(first) { until(text, |c| !is_in_word(c)) } else { first.len_utf8() }
}

fn is_in_word(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '_' | '$') || !letter.is_ascii()
}

fn name_length(text: &str) -> usize {
    until(text, |c| !c.is_ascii_alphanumeric() && c != '_')
}

/// As far as `end` is not reached.
fn until(text: &str, end: impl Fn(char) -> bool) -> usize {
    text.find(end).unwrap_or(text.len())
}

/// Through the first `end` that begins at `from` or later.
fn through(text: &str, end: &str, from: usize) -> usize {
    text[from..].find(end).map_or(text.len(), |at| from + at + end.len())
}
