//! The folders above the list, in each other, with the conversations of those that are open. Part of the chunk
//! `organizing`, which is loaded if the user has folders.

mod drag;
mod keys;
mod order;
mod placing;

pub(super) use keys::{focus_folder, focus_scope};
pub(super) use order::in_tree_order;
pub(super) use placing::order_buttons;

use super::chunk_table::ListEvents;
use super::item::conversation_href;
use super::list::ConversationListState;
use super::move_dialog::open_folder_dialog;
use super::scope::folder_marks;
use crate::actions::BlockEvents;
use crate::api::list_conversations;
use crate::page_state::{PageState, use_page_state};
use crate::pages::drawer::close_drawers;
use crate::prelude::*;
use crate::texts::{Text, t};
use crate::ui::hidden_characters::{TextKind, text_with_code_points};
use crate::ui::icons::{Icon, Shape};
use drag::Zone;
use leptos::ev::{self, DragEvent, Event};
use leptos::web_sys::Storage;
use order::{Order, sorted_ids, total};
use placing::position;
use wire::api::{ConversationList, ConversationSummary};
use wire::organize::{Folder, ListFilter};

/// The key of the browser's storage with the ids of the open folders.
const OPEN_KEY: &str = "cw-open-folders";
/// The key of the browser's storage with the order of the folders.
const ORDER_KEY: &str = "cw-folder-order";
/// The number of open folders that are remembered, for all users of a browser.
const MAX_REMEMBERED: usize = 100;

/// The tree; a cheap handle.
#[derive(Clone, Copy)]
struct FolderTree {
    list: ConversationListState,
    /// The open folders; those that were opened last come last.
    open: RwSignal<Vec<String>>,
    order: RwSignal<Order>,
    /// Whether a conversation or a folder is being dragged.
    dragging: RwSignal<bool>,
    page: PageState,
    events: StoredValue<BlockEvents>,
}

/// Returns the tree of the folders.
pub(super) fn folder_tree(list: ConversationListState) -> AnyView {
    let ListEvents(events, _) = expect_context();
    let tree = FolderTree {
        list,
        open: RwSignal::new(remembered(OPEN_KEY).split_whitespace().map(str::to_owned).collect()),
        order: RwSignal::new(Order::remembered()),
        dragging: RwSignal::new(false),
        page: use_page_state(),
        events: StoredValue::new(events),
    };
    Effect::new(move |_| {
        tree.open.with(|open| remember(OPEN_KEY, &open[open.len().saturating_sub(MAX_REMEMBERED)..].join(" ")));
    });
    Effect::new(move |_| {
        let begun = window_event_listener(ev::dragstart, move |event| tree.begin_drag(&event));
        let ended = window_event_listener(ev::dragend, move |_| tree.dragging.set(false));
        on_cleanup(move || {
            begun.remove();
            ended.remove();
        });
    });
    let has_several = Memo::new(move |_| list.folders.with(|folders| folders.len() > 1));
    let orders = move || has_several.get().then(|| tree.order_choice());
    let top = move || list.folders.with(|folders| sorted_ids(folders, None, tree.order.get()));
    let out = move || tree.dragging.get().then(|| tree.no_folder());
    view! {
        {orders}
        <ul class="cw-folder-tree" on:keydown=move |event| keys::press(&event, |id, is_down| tree.shift(id, is_down))>
            <For each=top key=String::clone children=move |id: String| tree.folder(id) />
            {out}
        </ul>
    }
    .into_any()
}

impl FolderTree {
    /// Returns the choice of the order.
    fn order_choice(self) -> AnyView {
        let choose = move |event: Event| {
            let order = Order::from_name(&event_target_value(&event));
            self.order.set(order);
            remember(ORDER_KEY, order.name());
        };
        let option = move |order: Order| {
            let chosen = move || self.order.get() == order;
            view! { <option value=order.name() prop:selected=chosen>{t(order.text())}</option> }.into_any()
        };
        view! {
            <div class="cw-select">
                <select class="cw-control cw-tree-order" aria-label=t(Text::FolderOrder) on:change=choose>
                    {Order::ALL.into_iter().map(option).collect_view()}
                </select>
            </div>
        }
        .into_any()
    }

