//! Shows hidden characters in the text of a page as their code points: what an administrator reads,
//! for example in the audit log or before they publish a change, must be what is there.

use std::borrow::Cow;
use wire::hidden_characters::{TextKind, text_with_code_points};

/// Elements whose text is not shown as text, or is sent back by a form.
const RAW: [&str; 3] = ["textarea", "script", "style"];

/// Returns a rendered page in which hidden characters of the text are code points in brackets.
/// Attributes stay as they are: forms send their values back. All text is covered here and not where it
/// is rendered, so that no page can forget it.
pub(super) fn with_visible_text(html: String) -> String {
    if html.is_ascii() && !html.contains(|sign: char| sign.is_ascii_control() && !sign.is_ascii_whitespace()) {
        return html;
    }
    let mut shown = String::with_capacity(html.len());
    let (mut rest, mut code_depth) = (html.as_str(), 0_usize);
    while !rest.is_empty() {
        let (text, after) = rest.split_at(rest.find('<').unwrap_or(rest.len()));
        shown.push_str(&visible(text, code_depth > 0));
        let (tag, after) = after.split_at(tag_length(after));
        shown.push_str(tag);
        rest = after;
        match tag_name(tag) {
            Some((true, "pre" | "code")) => code_depth += 1,
            Some((false, "pre" | "code")) => code_depth = code_depth.saturating_sub(1),
            Some((true, name)) if RAW.contains(&name) => {
                let (raw, after) = rest.split_at(rest.find(&format!("</{name}")).unwrap_or(rest.len()));
                shown.push_str(raw);
                rest = after;
            }
            _ => {}
        }
    }
    shown
}

fn visible(text: &str, is_code: bool) -> Cow<'_, str> {
    text_with_code_points(text, if is_code { TextKind::Code } else { TextKind::Prose })
}

/// Returns the length of the tag or comment at the begin. A `>` in the value of an attribute does not
/// end the tag.
fn tag_length(html: &str) -> usize {
    if html.starts_with("<!--") {
        return html.find("-->").map_or(html.len(), |at| at + "-->".len());
    }
    let mut is_quoted = false;
    for (at, byte) in html.bytes().enumerate() {
        match byte {
            b'"' => is_quoted = !is_quoted,
            b'>' if !is_quoted => return at + 1,
            _ => {}
        }
    }
    html.len()
}

/// Returns whether a tag opens its element, and the element's name.
fn tag_name(tag: &str) -> Option<(bool, &str)> {
    let tag = tag.strip_prefix('<')?;
    let (opens, tag) = tag.strip_prefix('/').map_or((true, tag), |tag| (false, tag));
    let name = tag.split(|sign: char| !sign.is_ascii_alphanumeric()).next()?;
    (!name.is_empty()).then_some((opens, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_of_texts_are_shown() {
        let check = |html: &str, expected: &str| assert_eq!(with_visible_text(html.to_owned()), expected);
        check(
            "<title>pay \u{202e}001\u{202c} \u{1b}[31m</title>",
            "<title>pay [U+202E]001[U+202C] [U+001B][31m</title>",
        );
        check("<td>a\u{e0041}b<!>c\u{202e}</td>", "<td>a[U+E0041]b<!>c[U+202E]</td>");
        check("<p>\u{1b}</p>", "<p>[U+001B]</p>");
        // Characters that writing systems need are not marked, except for directions in code.
        check("<p>\u{2067}שלום\u{2069} ❤\u{fe0f}</p>", "<p>\u{2067}שלום\u{2069} ❤\u{fe0f}</p>");
        check("<pre><ins>\u{2067}a\u{2069}</ins></pre>ö", "<pre><ins>[U+2067]a[U+2069]</ins></pre>ö");
        check("<code>a</code>\u{2067}a\u{2069}", "<code>a</code>\u{2067}a\u{2069}");
    }

    #[test]
    fn form_values_are_not_changed() {
        let check = |html: &str| assert_eq!(with_visible_text(html.to_owned()), html);
        check("<input value=\"a\u{202e}>b\"><textarea rows=\"2\">a\u{202e}<b</textarea>");
        check("<script>a\u{202e}</script><!-- \"\u{202e} --><style>\u{202e}</style>");
        check("plain < \u{f6}");
        check("<p");
    }
}
