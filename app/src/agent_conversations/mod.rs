//! The list of the caller's conversations, newest first. The selected one is the address's; see [`crate::chat_context`].

pub mod actions;
mod change;
mod found;
pub mod import;
pub mod item;
pub mod items;
mod keys;
pub mod list;
mod merge;
pub mod move_dialog;
mod organizing;
pub mod rename;
pub mod scope;
pub mod search;
pub mod selection;
pub mod share_dialog;
pub mod when;
mod window;

use crate::actions::BlockEvents;
use crate::api::{ApiError, Loaded, list_conversations};
use crate::chat_context::use_chat_context;
use crate::icons::{Icon, Shape};
use crate::pages::drawer::close_drawers;
use crate::prelude::*;
use crate::texts::{Text, said, speaking, spoken, t};
use actions::ActionsMenu;
use item::Conversation;
use leptos::ev::KeyboardEvent;
use list::{Conversations, Entry};
pub(crate) use organizing::ORGANIZING;
use scope::Scope;
use search::{Search, SearchField};
use selection::{Selection, Undo};
use serde_json::Value;
use window::RowWindow;
use wire::api::ConversationList;
use wire::order::ListFilter;
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
) -> AnyView {
    let locale = properties.locale.clone();
    speaking(locale.as_ref(), move || block(id, properties, events))
}

fn block(id: String, properties: AgentConversationsProperties, events: BlockEvents) -> AnyView {
    let chat = use_chat_context();
    let (lang, dir) = spoken();
    let news = events.clone();
    let new = move |_| {
        close_drawers();
        news.emit("onNew", Value::Null);
    };
    provide_context(ListEvents(events));
    let first = Loaded::new(|| (0, None), |cursor| list_conversations(ListFilter::default(), cursor), false);
    let new_label = properties.new_label.unwrap_or_else(|| t(Text::NewConversation).to_owned());
    let new_id = format!("list-{id}-new");
    let list = first.view(move |first| view! { <List id=id.clone() first /> }.into_any());
    view! {
        <div class="cw-conversations" lang=lang dir=dir>
            <a id=new_id class="cw-button cw-new" href=move || Some(chat.href(None)) on:click=new>
                <Icon of=Shape::Plus />
                {new_label}
            </a>
            {list}
        </div>
    }
    .into_any()
}

/// The list, once its first page is there.
#[component]
fn List(id: String, first: Result<ConversationList, ApiError>) -> AnyView {
    let list = Conversations::new(first, format!("list-{id}-new"));
    list.keep_fresh();
    provide_context(list);
    let (search, window) = (Search::default(), RowWindow::new());
    provide_context(search);
    window.follow(list);
    let menu = StoredValue::new(format!("list-{id}-menu"));
    let error = move || list.error.get().map(|error| error_line(list, &error));
    let none = move || {
        let none = list.is_empty() && !search.is_on() && list.error.with(Option::is_none);
        let words = list.filter.with(|filter| match (filter.archived, &filter.folder_id) {
            (true, _) => t(Text::ArchiveEmpty),
            (_, Some(_)) => t(Text::FolderEmpty),
            (false, None) => t(Text::ListEmpty),
        });
        none.then(|| view! { <p class="cw-list-empty">{words}</p> }.into_any())
    };
    let item = move |entry: Entry| view! { <Conversation item=entry menu=menu.get_value() /> };
    let has_more = Memo::new(move |_| list.has_more() && !search.is_on());
    let searching = Memo::new(move |_| search.is_on());
    let finds = move || searching.get().then(|| ORGANIZING.view(|code| (code.finds)()));
    let organizes = list.organizes;
    let dialogs = move || organizes.get().then(|| ORGANIZING.view(|code| (code.dialogs)()));
    let by_key = move |event: KeyboardEvent| keys::on_key(list, &event);
    let more = move || has_more.get().then(|| more_button(list));
    view! {
        <SearchField />
        <Scope />
        <Selection />
        {error}
        {none}
        {finds}
        <ul
            class="cw-conversation-list"
            hidden=move || searching.get()
            node_ref=window.node()
            on:keydown=by_key
            // Whoever comes to a row may open its menu.
            on:pointerover=|_| ORGANIZING.request()
            on:focusin=|_| ORGANIZING.request()
        >
            <For each=move || window.part(list) key=|entry| entry.id.clone() children=item />
        </ul>
        {more}
        <Undo />
        <ActionsMenu id=menu.get_value() />
        {dialogs}
    }
    .into_any()
}

fn error_line(list: Conversations, error: &ApiError) -> AnyView {
    view! {
        <p class="cw-list-error" role="alert">
            {said(&error.0)}
            <button type="button" class="cw-link" on:click=move |_| list.reload()>
                {t(Text::TryAgain)}
            </button>
        </p>
    }
    .into_any()
}

fn more_button(list: Conversations) -> AnyView {
    let loading = move || list.loading.get();
    view! {
        <button type="button" class="cw-link cw-more" disabled=loading on:click=move |_| list.load_more()>
            {t(Text::ShowMore)}
        </button>
    }
    .into_any()
}
