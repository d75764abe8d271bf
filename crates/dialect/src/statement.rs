//! Statements with `:name` parameters. Drivers bind parameters by number, so names are replaced by
//! numbers. Quoted text and comments are left unchanged, and values never become part of the text.

use crate::Dialect;
use crate::token::{SqlToken, TokenKind};
use std::collections::HashMap;

/// A statement and the names of its parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    segments: Vec<Segment>,
    names: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Segment {
    Text(String),
    /// The index of a parameter's name.
    Parameter(usize),
}

impl Statement {
    /// Parses a statement.
    ///
    /// # Errors
    /// A parameter without a name, or a second statement: if it failed, the first one would already
    /// have been run.
    pub fn parse(sql: &str, dialect: Dialect) -> Result<Self, String> {
        let mut read = Self { segments: Vec::new(), names: Vec::new() };
        let (mut rest, mut has_ended, mut known) = (sql, false, HashMap::new());
        while let Some(token) = SqlToken::first(rest, dialect) {
            let text = &rest[..token.length];
            rest = &rest[token.length..];
            match token.kind {
                TokenKind::Ignored => {}
                _ if has_ended => {
                    return Err("a request can run only one statement; put the second one into its own step".to_owned());
                }
                TokenKind::Semicolon => has_ended = true,
                TokenKind::UnnamedParameter => {
                    return Err(format!("parameters must be named, such as `:name`; found `{text}`"));
                }
                TokenKind::Parameter => {
                    read.add_parameter(&text[1..], &mut known);
                    continue;
                }
                TokenKind::Other => {}
            }
            read.add_text(text);
        }
        Ok(read)
    }

    /// Returns the names of the parameters, each once, in the order of their first occurrence.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Returns the text with a placeholder for each parameter. `place` gets the index of the
    /// parameter's name, from 0.
    pub fn render(&self, mut place: impl FnMut(usize) -> String) -> String {
        let segments = self.segments.iter().map(|segment| match segment {
            Segment::Text(text) => text.clone(),
            Segment::Parameter(at) => place(*at),
        });
        segments.collect()
    }

    fn add_text(&mut self, text: &str) {
        match self.segments.last_mut() {
            Some(Segment::Text(before)) => before.push_str(text),
            _ => self.segments.push(Segment::Text(text.to_owned())),
        }
    }

    /// Adds a parameter. `known` maps the names so far to their indexes.
    fn add_parameter<'s>(&mut self, name: &'s str, known: &mut HashMap<&'s str, usize>) {
        let at = *known.entry(name).or_insert_with(|| {
            self.names.push(name.to_owned());
            self.names.len() - 1
        });
        self.segments.push(Segment::Parameter(at));
    }
}

#[cfg(test)]
mod tests {
    use super::Statement;
    use crate::Dialect::{self, Postgres, Sqlite};
    use proptest::prelude::*;

    /// Returns the text with the placeholders `<1>`, `<2>`, …, and the names.
    fn seen(dialect: Dialect, sql: &str) -> (String, String) {
        let read = Statement::parse(sql, dialect).unwrap();
        (read.render(|at| format!("<{}>", at + 1)), read.names().join(" "))
    }

    #[test]
    fn named_parameters_are_numbered() {
        let check = |dialects: &[Dialect], sql: &str, expected: &str, names: &str| {
            for dialect in dialects {
                assert_eq!(seen(*dialect, sql), (expected.to_owned(), names.to_owned()), "{dialect:?}");
            }
        };
        let both = &[Sqlite, Postgres];
        check(both, "select :a, :b, :a", "select <1>, <2>, <1>", "a b");
        check(
            both,
            "select ':a', \":b\", 'it''s :c' -- :d\n, :e;",
            "select ':a', \":b\", 'it''s :c' -- :d\n, <1>;",
            "e",
        );
        check(both, "select /* :a ; */ b::text, e$f from t; -- x", "select /* :a ; */ b::text, e$f from t; -- x", "");
        check(both, "select :a::int, 'ü' || :b", "select <1>::int, 'ü' || <2>", "a b");
        check(both, "select 'open :a", "select 'open :a", "");
        check(both, "select /*/ :a */ :b", "select /*/ :a */ <1>", "b");
        check(both, "select ü:a", "select ü<1>", "a");
        check(both, "", "", "");
        check(&[Sqlite], "select [c:d], `:e`, \\':f", "select [c:d], `:e`, \\':f", "");
        check(&[Sqlite], "/* /* :a */ :b", "/* /* :a */ <1>", "b");
        check(&[Postgres], "/* /* :a */ :b */ :c", "/* /* :a */ :b */ <1>", "c");
        check(&[Postgres], "select list[:a], list[1:2], list[1 : n]", "select list[<1>], list[1:2], list[1 : n]", "a");
        check(&[Postgres], "select $$ :a ; ' $$, $t$ :b $$ $t$, :c", "select $$ :a ; ' $$, $t$ :b $$ $t$, <1>", "c");
        check(&[Postgres], "select $open$ :a $$", "select $open$ :a $$", "");
        check(
            &[Postgres],
            r"select E'it\'s :a', e'\\', :b, '\', :c",
            r"select E'it\'s :a', e'\\', <1>, '\', <2>",
            "b c",
        );
        check(&[Postgres], "select E'a''b\\':c' || :d", "select E'a''b\\':c' || <1>", "d");
        check(&[Postgres], "select a ? :k, b @> :j, c ?| d, @ -1", "select a ? <1>, b @> <2>, c ?| d, @ -1", "k j");
        check(&[Postgres], "select f(x := :a, y => :b)", "select f(x := <1>, y => <2>)", "a b");
        check(&[Postgres], "select 1 -- :a\r, :b", "select 1 -- :a\r, <1>", "b");
    }

    /// A comparison of each name with all others would take minutes.
    #[test]
    fn statement_with_very_many_parameters_is_read() {
        let sql: String = (0..400_000).map(|number| format!(":n{number} ")).collect();
        let read = Statement::parse(&sql, Sqlite).unwrap();
        assert_eq!((read.names().len(), read.names()[399_999].as_str()), (400_000, "n399999"));
    }

    #[test]
    fn unsafe_statements_are_rejected() {
        let check = |dialects: &[Dialect], sql: &str, expected: &str| {
            for dialect in dialects {
                assert_eq!(Statement::parse(sql, *dialect).unwrap_err(), expected, "{dialect:?}");
            }
        };
        let both = &[Sqlite, Postgres];
        check(both, "select $1", "parameters must be named, such as `:name`; found `$1`");
        check(both, "select 1; select 2", "a request can run only one statement; put the second one into its own step");
        check(&[Sqlite], "select ?", "parameters must be named, such as `:name`; found `?`");
        check(&[Sqlite], "select @a", "parameters must be named, such as `:name`; found `@a`");
        check(&[Sqlite], "select $a", "parameters must be named, such as `:name`; found `$a`");
        check(&[Sqlite], "select :ü", "parameters must be named, such as `:name`; found `:`");
    }

    proptest! {
        #[test]
        fn only_parameters_change(sql in "[a:;'\"`/*\\-\\[\\] \\\\Eeé$?1_=\r\n]{0,60}") {
            for dialect in [Sqlite, Postgres] {
                if let Ok(read) = Statement::parse(&sql, dialect) {
                    prop_assert_eq!(read.render(|at| format!(":{}", read.names()[at])), sql.as_str());
                }
            }
        }
    }
}
