//! Handles the clicks within rendered Markdown. There is one handler for each container, so that
//! the elements in it need none.

use crate::prelude::*;
use crate::texts::{Text, t};
use leptos::web_sys::{self, Element};
use std::time::Duration;
use wasm_bindgen::JsCast;

/// How long the button shows that the code was copied.
const COPIED_FOR: Duration = Duration::from_millis(1600);

/// The click handler of a Markdown container.
pub(crate) fn on_click(event: leptos::ev::MouseEvent) {
    let target = event.target().and_then(|target| target.dyn_into::<Element>().ok());
    let Some(button) = target.and_then(|target| closest(&target, "button")) else { return };
    let class = button.class_name();
    let block = || closest(&button, ".cw-md-code");
    match class.as_str() {
        "cw-md-copy" => copy(&button, block()),
        "cw-md-wrap" => toggle(&button, block(), "data-wrap"),
        "cw-md-source" => toggle(&button, block(), "data-source"),
        "cw-md-cite" => go_to_source(&button),
        "cw-md-note-link" => go_to_note(&button, ".cw-md-note"),
        "cw-md-note-back" => go_to_note(&button, ".cw-md-note-link"),
        _ => {}
    }
}

fn copy(button: &Element, block: Option<Element>) {
    let code = block.and_then(|block| block.query_selector("code").ok().flatten());
    let Some(text) = code.and_then(|code| code.text_content()) else { return };
    if !crate::ui::browser::copy(&text) {
        return;
    }
    // Cannot fail: sets attributes of an existing element.
    let _ = button.set_attribute("aria-label", t(Text::Copied));
    let _ = button.set_attribute("data-copied", "");
    let button = button.clone();
    set_timeout(
        move || {
            let _ = button.set_attribute("aria-label", t(Text::CopyCode));
            let _ = button.remove_attribute("data-copied");
        },
        COPIED_FOR,
    );
}

/// Toggles an attribute of a block and the button's `aria-pressed`.
fn toggle(button: &Element, block: Option<Element>, mark: &str) {
    let Some(block) = block else { return };
    let is_on = block.toggle_attribute(mark).unwrap_or_default();
    let _ = button.set_attribute("aria-pressed", if is_on { "true" } else { "false" });
}

/// Moves the focus from a reference to its footnote, or back to the first such reference.
fn go_to_note(button: &Element, selector: &str) {
    let label = button.get_attribute("data-note");
    let text = closest(button, ".cw-markdown");
    let Some(found) = text.and_then(|text| text.query_selector_all(selector).ok()) else { return };
    let elements = (0..found.length()).filter_map(|at| found.item(at)?.dyn_into::<web_sys::HtmlElement>().ok());
    // Focusing scrolls it into view; screen readers continue from there.
    if let Some(note) = elements.into_iter().find(|note| note.get_attribute("data-note") == label) {
        let _ = note.focus();
    }
}

/// Moves the focus from a citation to its source in the list below the answer, which is unfolded.
fn go_to_source(button: &Element) {
    let number = button.get_attribute("data-source").unwrap_or_default();
    let list = closest(button, "article").and_then(|message| message.query_selector(".cw-sources").ok().flatten());
    let Some(list) = list else { return };
    // Cannot fail: sets attributes of an existing element.
    let _ = list.set_attribute("open", "");
    let source = list.query_selector(&format!("li:nth-child({number})")).ok().flatten();
    if let Some(source) = source.and_then(|source| source.dyn_into::<web_sys::HtmlElement>().ok()) {
        let _ = source.focus();
    }
}

fn closest(element: &Element, selector: &str) -> Option<Element> {
    element.closest(selector).ok().flatten()
}
