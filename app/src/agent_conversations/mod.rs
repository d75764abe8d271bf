//! The list of the caller's conversations, newest first. The selected one is the address's; see [`crate::chat_context`].

pub mod actions;
pub mod delete_dialog;
pub mod item;
pub mod list;
pub mod merge;
pub mod rename;
pub mod when;

use crate::actions::BlockEvents;
use crate::api::{ApiError, Loaded, list_conversations};
use crate::chat_context::use_chat_context;
use crate::erase::{Erase, Erased, Item, Key, attribute, awaited, each, flag, handler, optional};
use crate::icons::{Icon, Shape};
use crate::pages::drawer::close_drawers;
use actions::ActionsMenu;
use delete_dialog::DeleteDialog;
use item::Conversation;
use leptos::prelude::*;
use list::{Conversations, Entry};
use serde_json::Value;
use wire::api::ConversationList;
use wire::page::AgentConversationsProperties;

/// The events of the list around.
#[derive(Clone)]
pub(crate) struct ListEvents(pub(crate) BlockEvents);

/// The list of conversations with the button for a new one.
#[component]
pub fn AgentConversations(
    /// The block's id.
    #[prop(into)]
    id: String,
    /// Its properties.
    properties: AgentConversationsProperties,
    /// `onSelect` with the conversation's `id`, and `onNew`.
    #[prop(optional)]
    events: BlockEvents,
) -> impl IntoView {
    let chat = use_chat_context();
    let news = events.clone();
    let new = move |_| {
        close_drawers();
        news.emit("onNew", Value::Null);
    };
    provide_context(ListEvents(events));
    let first = Loaded::new(|| (0, None), list_conversations, false);
    let new_label = properties.new_label.unwrap_or_else(|| "New conversation".to_owned());
    let new_id = format!("list-{id}-new");
    let list = awaited(move || {
        let id = id.clone();
        Suspend::new(async move {
            let first = first.wait().await;
            view! { <List id first /> }.erase()
        })
    });
    view! {
        <div class="cw-conversations">
            <a id=new_id class="cw-button cw-new" href=attribute(move || Some(chat.href(None))) on:click=handler(new)>
                <Icon of=Shape::Plus />
                {new_label}
            </a>
            {list}
        </div>
    }
}

/// The list, once its first page is there.
#[component]
fn List(id: String, first: Result<ConversationList, ApiError>) -> impl IntoView {
    let list = Conversations::new(first, format!("list-{id}-new"));
    list.keep_fresh();
    provide_context(list);
    let menu = StoredValue::new(format!("list-{id}-menu"));
    let error = optional(move || list.error.get().map(|error| error_line(list, &error)));
    let none = optional(move || {
        let none = list.is_empty() && list.error.with(Option::is_none);
        none.then(|| view! { <p class="cw-list-empty">"Your conversations will be kept here."</p> }.erase())
    });
    let item = move |entry: Entry| Item {
        key: Key::Text(entry.id.clone()),
        view: Box::new(move || view! { <Conversation item=entry menu=menu.get_value() /> }.erase()),
    };
    let items = each(move || list.items().into_iter().map(item).collect());
    let has_more = Memo::new(move |_| list.has_more());
    let more = optional(move || has_more.get().then(|| more_button(list)));
    view! {
        {error}
        {none}
        <ul class="cw-conversation-list">
            {items}
        </ul>
        {more}
        <ActionsMenu id=menu.get_value() />
        <DeleteDialog />
    }
    .erase()
}

fn error_line(list: Conversations, error: &ApiError) -> Erased {
    view! {
        <p class="cw-list-error" role="alert">
            {error.to_string()}
            <button type="button" class="cw-link" on:click=handler(move |_| list.reload())>
                "Try again"
            </button>
        </p>
    }
    .erase()
}

fn more_button(list: Conversations) -> Erased {
    let loading = flag(move || list.loading.get());
    view! {
        <button type="button" class="cw-link cw-more" disabled=loading on:click=handler(move |_| list.load_more())>
            "Show more"
        </button>
    }
    .erase()
}
