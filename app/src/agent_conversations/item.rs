//! One conversation in the list.

use super::chunk_table::{ListEvents, ORGANIZING};
use super::days;
use super::list::{ConversationEntry, use_conversations};
use crate::chat_context::use_chat_context;
use crate::pages::current_page::CurrentPage;
use crate::pages::drawer::close_drawers;
use crate::prelude::*;
use crate::texts::{Text, fill, t};
use crate::ui::bidi::has_mixed_directions;
use crate::ui::dates::RelativeTime;
use crate::ui::hidden_characters::{TextKind, text_with_code_points};
use crate::ui::icons::{Icon, Shape};
use leptos::ev::MouseEvent;
use wire::api::ConversationSummary;

/// A conversation: a link with its title and time, and the button of its menu.
#[component]
pub fn ConversationItem(
    /// The conversation.
    item: ConversationEntry,
    /// The id of the list's menu.
    menu: String,
) -> AnyView {
    let list = use_conversations();
    let id = item.id.clone();
    let renaming = {
        let id = id.clone();
        Memo::new(move |_| list.renaming.with(|renaming| renaming.as_deref() == Some(id.as_str())))
    };
    let content = move || {
        let item = item.clone();
        // Until the code of the rename field is loaded, the link stays, and keeps the focus.
        if renaming.get() && ORGANIZING.get().is_some() {
            ORGANIZING.view(move |code| (code.rename)(item.clone()))
        } else {
            view! { <ConversationLink item menu=menu.clone() /> }.into_any()
        }
    };
    let choosing = Memo::new(move |_| list.selected.with(Option::is_some));
    let choice = {
        let id = id.clone();
        let checkbox = move || {
            let id = id.clone();
            ORGANIZING.view(move |code| (code.checkbox)(list, id.clone()))
        };
        (move || choosing.get().then(&checkbox)).into_any()
    };
    let group = {
        let id = id.clone();
        move || days::heading(list, &id)
    };
    view! {
        <li class="cw-conversation" data-conversation=id data-group=group>
            {choice}
            {content}
        </li>
    }
    .into_any()
}

/// The conversation as a link, with the button of its menu.
#[component]
fn ConversationLink(item: ConversationEntry, menu: String) -> AnyView {
    let chat = use_chat_context();
    let list = use_conversations();
    let ConversationEntry { id, summary } = item;
    let ListEvents(events, _) = expect_context();
    let select = {
        let id = id.clone();
        move |event: MouseEvent| {
            if list.selected.with_untracked(Option::is_some) {
                event.prevent_default();
                return list.toggle_selected(&id);
            }
            close_drawers();
            let previous = chat.conversation.get_untracked();
            events.emit("onSelect", serde_json::json!({ "id": id, "key": id, "previousKey": previous }));
        }
    };
    let href = summary.with_untracked(conversation_href);
    let current = {
        let id = id.clone();
        let is_current = move |selected: &Option<String>| selected.as_deref() == Some(id.as_str());
        move || chat.conversation.with(&is_current).then(|| "page".to_owned())
    };
    let [title, mixed, label, marks, pin, when] = std::array::from_fn(|_| summary.clone());
    let subject = summary;
    let label = move || {
        Some(label.with(|summary| fill(Text::OptionsFor, &[&text_with_code_points(&summary.title, TextKind::Prose)])))
    };
    let marks = move || match marks.with(|summary| (summary.running, summary.waiting, summary.unread)) {
        (true, _, _) => Some(status_dot("cw-running", t(Text::AnsweringNow))),
        (false, true, _) => Some(status_dot("cw-waiting", t(Text::WaitsForYou))),
        (false, false, true) => Some(status_dot("cw-unread", t(Text::Unread))),
        (false, false, false) => None,
    };
    let pin = move || match pin.with(|summary| (summary.temporary, summary.pinned)) {
        (true, _) => Some(icon_with_label(Shape::CLOCK, t(Text::Temporary))),
        (false, true) => Some(icon_with_label(Shape::PIN, t(Text::Pinned))),
        (false, false) => None,
    };
    view! {
        <a class="cw-conversation-link" href=href aria-current=current on:click=select>
            <span
                class="cw-conversation-title"
                class:cw-mixed=move || mixed.with(|summary| has_mixed_directions(&summary.title))
                dir="auto"
            >
                {move || title.with(|summary| text_with_code_points(&summary.title, TextKind::Prose).into_owned())}
            </span>
            <span class="cw-conversation-when">
                {marks}
                <RelativeTime at=move || when.with(|summary| summary.updated_at) now=list.now />
                {pin}
            </span>
        </a>
        <button
            type="button"
            class="cw-icon-button cw-conversation-more"
            id=actions_button_id(&id)
            popovertarget=menu
            aria-haspopup="menu"
            aria-label=label
            // Runs before the menu opens, which is the click's default action.
            on:click=move |_| list.subject.set(Some(subject.get_untracked()))
        >
            <Icon of=Shape::MORE />
        </button>
    }
    .into_any()
}

/// Returns the link to a conversation: on this page, or on the page where it was started.
pub(super) fn conversation_href(summary: &ConversationSummary) -> impl Fn() -> Option<String> + Send + Sync + use<> {
    let chat = use_chat_context();
    let CurrentPage(page) = expect_context();
    let elsewhere = page
        .with_value(|page| page.id != summary.page_id)
        .then(|| format!("/{}?conversation={}", summary.page_id, summary.id));
    let id = summary.id.clone();
    move || Some(elsewhere.clone().unwrap_or_else(|| chat.href(Some(&id))))
}

/// Returns a dot for a conversation that is being answered, waits for the user, or is unread.
fn status_dot(class: &'static str, words: &'static str) -> AnyView {
    view! {
        <span class=class title=words.trim_end_matches([' ', '.'])>
            <span class="cw-visually-hidden">{words}</span>
        </span>
    }
    .into_any()
}

fn icon_with_label(of: Shape, words: &'static str) -> AnyView {
    view! {
        <Icon of=of />
        <span class="cw-visually-hidden">{words}</span>
    }
    .into_any()
}

/// Returns the id of the button that opens a conversation's menu.
fn actions_button_id(conversation_id: &str) -> String {
    format!("conversation-{conversation_id}-options")
}
