//! `$.` paths.

use serde_json::Value;
use serde_json_path::JsonPath;

/// The maximum length of a path in bytes.
const MAX_LENGTH: usize = 500;

/// A path: the name of what it reads, and the query within that.
#[derive(Debug)]
pub struct ValuePath<'t> {
    /// `input`, `user`, `error`, a step's id, or the name of an item.
    pub root: &'t str,
    /// The keys that it reads of that, each within the one before, up to the first part that is no plain key.
    pub keys: Vec<&'t str>,
    query: Option<JsonPath>,
    /// Whether it selects at most one value.
    is_singular: bool,
}

/// Returns whether a text is a path.
pub fn is_path(text: &str) -> bool {
    text.starts_with("$.")
}

impl<'t> ValuePath<'t> {
    /// Parses a path. Its evaluation takes time proportional to the size of the value.
    ///
    /// # Errors
    /// One line for the author.
    pub fn parse(text: &'t str) -> Result<Self, String> {
        if text.len() > MAX_LENGTH {
            return Err(format!("the path is longer than {MAX_LENGTH} bytes"));
        }
        let body = text.strip_prefix("$.").ok_or("a path begins with `$.`")?;
        let end = body.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))).unwrap_or(body.len());
        let (root, rest) = body.split_at(end);
        if root.is_empty() {
            return Err("a path begins with `$.input`, or with `$.` and the id of a step".to_owned());
        }
        let outside = outside_quotes(rest);
        let is_too_costly =
            outside.matches("..").count() > 1 || outside.matches('?').count() > 1 || outside.contains('$');
        if is_too_costly {
            return Err("a path has at most one `..` and one filter, which reads only its own item".to_owned());
        }
        let query = if rest.is_empty() {
            None
        } else {
            Some(JsonPath::parse(&format!("${rest}")).map_err(|error| error.to_string())?)
        };
        let is_singular = !outside.contains(['*', '?', ':', ',']) && !outside.contains("..");
        Ok(Self { root, keys: leading_keys(rest), query, is_singular })
    }

    /// Returns the selection of the path: one value or `null`, or a list if it may select several.
    pub fn query(&self, value: &Value) -> Value {
        let Some(query) = &self.query else { return value.clone() };
        let found = query.query(value);
        if self.is_singular { found.first().cloned().unwrap_or_default() } else { found.into_iter().cloned().collect() }
    }
}

/// Returns the keys at the beginning of a query.
fn leading_keys(query: &str) -> Vec<&str> {
    let (mut keys, mut rest) = (Vec::new(), query);
    while let Some((key, after)) = leading_key(rest) {
        keys.push(key);
        rest = after;
    }
    keys
}

/// Returns the key at the beginning of a query, `.key`, `['key']` or `["key"]`, and the rest of the query.
fn leading_key(query: &str) -> Option<(&str, &str)> {
    for (open, close) in [("['", "']"), ("[\"", "\"]")] {
        if let Some(quoted) = query.strip_prefix(open) {
            let (key, after) = quoted.split_once(close)?;
            return (!key.contains(['\\', '\'', '"'])).then_some((key, after));
        }
    }
    let named = query.strip_prefix('.')?;
    let (key, after) = named.split_at(named.find(['.', '[']).unwrap_or(named.len()));
    let is_plain = !key.is_empty() && !key.contains(|c: char| c == '*' || c.is_whitespace());
    is_plain.then_some((key, after))
}

/// Returns the text without quoted names.
fn outside_quotes(text: &str) -> String {
    let (mut quote, mut is_escaped, mut outside) = (None, false, String::new());
    for c in text.chars() {
        match quote {
            Some(_) if is_escaped => is_escaped = false,
            Some(_) if c == '\\' => is_escaped = true,
            Some(open) if c == open => quote = None,
            Some(_) => {}
            None if matches!(c, '\'' | '"') => quote = Some(c),
            None => outside.push(c),
        }
    }
    outside
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn paths_select_values() {
        let value = json!({ "total": 7, "rows": [{ "n": 1 }, { "n": 2 }], "a:b": true });
        let check = |text: &str, expected: &str| {
            let seen = ValuePath::parse(text).map(|path| format!("{} {}", path.root, path.query(&value)));
            assert_eq!(seen.unwrap_or_else(|error| error), expected, "{text}");
        };
        check("$.extract.total", "extract 7");
        check("$.extract.rows[1].n", "extract 2");
        check("$.extract.rows[*].n", "extract [1,2]");
        check("$.extract.rows[?@.n > 1].n", "extract [2]");
        check("$.extract..n", "extract [1,2]");
        check("$.extract['a:b']", "extract true");
        check("$.extract.nothing", "extract null");
        check("$.extract.nothing[*]", "extract []");
        check("$.", "a path begins with `$.input`, or with `$.` and the id of a step");
        check("$..n", "a path begins with `$.input`, or with `$.` and the id of a step");
        let costly = "a path has at most one `..` and one filter, which reads only its own item";
        check("$.a..b..c", costly);
        check("$.a[?@.b == $.c]", costly);
        check("$.a[?@[?@.b]]", costly);
    }

    #[test]
    fn keys_are_known_up_to_the_first_part_that_selects() {
        let check = |text: &str, expected: &[&str]| {
            assert_eq!(ValuePath::parse(text).unwrap().keys, expected, "{text}");
        };
        check("$.a", &[]);
        check("$.a.b.c", &["b", "c"]);
        check("$.a['b c'][\"d\"].e", &["b c", "d", "e"]);
        check("$.a.b[0].c", &["b"]);
        check("$.a.b[*]", &["b"]);
        check("$.a.*", &[]);
        check("$.a..b", &[]);
        check("$.a['b','c']", &[]);
        check("$.a[?@.b > 1].c", &[]);
    }

    proptest! {
        #[test]
        fn any_text_is_parsed_without_a_panic(text in "\\$\\.[a-z.\\[\\]'\"?@*:0-9$ ü]{0,30}") {
            if let Ok(path) = ValuePath::parse(&text) {
                path.query(&json!({ "a": [1, { "b": "c" }] }));
            }
        }
    }
}
