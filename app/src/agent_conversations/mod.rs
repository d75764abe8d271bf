//! The list of the user's conversations, pinned ones first, then newest first. The selected
//! conversation is in the URL; see [`crate::chat_context`].

pub mod actions;
mod change;
mod chunk_table;
mod days;
mod highlight;
pub mod import;
pub mod item;
pub mod items;
mod keys;
pub mod list;
mod merge;
pub mod move_dialog;
mod organizing;
pub mod rename;
mod row_window;
pub mod scope;
pub mod search;
pub mod selection;
pub mod share_dialog;
mod tree;

use crate::actions::BlockEvents;
use crate::api::{ApiError, ServerData, list_conversations};
use crate::chat_context::use_chat_context;
use crate::pages::drawer::close_drawers;
use crate::prelude::*;
use crate::properties::Properties;
use crate::texts::{Text, block_language, error_text, fill_count, t, with_locale};
use crate::ui::icons::{Icon, Shape};
use actions::ActionsMenu;
pub(crate) use chunk_table::{ListEvents, ORGANIZING};
pub(crate) use highlight::highlight_result;
use item::ConversationItem;
use leptos::ev::KeyboardEvent;
use leptos::html;
use list::{ConversationEntry, ConversationListState};
use row_window::RowWindow;
use scope::ListScope;
use search::{ConversationSearch, SearchField};
use selection::{SelectionBar, UndoNotice};
use serde_json::Value;
use wire::api::{ConversationList, WaitingTasks};
use wire::organize::ListFilter;
use wire::page::AgentConversationsProperties;

/// The list of conversations with the button for a new one.
#[component]
pub fn AgentConversations(
    /// The block's id.
    #[prop(into)]
    id: String,
    /// The block's properties.
    properties: AgentConversationsProperties,
    /// `onSelect` with `{id, key, previousKey}`, `onNew`, and `onMenuClick` with
    /// `{action, conversationKey, conversation}`.
    #[prop(optional)]
    events: BlockEvents,
    /// `menu`, `creation` and `width` of [`ItemListProperties`](wire::page::ItemListProperties).
    #[prop(optional_no_strip)]
    own: Option<Properties>,
) -> AnyView {
    let locale = properties.locale.clone();
    with_locale(locale.as_ref(), move || block(id, properties, ListEvents(events, own)))
}

fn block(id: String, properties: AgentConversationsProperties, events: ListEvents) -> AnyView {
    let chat = use_chat_context();
    let (lang, dir) = block_language();
    let root = NodeRef::<html::Div>::new();
    provide_context(events.clone());
    let first = ServerData::new(|| (0, None), |cursor| list_conversations(ListFilter::default(), cursor), false);
    let new_label = properties.new_label.unwrap_or_else(|| t(Text::NewConversation).to_owned());
    let new_id = format!("list-{id}-new");
    let ListEvents(events, own) = events;
    let new = match own {
        Some(own) => {
            let new_id = new_id.clone();
            ORGANIZING.view(move |code| (code.list_head)(own, root, new_id.clone(), new_label.clone()))
        }
        None => {
            let new = move |_| {
                close_drawers();
                events.emit("onNew", Value::Null);
            };
            view! {
                <a id=new_id class="cw-button cw-new" href=move || Some(chat.href(None)) on:click=new>
                    <Icon of=Shape::PLUS />
                    {new_label}
                </a>
            }
            .into_any()
        }
    };
    let list = first.view(move |first| view! { <LoadedList id=id.clone() first /> }.into_any());
    view! {
        <div class="cw-conversations" lang=lang dir=dir node_ref=root>
            {new}
            {list}
        </div>
    }
    .into_any()
}

