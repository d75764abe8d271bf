//! The size of a chat as set in the config.

use crate::prelude::*;
use leptos::html;
use leptos::web_sys::HtmlElement;
use wire::page::{AgentChatProperties, Display};

/// The id of the chat's section in the document.
pub(super) fn section_id(block_id: &str) -> String {
    format!("chat-{block_id}")
}

/// The style properties of the section, as names and values from the config.
fn declarations(properties: &AgentChatProperties) -> Vec<(&'static str, String)> {
    let height = properties.height.clone().filter(|_| properties.display == Display::Inline);
    // The maximum size keeps the section from growing.
    let sizes = [("block-size", &height), ("max-block-size", &height), ("--cw-chat-width", &properties.max_width)];
    sizes.into_iter().filter_map(|(name, value)| Some((name, value.clone()?))).collect()
}

/// Sets the size of the section. The content security policy forbids style attributes, so the
/// server writes a style sheet into the head of the page, which avoids a layout shift; in the
/// browser, the size is set by script.
pub(super) fn sized_section(block_id: &str, properties: &AgentChatProperties) -> NodeRef<html::Section> {
    let frame = NodeRef::new();
    let sizes = declarations(properties);
    in_head(block_id, &sizes);
    if !sizes.is_empty() {
        Effect::new(move |_| {
            let Some(frame) = frame.get() else { return };
            for (name, value) in &sizes {
                // Fails only for an invalid property name; invalid values are ignored.
                let _ = HtmlElement::style(&frame).set_property(name, value);
            }
        });
    }
    frame
}

/// Writes the rule into the head of the page that is being rendered, if there is one.
#[cfg(feature = "ssr")]
fn in_head(block_id: &str, sizes: &[(&'static str, String)]) {
    if let Some(rule) = rule(block_id, sizes) {
        // Rendering the element adds it to the head; it renders nothing here.
        view! { <leptos_meta::Style>{rule}</leptos_meta::Style> }.to_html();
    }
}

/// Does nothing in the browser.
#[cfg(not(feature = "ssr"))]
fn in_head(_: &str, _: &[(&'static str, String)]) {}

/// The rule for a style sheet. None if there is nothing to set, or if a name or a value could
/// inject other CSS; the size is then set in the browser, which treats each value as one property.
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
    fn the_rule_contains_the_configured_sizes() {
        let high = "#chat-a{block-size:calc(100dvh - 170px);max-block-size:calc(100dvh - 170px);--cw-chat-width:30rem}";
        check("a", Some("calc(100dvh - 170px)"), Display::Inline, Some(high));
        check("a", None, Display::Inline, Some("#chat-a{--cw-chat-width:30rem}"));
        check("a", Some("5px"), Display::Page, Some("#chat-a{--cw-chat-width:30rem}"));
    }

    #[test]
    fn css_injection_is_rejected() {
        for value in ["5px}*{display:none", "5px;color:red", "</style><script>", "url(\"x\")", "5px\\;", "{"] {
            check("a", Some(value), Display::Inline, None);
        }
        check("a b", None, Display::Inline, None);
        check("a{", None, Display::Inline, None);
    }
}
