//! Following the end of the log while the reader is there, and only then.

use crate::prelude::*;
use leptos::html;
use leptos::web_sys::{self, ResizeObserver};
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::Closure;

/// This near to the end, in pixels, the reader is at the end.
const NEAR: i32 = 48;

/// Where the reader is; a cheap handle.
#[derive(Clone, Copy)]
pub(super) struct Follow {
    scroller: NodeRef<html::Div>,
    at_end: RwSignal<bool>,
    /// The page is as the server rendered it: the style sheet alone shows the end of the log.
    cold: RwSignal<bool>,
    /// The position that was seen last; a smaller one means that the reader scrolled up.
    last: StoredValue<i32>,
    /// The heights of the content and of the container when they were followed last.
    heights: StoredValue<(i32, i32)>,
}

impl Follow {
    pub(super) fn new(scroller: NodeRef<html::Div>) -> Self {
        Self {
            scroller,
            at_end: RwSignal::new(true),
            cold: RwSignal::new(true),
            last: StoredValue::new(0),
            heights: StoredValue::new((0, 0)),
        }
    }

    /// Whether the reader is at the end. Tracked.
    pub(super) fn is_at_end(self) -> bool {
        self.at_end.get()
    }

    /// For the attribute that the style sheet looks at. Tracked.
    pub(super) fn is_cold(self) -> impl Fn() -> Option<String> + Send + Sync + Clone {
        move || self.cold.get().then(String::new)
    }

    /// Scrolls to the end and stays there.
    pub(super) fn to_end(self) {
        self.at_end.set(true);
        if let Some(scroller) = self.scroller.get_untracked() {
            self.pin(&scroller, (scroller.scroll_height(), scroller.client_height()));
        }
    }

    /// The log was scrolled, by the reader or by us.
    pub(super) fn scrolled(self) {
        let Some(scroller) = self.scroller.get_untracked() else { return };
        let top = scroller.scroll_top();
        let went_up = top < self.last.get_value();
        self.last.set_value(top);
        // Growing content moves the end away before we follow: only the reader's own way up lets go of it.
        let at_end = distance(&scroller) <= NEAR;
        if at_end != self.at_end.get_untracked() && (at_end || went_up) {
            self.at_end.set(at_end);
        }
    }

    /// Goes to the end again if the reader is there and it has moved. Where it has not, a reader who begins to scroll up is let go.
    pub(super) fn keep(self) {
        if self.at_end.try_get_untracked() != Some(true) {
            return;
        }
        let Some(scroller) = self.scroller.get_untracked() else { return };
        let heights = (scroller.scroll_height(), scroller.client_height());
        if self.heights.get_value() != heights {
            self.pin(&scroller, heights);
        }
    }

    /// Goes to the end of a container with these heights of content and window.
    fn pin(self, scroller: &web_sys::Element, heights: (i32, i32)) {
        scroller.set_scroll_top(heights.0);
        self.last.set_value(scroller.scroll_top());
        self.heights.set_value(heights);
    }

    /// From the style sheet's way of showing the end to ours, without a visible step.
    fn warm_up(self) {
        let Some(scroller) = self.scroller.get_untracked() else { return };
        // In the style sheet's column, which begins at the end, positions are negative.
        let from_end = -scroller.scroll_top();
        // The attribute now, and not with the next run of effects, because positions depend on it.
        let _ = scroller.remove_attribute("data-cold");
        self.cold.set(false);
        if from_end <= NEAR {
            self.to_end();
        } else {
            self.at_end.set(false);
            scroller.set_scroll_top(scroller.scroll_height() - scroller.client_height() - from_end);
        }
    }
}

/// Keeps the end in sight whenever the content or the container changes its size.
pub(super) fn follow_end(follow: Follow, scroller: NodeRef<html::Div>, content: NodeRef<html::Div>) {
    Effect::new(move |_| {
        let (Some(scroller), Some(content)) = (scroller.get(), content.get()) else { return };
        follow.warm_up();
        let resized = Closure::<dyn Fn()>::new(move || follow.keep());
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
