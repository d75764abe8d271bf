//! Tracks the folded parts of a call's arguments that the user has not opened: until they are all
//! opened, the call cannot be approved.

use super::value::{folded_parts, value_nodes};
use crate::prelude::*;
use crate::texts;
use crate::texts::{Text, t};
use leptos::html;
use leptos::web_sys::{Element, HtmlElement};
use serde_json::Value;
use wasm_bindgen::JsCast;

/// The selector of folded parts; see `value.rs`.
const FOLDED: &str = "details.cw-value-more";
/// The attribute of parts that were opened once.
const SEEN: &str = "data-seen";

/// The folded parts of one card's arguments; a cheap handle.
#[derive(Clone, Copy)]
pub(in crate::agent_chat) struct UnseenArguments {
    count: RwSignal<usize>,
    /// Whether there were any at first.
    has_any: bool,
    id: StoredValue<String>,
    area: NodeRef<html::Div>,
}

impl UnseenArguments {
    /// The folded parts of a call's arguments.
    pub(in crate::agent_chat) fn for_arguments(arguments: Option<&Value>, call_id: &str) -> Self {
        let count = arguments.map_or(0, |arguments| folded_parts(&value_nodes(arguments)));
        Self {
            count: RwSignal::new(count),
            has_any: count > 0,
            id: StoredValue::new(format!("cw-unseen-{call_id}")),
            area: NodeRef::new(),
        }
    }

    /// Whether unopened parts are left. Tracked.
    pub(in crate::agent_chat) fn are_any(self) -> bool {
        self.count.get() > 0
    }

    /// The element that contains the arguments.
    pub(in crate::agent_chat) fn area(self) -> NodeRef<html::Div> {
        self.area
    }

    /// The id of the note about them; none if nothing was folded.
    pub(in crate::agent_chat) fn id(self) -> Option<String> {
        self.has_any.then(|| self.id.get_value())
    }

    /// Marks all parts as seen, because they are shown in another form.
    pub(in crate::agent_chat) fn mark_all_seen(self) {
        self.count.set(0);
    }

    /// Counts again after a click, once the browser has handled the click.
    pub(in crate::agent_chat) fn recount(self) {
        if untrack(|| self.are_any()) {
            request_animation_frame(move || {
                if self.count.is_disposed() {
                    return;
                }
                let parts = self.parts();
                for part in parts.iter().filter(|part| part.has_attribute("open")) {
                    // Setting an attribute of an existing element does not fail.
                    let _ = part.set_attribute(SEEN, "");
                }
                self.count.set(parts.iter().filter(|part| !part.has_attribute(SEEN)).count());
            });
        }
    }

    /// The note with their number, and a button that opens all of them.
    pub(in crate::agent_chat) fn view(self) -> Option<AnyView> {
        let id = self.id()?;
        let is_left = Memo::new(move |_| self.are_any());
        let words = move || match self.count.get() {
            0 => t(Text::AllShown).to_owned(),
            1 => t(Text::OneFolded).to_owned(),
            count => texts::fill_count(Text::SomeFolded, count),
        };
        let button = move || {
            is_left.get().then(|| {
                view! {
                    <button type="button" class="cw-link" on:click=move |_| self.unfold()>
                        {t(Text::ShowAll)}
                    </button>
                }
                .into_any()
            })
        };
        Some(
            view! {
                <p class="cw-approval-unseen">
                    <span id=id role="status">{words}</span>
                    {button}
                </p>
            }
            .into_any(),
        )
    }

    /// Opens all parts and moves the focus to the first, because the focused button is removed.
    fn unfold(self) {
        let parts = self.parts();
        for part in &parts {
            // Setting an attribute of an existing element does not fail.
            let _ = part.set_attribute("open", "");
        }
        let first = parts.first().and_then(|part| part.query_selector("summary").ok().flatten());
        if let Some(first) = first.and_then(|first| first.dyn_into::<HtmlElement>().ok()) {
            // It is in the document, so it can be focused.
            let _ = first.focus();
        }
        self.recount();
    }

    fn parts(self) -> Vec<Element> {
        let found = self.area.get_untracked().and_then(|area| area.query_selector_all(FOLDED).ok());
        let Some(found) = found else { return Vec::new() };
        (0..found.length()).filter_map(|at| found.item(at)?.dyn_into().ok()).collect()
    }
}
