//! A statement with `:name` parameters. Drivers bind by number only, so names become numbers here; what stands in quotes or
//! comments is left alone, and values never become part of the text.

use crate::Dialect;
use crate::token::{Kind, Token};
use std::collections::HashMap;

/// One statement, and the names of its parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    pieces: Vec<Piece>,
    names: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    /// By its place among the names.
    Parameter(usize),
}

impl Statement {
    /// Finds the parameters.
    ///
    /// # Errors
    /// A parameter without a name, or more than one statement: if the second fails, the first would have happened.
    pub fn read(sql: &str, dialect: Dialect) -> Result<Self, String> {
        let mut read = Self { pieces: Vec::new(), names: Vec::new() };
        let (mut rest, mut has_ended, mut known) = (sql, false, HashMap::new());
        while let Some(token) = Token::first(rest, dialect) {
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
                    read.add_parameter(&text[1..], &mut known);
                    continue;
                }
                Kind::Other => {}
            }
            read.add_text(text);
        }
        Ok(read)
    }

    /// The names of the parameters, each once, in the order in which they first stand.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The text, with what `place` says for each parameter: it is given the parameter's place among the names, from 0.
    pub fn text(&self, mut place: impl FnMut(usize) -> String) -> String {
        let pieces = self.pieces.iter().map(|piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Parameter(at) => place(*at),
        });
        pieces.collect()
    }

    fn add_text(&mut self, text: &str) {
        match self.pieces.last_mut() {
            Some(Piece::Text(before)) => before.push_str(text),
            _ => self.pieces.push(Piece::Text(text.to_owned())),
        }
    }

    /// `known` holds the positions of the names so far.
    fn add_parameter<'s>(&mut self, name: &'s str, known: &mut HashMap<&'s str, usize>) {
        let at = *known.entry(name).or_insert_with(|| {
            self.names.push(name.to_owned());
            self.names.len() - 1
        });
        self.pieces.push(Piece::Parameter(at));
    }
}

#[cfg(test)]
mod tests {
    use super::Statement;
    use crate::Dialect::{self, Postgres, Sqlite};
    use proptest::prelude::*;

    /// The text with `<1>`, `<2>`, … for the parameters, and the names.
    fn seen(dialect: Dialect, sql: &str) -> (String, String) {
        let read = Statement::read(sql, dialect).unwrap();
        (read.text(|at| format!("<{}>", at + 1)), read.names().join(" "))
    }

    #[test]
    fn names_become_numbers() {
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

    /// Comparing each name with all others would take minutes.
    #[test]
    fn statement_with_very_many_parameters_is_read() {
        let sql: String = (0..400_000).map(|number| format!(":n{number} ")).collect();
        let read = Statement::read(&sql, Sqlite).unwrap();
        assert_eq!((read.names().len(), read.names()[399_999].as_str()), (400_000, "n399999"));
    }

    #[test]
    fn what_cannot_be_bound_safely_is_refused() {
        let check = |dialects: &[Dialect], sql: &str, expected: &str| {
            for dialect in dialects {
                assert_eq!(Statement::read(sql, *dialect).unwrap_err(), expected, "{dialect:?}");
            }
        };
        let both = &[Sqlite, Postgres];
        check(both, "select $1", "parameters have names, such as `:name`; found `$1`");
        check(both, "select 1; select 2", "a request runs one statement; put the second into a step of its own");
        check(&[Sqlite], "select ?", "parameters have names, such as `:name`; found `?`");
        check(&[Sqlite], "select @a", "parameters have names, such as `:name`; found `@a`");
        check(&[Sqlite], "select $a", "parameters have names, such as `:name`; found `$a`");
        check(&[Sqlite], "select :ü", "parameters have names, such as `:name`; found `:`");
    }

    proptest! {
        #[test]
        fn only_parameters_change(sql in "[a:;'\"`/*\\-\\[\\] \\\\Eeé$?1_=\r\n]{0,60}") {
            for dialect in [Sqlite, Postgres] {
                if let Ok(read) = Statement::read(&sql, dialect) {
                    prop_assert_eq!(read.text(|at| format!(":{}", read.names()[at])), sql.as_str());
                }
            }
        }
    }
}
