//! On a narrow screen the regions beside the main one are drawers: native popovers, which open without script, close with Escape
//! or a click outside, and give the focus back. On a wide screen the style sheet shows them as columns.

use crate::icons::{Icon, Shape};
use crate::prelude::*;
use crate::texts::{Text, t};
use leptos::wasm_bindgen::JsCast;
use leptos::web_sys;

/// The id of the drawer with the conversations.
pub(crate) const CONVERSATIONS: &str = "cw-conversations";
/// The id of the drawer with the content.
pub(crate) const CONTENT: &str = "cw-content";

/// The head of a drawer, on a narrow screen only: its name and a button that closes it, which takes the focus as it opens.
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
                <Icon of=Shape::Close />
            </button>
        </div>
    }
    .into_any()
}

/// Closes the drawers that are open: something was chosen in one, or the screen has become wide.
pub(crate) fn close_drawers() {
    for id in [CONVERSATIONS, CONTENT] {
        let drawer = document().get_element_by_id(id);
        if let Some(drawer) = drawer.and_then(|drawer| drawer.dyn_into::<web_sys::HtmlElement>().ok()) {
            // Refused by one that is closed already, and by browsers without popovers, where none was open.
            let _ = drawer.hide_popover();
        }
    }
}
