//! A chat in a drawer over the page, opened by a floating button.
//!
//! The drawer is a manual popover: only its own buttons and keys close it, because the page behind
//! it stays in use while the agent fills in a form there. It can be opened before the page is
//! hydrated; this module does the rest.

use super::component::inline_chat;
use super::session::ChatBlock;
use crate::chat_context::ChatContext;
use crate::prelude::*;
use crate::texts::{Text, t};
use crate::ui::icons::{Icon, Shape};
use leptos::ev::{Event, KeyboardEvent};
use leptos::html;
use leptos::wasm_bindgen::JsCast;
use leptos::web_sys::{self, HtmlElement};
use wire::page::{Drawer, Placement};

/// The path of a speech bubble, which only this button shows.
const BUBBLE: &str = "M4 3.5h12A1.5 1.5 0 0 1 17.5 5v7a1.5 1.5 0 0 1-1.5 1.5h-6l-4 3.5v-3.5H4A1.5 1.5 0 0 1 2.5 12V5A1.5 1.5 0 0 1 4 3.5z";

/// The width or the height in the style sheet, in pixels.
const USUAL_SIZE: u32 = 400;

/// The button and the drawer that it opens.
pub(super) fn drawer(place: ChatBlock) -> AnyView {
    let Drawer { placement, width, height, title } = place.properties.drawer.clone();
    let title = if title.is_empty() { t(Text::Chat).to_owned() } else { title };
    let (id, open, chat) = (format!("{}-drawer", place.block_id), place.drawer_open, place.chat);
    let (panel, button) = (NodeRef::<html::Section>::new(), NodeRef::<html::Button>::new());
    Effect::new(move |_| {
        let size = if matches!(placement, Placement::Top | Placement::Bottom) { height } else { width };
        let Some(panel) = panel.get().filter(|_| size != USUAL_SIZE) else { return };
        // Fails only for an invalid property name.
        let _ = HtmlElement::style(&panel).set_property("--cw-drawer-size", &format!("{size}px"));
    });
    let mut is_new = true;
    Effect::new(move |_| {
        let (wanted, Some(panel)) = (open.get(), panel.get()) else { return };
        if std::mem::take(&mut is_new) && is_open(&panel) {
            // The drawer was opened before the page was hydrated.
            focus_field(&panel);
            return open.set(true);
        }
        if is_open(&panel) != wanted {
            // Fails only if the drawer already has this state.
            let _ = if wanted { panel.show_popover() } else { panel.hide_popover() };
        }
    });
    open_when_selected(open, chat);
    let toggled = move |_: Event| {
        let (Some(panel), Some(button)) = (panel.get_untracked(), button.get_untracked()) else { return };
        let is_open = is_open(&panel);
        open.set(is_open);
        if is_open {
            focus_field(&panel);
        } else if is_focus_lost(&panel) {
            let _ = button.focus();
        }
    };
    let key = move |event: KeyboardEvent| {
        // Popovers and dialogs inside the drawer close first. While an answer is being written, the
        // composer uses Escape to stop it.
        let is_free = |panel: &HtmlElement| {
            panel.query_selector(":popover-open, dialog[open]").is_ok_and(|inner| inner.is_none())
        };
        if event.key() == "Escape"
            && !event.default_prevented()
            && panel.get_untracked().is_some_and(|panel| is_free(&panel))
        {
            open.set(false);
        }
    };
    let (controls, closes, heading) = (id.clone(), id.clone(), title.clone());
    view! {
        <button
            type="button"
            node_ref=button
            class="cw-chat-open"
            data-placement=placement.name()
            popovertarget=controls
            aria-haspopup="dialog"
        >
            <svg class="cw-icon" viewBox="0 0 20 20" aria-hidden="true" focusable="false">
                <path d=BUBBLE />
            </svg>
            <span dir="auto">{title.clone()}</span>
        </button>
        <section
            id=id
            node_ref=panel
            class="cw-chat-drawer"
            data-placement=placement.name()
            popover="manual"
            role="dialog"
            aria-label=title
            on:toggle=toggled
            on:keydown=key
        >
            <div class="cw-chat-drawer-head">
                <strong dir="auto">{heading}</strong>
                <button
                    type="button"
                    class="cw-icon-button"
                    popovertarget=closes
                    popovertargetaction="hide"
                    aria-label=t(Text::Close)
                    title=t(Text::CloseEscape)
                >
                    <Icon of=Shape::CLOSE />
                </button>
            </div>
            {inline_chat(place)}
        </section>
    }
    .into_any()
}

/// Opens the drawer when a conversation is selected elsewhere on the page.
fn open_when_selected(open: RwSignal<bool>, chat: ChatContext) {
    let mut before = None;
    Effect::new(move |_| {
        let chosen = chat.conversation.get();
        let is_news = before.as_ref().is_some_and(|before| *before != chosen) && chosen.is_some();
        before = Some(chosen);
        if is_news {
            open.set(true);
        }
    });
}

fn is_open(panel: &HtmlElement) -> bool {
    // Browsers without popovers do not know the selector, and show the drawer as a part of the
    // page.
    panel.matches(":popover-open").unwrap_or(true)
}

fn focus_field(panel: &HtmlElement) {
    let field = panel.query_selector("textarea").ok().flatten();
    if let Some(field) = field.and_then(|field| field.dyn_into::<HtmlElement>().ok()) {
        let _ = field.focus();
    }
}

/// Whether the focused element was removed or is about to be hidden.
fn is_focus_lost(panel: &HtmlElement) -> bool {
    let body = document().body().map(web_sys::Element::from);
    let active = document().active_element();
    active.is_none() || active == body || panel.contains(active.as_deref())
}
