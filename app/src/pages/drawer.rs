//! Drawers: on a narrow screen the regions beside the main one are native popovers, which open
//! without script, close with Escape or a click outside, and restore the focus. On a wide screen
//! the style sheet shows them as columns.

use crate::prelude::*;
use crate::texts::{Text, t};
use crate::ui::icons::{Icon, Shape};
use leptos::wasm_bindgen::JsCast;
use leptos::web_sys;

/// The id of the drawer with the conversations.
pub(crate) const CONVERSATIONS_DRAWER: &str = "cw-conversations";
/// The id of the drawer with the content.
pub(crate) const CONTENT_DRAWER: &str = "cw-content";

/// The head of a drawer, shown on a narrow screen only: its name and a close button, which is
/// focused when the drawer opens.
#[component]
pub fn DrawerHead(
    /// The drawer's id.
    drawer: &'static str,
    /// Its name.
    name: String,
) -> AnyView {
    view! {
        <div class="cw-drawer-head">
            <strong>{name}</strong>
            <button
                type="button"
                class="cw-icon-button"
                popovertarget=drawer
                popovertargetaction="hide"
                aria-label=t(Text::Close)
                autofocus=true
            >
                <Icon of=Shape::CLOSE />
            </button>
        </div>
    }
    .into_any()
}

/// Closes the open drawers, after the user chose something in one or the screen became wide.
pub(crate) fn close_drawers() {
    for id in [CONVERSATIONS_DRAWER, CONTENT_DRAWER] {
        let drawer = document().get_element_by_id(id);
        if let Some(drawer) = drawer.and_then(|drawer| drawer.dyn_into::<web_sys::HtmlElement>().ok()) {
            // Fails if it is closed already, and in browsers without popovers, where none can be
            // open.
            let _ = drawer.hide_popover();
        }
    }
}
