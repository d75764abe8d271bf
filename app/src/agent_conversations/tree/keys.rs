//! The keys of the tree of folders: arrow keys move between the rows, and open and close folders. With Alt they move the
//! folder of the row.

use crate::prelude::*;
use leptos::ev::KeyboardEvent;
use leptos::wasm_bindgen::JsCast;
use leptos::web_sys::{Element, HtmlElement};

/// The buttons of folders and the links of conversations.
const ROWS: &str = ".cw-folder-tree :is(.cw-tree-toggle, .cw-tree-link)";

/// Handles a key for the row that has the focus. `shift` moves the folder with an id up or down, and returns whether
/// folders can be moved.
pub(super) fn press(event: &KeyboardEvent, shift: impl Fn(&str, bool) -> bool) {
    if event.ctrl_key() || event.meta_key() || event.shift_key() {
        return;
    }
    let focused = document().active_element().filter(|focused| focused.matches(ROWS).unwrap_or_default());
    let Some(focused) = focused else { return };
    if event.alt_key() {
        // With the other arrows, a browser goes back.
        let is_down = match event.key().as_str() {
            "ArrowDown" => true,
            "ArrowUp" => false,
            _ => return,
        };
        let folder = focused.closest("[data-folder]").ok().flatten().and_then(|row| row.get_attribute("data-folder"));
        if folder.is_some_and(|id| shift(&id, is_down)) {
            event.prevent_default();
            event.stop_propagation();
        }
        return;
    }
    let is_open = focused.get_attribute("aria-expanded").map(|open| open == "true");
    // Where lines are written from the right, a folder opens to the left.
    let (opens, closes) =
        if is_in(&focused, "[dir=rtl]") { ("ArrowLeft", "ArrowRight") } else { ("ArrowRight", "ArrowLeft") };
    match event.key().as_str() {
        key if key == opens && is_open == Some(false) || key == closes && is_open == Some(true) => click(&focused),
        key if key == closes => focus_around(&focused),
        "ArrowDown" => focus_row(&focused, |at, _| at + 1),
        "ArrowUp" => focus_row(&focused, |at, _| at.saturating_sub(1)),
        "Home" => focus_row(&focused, |_, _| 0),
        "End" => focus_row(&focused, |_, count| count),
        _ => return,
    }
    event.prevent_default();
    event.stop_propagation();
}

/// Focuses the row of a folder, or that of the closed folder around it.
pub(in crate::agent_conversations) fn focus_folder(id: &str, around: Option<&str>) {
    let button =
        |id: &str| document().query_selector(&format!("[data-folder=\"{id}\"] .cw-tree-toggle")).ok().flatten();
    focus(button(id).or_else(|| button(around?)));
}

/// Focuses the select element with the filters of the list.
pub(in crate::agent_conversations) fn focus_scope() {
    focus(document().query_selector(".cw-scope select").ok().flatten());
}

/// Focuses the row of the folder that a row is in.
fn focus_around(row: &Element) {
    let inside = row.closest(".cw-tree-inside").ok().flatten();
    let around = inside.and_then(|inside| inside.previous_element_sibling());
    focus(around.and_then(|around| around.query_selector(".cw-tree-toggle").ok().flatten()));
}

/// Focuses the row at a position, given that of another row and the number of rows.
fn focus_row(from: &Element, to: fn(usize, usize) -> usize) {
    let Ok(found) = document().query_selector_all(ROWS) else { return };
    let rows: Vec<Element> = (0..found.length()).filter_map(|at| found.item(at)?.dyn_into().ok()).collect();
    if let Some(at) = rows.iter().position(|row| row == from) {
        focus(rows.get(to(at, rows.len()).min(rows.len() - 1)).cloned());
    }
}

fn is_in(row: &Element, selector: &str) -> bool {
    row.closest(selector).is_ok_and(|found| found.is_some())
}

fn click(row: &Element) {
    if let Some(row) = row.dyn_ref::<HtmlElement>() {
        row.click();
    }
}

fn focus(row: Option<Element>) {
    if let Some(row) = row.and_then(|row| row.dyn_into::<HtmlElement>().ok()) {
        // Fails only if it is not in the document.
        let _ = row.focus();
    }
}
