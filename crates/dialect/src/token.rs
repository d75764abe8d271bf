//! A tokenizer for SQL that recognizes just enough to find the parameters.

use crate::Dialect;

/// The kind of a token.
pub(crate) enum TokenKind {
    /// White space or a comment.
    Ignored,
    /// `;`
    Semicolon,
    /// `:name`
    Parameter,
    /// A parameter that is not of the form `:name`.
    UnnamedParameter,
    Other,
}

/// A token.
pub(crate) struct SqlToken {
    pub(crate) kind: TokenKind,
    /// The length in bytes.
    pub(crate) length: usize,
}

impl SqlToken {
    /// Returns the first token of a text, or `None` if the text is empty. An unclosed token extends
    /// to the end.
    pub(crate) fn first(text: &str, dialect: Dialect) -> Option<Self> {
        let first = text.chars().next()?;
        let (kind, length) = match first {
            '\'' | '"' => (TokenKind::Other, quoted_length(text)),
            ';' => (TokenKind::Semicolon, 1),
            // A type cast.
            ':' if text.starts_with("::") => (TokenKind::Other, 2),
            space if space.is_whitespace() => (TokenKind::Ignored, space.len_utf8()),
            _ => match dialect {
                Dialect::Sqlite => sqlite_token(text, first),
                Dialect::Postgres => postgres_token(text, first),
            },
        };
        Some(Self { kind, length })
    }
}

fn sqlite_token(text: &str, first: char) -> (TokenKind, usize) {
    match first {
        '`' => (TokenKind::Other, quoted_length(text)),
        '[' => (TokenKind::Other, length_through(text, "]", 0)),
        '-' if text.starts_with("--") => (TokenKind::Ignored, length_until(text, |c| c == '\n')),
        '/' if text.starts_with("/*") => (TokenKind::Ignored, length_through(text, "*/", 2)),
        ':' => match name_length(&text[1..]) {
            0 => (TokenKind::UnnamedParameter, 1),
            length => (TokenKind::Parameter, 1 + length),
        },
        '?' => (TokenKind::UnnamedParameter, 1),
        '@' | '$' => (TokenKind::UnnamedParameter, 1 + name_length(&text[1..])),
        _ => (TokenKind::Other, word_length(text, first)),
    }
}

fn postgres_token(text: &str, first: char) -> (TokenKind, usize) {
    match first {
        'e' | 'E' if text[1..].starts_with('\'') => (TokenKind::Other, escape_string_length(text)),
        '-' if text.starts_with("--") => (TokenKind::Ignored, length_until(text, |c| matches!(c, '\n' | '\r'))),
        '/' if text.starts_with("/*") => (TokenKind::Ignored, comment_length(text)),
        // In `list[1:2]` and `f(name := 1)`, the colon is not followed by a name.
        ':' if !text[1..].starts_with(|c: char| c.is_ascii_digit()) && name_length(&text[1..]) > 0 => {
            (TokenKind::Parameter, 1 + name_length(&text[1..]))
        }
        ':' => (TokenKind::Other, 1),
        '$' => match (dollar_tag(text), length_until(&text[1..], |c| !c.is_ascii_digit())) {
            (Some(tag), _) => (TokenKind::Other, length_through(text, tag, tag.len())),
            (None, 0) => (TokenKind::Other, 1),
            (None, digits) => (TokenKind::UnnamedParameter, 1 + digits),
        },
        // `?` and `@` are operators.
        _ => (TokenKind::Other, word_length(text, first)),
    }
}

/// Returns the length of a quoted string or name. A doubled quote starts the next token, which is
/// quoted, too.
fn quoted_length(text: &str) -> usize {
    length_through(text, &text[..1], 1)
}

/// Returns the length of an `E'…'` string, in which a backslash escapes the next character.
fn escape_string_length(text: &str) -> usize {
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

/// Returns the length of a comment. PostgreSQL's comments nest.
fn comment_length(text: &str) -> usize {
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

/// Returns the `$tag$` at the start of a dollar-quoted string.
fn dollar_tag(text: &str) -> Option<&str> {
    let end = 1 + length_until(&text[1..], |c| !is_in_word(c) || c == '$');
    let is_tag = text[end..].starts_with('$') && !text[1..].starts_with(|c: char| c.is_ascii_digit());
    is_tag.then(|| &text[..=end])
}

/// Returns the length of a word, which may contain `$`; any other character is a token of its own.
fn word_length(text: &str, first: char) -> usize {
    if is_in_word(first) { length_until(text, |c| !is_in_word(c)) } else { first.len_utf8() }
}

fn is_in_word(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '_' | '$') || !letter.is_ascii()
}

fn name_length(text: &str) -> usize {
    length_until(text, |c| !c.is_ascii_alphanumeric() && c != '_')
}

/// Returns the length of the text before `end`.
fn length_until(text: &str, end: impl Fn(char) -> bool) -> usize {
    text.find(end).unwrap_or(text.len())
}

/// Returns the length up to and including the first `end` at or after `from`.
fn length_through(text: &str, end: &str, from: usize) -> usize {
    text[from..].find(end).map_or(text.len(), |at| from + at + end.len())
}
