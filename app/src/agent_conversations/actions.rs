//! The menu of a conversation. There is one for the whole list: a native popover that the style
//! sheet anchors to the button that opened it.

use super::chunk_table::{ListEvents, ORGANIZING};
use super::list::{ConversationListState, use_conversations};
use super::move_dialog::open_move_dialog;
use super::share_dialog::open_share_dialog;
use crate::palette::PaletteState;
use crate::prelude::*;
use crate::texts::{Text, t};
use crate::ui::emblem::emblem;
use crate::ui::icons::{Icon, Shape};
use crate::ui::node::reactive_nodes;
use leptos::ev::KeyboardEvent;
use leptos::html;
use leptos::wasm_bindgen::JsCast;
use leptos::web_sys::{Element, HtmlElement};
use serde_json::{Value, json};
use wire::api::ConversationSummary;
use wire::organize::ConversationChange;
use wire::page::{ItemListProperties, MenuItem};

/// The menu with the actions of a conversation: rename, pin, archive, move, select, delete and
/// more. The popover is always in the document, so that a button can open it; its items are loaded
/// when the first menu is opened.
#[component]
pub fn ActionsMenu(
    /// The id of the popover.
    id: String,
) -> AnyView {
    let list = use_conversations();
    let menu = NodeRef::<html::Div>::new();
    let items = move || list.needs_dialogs.get().then(|| ORGANIZING.view(move |code| (code.menu)(menu)));
    view! {
        <div id=id class="cw-menu" popover="auto" role="menu" aria-label=t(Text::Conversation) node_ref=menu on:keydown=move_menu_focus>
            {items}
        </div>
    }
    .into_any()
}

/// Returns the items of the menu.
pub(super) fn menu_items(menu: NodeRef<html::Div>) -> AnyView {
    let list = use_conversations();
    let first = NodeRef::<html::Button>::new();
    Effect::new(move |_| {
        let is_open = menu.get_untracked().is_some_and(|menu| menu.matches(":popover-open").unwrap_or_default());
        // If the items are loaded after the menu was opened, the browser did not focus the first
        // one.
        if let Some(first) = first.get().filter(|_| is_open) {
            let _ = first.focus();
        }
    });
    let subject = move || list.subject.get_untracked();
    // Returns a handler that closes the menu and acts on its conversation.
    let item = move |act: fn(ConversationListState, ConversationSummary)| {
        move |_| {
            if let Some(menu) = menu.get_untracked() {
                // Fails only if the menu is closed.
                let _ = menu.hide_popover();
            }
            if let Some(subject) = subject() {
                act(list, subject);
            }
        }
    };
    let is =
        move |what: fn(&ConversationSummary) -> bool| list.subject.with(|subject| subject.as_ref().is_some_and(what));
    let pin = move || if is(|subject| subject.pinned) { t(Text::Unpin) } else { t(Text::Pin) }.to_owned();
    let archive =
        move || if is(|subject| subject.archived) { t(Text::OutOfArchive) } else { t(Text::ToArchive) }.to_owned();
    let keep =
        (move || if is(|subject| subject.temporary) { t(Text::Keep) } else { t(Text::MakeTemporary) }.to_owned())
            .into_any();
    let export = move |format: &'static str| {
        move || {
            let id = list.subject.with(|subject| subject.as_ref().map(|subject| subject.id.clone()))?;
            Some(format!("/api/conversations/{id}/export?format={format}"))
        }
    };
    // The palette acts on the open conversation.
    let palette = use_context::<PaletteState>();
    let is_shown = move || {
        list.chat.conversation.with(|shown| {
            list.subject.with(|subject| subject.as_ref().is_some_and(|subject| shown.as_ref() == Some(&subject.id)))
        })
    };
    let other_agent = move || {
        let palette = palette.filter(|_| is_shown())?;
        let open = move |_| {
            if let Some(menu) = menu.get_untracked() {
                // Fails only if the menu is closed.
                let _ = menu.hide_popover();
            }
            palette.open();
        };
        Some(
            view! {
                <button type="button" role="menuitem" on:click=open>
                    <Icon of=Shape::CONVERSATIONS />
                    {t(Text::TalkToAnother)}
                </button>
            }
            .into_any(),
        )
    };
    let ListEvents(events, own) = expect_context();
    let of_page = own.map(|own| {
        let entry = move |entry: MenuItem| {
            let events = events.clone();
            let danger = if entry.danger { "cw-danger" } else { "" };
            let label = entry.label.unwrap_or_else(|| entry.key.clone());
            // Without an icon, its place keeps the labels aligned.
            let icon = entry.icon.unwrap_or_default();
            let clicked = move |_| {
                if let Some(menu) = menu.get_untracked() {
                    // Fails only if the menu is closed.
                    let _ = menu.hide_popover();
                }
                if let Some(subject) = list.subject.get_untracked() {
                    events.emit("onMenuClick", menu_click(&entry.key, &subject));
                }
            };
            view! {
                <button type="button" role="menuitem" class=danger on:click=clicked>
                    {reactive_nodes(move || emblem(&icon, "cw-item-icon"))}
                    {label}
                </button>
            }
            .into_any()
        };
        (move || own.get::<ItemListProperties>().menu.into_iter().map(entry.clone()).collect_view()).into_any()
    });
    view! {
            <button type="button" role="menuitem" autofocus=true node_ref=first on:click=item(|list, subject| list.renaming.set(Some(subject.id)))>
                <Icon of=Shape::PENCIL />
                {t(Text::Rename)}
            </button>
            <button type="button" role="menuitem" on:click=item(|list, subject| list.change(vec![subject.id], pin_change(!subject.pinned)))>
                <Icon of=Shape::PIN />
                {pin}
            </button>
            <button type="button" role="menuitem" on:click=item(|list, subject| list.change(vec![subject.id], archive_change(!subject.archived)))>
                <Icon of=Shape::ARCHIVE />
                {archive}
            </button>
            <button type="button" role="menuitem" on:click=item(|list, subject| open_move_dialog(list, vec![subject.id]))>
                <Icon of=Shape::FOLDER />
                {t(Text::MoveToFolder)}
            </button>
            <button type="button" role="menuitem" on:click=item(|list, subject| list.change(vec![subject.id], unread_change()))>
                <Icon of=Shape::DOT />
                {t(Text::MarkUnread)}
            </button>
            <button type="button" role="menuitem" on:click=item(|list, subject| list.change(vec![subject.id], temporary_change(!subject.temporary)))>
                <Icon of=Shape::CLOCK />
                {keep}
            </button>
            <button type="button" role="menuitem" on:click=item(|list, _| open_share_dialog(list))>
                <Icon of=Shape::LINK />
                {t(Text::ShareMenu)}
            </button>
            {other_agent}
            <a role="menuitem" download="" href=export("markdown") on:click=item(|_, _| ())>
                <Icon of=Shape::DOWNLOAD />
                {t(Text::ExportMarkdown)}
            </a>
            <a role="menuitem" download="" href=export("json") on:click=item(|_, _| ())>
                <Icon of=Shape::DOWNLOAD />
                {t(Text::ExportJson)}
            </a>
            <button type="button" role="menuitem" on:click=item(|list, subject| list.toggle_selected(&subject.id))>
                <Icon of=Shape::SELECT />
                {t(Text::Select)}
            </button>
            <button type="button" role="menuitem" class="cw-danger" on:click=item(|list, subject| list.delete(vec![subject.id]))>
                <Icon of=Shape::BIN />
                {t(Text::Delete)}
            </button>
            {of_page}
    }
    .into_any()
}

