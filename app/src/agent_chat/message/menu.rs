//! The menu with the less common actions of a message. The log has one menu, a native popover that
//! the style sheet anchors to the button that opened it.

use super::notice::text_with_outcome;
use crate::agent_chat::chunk_tables::EXTRAS;
use crate::agent_chat::composer::speech;
use crate::agent_chat::composer::types::OpenForm;
use crate::agent_chat::session::Session;
use crate::agent_conversations::actions::move_menu_focus;
use crate::pages::account::{AccountLink, account_link};
use crate::prelude::*;
use crate::texts::{Text, t};
use crate::ui::browser;
use crate::ui::icons::{Icon, Shape};
use leptos::html;
use wire::Role;
use wire::citations::plain_footnotes;
use wire::page::MessageActions;

/// The id of the popover.
pub(in crate::agent_chat) const MENU: &str = "cw-message-menu";

/// Whether the menu of a message has any items.
pub(in crate::agent_chat) fn has_menu(actions: MessageActions, is_answer: bool) -> bool {
    actions.branch || actions.delete || is_answer && (actions.copy || actions.audio)
}

/// The menu of the message whose menu button was pressed last.
#[component]
pub(in crate::agent_chat) fn MessageMenu() -> AnyView {
    let session = expect_context::<Session>();
    let menu = NodeRef::<html::Div>::new();
    let items = move || session.menu_message.get().map(|_| EXTRAS.view(move |code| (code.menu)(session, menu)));
    view! {
        <div
            id=MENU
            class="cw-menu"
            popover="auto"
            role="menu"
            aria-label=t(Text::Message)
            node_ref=menu
            on:keydown=move_menu_focus
        >
            {items}
        </div>
    }
    .into_any()
}

/// The items of the menu.
pub(in crate::agent_chat) fn items(session: Session, menu: NodeRef<html::Div>) -> AnyView {
    let Some(message) = session.menu_message.get_untracked() else { return ().into_any() };
    let actions = session.actions();
    let is_answer = message.role == Role::Assistant;
    let (id, sent) = (message.id.clone(), message.clone());
    let close = move || {
        if let Some(menu) = menu.get_untracked() {
            // Fails only if the menu is already closed.
            let _ = menu.hide_popover();
        }
    };
    let mut items = Vec::new();
    if is_answer && actions.copy {
        items.push(item(t(Text::CopyAsText), Shape::COPY, None, move || {
            close();
            let (text, notes) = (
                browser::visible_text_with_marks(&message.id),
                message.cited_sources.with_untracked(|all| plain_footnotes(all)),
            );
            let text = if notes.is_empty() { text } else { format!("{text}\n\n{}", notes.trim_end()) };
            browser::copy(&text_with_outcome(text, &message));
        }));
    }
    if is_answer && actions.audio {
        let id = id.clone();
        let reads = session.has_server_voice();
        let label = if speech::is_speaking() { t(Text::StopReading) } else { t(Text::ReadAloud) };
        items.push(item(label, Shape::SPEAKER, None, move || {
            close();
            if reads {
                return session.open_form.set(Some(OpenForm::Reading(id.clone())));
            }
            speech::toggle_reading(&browser::visible_text(&id));
        }));
    }
    // Visitors have no prompts of their own.
    let is_visitor = || matches!(account_link(), Some(AccountLink::SignIn { .. }));
    if !is_answer && session.sender(|sender| sender.saved_prompts == Some(true)) && !is_visitor() {
        items.push(item(t(Text::PromptSave), Shape::PIN, None, move || {
            close();
            session.open_form.set(Some(OpenForm::NewPrompt(sent.text())));
        }));
    }
    if actions.branch {
        let id = id.clone();
        items.push(item(t(Text::ConversationFromHere), Shape::BRANCH, Some(session), move || {
            close();
            session.copy_up_to(id.clone());
        }));
    }
    if actions.delete {
        items.push(item(t(Text::DeleteFromHere), Shape::BIN, Some(session), move || {
            close();
            session.delete_message(&id);
        }));
    }
    items.collect_view().into_any()
}

/// An item of the menu. Items that change the conversation are disabled while an answer is being
/// written.
fn item(label: &'static str, of: Shape, waits_for: Option<Session>, click: impl Fn() + Send + 'static) -> AnyView {
    let is_off = move || waits_for.is_some_and(Session::is_busy);
    view! {
        <button type="button" role="menuitem" class:cw-danger=of == Shape::BIN disabled=is_off on:click=move |_| click()>
            <Icon of />
            {label}
        </button>
    }
    .into_any()
}
