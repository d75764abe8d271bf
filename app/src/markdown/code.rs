//! A block of code with its language and a button that copies it.

use crate::erase::{Erase, Erased};
use leptos::html;
use leptos::prelude::*;
use leptos::web_sys;
use std::time::Duration;
use wasm_bindgen::JsCast;

/// How long the button says that it has copied.
const COPIED_FOR: Duration = Duration::from_millis(1600);

/// The markup of a code block. It has no state of its own, so that it can be changed in place while the code arrives; see
/// [`copy_on_click`].
pub(super) fn code_block(language: &str, code: String) -> Erased {
    let label = if language.is_empty() { "Code".to_owned() } else { language.to_owned() };
    let copy = html::button().r#type("button").class("cw-md-copy").attr("aria-label", "Copy code").child("Copy");
    let head = html::div().class("cw-md-code-head").child((html::span().child(label), copy));
    let code = html::pre().tabindex("0").child(html::code().dir("ltr").child(code));
    html::div().class("cw-md-code").child((head, code)).erase()
}

/// The click handler of a Markdown container: one for all the code blocks in it.
pub(super) fn copy_on_click(event: leptos::ev::MouseEvent) {
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
