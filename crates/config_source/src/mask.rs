//! Masks passwords in URLs and the values of keys that hold secrets, because diagnostics are written to
//! logs and shown on pages.

/// Replaces each character of a password in the URLs of a text by `*`: the part between `:` and `@`
/// after `://`, and the value of `password=`. The number of characters stays the same, so that
/// markers under the text stay aligned.
pub(crate) fn mask_passwords(text: &str) -> String {
    let mut characters: Vec<char> = text.chars().collect();
    let mut at = 0;
    while let Some(begin) = find(&characters, at, "://") {
        // A password may contain characters that should have been percent-encoded, so it ends at
        // the last possible `@`.
        let end = (begin..characters.len()).find(|at| ends_url(characters[*at])).unwrap_or(characters.len());
        let host = characters[begin..end].iter().rposition(|c| *c == '@').map(|at| begin + at);
        let colon = host.and_then(|host| characters[begin..host].iter().position(|c| *c == ':').map(|at| begin + at));
        if let (Some(colon), Some(host)) = (colon, host) {
            characters[colon + 1..host].fill('*');
        }
        if let Some(value) = find(&characters[..end], begin, "password=") {
            let until = characters[value..end].iter().position(|c| *c == '&').map_or(end, |at| value + at);
            characters[value..until].fill('*');
        }
        at = end;
    }
    characters.into_iter().collect()
}

/// Replaces the literal values of keys such as `apiKey` in a line of a config by `*`, and passwords in
/// its URLs. The number of characters stays the same. Returns the values, too.
pub(crate) fn mask_secrets(line: &str) -> (String, Vec<String>) {
    let mut characters: Vec<char> = mask_passwords(line).chars().collect();
    let (mut at, mut values) = (0, Vec::new());
    while let Some(colon) = characters[at..].iter().position(|c| *c == ':').map(|found| at + found) {
        at = colon + 1;
        if !names_secret(&key_before(&characters, colon)) {
            continue;
        }
        let rest = &characters[at..];
        let begin = at + rest.iter().position(|c| !c.is_whitespace()).unwrap_or(rest.len());
        // A mapping such as `{ _secret: NAME }` is not the secret itself.
        let is_literal = characters.get(begin).is_some_and(|c| !matches!(c, '{' | '[' | '&' | '*' | '!' | '#'));
        if is_literal {
            at = value_end(&characters, begin);
            let value: String = characters[begin..at].iter().collect();
            let value = value.trim_end();
            if value.parse::<f64>().is_ok() || matches!(value, "true" | "false" | "null") {
                continue;
            }
            characters[begin..begin + value.chars().count()].fill('*');
            values.push(value.trim_matches(['"', '\'']).to_owned());
        }
    }
    (characters.into_iter().collect(), values)
}

/// Returns the key that ends before the colon, in lower case and without quotes.
fn key_before(characters: &[char], colon: usize) -> String {
    let is_part = |c: &&char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '"' | '\'');
    let key: Vec<char> = characters[..colon].iter().rev().take_while(is_part).copied().collect();
    key.into_iter().rev().filter(|c| !matches!(c, '"' | '\'')).collect::<String>().to_lowercase()
}

/// Whether a key holds a secret: `apiKey`, `x-api-key`, `token`, `clientSecret`, `authorization`, ….
fn names_secret(key: &str) -> bool {
    let ends = ["apikey", "api-key", "api_key", "token", "secret", "password", "authorization"];
    // `_secret` and `__secret` are operators, whose value is a name.
    !key.starts_with('_') && ends.iter().any(|end| key.ends_with(end))
}

/// Returns the index after the scalar that begins here: behind its closing quote, or before what ends a
/// plain one.
fn value_end(characters: &[char], begin: usize) -> usize {
    let rest = &characters[begin..];
    let length = match rest.first() {
        Some(quote @ ('"' | '\'')) => rest[1..].iter().position(|c| c == quote).map(|found| found + 2),
        _ => rest.iter().position(|c| matches!(c, ',' | '}' | ']')),
    };
    begin + length.unwrap_or(rest.len())
}

/// Returns the index after the first occurrence of `what` at `from` or later.
fn find(text: &[char], from: usize, what: &str) -> Option<usize> {
    let what: Vec<char> = what.chars().collect();
    text.get(from..)?.windows(what.len()).position(|window| window == what).map(|at| from + at + what.len())
}

/// Whether a character ends a URL.
fn ends_url(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\'' | '"' | '`')
}

#[cfg(test)]
mod tests {
    use super::{mask_passwords, mask_secrets};

    #[test]
    fn passwords_are_masked() {
        let check = |text: &str, expected: &str| assert_eq!(mask_passwords(text), expected);
        check("url: 'postgres://ada:s3cret@host/db' }", "url: 'postgres://ada:******@host/db' }");
        check("a://b:c@d and e://f:gü@h", "a://b:*@d and e://f:**@h");
        check("postgres://ada:a@b/c?d#e@host/db", "postgres://ada:*********@host/db");
        check("postgres://host/db?password=abc&port=1", "postgres://host/db?password=***&port=1");
        check("postgres://ada@host:5432/db", "postgres://ada@host:5432/db");
        check("https://example.com: an `a@b.c`", "https://example.com: an `a@b.c`");
        check("://", "://");
    }

    #[test]
    fn values_of_secret_keys_are_masked() {
        let check = |line: &str, expected: &str| assert_eq!(mask_secrets(line).0, expected);
        check("apiKey: sk-1, model: m }", "apiKey: ****, model: m }");
        check("{ id: a, apiKey: 'sk, 1' }", "{ id: a, apiKey: ******* }");
        check(
            "headers: { Authorization: Bearer x, \"x-api-key\": k }",
            "headers: { Authorization: ********, \"x-api-key\": * }",
        );
        check("  clientSecret: s3cret", "  clientSecret: ******");
        check("apiKey: { _secret: NAME }", "apiKey: { _secret: NAME }");
        check("activeKey: a, maxToken: 5, key: b", "activeKey: a, maxToken: 5, key: b");
        check("url: postgres://a:b@c", "url: postgres://a:*@c");
    }
}
