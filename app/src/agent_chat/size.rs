//! The size that the config gives a chat.

use crate::prelude::*;
use leptos::html;
use leptos::web_sys::HtmlElement;
use wire::page::{AgentChatProperties, Display};

/// The chat's section in the document, by its block's id.
pub(super) fn section_id(block_id: &str) -> String {
    format!("chat-{block_id}")
}

/// The properties of the section's style, each a name and a value as the config has it.
fn declarations(properties: &AgentChatProperties) -> Vec<(&'static str, String)> {
    let height = properties.height.clone().filter(|_| properties.display == Display::Inline);
    // The second of them keeps it so where it would grow.
    let sizes = [("block-size", &height), ("max-block-size", &height), ("--cw-chat-width", &properties.max_width)];
    sizes.into_iter().filter_map(|(name, value)| Some((name, value.clone()?))).collect()
}

/// What gives the section its size. A content security policy forbids to write that into the section: the server writes a style of the
/// page's into its head, so that nothing jumps when the page comes to life, and the browser sets it where no server has.
pub(super) fn sized(block_id: &str, properties: &AgentChatProperties) -> NodeRef<html::Section> {
    let frame = NodeRef::new();
    let sizes = declarations(properties);
    in_head(block_id, &sizes);
    if !sizes.is_empty() {
        Effect::new(move |_| {
            let Some(frame) = frame.get() else { return };
            for (name, value) in &sizes {
                // Fails only for a name that is no property; what is no length counts as nothing.
                let _ = HtmlElement::style(&frame).set_property(name, value);
            }
        });
    }
    frame
}

/// Writes them into the head of the page that is being rendered, if there are any.
#[cfg(feature = "ssr")]
fn in_head(block_id: &str, sizes: &[(&'static str, String)]) {
    if let Some(rule) = rule(block_id, sizes) {
        // What belongs into the head gets there when it is rendered, and leaves nothing where it stands.
        view! { <leptos_meta::Style>{rule}</leptos_meta::Style> }.to_html();
    }
}

/// The browser has no head to write.
#[cfg(not(feature = "ssr"))]
fn in_head(_: &str, _: &[(&'static str, String)]) {}

/// As a rule of a style sheet. None where there is nothing to say, and where a name or a value could say something else: that is left to
/// the browser, which takes each as what it is.
#[cfg(feature = "ssr")]
fn rule(block_id: &str, sizes: &[(&'static str, String)]) -> Option<String> {
    let is_name = |char: char| char.is_ascii_alphanumeric() || "-_".contains(char);
    let is_size = |char: char| is_name(char) || " .,%()+*/".contains(char);
    let is_harmless = block_id.chars().all(is_name) && sizes.iter().all(|(_, value)| value.chars().all(is_size));
    if sizes.is_empty() || !is_harmless {
        return None;
    }
    let declarations: Vec<String> = sizes.iter().map(|(name, value)| format!("{name}:{value}")).collect();
    Some(format!("#{}{{{}}}", section_id(block_id), declarations.join(";")))
}

#[cfg(all(test, feature = "ssr"))]
mod tests {
    use super::*;

    fn check(block_id: &str, height: Option<&str>, display: Display, expected: Option<&str>) {
        let properties = AgentChatProperties {
            height: height.map(str::to_owned),
            max_width: Some("30rem".to_owned()),
            display,
            ..AgentChatProperties::default()
        };
        assert_eq!(rule(block_id, &declarations(&properties)).as_deref(), expected);
    }

    #[test]
    fn a_rule_has_what_the_config_says() {
        let high = "#chat-a{block-size:calc(100dvh - 170px);max-block-size:calc(100dvh - 170px);--cw-chat-width:30rem}";
        check("a", Some("calc(100dvh - 170px)"), Display::Inline, Some(high));
        check("a", None, Display::Inline, Some("#chat-a{--cw-chat-width:30rem}"));
        check("a", Some("5px"), Display::Page, Some("#chat-a{--cw-chat-width:30rem}"));
    }

    #[test]
    fn nothing_else_can_be_said_in_it() {
        for value in ["5px}*{display:none", "5px;color:red", "</style><script>", "url(\"x\")", "5px\\;", "{"] {
            check("a", Some(value), Display::Inline, None);
        }
        check("a b", None, Display::Inline, None);
        check("a{", None, Display::Inline, None);
    }
}