/// The list, once its first page is loaded.
#[component]
fn LoadedList(id: String, first: Result<ConversationList, ApiError>) -> AnyView {
    let listed_at = first.as_ref().ok().and_then(|first| first.listed_at);
    let list = ConversationListState::new(first, format!("list-{id}-new"));
    days::follow(list, listed_at.unwrap_or_default());
    list.keep_fresh();
    publish_waiting(list);
    provide_context(list);
    let (search, window) = (ConversationSearch::default(), RowWindow::new());
    provide_context(search);
    window.follow(list);
    let menu = StoredValue::new(format!("list-{id}-menu"));
    let error = move || list.error.get().map(|error| error_line(list, &error));
    let none = move || {
        let none = list.is_empty() && !search.is_active() && list.error.with(Option::is_none);
        let words = list.filter.with(|filter| match (filter.archived, &filter.folder_id) {
            (true, _) => t(Text::ArchiveEmpty),
            (_, Some(_)) => t(Text::FolderEmpty),
            (false, None) => t(Text::ListEmpty),
        });
        none.then(|| view! { <p class="cw-list-empty">{words}</p> }.into_any())
    };
    let item = move |entry: ConversationEntry| view! { <ConversationItem item=entry menu=menu.get_value() /> };
    let has_more = Memo::new(move |_| list.has_more() && !search.is_active());
    let searching = Memo::new(move |_| search.is_active());
    let finds = move || searching.get().then(|| ORGANIZING.view(|code| (code.search_results)()));
    let organizes = list.needs_dialogs;
    let dialogs = move || organizes.get().then(|| ORGANIZING.view(|code| (code.dialogs)()));
    let by_key = move |event: KeyboardEvent| keys::on_key(list, window, &event);
    let more = move || has_more.get().then(|| more_button(list));
    // Folders are loaded in the browser, so the server renders none.
    let has_folders = Memo::new(move |_| list.folders.with(|folders| !folders.is_empty()));
    let tree = move || has_folders.get().then(|| ORGANIZING.view(move |code| (code.folder_tree)(list)));
    view! {
        {move || list.tasks.get().map(tasks_link)}
        <SearchField />
        <ListScope />
        {tree}
        <SelectionBar />
        {error}
        {none}
        {finds}
        <ul
            class="cw-conversation-list"
            hidden=move || searching.get()
            node_ref=window.node()
            on:keydown=by_key
            // The user may open the menu of this row next.
            on:pointerover=|_| ORGANIZING.request()
            on:focusin=|_| ORGANIZING.request()
            on:dragstart=move |event| list.with_organizing(move |code| (code.drag)(list, &event))
        >
            <For each=move || window.visible_entries(list) key=|entry| entry.id.clone() children=item />
        </ul>
        {more}
        <UndoNotice />
        <ActionsMenu id=menu.get_value() />
        {dialogs}
    }
    .into_any()
}

/// Tells the page how much waits for the user.
fn publish_waiting(list: ConversationListState) {
    Effect::new(move |_| {
        let is_waiting = |item: &&ConversationEntry| item.summary.with(|summary| summary.waiting);
        let conversations = list.items.with(|items| items.iter().filter(is_waiting).count());
        let tasks = list.tasks.with(|tasks| tasks.as_ref().map_or(0, |tasks| tasks.count as usize));
        list.chat.set_waiting(conversations, tasks);
    });
}

fn error_line(list: ConversationListState, error: &ApiError) -> AnyView {
    view! {
        <p class="cw-list-error" role="alert">
            {error_text(&error.0)}
            <button type="button" class="cw-link" on:click=move |_| list.reload()>
                {t(Text::TryAgain)}
            </button>
        </p>
    }
    .into_any()
}

fn more_button(list: ConversationListState) -> AnyView {
    let loading = move || list.loading.get();
    view! {
        <button type="button" class="cw-link cw-more" disabled=loading on:click=move |_| list.load_more()>
            {t(Text::ShowMore)}
        </button>
    }
    .into_any()
}

/// Renders the link to the page with the tasks of workflows that wait for the user.
fn tasks_link(tasks: WaitingTasks) -> AnyView {
    let text = match tasks.count {
        1 => t(Text::TasksOne).to_owned(),
        count => fill_count(Text::TasksCount, count as usize),
    };
    view! {
        <a class="cw-tasks-link" href=["/", &tasks.page].concat()>
            <span class="cw-waiting"></span>
            {text}
        </a>
    }
    .into_any()
}
