//! Keeps the log scrolled to its end while the user is there, and only then.

use crate::prelude::*;
use leptos::html;
use leptos::web_sys::{self, ResizeObserver};
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::Closure;

/// Within this distance from the end, in pixels, the user counts as being at the end.
const NEAR: i32 = 48;

/// The scroll position of the log; a cheap handle.
#[derive(Clone, Copy)]
pub(in crate::agent_chat) struct ScrollFollower {
    scroller: NodeRef<html::Div>,
    at_end: RwSignal<bool>,
    /// Whether the page is not hydrated yet, so that the style sheet alone shows the end of the
    /// log.
    cold: RwSignal<bool>,
    /// The last known position; a smaller one means that the user scrolled up.
    last: StoredValue<i32>,
    /// The heights of the content and of the container when the log last scrolled to its end.
    heights: StoredValue<(i32, i32)>,
}

impl ScrollFollower {
    pub(in crate::agent_chat) fn new(scroller: NodeRef<html::Div>) -> Self {
        Self {
            scroller,
            at_end: RwSignal::new(true),
            cold: RwSignal::new(true),
            last: StoredValue::new(0),
            heights: StoredValue::new((0, 0)),
        }
    }

    /// Whether the user is at the end. Tracked.
    pub(in crate::agent_chat) fn is_at_end(self) -> bool {
        self.at_end.get()
    }

    /// The value of the `data-cold` attribute, which the style sheet uses. Tracked.
    pub(in crate::agent_chat) fn is_cold(self) -> impl Fn() -> Option<String> + Send + Sync + Clone {
        move || self.cold.get().then(String::new)
    }

    /// Scrolls to the end and stays there.
    pub(in crate::agent_chat) fn scroll_to_end(self) {
        self.at_end.set(true);
        if let Some(scroller) = self.scroller.get_untracked() {
            self.pin(&scroller, (scroller.scroll_height(), scroller.client_height()));
        }
    }

    /// Handles a scroll of the log, by the user or by this module.
    pub(in crate::agent_chat) fn scrolled(self) {
        let Some(scroller) = self.scroller.get_untracked() else { return };
        let top = scroller.scroll_top();
        let went_up = top < self.last.get_value();
        self.last.set_value(top);
        // Growing content increases the distance to the end before this module scrolls, so only
        // scrolling up leaves the end.
        let at_end = distance(&scroller) <= NEAR;
        if at_end != self.at_end.get_untracked() && (at_end || went_up) {
            self.at_end.set(at_end);
        }
    }

    /// Scrolls to the end again if the user is there and the heights have changed. If they have
    /// not, a user who starts to scroll up is not moved back.
    pub(in crate::agent_chat) fn stay_at_end(self) {
        if self.at_end.try_get_untracked() != Some(true) {
            return;
        }
        let Some(scroller) = self.scroller.get_untracked() else { return };
        let heights = (scroller.scroll_height(), scroller.client_height());
        if self.heights.get_value() != heights {
            self.pin(&scroller, heights);
        }
    }

    /// Scrolls to the end of a container with these heights of content and container.
    fn pin(self, scroller: &web_sys::Element, heights: (i32, i32)) {
        scroller.set_scroll_top(heights.0);
        self.last.set_value(scroller.scroll_top());
        self.heights.set_value(heights);
    }

    /// Switches from the style sheet's way of showing the end to scrolling by script, without a
    /// visible jump.
    fn warm_up(self) {
        let Some(scroller) = self.scroller.get_untracked() else { return };
        // Before hydration the log is a reversed column, in which positions are negative.
        let from_end = -scroller.scroll_top();
        // Removed at once instead of by the next run of effects, because positions depend on it.
        let _ = scroller.remove_attribute("data-cold");
        self.cold.set(false);
        if from_end <= NEAR {
            self.scroll_to_end();
        } else {
            self.at_end.set(false);
            scroller.set_scroll_top(scroller.scroll_height() - scroller.client_height() - from_end);
        }
    }
}

/// Keeps the end visible whenever the size of the content or of the container changes.
pub(in crate::agent_chat) fn follow_end(
    follow: ScrollFollower,
    scroller: NodeRef<html::Div>,
    content: NodeRef<html::Div>,
) {
    Effect::new(move |_| {
        let (Some(scroller), Some(content)) = (scroller.get(), content.get()) else { return };
        follow.warm_up();
        let resized = Closure::<dyn Fn()>::new(move || follow.stay_at_end());
        let Ok(observer) = ResizeObserver::new(resized.as_ref().unchecked_ref()) else { return };
        observer.observe(&content);
        observer.observe(&scroller);
        let kept = StoredValue::new_local((observer, resized));
        on_cleanup(move || kept.with_value(|(observer, _)| observer.disconnect()));
    });
}

fn distance(scroller: &web_sys::Element) -> i32 {
    scroller.scroll_height() - scroller.client_height() - scroller.scroll_top()
}
