//! Tracks what of a call's arguments the user has not seen: folded parts that were not opened, and
//! a begin or an end that was never in view. Until all is seen, the call cannot be approved.

use super::value::{argument_nodes, folded_parts};
use crate::prelude::*;
use crate::texts;
use crate::texts::{Text, t};
use leptos::html;
use leptos::web_sys::{Element, HtmlElement, IntersectionObserver, IntersectionObserverEntry};
use serde_json::Value;
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;

/// The selector of folded parts; see `value.rs`, and `approval_card.rs` for the other arguments.
const FOLDED: &str = "details.cw-value-more, details.cw-approval-rest";
/// The attribute of parts that were opened once.
const SEEN: &str = "data-seen";

/// The arguments of one card that the user has not seen yet; a cheap handle.
#[derive(Clone, Copy)]
pub(crate) struct UnseenArguments {
    /// The number of folded parts that were not opened.
    count: RwSignal<usize>,
    /// Whether begin and end were in view since the last part was opened; none until the browser has
    /// told it.
    in_view: RwSignal<Option<[bool; 2]>>,
    /// Whether there is a note, which then stays.
    has_note: RwSignal<bool>,
    id: StoredValue<String>,
    area: NodeRef<html::Div>,
    /// Empty elements before and after the arguments.
    ends: [NodeRef<html::Div>; 2],
}

impl UnseenArguments {
    /// The state before any argument of a call has been seen. `hidden` are the arguments that are folded as a whole.
    pub(crate) fn for_arguments(arguments: Option<&Value>, hidden: Option<&Value>, call_id: &str) -> Self {
        let folded = |arguments: &Value| folded_parts(&argument_nodes(arguments, None));
        let count = arguments.map_or(0, folded) + hidden.map_or(0, |hidden| 1 + folded(hidden));
        Self {
            count: RwSignal::new(count),
            in_view: RwSignal::new(None),
            has_note: RwSignal::new(count > 0),
            id: StoredValue::new(format!("cw-unseen-{call_id}")),
            area: NodeRef::new(),
            ends: [NodeRef::new(), NodeRef::new()],
        }
    }

    /// Whether anything was not seen yet. Tracked.
    pub(crate) fn are_any(self) -> bool {
        self.count.get() > 0 || self.in_view.get() != Some([true; 2])
    }

    /// Notes when the begin and the end of the arguments are in view. The observer of the browser
    /// knows of every element that clips them.
    pub(crate) fn watch(self) {
        Effect::new(move |_| {
            let [Some(begin), Some(end)] = self.ends.map(|end| end.get()) else { return };
            // A new observer tells the state at once.
            self.count.track();
            let noted = Closure::<dyn Fn(js_sys::Array)>::new(move |entries: js_sys::Array| self.note_view(&entries));
            let Ok(observer) = IntersectionObserver::new(noted.as_ref().unchecked_ref()) else { return };
            observer.observe(&begin);
            observer.observe(&end);
            let kept = StoredValue::new_local((observer, noted));
            on_cleanup(move || kept.with_value(|(observer, _)| observer.disconnect()));
        });
    }

    fn note_view(self, entries: &js_sys::Array) {
        let Some(before) = self.in_view.try_get_untracked() else { return };
        let mut seen = before.unwrap_or_default();
        for entry in entries.iter() {
            let entry: IntersectionObserverEntry = entry.unchecked_into();
            let is_end = self.ends[1].get_untracked().is_some_and(|end| end.is_same_node(Some(&entry.target())));
            seen[usize::from(is_end)] |= entry.is_intersecting();
        }
        // Setting it again would render the note anew, and a focused button in it would lose the focus.
        if seen != [true; 2] && !self.has_note.get_untracked() {
            self.has_note.set(true);
        }
        self.in_view.set(Some(seen));
    }

    /// The elements before and after the arguments.
    pub(crate) fn ends(self) -> [AnyView; 2] {
        self.ends.map(|end| view! { <div class="cw-approval-edge" node_ref=end></div> }.into_any())
    }

    /// The element that contains the arguments.
    pub(crate) fn area(self) -> NodeRef<html::Div> {
        self.area
    }

    /// The id of the note about them; none if there is nothing to note. Tracked.
    pub(crate) fn id(self) -> Option<String> {
        self.has_note.get().then(|| self.id.get_value())
    }

    /// Counts again after a click, once the browser has handled the click.
    pub(crate) fn recount(self) {
        if self.count.get_untracked() > 0 {
            request_animation_frame(move || {
                if self.count.is_disposed() {
                    return;
                }
                let parts = self.parts();
                for part in parts.iter().filter(|part| part.has_attribute("open")) {
                    // Setting an attribute of an existing element does not fail.
                    let _ = part.set_attribute(SEEN, "");
                }
                let before = self.count.get_untracked();
                let left = parts.iter().filter(|part| !part.has_attribute(SEEN)).count();
                if left != before {
                    // The arguments are longer now.
                    self.in_view.set(None);
                    self.count.set(left);
                }
            });
        }
    }

    /// The note about unseen arguments, and a button that shows them.
    pub(crate) fn view(self) -> AnyView {
        let is_left = Memo::new(move |_| self.are_any());
        let words = move || match (self.count.get(), is_left.get()) {
            (0, false) => t(Text::AllShown).to_owned(),
            (0, true) => t(Text::OutOfSight).to_owned(),
            (1, _) => t(Text::OneFolded).to_owned(),
            (count, _) => texts::fill_count(Text::SomeFolded, count),
        };
        let button = move || {
            is_left.get().then(|| {
                view! {
                    <button type="button" class="cw-link" on:click=move |_| self.show()>
                        {t(Text::ShowAll)}
                    </button>
                }
                .into_any()
            })
        };
        (move || {
            self.id().map(|id| {
                view! {
                    <p class="cw-approval-unseen">
                        <span id=id role="status">{words}</span>
                        {button}
                    </p>
                }
                .into_any()
            })
        })
        .into_any()
    }

    /// Opens all parts, or scrolls to the first end that was not in view. The focus moves there,
    /// because the focused button may be removed.
    fn show(self) {
        let parts = self.parts();
        for part in &parts {
            // Setting an attribute of an existing element does not fail.
            let _ = part.set_attribute("open", "");
        }
        let first = parts.first().and_then(|part| part.query_selector("summary").ok().flatten());
        if let Some(first) = first.filter(|_| self.count.get_untracked() > 0) {
            if let Ok(first) = first.dyn_into::<HtmlElement>() {
                // It is in the document, so it can be focused.
                let _ = first.focus();
            }
            return self.recount();
        }
        let [begin, _] = self.in_view.get_untracked().unwrap_or_default();
        if let Some(end) = self.ends[usize::from(begin)].get_untracked() {
            end.scroll_into_view();
        }
    }

    fn parts(self) -> Vec<Element> {
        let found = self.area.get_untracked().and_then(|area| area.query_selector_all(FOLDED).ok());
        let Some(found) = found else { return Vec::new() };
        (0..found.length()).filter_map(|at| found.item(at)?.dyn_into().ok()).collect()
    }
}
