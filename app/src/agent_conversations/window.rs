//! The rows that are in the document: those near what is seen, however long the list is. All rows are equally high, so the room of the
//! others is known.

use super::list::{Conversations, Entry};
use crate::numbers::pixels;
use crate::prelude::*;
use leptos::html;
use leptos::wasm_bindgen::JsCast;
use leptos::wasm_bindgen::closure::Closure;
use leptos::web_sys::{Event, HtmlElement};

/// The rows move in steps, so that scrolling seldom changes the document.
const STEP: usize = 40;
/// Rows in the document: a step above, what is seen, and a step below.
const ROWS: usize = 4 * STEP;

/// The first row that is in the document; a cheap handle.
#[derive(Clone, Copy)]
pub(super) struct RowWindow {
    first: RwSignal<usize>,
    rows: NodeRef<html::Ul>,
    /// The height of a row with its gap, in pixels, as it was measured last.
    height: StoredValue<Option<f64>>,
}

impl RowWindow {
    pub(super) fn new() -> Self {
        Self { first: RwSignal::new(0), rows: NodeRef::new(), height: StoredValue::new(None) }
    }

    pub(super) fn node(self) -> NodeRef<html::Ul> {
        self.rows
    }

    /// The part of the list that is in the document. Tracked.
    pub(super) fn part(self, list: Conversations) -> Vec<Entry> {
        list.part(self.first.get(), ROWS)
    }

    /// Follows the reader, and loads what he comes near to.
    pub(super) fn follow(self, list: Conversations) {
        Effect::new(move |_| {
            let scrolled = Closure::<dyn Fn(Event)>::new(move |_| self.look(list));
            // The list does not know which element scrolls it; such events do not bubble, but are seen on their way down.
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
            self.make_room(first, count.saturating_sub(first + ROWS));
        });
    }

    fn look(self, list: Conversations) {
        let Some(rows) = self.rows.try_get_untracked().flatten() else { return };
        let Some(height) = row_height(&rows) else { return };
        self.height.set_value(Some(height));
        let above = -rows.get_bounding_client_rect().top();
        let seen = (above / height).max(0.0) as usize;
        let first = (seen / STEP).saturating_sub(1) * STEP;
        if self.first.get_untracked() != first {
            self.first.set(first);
        }
        // What is seen is less than a window's height; another of it is there before it is needed.
        let until = seen + (2.0 * window_height() / height) as usize;
        if list.count_untracked() < until {
            list.load_more();
        }
    }

    fn make_room(self, above: usize, below: usize) {
        let Some(rows) = self.rows.get_untracked() else { return };
        // Measured while it scrolled: to measure between the rows' change and the room's would lay the list out while it is too short, and
        // the browser would scroll back.
        let height = self.height.get_value().or_else(|| row_height(&rows)).unwrap_or_default();
        for (side, count) in [("padding-block-start", above), ("padding-block-end", below)] {
            // Fails only for a name that is no property.
            let _ = HtmlElement::style(&rows).set_property(side, &pixels(count as f64 * height));
        }
    }
}

/// The height of a row with the gap to the next one, in pixels.
fn row_height(rows: &HtmlElement) -> Option<f64> {
    let first = rows.first_element_child()?;
    let second = first.next_element_sibling()?;
    Some(second.get_bounding_client_rect().top() - first.get_bounding_client_rect().top())
        .filter(|height| *height > 0.0)
}

fn window_height() -> f64 {
    window().inner_height().ok().and_then(|height| height.as_f64()).unwrap_or_default()
}
