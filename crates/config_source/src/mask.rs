//! Masks passwords in URLs and the values of keys that hold secrets, because diagnostics are written to
//! logs and shown on pages.

use crate::Span;

/// The text in place of a secret.
const HIDDEN: &str = "***";

/// The least length in bytes of a secret that is replaced where it is repeated; a shorter one may be a part of a word.
pub(crate) const MIN_SECRET: usize = 4;

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

/// Returns the lines of a text for people, without the values at `spans` and without `secrets`. A value of several
/// lines is hidden down to the next line that is indented less.
pub(crate) fn hidden_lines(text: &str, spans: &[Span], secrets: &[&str]) -> Vec<String> {
    let secrets = secrets.iter().flat_map(|secret| secret.lines()).map(str::trim);
    let secrets: Vec<_> = secrets.filter(|line| line.len() >= MIN_SECRET).collect();
    // The indentation from which on lines belong to a hidden value, while it lasts.
    let mut hidden_from = None;
    let (mut before, mut lines) = ("", Vec::new());
    for (line, number) in text.lines().zip(1_u32..) {
        let indent = line.len() - line.trim_start().len();
        hidden_from = hidden_from.filter(|from| line.trim().is_empty() || indent >= *from);
        let mut shown = match hidden_from {
            Some(_) if line.trim().is_empty() => String::new(),
            Some(_) => format!("{}{HIDDEN}", &line[..indent]),
            None => line.to_owned(),
        };
        if hidden_from.is_none() {
            let mut here: Vec<_> = spans.iter().filter(|at| at.line == number).collect();
            here.sort_by_key(|at| at.column);
            // From the end, so that the columns before stay the same.
            for at in here.into_iter().rev() {
                if at.column as usize == indent + 1 && is_block_header(before) {
                    hidden_from = Some(indent);
                    shown = format!("{}{HIDDEN}", &line[..indent]);
                } else {
                    hidden_from = if at.width == u32::MAX { Some(indent + 1) } else { hidden_from };
                    shown = without_value(&shown, at);
                }
            }
        }
        for secret in &secrets {
            shown = shown.replace(secret, HIDDEN);
        }
        let shown = shown.chars().map(|c| if c.is_control() { ' ' } else { c }).collect::<String>();
        lines.push(mask_secrets(&shown).0);
        before = if line.trim().is_empty() { before } else { line };
    }
    lines
}

/// Replaces a value by [`HIDDEN`], to the end of the line if it goes on there.
fn without_value(line: &str, at: &Span) -> String {
    let characters: Vec<char> = line.chars().collect();
    let start = (at.column.saturating_sub(1) as usize).min(characters.len());
    let end = start.saturating_add(at.width as usize).min(characters.len());
    // The space behind a quoted value counts as a part of it.
    let spaces = characters[start..end].iter().rev().take_while(|c| c.is_whitespace()).count();
    let (head, rest) = (&characters[..start], &characters[end - spaces..]);
    head.iter().copied().chain(HIDDEN.chars()).chain(rest.iter().copied()).collect()
}

/// Whether a line ends with the header of a block of lines: `|` or `>`.
fn is_block_header(line: &str) -> bool {
    let end = line.trim_end_matches(|c: char| matches!(c, '0'..='9' | '+' | '-') || c.is_whitespace());
    end.ends_with(['|', '>'])
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
    use super::{hidden_lines, mask_passwords, mask_secrets};
    use crate::{ConfigFiles, Report, load};

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
    fn secrets_are_hidden_in_lines() {
        // The value of `key` is the secret, whatever it looks like.
        let check = |text: &str, expected: &str| {
            let files = [("main.yaml", text)];
            let mut report = Report::default();
            let root = load(&ConfigFiles::Embedded(&files), "main.yaml", &mut report).unwrap();
            let secret = &root.get("key").unwrap().value;
            let shown = hidden_lines(text, &[secret.at], &[secret.text().unwrap()]);
            assert_eq!(shown.join("\n"), expected, "{text}");
        };
        check("a: 1\nkey: s3cret # it\nb: s3cret", "a: 1\nkey: *** # it\nb: ***");
        check("{ key: 'it''s', b: 2 }", "{ key: ***, b: 2 }");
        check("key: ab\nb: ab", "key: ***\nb: ab");
        check("key: \"a\\x62cd\"\nb: abcd", "key: ***\nb: ***");
        check("key: |\n  one two\n\n  x\nb: one two", "key: |\n  ***\n\n  ***\nb: ***");
        check("key: >-\n  one two\n  x\nb: 1", "key: >-\n  ***\n  ***\nb: 1");
        check("key: one\n  two three\nb: 1", "key: ***\n  ***\nb: 1");
        // With an alias, the value is where its anchor is, which is a part of it.
        check("b: &k s3cret\nkey: *k\n", "b: ***\nkey: *k");
        check("key: x\tyz\nurl: postgres://a:b@c", "key: ***\nurl: postgres://a:*@c");
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
