//! The action `Link`: navigates to another page or URL.

use crate::address::Address;
use crate::prelude::*;
use crate::texts::{Text, t};
use wire::page::{LinkParams, as_text, is_safe_url};

/// Follows the link that the parameters of an action describe. The error is a message for the user.
pub(super) fn follow(params: &LinkParams, address: Option<Address>) -> Result<(), String> {
    let Some(to) = safe_url(params) else { return Err(t(Text::LinkNowhere).to_owned()) };
    let window = window();
    let done = match (params.new_tab, to.strip_prefix('/').is_some_and(|rest| !rest.starts_with('/')), address) {
        (true, _, _) => window.open_with_url_and_target_and_features(&to, "_blank", "noopener").map(drop),
        (false, true, Some(address)) => {
            address.navigate(&to, false);
            Ok(())
        }
        _ => window.location().assign(&to),
    };
    done.map_err(|_| t(Text::LinkRefused).to_owned())
}

/// Returns the link's URL; `None` if there is none or it is not safe to follow.
fn safe_url(params: &LinkParams) -> Option<String> {
    let mut to = match &params.page_id {
        Some(page) => format!("/{page}"),
        None => params.url.as_deref().filter(|url| is_safe_url(url))?.trim().to_owned(),
    };
    for (key, value) in &params.url_query {
        let Some(value) = as_text(value) else { continue };
        to.push(if to.contains('?') { '&' } else { '?' });
        to.push_str(&format!("{}={}", percent_encode(key), percent_encode(&value)));
    }
    Some(to)
}

/// Percent-encodes everything that has a meaning in a query string.
fn percent_encode(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => encoded.push(byte.into()),
            other => encoded.push_str(&format!("%{other:02X}")),
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::{LinkParams, safe_url};
    use serde_json::json;

    #[test]
    fn only_links_to_pages_and_safe_urls_are_followed() {
        for (params, expected) in [
            (json!({"pageId": "intake"}), Some("/intake")),
            (
                json!({"pageId": "intake", "urlQuery": {"name": "A & B", "n": 7, "none": null}}),
                Some("/intake?name=A%20%26%20B&n=7"),
            ),
            (
                json!({"url": "https://example.com/?a=1", "urlQuery": {"é": "1"}}),
                Some("https://example.com/?a=1&%C3%A9=1"),
            ),
            (json!({"url": " /path"}), Some("/path")),
            (json!({"url": "mailto:a@example.com"}), Some("mailto:a@example.com")),
            (json!({"url": "JavaScript:alert(1)"}), None),
            (json!({"url": "data:text/html,x"}), None),
            (json!({"url": "\u{1}javascript:x"}), None),
            (json!({}), None),
        ] {
            let link = LinkParams::read(params.as_object().unwrap());
            assert_eq!(safe_url(&link).as_deref(), expected, "{params}");
        }
    }
}
