//! Virtual scrolling: only the rows near the visible part of the list are in the document. All rows
//! have the same height, and the names of groups half of it, so the padding for the others is known.

use super::days::headings_around;
use super::keys::focus_row;
use super::list::{ConversationEntry, ConversationListState};
use crate::prelude::*;
use crate::ui::numbers::css_pixels;
use leptos::html;
use leptos::wasm_bindgen::JsCast;
use leptos::wasm_bindgen::closure::Closure;
use leptos::web_sys::{Event, HtmlElement};

/// The number of rows by which the window moves, so that scrolling rarely changes the document.
const STEP: usize = 40;
/// The number of rows in the document: a step above the visible rows, and a step below.
const ROWS: usize = 4 * STEP;
/// The gap between two rows in pixels, as in `style/agent_conversations.css`.
const GAP: f64 = 2.0;

/// The first row that is in the document; a cheap handle.
#[derive(Clone, Copy)]
pub(super) struct RowWindow {
    first: RwSignal<usize>,
    rows: NodeRef<html::Ul>,
    /// The last measured height of a row with its gap, in pixels.
    height: StoredValue<Option<f64>>,
}

impl RowWindow {
    pub(super) fn new() -> Self {
        Self { first: RwSignal::new(0), rows: NodeRef::new(), height: StoredValue::new(None) }
    }

    pub(super) fn node(self) -> NodeRef<html::Ul> {
        self.rows
    }

    /// Returns the part of the list that is in the document. Tracked.
    pub(super) fn visible_entries(self, list: ConversationListState) -> Vec<ConversationEntry> {
        list.slice(self.first.get(), ROWS)
    }

    /// Follows the scroll position, and loads the next page before the user gets there.
    pub(super) fn follow(self, list: ConversationListState) {
        Effect::new(move |_| {
            let scrolled = Closure::<dyn Fn(Event)>::new(move |_| self.update_window(list));
            // The list does not know which element scrolls it. Scroll events do not bubble, but
            // they can be captured at the document.
            let heard = scrolled.as_ref().unchecked_ref();
            let _ = document().add_event_listener_with_callback_and_bool("scroll", heard, true);
            let kept = StoredValue::new_local(scrolled);
            on_cleanup(move || {
                kept.try_with_value(|scrolled| {
                    let heard = scrolled.as_ref().unchecked_ref();
                    let _ = document().remove_event_listener_with_callback_and_bool("scroll", heard, true);
                });
            });
        });
        Effect::new(move |_| {
            let (first, count) = (self.first.get(), list.count());
            let (above, below) = headings_around(list, first, first + ROWS);
            self.set_padding(2 * first + above, 2 * count.saturating_sub(first + ROWS) + below);
        });
    }

    fn update_window(self, list: ConversationListState) {
        let Some(rows) = self.rows.try_get_untracked().flatten() else { return };
        let Some(height) = row_height(&rows) else { return };
        self.height.set_value(Some(height));
        let above = -rows.get_bounding_client_rect().top();
        let seen = (above / height).max(0.0) as usize;
        let first = (seen / STEP).saturating_sub(1) * STEP;
        if self.first.get_untracked() != first {
            let focused = focused_row();
            self.first.set(first);
            // Rows that are moved in the document lose the focus.
            if let Some(focused) = focused {
                request_animation_frame(move || {
                    if focused_row().is_none() {
                        focus_row(&focused);
                    }
                });
            }
        }
        // Less than a window's height is visible; the rows for another one are loaded in advance.
        let until = seen + (2.0 * window_height() / height) as usize;
        if list.count_untracked() < until {
            list.load_more();
        }
    }

    /// Focuses a row, which may not be in the document yet.
    pub(super) fn focus_row_at(self, list: ConversationListState, at: usize) {
        let Some(ConversationEntry { id, .. }) = untrack(|| list.slice(at, 1)).pop() else { return };
        if !focus_row(&id) {
            self.first.set((at / STEP).saturating_sub(1) * STEP);
            request_animation_frame(move || {
                focus_row(&id);
            });
        }
    }

    /// Sets the padding, in halves of a row.
    fn set_padding(self, above: usize, below: usize) {
        let Some(rows) = self.rows.get_untracked() else { return };
        // The height was measured while scrolling: measuring between the change of the rows and
        // that of the padding would lay out a list that is too short, and the browser would change
        // the scroll position.
        let height = self.height.get_value().or_else(|| row_height(&rows)).unwrap_or_default();
        for (side, count) in [("padding-block-start", above), ("padding-block-end", below)] {
            // Fails only for an unknown property.
            let _ = HtmlElement::style(&rows).set_property(side, &css_pixels(count as f64 * height / 2.0));
        }
    }
}

/// Returns the id of the conversation whose link has the focus.
fn focused_row() -> Option<String> {
    let focused = document().active_element()?;
    let link = focused.class_list().contains("cw-conversation-link").then_some(focused)?;
    link.parent_element()?.get_attribute("data-conversation")
}

/// Returns the height of a row with the gap to the next one, in pixels.
fn row_height(rows: &HtmlElement) -> Option<f64> {
    let height = rows.first_element_child()?.get_bounding_client_rect().height();
    (height > 0.0).then_some(height + GAP)
}

fn window_height() -> f64 {
    window().inner_height().ok().and_then(|height| height.as_f64()).unwrap_or_default()
}
