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
use crate::prelude::*;
use crate::properties::Properties;
use leptos::html;
use leptos::web_sys::HtmlInputElement;
use wasm_split_helpers::wasm_split;

/// The code for it.
pub(crate) static ORGANIZING: Chunk<Organizing> = Chunk::new("organizing", load);

/// What the chunk can do.
pub(crate) struct Organizing {
    /// Folders to move to, links to copies.
    pub(super) dialogs: fn() -> AnyView,
    /// The lines of a conversation's menu, given the popover around them.
    pub(super) menu: fn(NodeRef<html::Div>) -> AnyView,
    pub(super) finds: fn() -> AnyView,
    pub(super) delete: fn(Conversations, Vec<String>),
    pub(super) search: fn(Search, Conversations, Option<String>),
    pub(super) rename: fn(Entry) -> AnyView,
    pub(super) folder_tools: fn(Conversations, String, RwSignal<bool>) -> AnyView,
    /// What can be done with those that are selected.
    pub(super) bar: fn(Conversations) -> AnyView,
    /// Offers what was deleted back.
    pub(super) undo: fn(Conversations, usize) -> AnyView,
    pub(super) import: fn(HtmlInputElement, String, Conversations, ChatContext),
    /// A list that the page wires by itself.
    pub(crate) item_list: fn(Properties, BlockEvents) -> AnyView,
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
            .into_any()
        },
        menu: menu_items,
        finds: || view! { <Finds /> }.into_any(),
        delete: Conversations::delete,
        search: Search::ask,
        rename: |item| view! { <Rename item /> }.into_any(),
        folder_tools,
        bar,
        undo,
        import,
        item_list: |properties, events| view! { <ItemList properties events /> }.into_any(),
    })
}
