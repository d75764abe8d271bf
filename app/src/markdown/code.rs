//! A block of code with its language and a button that copies it.

use crate::node::{Node, element};
use leptos::prelude::*;
use leptos::web_sys;
use std::time::Duration;
use wasm_bindgen::JsCast;

/// How long the button says that it has copied.
const COPIED_FOR: Duration = Duration::from_millis(1600);

/// The markup of a code block. It has no state of its own, so that it can be changed in place while the code arrives; see
/// [`copy_on_click`].
pub(super) fn code_block(language: &str, code: String) -> Node {
    let label = if language.is_empty() { "Code" } else { language };
    let copy = element("button").with("type", "button").with("class", "cw-md-copy").with("aria-label", "Copy code");
    let head = vec![element("span").text(label), copy.text("Copy")];
    let code = element("code").with("dir", "ltr").text(code);
    element("div").with("class", "cw-md-code").around(vec![
        element("div").with("class", "cw-md-code-head").around(head),
        element("pre").with("tabindex", "0").around(vec![code]),
    ])
}

/// The click handler of a Markdown container: one for all the code blocks in it.
pub(crate) fn copy_on_click(event: leptos::ev::MouseEvent) {
    let target = event.target().and_then(|target| target.dyn_into::<web_sys::Element>().ok());
    let Some(button) = target.and_then(|target| target.closest(".cw-md-copy").ok().flatten()) else {
        return;
    };
    let block = button.closest(".cw-md-code").ok().flatten();
    let code = block.and_then(|block| block.query_selector("code").ok().flatten());
    let Some(text) = code.and_then(|code| code.text_content()) else {
        return;
    };
    if crate::agent_chat::browser::copy(&text) {
        show_copied(button);
    }
}

fn show_copied(button: web_sys::Element) {
    // Attributes of an element that exists: there is nothing to do when they cannot be set.
    let _ = button.set_attribute("aria-label", "Copied");
    let _ = button.set_attribute("data-copied", "");
    set_timeout(
        move || {
            let _ = button.set_attribute("aria-label", "Copy code");
            let _ = button.remove_attribute("data-copied");
        },
        COPIED_FOR,
    );
}
