//! Decides which URLs a reply may link to.

/// Returns the URL if a click on it is harmless: web pages and mail. Rejects `javascript:`,
/// `data:`, relative URLs (the model would choose a URL of this app), a user name before the host
/// (it makes one host look like another), and control characters (browsers remove some of them).
pub fn allowed_url(url: &str) -> Option<&str> {
    let is_web = ["https://", "http://"].into_iter().any(|scheme| starts_with(url, scheme));
    let is_harmless = match authority(url) {
        // User information is before the host: `http://127.0.0.1@evil.test`.
        Some(authority) if is_web => !authority.is_empty() && !authority.contains('@'),
        _ => starts_with(url, "mailto:"),
    };
    (is_harmless && !url.chars().any(char::is_control)).then_some(url)
}

/// Returns the authority of a web URL: the part between the scheme and the path. Browsers skip all
/// slashes before it, so that of `https:///a@b` is `a@b`.
fn authority(url: &str) -> Option<&str> {
    let (_, rest) = url.split_once("://")?;
    rest.trim_start_matches(SLASHES).split(['/', '?', '#', '\\']).next()
}

/// Returns whether an image is part of the text itself (a `data:` URL), so that showing it fetches
/// nothing.
pub fn is_embedded_image(url: &str) -> bool {
    ["png", "jpeg", "gif", "webp", "avif"].into_iter().any(|kind| {
        let rest = url.strip_prefix("data:image/").and_then(|rest| rest.strip_prefix(kind));
        rest.is_some_and(|rest| rest.starts_with([';', ',']))
    })
}

/// Returns the host of a web URL, to show it to the user.
pub fn host(url: &str) -> &str {
    let authority = authority(url).unwrap_or_else(|| url.split(['/', '?', '#', '\\']).next().unwrap_or(url));
    authority.rsplit('@').next().unwrap_or(authority)
}

/// The characters that browsers skip before the authority of a web URL. They remove tabs and line breaks everywhere.
const SLASHES: [char; 5] = ['/', '\\', '\t', '\n', '\r'];
/// The maximum length in bytes of a bare URL that becomes a link.
const MAX_URL_LENGTH: usize = 4096;
/// The characters that end a bare URL.
const URL_TERMINATORS: [char; 7] = [' ', '\n', '\t', '<', '>', '"', '`'];

/// Splits a text into plain text and bare web URLs, in order.
pub fn split_bare_urls(text: &str) -> Vec<LinkSegment<'_>> {
    let mut pieces = Vec::new();
    let (mut done, mut from) = (0, 0);
    // The next character that ends a URL. Searched for only once, however many URLs begin before
    // it.
    let mut end = 0;
    while let Some(at) = find_scheme(text, from) {
        if at >= end {
            end = text[at..].find(URL_TERMINATORS).map_or(text.len(), |found| at + found);
        }
        let begins_a_word = !text[done..at].ends_with(|letter: char| letter.is_alphanumeric());
        let url = if begins_a_word { leading_url(&text[at..], end - at) } else { "" };
        if url.is_empty() {
            from = at + "http".len();
            continue;
        }
        if at > done {
            pieces.push(LinkSegment::Text(&text[done..at]));
        }
        pieces.push(LinkSegment::Url(url));
        done = at + url.len();
        from = done;
    }
    if done < text.len() {
        pieces.push(LinkSegment::Text(&text[done..]));
    }
    pieces
}

/// A part of a text; see [`split_bare_urls`].
#[derive(Debug, PartialEq, Eq)]
pub enum LinkSegment<'t> {
    /// Anything but a URL.
    Text(&'t str),
    /// A web URL.
    Url(&'t str),
}

fn find_scheme(text: &str, from: usize) -> Option<usize> {
    let found = text[from..].match_indices("http").map(|(at, _)| from + at);
    found.into_iter().find(|at| text[*at..].starts_with("http://") || text[*at..].starts_with("https://"))
}

/// Returns the URL at the beginning of a text whose first word has this length; empty if it is too
/// long or has no host.
fn leading_url(text: &str, length: usize) -> &str {
    let reach = text.floor_char_boundary(MAX_URL_LENGTH);
    let is_whole = length < reach || reach == text.len();
    // Checked first because it is cheap.
    if !is_whole || host(&text[..length]).is_empty() {
        return "";
    }
    let url = trim_punctuation(&text[..length]);
    if host(url).is_empty() { "" } else { url }
}

/// Removes punctuation at the end, which belongs to the sentence; also closing brackets that were
/// not opened within the URL.
fn trim_punctuation(url: &str) -> &str {
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
        let allowed =
            ["https://a.b", "HTTP://a", "mailto:a@b", "https://a.b/@name", "https://a.b?to=c@d", "https:///a.b/@name"];
        for url in allowed {
            assert_eq!(allowed_url(url), Some(url));
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
            "https:///bank.example@evil.test",
            "https:////bank.example@evil.test/x",
            "https://\\bank.example@evil.test",
            "HTTP://\\/\\bank.example@evil.test",
            "https://\t/bank.example@evil.test",
            "https://bank.example\n@evil.test",
            "https://evil.test\t",
            "https://",
            "https:///",
            "https://?x",
            "https:\\\\bank.example@evil.test",
            "https:/bank.example@evil.test",
            "mailto:a@b\n",
        ];
        for url in refused {
            assert_eq!(allowed_url(url), None, "{url}");
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
    fn host_is_the_one_the_browser_would_contact() {
        for (url, expected) in [
            ("https://a.b/c@d", "a.b"),
            ("https://good.com@evil.com/x", "evil.com"),
            ("http://a.b?x#y", "a.b"),
            ("https://a\\@b", "a"),
            ("https:///evil.test/p.png", "evil.test"),
            ("https://\\evil.test\\p.png", "evil.test"),
            ("https:////a@evil.test", "evil.test"),
            ("https://\n/evil.test", "evil.test"),
            ("a.b/c", "a.b"),
            ("/c", ""),
        ] {
            assert_eq!(host(url), expected, "{url}");
        }
    }

    #[test]
    fn bare_urls_are_found() {
        fn check(text: &str, expected: &[LinkSegment<'_>]) {
            assert_eq!(split_bare_urls(text), expected, "{text}");
        }
        check("none", &[LinkSegment::Text("none")]);
        check("", &[]);
        check(
            "at https://a.b/c, too",
            &[LinkSegment::Text("at "), LinkSegment::Url("https://a.b/c"), LinkSegment::Text(", too")],
        );
        check(
            "(http://a.b/(c)).",
            &[LinkSegment::Text("("), LinkSegment::Url("http://a.b/(c)"), LinkSegment::Text(").")],
        );
        check("https:/// x", &[LinkSegment::Text("https:/// x")]);
        check("xhttp://a http://", &[LinkSegment::Text("xhttp://a http://")]);
        check(
            "https://a https://b",
            &[LinkSegment::Url("https://a"), LinkSegment::Text(" "), LinkSegment::Url("https://b")],
        );
    }
}
