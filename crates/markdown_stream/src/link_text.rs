//! Finds links whose text names another host than the one that they open:
//! `[https://bank.example](https://evil.test)`.

use crate::link::host;

/// The characters that browsers read as the dot between the labels of a host.
const DOTS: [char; 4] = ['.', '\u{3002}', '\u{FF0E}', '\u{FF61}'];

/// Endings of file names that are no top-level domains, so that `config.yaml` is no host.
const FILE_ENDINGS: [&str; 32] = [
    "bmp", "cfg", "conf", "cpp", "css", "csv", "docx", "exe", "gif", "gz", "html", "htm", "ini", "java", "jpeg", "jpg",
    "js", "json", "jsx", "lock", "log", "pdf", "png", "pptx", "sql", "svg", "toml", "ts", "txt", "xlsx", "xml", "yaml",
];

/// Returns the host that a link opens if its text names another one, to show it beside the text.
pub fn undisclosed_host<'u>(text: &str, url: &'u str) -> Option<&'u str> {
    let opened = opened_host(url);
    let mut named = text.split(ends_word).filter_map(named_host);
    named.any(|named| !is_same_host(named, opened)).then_some(opened)
}

/// Returns the host of a web URL, or of the address of mail.
fn opened_host(url: &str) -> &str {
    match url.split_once(':') {
        Some((scheme, address)) if scheme.eq_ignore_ascii_case("mailto") => {
            let address = address.split('?').next().unwrap_or(address);
            address.rsplit('@').next().unwrap_or(address)
        }
        _ => host(url),
    }
}

fn ends_word(sign: char) -> bool {
    sign.is_whitespace() || r#",;|<>()[]{}"'`“”„‘’«»"#.contains(sign)
}

/// Returns the host that a word of a text seems to name.
fn named_host(word: &str) -> Option<&str> {
    let word = word.trim_matches(|sign: char| !is_letter_or_digit(sign));
    let has_scheme = word.contains("://");
    let named = without_port(host(word)).trim_end_matches(DOTS);
    (has_scheme || looks_like_host(named)).then_some(named).filter(|named| !named.is_empty())
}

/// Returns whether a word has the form of a host with a top-level domain.
fn looks_like_host(word: &str) -> bool {
    let mut labels = word.split(DOTS).peekable();
    let is_label = |label: &str| !label.is_empty() && label.chars().all(|sign| is_letter_or_digit(sign) || sign == '-');
    let is_whole = word.contains(DOTS) && labels.clone().all(is_label);
    let last = labels.next_back().unwrap_or_default();
    let is_letter = |sign: char| is_letter_or_digit(sign) && !sign.is_ascii_digit();
    let is_domain = last.starts_with("xn--") || last.chars().count() >= 2 && last.chars().all(is_letter);
    is_whole && is_domain && !FILE_ENDINGS.iter().any(|ending| last.eq_ignore_ascii_case(ending))
}

/// Returns whether a host can have a character. The browser downloads this with every conversation: the tables of
/// Unicode's letters would be 7 KB more, so that any character beyond ASCII counts as a letter.
fn is_letter_or_digit(sign: char) -> bool {
    sign.is_ascii_alphanumeric() || !sign.is_ascii()
}

fn is_same_host(named: &str, opened: &str) -> bool {
    let normal = |host: &str| {
        let host = without_port(host).replace(DOTS, ".").to_ascii_lowercase();
        let host = host.trim_end_matches('.');
        host.strip_prefix("www.").unwrap_or(host).to_owned()
    };
    normal(named) == normal(opened)
}

fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|digit| digit.is_ascii_digit()) => name,
        _ => host,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_is_shown_if_the_text_names_another() {
        let evil = "https://evil.test/y";
        for text in [
            "https://bank.example/login",
            "HTTP://bank.example",
            "bank.example",
            "www.bank.example",
            "Bank.Example.",
            "(bank.example)",
            "“bank.example”",
            "bank.example/login?x=1#y",
            "bank.example:443",
            "Sign in at https://bank.example, please",
            "Sign in at bank.example",
            "bank。example",
            "bank．example",
            "bücher.example",
            "xn--bcher-kva.xn--p1ai",
            "банк.рф",
            "https://127.0.0.1:4287",
            "https://localhost",
            "help@bank.example",
            "https://evil.test@bank.example",
            "sub.evil.test",
            "evil.test.bank.example",
            "evil.test and bank.example",
            "evil.test,bank.example",
        ] {
            assert_eq!(undisclosed_host(text, evil), Some("evil.test"), "{text}");
        }
        assert_eq!(undisclosed_host("bank.example", "https://evil.test:8443/"), Some("evil.test:8443"));
        assert_eq!(undisclosed_host("bank.example", "https:///evil.test"), Some("evil.test"));
        assert_eq!(undisclosed_host("help@bank.example", "mailto:eve@evil.test?subject=x"), Some("evil.test"));
    }

    #[test]
    fn other_texts_stay_as_they_are() {
        for text in [
            "",
            "evil",
            "the page",
            "https://evil.test/other",
            "evil.test",
            "EVIL.TEST.",
            "www.evil.test:8080/x",
            "eve@evil.test",
            "version 1.2.3",
            "10.5",
            "e.g. this",
            "config.yaml",
            "and/or",
            "wait...",
            "a. b",
            "https://",
        ] {
            assert_eq!(undisclosed_host(text, "https://evil.test/y"), None, "{text}");
        }
        assert_eq!(undisclosed_host("evil.test", "https://www.evil.test"), None);
        assert_eq!(undisclosed_host("help@evil.test", "mailto:help@evil.test"), None);
        assert_eq!(undisclosed_host("Ada", "mailto:help@evil.test"), None);
    }
}
