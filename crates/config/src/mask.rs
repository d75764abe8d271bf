//! Masks passwords in URLs, because diagnostics are written to logs and shown on pages.

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
    use super::mask_passwords;

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
}
