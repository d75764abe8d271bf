//! `:name` parameters in SQL. The driver binds by number only, so names become numbers here; what stands in quotes or comments
//! is left alone, and values never become part of the text.

/// SQL with `?1`, `?2`, …, and the names that they stand for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Numbered {
    pub(crate) sql: String,
    pub(crate) names: Vec<String>,
}

/// Numbers the named parameters.
pub(crate) fn number(sql: &str) -> Numbered {
    let (mut out, mut names) = (String::with_capacity(sql.len()), Vec::<String>::new());
    let mut rest = sql;
    while let Some(next) = rest.chars().next() {
        let taken = match next {
            '\'' | '"' | '`' => quoted(rest, next),
            '-' if rest.starts_with("--") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            // A cast (`::text`) is no parameter.
            ':' if rest.starts_with("::") => 2,
            ':' => {
                let name: String = rest[1..].chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
                if !name.is_empty() {
                    let at = names.iter().position(|known| *known == name).unwrap_or_else(|| {
                        names.push(name.clone());
                        names.len() - 1
                    });
                    out.push_str(&format!("?{}", at + 1));
                    rest = &rest[1 + name.len()..];
                    continue;
                }
                1
            }
            other => other.len_utf8(),
        };
        out.push_str(&rest[..taken]);
        rest = &rest[taken..];
    }
    Numbered { sql: out, names }
}

/// The length of what stands in quotes, with them; a doubled quote ends one text and begins the next, which comes to the same.
fn quoted(text: &str, quote: char) -> usize {
    text[1..].find(quote).map_or(text.len(), |end| end + 2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_become_numbers() {
        let check = |sql: &str, expected: &str, names: &[&str]| {
            let seen = number(sql);
            assert_eq!(
                (seen.sql.as_str(), seen.names.iter().map(String::as_str).collect::<Vec<_>>()),
                (expected, names.to_vec())
            );
        };
        check("select :a, :b, :a", "select ?1, ?2, ?1", &["a", "b"]);
        check("select ':a', \":b\", 'it''s :c' -- :d\n, :e", "select ':a', \":b\", 'it''s :c' -- :d\n, ?1", &["e"]);
        check("select /* :a */ b::text, :é, : from t", "select /* :a */ b::text, :é, : from t", &[]);
        check("select 'open :a", "select 'open :a", &[]);
    }

    proptest! {
        #[test]
        fn nothing_panics(sql in "[a:'\"`/*\\-\né ]{0,40}") {
            number(&sql);
        }
    }
}
