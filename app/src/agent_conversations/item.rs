//! One conversation in the list.

use super::ListEvents;
use super::list::{Entry, use_conversations};
use super::rename::Rename;
use super::when::When;
use crate::chat_context::use_chat_context;
use crate::erase::{Erase, Erased, attribute, dynamic, handler, optional, text};
use crate::icons::{Icon, Shape};
use crate::pages::CurrentPage;
use crate::pages::drawer::close_drawers;
use leptos::prelude::*;

/// A link with title and time, and the button of its menu.
#[component]
pub fn Conversation(
    /// The conversation.
    item: Entry,
    /// The id of the list's menu.
    menu: String,
) -> impl IntoView {
    let list = use_conversations();
    let renaming = {
        let id = item.id.clone();
        Memo::new(move |_| list.renaming.with(|renaming| renaming.as_deref() == Some(id.as_str())))
    };
    let content = dynamic(move || {
        let item = item.clone();
        match renaming.get() {
            true => view! { <Rename item /> }.erase(),
            false => view! { <Link item menu=menu.clone() /> }.erase(),
        }
    });
    view! { <li class="cw-conversation">{content}</li> }
}

/// The conversation as a link, with the button of its menu.
#[component]
fn Link(item: Entry, menu: String) -> impl IntoView {
    let chat = use_chat_context();
    let list = use_conversations();
    let Entry { id, summary } = item;
    let ListEvents(events) = expect_context();
    let select = {
        let id = id.clone();
        move |_| {
            close_drawers();
            events.emit("onSelect", serde_json::json!({ "id": id }));
        }
    };
    // A conversation that was begun on another page goes on there.
    let CurrentPage(page) = expect_context();
    let elsewhere = summary.with_untracked(|summary| {
        page.with_value(|page| page.id != summary.page_id)
            .then(|| format!("/{}?conversation={}", summary.page_id, summary.id))
    });
    let href = {
        let id = id.clone();
        attribute(move || Some(elsewhere.clone().unwrap_or_else(|| chat.href(Some(&id)))))
    };
    let current = {
        let id = id.clone();
        let is_current = move |selected: &Option<String>| selected.as_deref() == Some(id.as_str());
        attribute(move || chat.conversation.with(&is_current).then(|| "page".to_owned()))
    };
    let (title, label, running, when, subject) =
        (summary.clone(), summary.clone(), summary.clone(), summary.clone(), summary);
    let label = attribute(move || Some(label.with(|summary| format!("Options for {}", summary.title))));
    let running = optional(move || running.with(|summary| summary.running).then(running_mark));
    view! {
        <a class="cw-conversation-link" href=href aria-current=current on:click=handler(select)>
            <span class="cw-conversation-title">{text(move || title.with(|summary| summary.title.clone()))}</span>
            <span class="cw-conversation-when">
                {running}
                <When at=move || when.with(|summary| summary.updated_at) now=list.now />
            </span>
        </a>
        <button
            type="button"
            class="cw-icon-button cw-conversation-more"
            id=actions_button(&id)
            popovertarget=menu
            aria-haspopup="menu"
            aria-label=label
            // Before the menu opens, which is the click's default action.
            on:click=handler(move |_| list.subject.set(Some(subject.get_untracked())))
        >
            <Icon of=Shape::More />
        </button>
    }
    .erase()
}

/// A dot that says that an answer is being written.
fn running_mark() -> Erased {
    view! {
        <span class="cw-running">
            <span class="cw-visually-hidden">"Answering now. "</span>
        </span>
    }
    .erase()
}

/// The id of the button that opens a conversation's menu.
pub(super) fn actions_button(conversation_id: &str) -> String {
    format!("conversation-{conversation_id}-options")
}
