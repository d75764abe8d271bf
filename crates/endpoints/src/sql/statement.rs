//! A statement with `:name` parameters. The driver binds by number only, so names become numbers here; what stands in quotes
//! or comments is left alone, and values never become part of the text.

use std::fmt::Write;
use std::sync::Arc;

/// One statement with `?1`, `?2`, … and the names that they stand for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Statement {
    pub(super) sql: Arc<str>,
    pub(super) names: Vec<String>,
}

impl Statement {
    /// Numbers the parameters.
    ///
    /// # Errors
    /// A parameter without a name, or more than one statement: if the second fails, the first would have happened.
    pub(crate) fn read(sql: &str) -> Result<Self, String> {
        let (mut numbered, mut names) = (String::with_capacity(sql.len()), Vec::new());
        let (mut rest, mut has_ended) = (sql, false);
        while let Some(token) = Token::first(rest) {
            let text = &rest[..token.length];
            rest = &rest[token.length..];
            match token.kind {
                Kind::Ignored => {}
                _ if has_ended => {
                    return Err("a request runs one statement; put the second into a step of its own".to_owned());
                }
                Kind::End => has_ended = true,
                Kind::Nameless => return Err(format!("parameters have names, such as `:name`; found `{text}`")),
                Kind::Parameter => {
                    // Writing to a String cannot fail.
                    let _ = write!(numbered, "?{}", number(&mut names, &text[1..]));
                    continue;
                }
                Kind::Other => {}
            }
            numbered.push_str(text);
        }
        Ok(Self { sql: numbered.into(), names })
    }
}

/// The number of a name, from 1.
fn number(names: &mut Vec<String>, name: &str) -> usize {
    let known = names.iter().position(|known| known == name);
    known.unwrap_or_else(|| {
        names.push(name.to_owned());
        names.len() - 1
    }) + 1
}

enum Kind {
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

/// The next piece of a statement: as much of SQL as it takes to find the parameters.
struct Token {
    kind: Kind,
    length: usize,
}

impl Token {
    fn first(text: &str) -> Option<Self> {
        let first = text.chars().next()?;
        let until = |end: Option<usize>| end.unwrap_or(text.len());
        let token = |kind, length| Some(Self { kind, length });
        match first {
            '\'' | '"' | '`' => token(Kind::Other, until(text[1..].find(first).map(|end| end + 2))),
            '[' => token(Kind::Other, until(text.find(']').map(|end| end + 1))),
            '-' if text.starts_with("--") => token(Kind::Ignored, until(text.find('\n'))),
            '/' if text.starts_with("/*") => token(Kind::Ignored, until(text[2..].find("*/").map(|end| end + 4))),
            ';' => token(Kind::End, 1),
            // A cast.
            ':' if text.starts_with("::") => token(Kind::Other, 2),
            ':' => match name_length(&text[1..]) {
                0 => token(Kind::Nameless, 1),
                length => token(Kind::Parameter, 1 + length),
            },
            '?' => token(Kind::Nameless, 1),
            '@' | '$' => token(Kind::Nameless, 1 + name_length(&text[1..])),
            space if space.is_whitespace() => token(Kind::Ignored, space.len_utf8()),
            // A word is one piece, since `$` may stand in it.
            letter if is_in_word(letter) => token(Kind::Other, until(text.find(|c| !is_in_word(c)))),
            other => token(Kind::Other, other.len_utf8()),
        }
    }
}

fn is_in_word(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '_' | '$') || !letter.is_ascii()
}

fn name_length(text: &str) -> usize {
    text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_become_numbers() {
        let check = |sql: &str, expected: &str, names: &[&str]| {
            let seen = Statement::read(sql).unwrap();
            assert_eq!((&*seen.sql, seen.names), (expected, names.iter().map(|name| (*name).to_owned()).collect()));
        };
        check("select :a, :b, :a", "select ?1, ?2, ?1", &["a", "b"]);
        check("select ':a', \":b\", 'it''s :c' -- :d\n, :e;", "select ':a', \":b\", 'it''s :c' -- :d\n, ?1;", &["e"]);
        check(
            "select /* :a ; */ b::text, [c:d], e$f from t; -- x",
            "select /* :a ; */ b::text, [c:d], e$f from t; -- x",
            &[],
        );
        check("select 'open :a", "select 'open :a", &[]);
        check("select /*/ :a */ :b", "select /*/ :a */ ?1", &["b"]);
        check("select ü:a", "select ü?1", &["a"]);
    }

    #[test]
    fn what_cannot_be_bound_safely_is_refused() {
        let check = |sql: &str, expected: &str| assert_eq!(Statement::read(sql).unwrap_err(), expected);
        check("select ?", "parameters have names, such as `:name`; found `?`");
        check("select @a", "parameters have names, such as `:name`; found `@a`");
        check("select $1", "parameters have names, such as `:name`; found `$1`");
        check("select :ü", "parameters have names, such as `:name`; found `:`");
        check("select 1; select 2", "a request runs one statement; put the second into a step of its own");
    }

    proptest! {
        #[test]
        fn only_parameters_change(sql in "[a:;'\"`/*\\-\\[\\] \né$?]{0,40}") {
            if let Ok(read) = Statement::read(&sql) {
                let mut back = read.sql.to_string();
                for (i, name) in read.names.iter().enumerate().rev() {
                    back = back.replace(&format!("?{}", i + 1), &format!(":{name}"));
                }
                prop_assert_eq!(back, sql);
            }
        }
    }
}
