//! What is done with conversations beyond opening them. Its code comes when somebody is about to: with the pointer or the focus on a row,
//! with the first letter of a search.

use super::actions::menu_items;
use super::import::import;
use super::items::ItemList;
use super::list::{Conversations, Entry};
use super::move_dialog::MoveDialog;
use super::rename::Rename;
use super::scope::folder_tools;
use super::search::{Finds, Search};
use super::selection::{bar, undo};
use super::share_dialog::ShareDialog;
use crate::actions::BlockEvents;
use crate::chat_context::ChatContext;
use crate::chunks::{Chunk, Loading, Missing};
use crate::erase::{Erase, Erased};
use crate::prelude::*;
use crate::properties::Properties;
use crate::reactive::RwSignal;
use leptos::html;
use leptos::web_sys::HtmlInputElement;
use wasm_split_helpers::wasm_split;

/// The code for it.
pub(crate) static ORGANIZING: Chunk<Organizing> = Chunk::new("organizing", load);

/// What the chunk can do.
pub(crate) struct Organizing {
    /// Folders to move to, links to copies.
    pub(super) dialogs: fn() -> Erased,
    /// The lines of a conversation's menu, given the popover around them.
    pub(super) menu: fn(NodeRef<html::Div>) -> Erased,
    pub(super) finds: fn() -> Erased,
    pub(super) delete: fn(Conversations, Vec<String>),
    pub(super) search: fn(Search, Conversations, Option<String>),
    pub(super) rename: fn(Entry) -> Erased,
    pub(super) folder_tools: fn(Conversations, String, RwSignal<bool>) -> Erased,
    /// What can be done with those that are selected.
    pub(super) bar: fn(Conversations) -> Erased,
    /// Offers what was deleted back.
    pub(super) undo: fn(Conversations, usize) -> Erased,
    pub(super) import: fn(HtmlInputElement, String, Conversations, ChatContext),
    /// A list that the page wires by itself.
    pub(crate) item_list: fn(Properties, BlockEvents) -> Erased,
}

fn load() -> Loading {
    Box::pin(async { ORGANIZING.fill(functions().await?) })
}

#[wasm_split(organizing, fallible)]
fn functions() -> Result<Organizing, Missing> {
    Ok(Organizing {
        dialogs: || {
            view! {
                <MoveDialog />
                <ShareDialog />
            }
            .erase()
        },
        menu: menu_items,
        finds: || view! { <Finds /> }.erase(),
        delete: Conversations::delete,
        search: Search::ask,
        rename: |item| view! { <Rename item /> }.erase(),
        folder_tools,
        bar,
        undo,
        import,
        item_list: |properties, events| view! { <ItemList properties events /> }.erase(),
    })
}