    /// Returns a folder, with what is in it while it is open.
    fn folder(self, id: String) -> AnyView {
        let list = self.list;
        let about = Memo::new({
            let id = id.clone();
            move |_| list.folders.with(|folders| counted(folders, &id))
        });
        let is_open = Memo::new({
            let id = id.clone();
            move |_| self.open.with(|open| open.contains(&id))
        });
        let name = move || about.with(|folder| folder.as_ref().map(|folder| folder.name.clone())).unwrap_or_default();
        let marks = move || about.with(|folder| folder.as_ref().map(folder_marks));
        let move_label = move || Some([t(Text::MoveTitle), ": ", &name()].concat());
        let content = {
            let id = id.clone();
            move || is_open.get().then(|| self.content(id.clone()))
        };
        let toggle = {
            let id = id.clone();
            move |_| self.toggle(&id)
        };
        let open_dialog = {
            let id = id.clone();
            move |_| open_folder_dialog(list, id.clone())
        };
        let over = RwSignal::new(None::<Zone>);
        let line = move || over.get().and_then(Zone::line);
        let drop = {
            let id = id.clone();
            move |event: DragEvent| self.drop_into(&event, over, Some(id.clone()))
        };
        view! {
            <li>
                <div
                    class="cw-tree-row"
                    class:cw-over=move || over.get() == Some(Zone::Into)
                    data-line=line
                    draggable="true"
                    data-folder=id
                    on:dragover=move |event| self.drag_over(&event, over)
                    on:dragleave=move |_| over.set(None)
                    on:drop=drop
                >
                    // Some browsers drag nothing that begins on a button.
                    <Icon of=Shape::FOLDER />
                    <button type="button" class="cw-tree-toggle" aria-expanded=move || Some(is_open.get().to_string()) on:click=toggle>
                        <Icon of=Shape::CHEVRON />
                        <span class="cw-move-name" dir="auto">{name}</span>
                        {marks}
                    </button>
                    <button type="button" class="cw-icon-button" aria-label=move_label on:click=open_dialog>
                        <Icon of=Shape::MORE />
                    </button>
                </div>
                {content}
            </li>
        }
        .into_any()
    }

    /// Returns the folders and the conversations in a folder.
    fn content(self, id: String) -> AnyView {
        let list = self.list;
        let page = RwSignal::new(None::<ConversationList>);
        Effect::new({
            let id = id.clone();
            move |_| {
                let asked = list.chat.changed.get();
                let filter = ListFilter { archived: false, folder_id: Some(id.clone()) };
                leptos::task::spawn_local(async move {
                    let answer = list_conversations(filter, None).await;
                    // Each later change asks again, and the answers may come in another order. The page may be gone by now.
                    if list.chat.changed.try_get_untracked() != Some(asked) {
                        return;
                    }
                    match answer {
                        Ok(found) => {
                            // The folder may be closed by now.
                            page.try_set(Some(found));
                        }
                        Err(error) => list.set_error(error),
                    }
                });
            }
        });
        let folders = {
            let id = id.clone();
            move || list.folders.with(|folders| sorted_ids(folders, Some(&id), self.order.get()))
        };
        let is_empty = Memo::new({
            let folders = folders.clone();
            move |_| folders().is_empty() && page.with(|page| page.as_ref().is_some_and(|page| page.items.is_empty()))
        });
        let empty =
            move || is_empty.get().then(|| view! { <li class="cw-list-empty">{t(Text::FolderEmpty)}</li> }.into_any());
        let items = move || page.with(|page| page.as_ref().map(|page| page.items.clone())).unwrap_or_default();
        let key = |item: &ConversationSummary| format!("{} {}", item.id, item.title);
        let has_more = Memo::new(move |_| page.with(|page| page.as_ref().is_some_and(|page| page.next.is_some())));
        let more = move || has_more.get().then(|| more_row(list, id.clone()));
        view! {
            <ul class="cw-tree-inside">
                <For each=folders key=String::clone children=move |id: String| self.folder(id) />
                <For each=items key=key children=move |item: ConversationSummary| self.conversation(item) />
                {empty}
                {more}
            </ul>
        }
        .into_any()
    }

