//! Which addresses a reply may link to.

/// Returns the address if a click on it is harmless: web pages and mail. No `javascript:`, no `data:`, nothing relative, which
/// would be an address of ours that the model chose, and no user name before the host, which makes one host look like another.
pub(crate) fn allowed(url: &str) -> Option<&str> {
    let is_known = ["https://", "http://", "mailto:"].into_iter().any(|scheme| starts_with(url, scheme));
    (is_known && !has_user_info(url)).then_some(url)
}

/// Whether a web address names a user before its host: `http://127.0.0.1@evil.test`.
fn has_user_info(url: &str) -> bool {
    authority(url).is_some_and(|authority| authority.contains('@'))
}

/// What stands between the scheme and the path of a web address.
fn authority(url: &str) -> Option<&str> {
    let (_, rest) = url.split_once("://")?;
    rest.split(['/', '?', '#', '\\']).next()
}

/// Whether an image is part of the text itself, so that showing it fetches nothing.
pub(crate) fn is_embedded_image(url: &str) -> bool {
    ["png", "jpeg", "gif", "webp", "avif"].into_iter().any(|kind| {
        let rest = url.strip_prefix("data:image/").and_then(|rest| rest.strip_prefix(kind));
        rest.is_some_and(|rest| rest.starts_with([';', ',']))
    })
}

/// The host of a web address, for people.
pub(crate) fn host(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or(rest);
    authority.rsplit('@').next().unwrap_or(authority)
}

/// Bytes of a web address that becomes a link where it stands bare.
const MAX_URL: usize = 4096;
/// The signs that end a bare address.
const ENDS: [char; 7] = [' ', '\n', '\t', '<', '>', '"', '`'];

/// The pieces of a text, in order: text, and web addresses that stand in it bare.
pub(super) fn bare_urls(text: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let (mut done, mut from) = (0, 0);
    // The next sign that ends an address. Searched for once, however many addresses begin before it.
    let mut end = 0;
    while let Some(at) = find_scheme(text, from) {
        if at >= end {
            end = text[at..].find(ENDS).map_or(text.len(), |found| at + found);
        }
        let begins_a_word = !text[done..at].ends_with(|letter: char| letter.is_alphanumeric());
        let url = if begins_a_word { bare_url(&text[at..], end - at) } else { "" };
        if url.is_empty() {
            from = at + "http".len();
            continue;
        }
        if at > done {
            pieces.push(Piece::Text(&text[done..at]));
        }
        pieces.push(Piece::Url(url));
        done = at + url.len();
        from = done;
    }
    if done < text.len() {
        pieces.push(Piece::Text(&text[done..]));
    }
    pieces
}

/// See [`bare_urls`].
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece<'t> {
    Text(&'t str),
    Url(&'t str),
}

fn find_scheme(text: &str, from: usize) -> Option<usize> {
    let found = text[from..].match_indices("http").map(|(at, _)| from + at);
    found.into_iter().find(|at| text[*at..].starts_with("http://") || text[*at..].starts_with("https://"))
}

/// The address that begins a text with a word of this length; empty if it is too long to be one, or has no host.
fn bare_url(text: &str, length: usize) -> &str {
    let reach = text.floor_char_boundary(MAX_URL);
    let is_whole = length < reach || reach == text.len();
    // Asked first, because it takes no time.
    if !is_whole || host(&text[..length]).is_empty() {
        return "";
    }
    let url = trim_end(&text[..length]);
    if host(url).is_empty() { "" } else { url }
}

/// Punctuation at the end belongs to the sentence; a closing bracket too, unless the address opened it.
fn trim_end(url: &str) -> &str {
    let excess = |open: char, close: char| url.matches(close).count().saturating_sub(url.matches(open).count());
    let (mut round, mut square) = (excess('(', ')'), excess('[', ']'));
    url.trim_end_matches(|last: char| match last {
        '.' | ',' | ';' | ':' | '!' | '?' | '\'' | '*' | '_' | '~' => true,
        ')' if round > 0 => {
            round -= 1;
            true
        }
        ']' if square > 0 => {
            square -= 1;
            true
        }
        _ => false,
    })
}

fn starts_with(url: &str, scheme: &str) -> bool {
    url.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_harmless_schemes_are_links() {
        for url in ["https://a.b", "HTTP://a", "mailto:a@b", "https://a.b/@name", "https://a.b?to=c@d"] {
            assert_eq!(allowed(url), Some(url));
        }
        let refused = [
            "javascript:alert(1)",
            " https://a",
            "java\nscript:x",
            "data:text/html,x",
            "/ui/x",
            "//a.b",
            "#x",
            "",
            "https:a",
            "vbscript:x",
            "http://127.0.0.1:4287@evil.test",
            "https://good.example:x@evil.test/path",
            "https://@evil.test",
        ];
        for url in refused {
            assert_eq!(allowed(url), None, "{url}");
        }
    }

    #[test]
    fn only_pictures_are_embedded_images() {
        for (url, expected) in [
            ("data:image/png;base64,AA", true),
            ("data:image/svg+xml,<svg/>", false),
            ("data:image/pngx;base64,AA", false),
            ("data:text/html,x", false),
            ("https://a/b.png", false),
        ] {
            assert_eq!(is_embedded_image(url), expected, "{url}");
        }
    }

    #[test]
    fn hosts_are_those_the_browser_would_ask() {
        for (url, expected) in [
            ("https://a.b/c@d", "a.b"),
            ("https://good.com@evil.com/x", "evil.com"),
            ("http://a.b?x#y", "a.b"),
            ("https://a\\@b", "a"),
        ] {
            assert_eq!(host(url), expected, "{url}");
        }
    }

    #[test]
    fn finds_bare_addresses() {
        fn check(text: &str, expected: &[Piece<'_>]) {
            assert_eq!(bare_urls(text), expected, "{text}");
        }
        check("none", &[Piece::Text("none")]);
        check("", &[]);
        check("at https://a.b/c, too", &[Piece::Text("at "), Piece::Url("https://a.b/c"), Piece::Text(", too")]);
        check("(http://a.b/(c)).", &[Piece::Text("("), Piece::Url("http://a.b/(c)"), Piece::Text(").")]);
        check("xhttp://a http://", &[Piece::Text("xhttp://a http://")]);
        check("https://a https://b", &[Piece::Url("https://a"), Piece::Text(" "), Piece::Url("https://b")]);
    }
}
