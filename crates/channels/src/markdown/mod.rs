//! Markdown as messages: texts with the positions of their styles, so that nothing has to be escaped, and no text can
//! break the markup. Each messenger shows the styles in its own way.

mod marks;
mod parts;
mod render;
mod split;

pub(crate) use marks::{
    MarkWriter, SEPARATOR, address_length, code_span, is_web_address, style_mark, without_fences, write_marks,
};
pub(crate) use parts::{Part, parts};
pub(crate) use render::Style;
pub(crate) use split::{Entity, Limits, Markup, Rendered, code_message};

#[cfg(feature = "fuzz")]
pub(crate) use split::valid::assert_valid;

/// The longest Markdown that is rendered, in bytes. A longer text would not fit in the messages that are sent.
const MAX_MARKDOWN: usize = 160 << 10;

/// The last line of an answer that is too long.
pub(crate) const MORE: &str = "The rest of the answer is on the website.";

/// Renders Markdown as a text without styles, with the targets of its links.
pub(crate) fn plain_text(markdown: &str) -> String {
    let mut text = String::new();
    let runs = render::render(markdown);
    for (index, run) in runs.iter().enumerate() {
        text.push_str(&run.text);
        let Some(url) = &run.style.link else { continue };
        let goes_on = runs.get(index + 1).is_some_and(|next| next.style.link.as_ref() == Some(url));
        if !goes_on && !text.ends_with(&**url) {
            text.push_str(&format!(" ({url})"));
        }
    }
    text.trim_end().to_owned()
}

/// Renders Markdown as messages. Of a very long one, that is its beginning.
pub(crate) fn messages(markdown: &str, limits: Limits) -> Vec<Rendered> {
    let shown = &markdown[..markdown.floor_char_boundary(MAX_MARKDOWN)];
    let mut messages = split::split(&render::render(shown), limits);
    if shown.len() < markdown.len() {
        messages.push(Rendered::plain(MORE));
    }
    messages
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_text_has_the_targets_of_its_links() {
        let check = |markdown: &str, expected: &str| assert_eq!(plain_text(markdown), expected);
        check(
            "**Hi**\\! See [the *rules*](https://a.test/r) or <https://a.test/>.",
            "Hi! See the rules (https://a.test/r) or https://a.test/.",
        );
        check("[the bank](https:///bank.example@evil.test)", "the bank");
        check("[the bank](https://bank.example@evil.test)", "the bank");
        check("[bank.example](https://evil.test/x)", "bank.example (evil.test) (https://evil.test/x)");
        check("[evil.test](https://evil.test/x)", "evil.test (https://evil.test/x)");
        check("- one\n- two\n", "• one\n• two");
        check("", "");
    }
}
