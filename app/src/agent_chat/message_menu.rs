//! What is done with messages rarely. One menu for the whole log: a native popover that the style sheet anchors to the button that
//! opened it.

use super::EXTRAS;
use super::browser;
use super::session::Session;
use super::speech;
use crate::agent_conversations::actions::move_focus;
use crate::icons::{Icon, Shape};
use crate::prelude::*;
use crate::texts::{Text, t};
use leptos::html;
use wire::Role;
use wire::page::MessageActions;

/// The popover's id.
pub(super) const MENU: &str = "cw-message-menu";

/// Whether there is anything in the menu.
pub(super) fn has_menu(actions: MessageActions, is_answer: bool) -> bool {
    actions.branch || actions.delete || is_answer && (actions.copy || actions.audio)
}

/// The menu of the message whose button was pressed last.
#[component]
pub(super) fn MessageMenu() -> AnyView {
    let session = expect_context::<Session>();
    let menu = NodeRef::<html::Div>::new();
    let items = move || session.subject.get().map(|_| EXTRAS.view(move |code| (code.menu)(session, menu)));
    view! {
        <div
            id=MENU
            class="cw-menu"
            popover="auto"
            role="menu"
            aria-label=t(Text::Message)
            node_ref=menu
            on:keydown=move_focus
        >
            {items}
        </div>
    }
    .into_any()
}

/// Its lines.
pub(super) fn items(session: Session, menu: NodeRef<html::Div>) -> AnyView {
    let Some(message) = session.subject.get_untracked() else { return ().into_any() };
    let actions = session.actions();
    let is_answer = message.role == Role::Assistant;
    let id = message.id;
    let close = move || {
        if let Some(menu) = menu.get_untracked() {
            // Refused only when it is closed.
            let _ = menu.hide_popover();
        }
    };
    let mut items = Vec::new();
    if is_answer && actions.copy {
        let id = id.clone();
        items.push(item(t(Text::CopyAsText), Shape::Copy, None, move || {
            close();
            browser::copy(&browser::shown_text(&id));
        }));
    }
    if is_answer && actions.audio {
        let id = id.clone();
        let label = if speech::is_speaking() { t(Text::StopReading) } else { t(Text::ReadAloud) };
        items.push(item(label, Shape::Speaker, None, move || {
            close();
            speech::toggle(&browser::shown_text(&id));
        }));
    }
    if actions.branch {
        let id = id.clone();
        items.push(item(t(Text::ConversationFromHere), Shape::Branch, Some(session), move || {
            close();
            session.copy_up_to(id.clone());
        }));
    }
    if actions.delete {
        items.push(item(t(Text::DeleteFromHere), Shape::Bin, Some(session), move || {
            close();
            session.delete_message(&id);
        }));
    }
    items.collect_view().into_any()
}

/// A line of the menu. What changes the conversation waits while something is being written in it.
fn item(label: &'static str, of: Shape, waits_for: Option<Session>, click: impl Fn() + Send + 'static) -> AnyView {
    let is_off = move || waits_for.is_some_and(Session::is_busy);
    view! {
        <button type="button" role="menuitem" class:cw-danger=of == Shape::Bin disabled=is_off on:click=move |_| click()>
            <Icon of />
            {label}
        </button>
    }
    .into_any()
}