/// Returns the payload of `onMenuClick`. `key`, `label` and `timestamp` are those of an item of a
/// list of the page.
fn menu_click(action: &str, subject: &ConversationSummary) -> Value {
    let conversation = json!({
        "key": subject.id,
        "label": subject.title,
        "timestamp": subject.updated_at,
        "agentId": subject.agent_id,
        "pageId": subject.page_id,
        "folderId": subject.folder_id,
        "pinned": subject.pinned,
        "archived": subject.archived,
    });
    json!({ "action": action, "conversationKey": subject.id, "conversation": conversation })
}

fn pin_change(pinned: bool) -> ConversationChange {
    ConversationChange { pinned: Some(pinned), ..ConversationChange::default() }
}

/// Moves a conversation to the archive, or back to the list.
pub(super) fn archive_change(archived: bool) -> ConversationChange {
    ConversationChange { archived: Some(archived), ..ConversationChange::default() }
}

/// Makes a conversation temporary, or keeps it.
fn temporary_change(temporary: bool) -> ConversationChange {
    ConversationChange { temporary: Some(temporary), ..ConversationChange::default() }
}

fn unread_change() -> ConversationChange {
    ConversationChange { unread: Some(true), ..ConversationChange::default() }
}

/// Moves the focus through the items of a menu with the arrow keys, Home and End.
pub(crate) fn move_menu_focus(event: KeyboardEvent) {
    let Some(focused) = document().active_element() else { return };
    let parent = focused.parent_element();
    let to = match event.key().as_str() {
        "ArrowDown" => focused.next_element_sibling().or_else(|| parent.and_then(|menu| menu.first_element_child())),
        "ArrowUp" => focused.previous_element_sibling().or_else(|| parent.and_then(|menu| menu.last_element_child())),
        "Home" => parent.and_then(|menu| menu.first_element_child()),
        "End" => parent.and_then(|menu| menu.last_element_child()),
        _ => return,
    };
    event.prevent_default();
    if let Some(to) = to.and_then(|to: Element| to.dyn_into::<HtmlElement>().ok()) {
        let _ = to.focus();
    }
}