    fn conversation(self, summary: ConversationSummary) -> AnyView {
        let href = conversation_href(&summary);
        let chat = self.list.chat;
        let title = text_with_code_points(&summary.title, TextKind::Prose).into_owned();
        let id = summary.id;
        let current = {
            let id = id.clone();
            move || chat.conversation.with(|shown| shown.as_ref() == Some(&id)).then(|| "page".to_owned())
        };
        let select = {
            let id = id.clone();
            move |_| {
                close_drawers();
                let previous = chat.conversation.get_untracked();
                let about = serde_json::json!({ "id": id, "key": id, "previousKey": previous });
                self.events.with_value(|events| events.emit("onSelect", about));
            }
        };
        view! {
            <li data-filed=id>
                <a class="cw-tree-link" dir="auto" href=href aria-current=current on:click=select>
                    {title}
                </a>
            </li>
        }
        .into_any()
    }

    /// Returns the drop target that takes a conversation or a folder out of its folder.
    fn no_folder(self) -> AnyView {
        let over = RwSignal::new(None::<Zone>);
        view! {
            <li
                class="cw-tree-row cw-tree-out"
                class:cw-over=move || over.get().is_some()
                on:dragover=move |event| self.drag_over(&event, over)
                on:dragleave=move |_| over.set(None)
                on:drop=move |event| self.drop_into(&event, over, None)
            >
                {t(Text::NoFolder)}
            </li>
        }
        .into_any()
    }

    fn toggle(self, id: &str) {
        self.open.update(|open| match open.iter().position(|known| known == id) {
            Some(at) => drop(open.remove(at)),
            None => open.push(id.to_owned()),
        });
    }

    /// Moves the folder of a row by one position; false if the folders are in another order than the user's own. The row
    /// keeps the focus.
    fn shift(self, id: &str, is_down: bool) -> bool {
        if self.order.get_untracked() != Order::Own {
            return false;
        }
        self.list.shift_folder(id, is_down);
        self.page.announce(self.list.folders.with_untracked(|folders| position(folders, id)));
        let id = id.to_owned();
        request_animation_frame(move || focus_folder(&id, None));
        true
    }
}

impl Order {
    /// Returns the order that the user has chosen in this browser.
    fn remembered() -> Self {
        Self::from_name(&remembered(ORDER_KEY))
    }
}

/// Returns a folder with the number of conversations in it and in the folders in it.
fn counted(folders: &[Folder], id: &str) -> Option<Folder> {
    let folder = folders.iter().find(|folder| folder.id == id)?;
    Some(Folder { count: total(folders, folder), ..folder.clone() })
}

/// Returns the button that lists all conversations of a folder.
fn more_row(list: ConversationListState, id: String) -> AnyView {
    let show = move |_| list.set_filter(ListFilter { archived: false, folder_id: Some(id.clone()) });
    view! {
        <li>
            <button type="button" class="cw-link cw-more" on:click=show>
                {t(Text::ShowMore)}
            </button>
        </li>
    }
    .into_any()
}

/// Returns the text that the browser has stored under a key; an empty one if there is none.
fn remembered(key: &str) -> String {
    storage().and_then(|storage| storage.get_item(key).ok().flatten()).unwrap_or_default()
}

/// Has the browser store a text under a key.
fn remember(key: &str, text: &str) {
    if let Some(storage) = storage() {
        // Fails only if the storage is full.
        let _ = storage.set_item(key, text);
    }
}

/// The local storage; none if the browser blocks it.
fn storage() -> Option<Storage> {
    window().local_storage().ok().flatten()
}
