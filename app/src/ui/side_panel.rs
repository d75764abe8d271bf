//! A panel beside the chat, for what its messages refer to. On a narrow screen it takes the whole page.

use crate::blocks::control::focus;
use crate::prelude::*;
use crate::texts::{Text, t};
use crate::ui::icons::{Icon, Shape};
use leptos::ev::{Event, KeyboardEvent};
use leptos::html;
use leptos::wasm_bindgen::JsCast;
use leptos::web_sys::{Element, HtmlDialogElement, HtmlElement};

/// The width from which the panel is shown beside the chat, in pixels.
const WIDE: f64 = 800.0;

/// The parts of a panel.
pub(crate) struct PanelParts {
    /// The class of the dialog, beside `cw-side`.
    pub(crate) class: &'static str,
    /// The id of the heading in `title`.
    pub(crate) heading: String,
    /// The width in pixels that the style sheet gives it, for a width of the window.
    pub(crate) width: fn(f64) -> f64,
    /// The heading, and the content below it.
    pub(crate) title: AnyView,
    /// The buttons before the one that closes the panel.
    pub(crate) buttons: AnyView,
    /// The content below the head.
    pub(crate) body: AnyView,
}

/// The panel. It is a dialog above the page that leaves the chat in use, and on a narrow screen a modal one.
///
/// Whenever a signal changes that `is_open` reads, the panel is shown again and its heading gets the focus.
pub(crate) fn side_panel(parts: PanelParts, is_open: Signal<bool>, close: Callback<()>) -> AnyView {
    let PanelParts { class, heading, width, title, buttons, body } = parts;
    let dialog = NodeRef::<html::Dialog>::new();
    let id = StoredValue::new(heading.clone());
    Effect::new(move |_| {
        let (is_open, Some(dialog)) = (is_open.get(), dialog.get()) else { return };
        if is_open {
            show(&dialog, width);
            request_animation_frame(move || {
                // The chat may be gone by then.
                let _ = id.try_with_value(|id| focus(id));
            });
        } else {
            hide(&dialog);
        }
    });
    let key = move |event: KeyboardEvent| {
        if event.key() == "Escape" {
            // It must not stop an answer or close a drawer, too.
            event.prevent_default();
            event.stop_propagation();
            close.run(());
        }
    };
    let closed = move |_: Event| {
        if is_open.get_untracked() {
            close.run(());
        }
    };
    view! {
        <dialog
            node_ref=dialog
            class=["cw-side ", class].concat()
            popover="manual"
            aria-labelledby=heading
            on:keydown=key
            on:close=closed
        >
            <div class="cw-side-head">
                <div class="cw-side-title">{title}</div>
                {buttons}
                <button
                    type="button"
                    class="cw-icon-button"
                    aria-label=t(Text::Close)
                    title=t(Text::CloseEscape)
                    on:click=move |_| close.run(())
                >
                    <Icon of=Shape::CLOSE />
                </button>
            </div>
            {body}
        </dialog>
    }
    .into_any()
}

/// Shows the panel where it does not cover the chat, if there is such a place; else the page makes room.
fn show(dialog: &HtmlDialogElement, own_width: fn(f64) -> f64) {
    let width = window().inner_width().ok().and_then(|width| width.as_f64()).unwrap_or_default();
    if width < WIDE {
        // Each fails only if it is open.
        let _ = dialog.show_modal();
        return;
    }
    let needed = own_width(width);
    let chat = dialog.closest(".cw-chat").ok().flatten().map(|chat| chat.get_bounding_client_rect());
    let is_free_left = chat.as_ref().is_some_and(|chat| chat.left() >= needed);
    let is_free_right = chat.as_ref().is_some_and(|chat| width - chat.right() >= needed);
    // Cannot fail: the names are valid.
    let _ = dialog.set_attribute("data-side", if is_free_left && !is_free_right { "left" } else { "right" });
    let _ = dialog.toggle_attribute_with_force("data-beside", !is_free_left && !is_free_right);
    let _ = dialog.show_popover();
}

fn hide(dialog: &HtmlDialogElement) {
    if dialog.open() {
        dialog.close();
    } else if dialog.matches(":popover-open").unwrap_or_default() {
        let _ = dialog.hide_popover();
    }
}

/// Moves the focus to an element, after something was closed.
pub(crate) fn focus_element(element: Option<Element>) {
    if let Some(element) = element.and_then(|element| element.dyn_into::<HtmlElement>().ok()) {
        // Fails only if the element is gone.
        let _ = element.focus();
    }
}
