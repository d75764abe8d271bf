//! URLs as they are compared: in the form in which they are fetched.

use url::Url;

/// The longest URL in bytes.
pub(crate) const MAX_URL: usize = 2_000;
/// Characters that delimit a URL in a text.
const DELIMITERS: [char; 13] = ['\\', '<', '>', '"', '\'', '`', '(', ')', '[', ']', '{', '}', '|'];
/// Characters that end the sentence with a URL.
const SENTENCE_ENDS: [char; 7] = ['.', ',', ';', ':', '!', '?', '*'];

/// Parses a URL that may be fetched, without its fragment.
///
/// # Errors
/// The problem of the URL, for the model.
pub(crate) fn parse(text: &str) -> Result<Url, &'static str> {
    if text.len() > MAX_URL {
        return Err("The URL is too long.");
    }
    let mut url = Url::parse(text.trim()).map_err(|_| "This is not a whole URL, such as https://example.com/page.")?;
    if !matches!(url.scheme(), "http" | "https") || url.host().is_none() {
        return Err("Only URLs that begin with https:// or http:// can be fetched.");
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("A URL with a user name or a password is not fetched.");
    }
    url.set_fragment(None);
    Ok(url)
}

/// Returns whether a text that a user has written names this URL: as it is, or without `https://` as
/// people write it.
pub(crate) fn is_named(text: &str, url: &Url) -> bool {
    text.split(|c: char| c.is_whitespace() || DELIMITERS.contains(&c)).any(|word| is_word(word, url))
}

fn is_word(word: &str, url: &Url) -> bool {
    // Also with what ends the sentence, since a URL may end with it.
    let trimmed = word.trim_end_matches(SENTENCE_ENDS);
    [word, trimmed].into_iter().filter(|word| word.contains('.') || word.contains("://")).any(|word| {
        let parsed = if word.contains("://") { parse(word) } else { parse(&format!("https://{word}")) };
        parsed.is_ok_and(|parsed| parsed == *url)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn urls_are_parsed_without_fragments_and_credentials_are_refused() {
        let check = |text: &str, expected: Result<&str, &str>| {
            assert_eq!(parse(text).map(String::from).as_deref().map_err(|error| *error), expected, "{text}");
        };
        check(" https://Example.com/a?b=c#d ", Ok("https://example.com/a?b=c"));
        check("http://example.com", Ok("http://example.com/"));
        check("example.com", Err("This is not a whole URL, such as https://example.com/page."));
        check("file:///etc/passwd", Err("Only URLs that begin with https:// or http:// can be fetched."));
        check("https://ada:x@example.com", Err("A URL with a user name or a password is not fetched."));
        check(&format!("https://example.com/{}", "x".repeat(MAX_URL)), Err("The URL is too long."));
    }

    #[test]
    fn a_text_names_the_urls_that_it_contains_and_no_others() {
        let check = |text: &str, url: &str, expected: bool| {
            assert_eq!(is_named(text, &parse(url).unwrap()), expected, "{text:?} {url}");
        };
        check("Read https://example.com/a?b=c, please.", "https://example.com/a?b=c", true);
        check("Read https://example.com/a?b=c, please.", "https://example.com/a", false);
        check("Read https://example.com/a?b=c, please.", "https://example.com/a?b=c&d=secret", false);
        check("(see https://example.com/x)", "https://example.com/x", true);
        check("[it](https://example.com/x#top)", "https://example.com/x", true);
        check("Is example.com down?", "https://example.com/", true);
        check("Is example.com/status. ok", "https://example.com/status", true);
        check("Is example.com down?", "http://example.com/", false);
        check("Is example.com down?", "https://evil.example/", false);
        check("https://example.com/end.", "https://example.com/end.", true);
        check("https://example.com.evil.example/", "https://example.com/", false);
        check("", "https://example.com/", false);
    }

    proptest! {
        #[test]
        fn a_url_in_a_sentence_is_named(path in "[a-z0-9/_-]{0,20}", before in "[a-z ]{0,10}", after in "[.,!?]?") {
            let text = format!("{before} https://example.com/{path}{after}");
            let url = parse(&format!("https://example.com/{path}")).unwrap();
            prop_assert!(is_named(&text, &url));
        }
    }
}
