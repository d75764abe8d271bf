//! The actions on conversations other than opening them. Their code is loaded just before it is
//! needed: when a row gets the pointer or the focus, and with the first letter of a search.

use super::actions::menu_items;
use super::import::import_file;
use super::items::ItemList;
use super::list::{ConversationEntry, ConversationListState};
use super::move_dialog::MoveDialog;
use super::rename::RenameField;
use super::scope::folder_tools;
use super::search::{ConversationSearch, SearchResults};
use super::selection::{selection_bar, undo_notice};
use super::share_dialog::ShareDialog;
use crate::actions::BlockEvents;
use crate::chat_context::ChatContext;
use crate::chunks::{Chunk, ChunkError, ChunkFuture};
use crate::prelude::*;
use crate::properties::Properties;
use leptos::html;
use leptos::web_sys::HtmlInputElement;
use wasm_split_helpers::wasm_split;

/// The chunk with this code.
pub(crate) static ORGANIZING: Chunk<OrganizingFunctions> = Chunk::new("organizing", load);

/// The functions of the chunk.
pub(crate) struct OrganizingFunctions {
    /// The dialogs to move and to share conversations.
    pub(super) dialogs: fn() -> AnyView,
    /// The items of a conversation's menu, given the popover around them.
    pub(super) menu: fn(NodeRef<html::Div>) -> AnyView,
    pub(super) search_results: fn() -> AnyView,
    pub(super) delete: fn(ConversationListState, Vec<String>),
    pub(super) search: fn(ConversationSearch, ConversationListState, Option<String>),
    pub(super) rename: fn(ConversationEntry) -> AnyView,
    pub(super) folder_tools: fn(ConversationListState, String, RwSignal<bool>) -> AnyView,
    /// The toolbar for the selected conversations.
    pub(super) selection_bar: fn(ConversationListState) -> AnyView,
    /// The notice that offers to undo a deletion.
    pub(super) undo: fn(ConversationListState, usize) -> AnyView,
    pub(super) import: fn(HtmlInputElement, String, ConversationListState, ChatContext),
    /// A list whose entries come from the page's config.
    pub(crate) item_list: fn(Properties, BlockEvents) -> AnyView,
}

fn load() -> ChunkFuture {
    Box::pin(async { ORGANIZING.set_functions(functions().await?) })
}

#[wasm_split(organizing, fallible)]
fn functions() -> Result<OrganizingFunctions, ChunkError> {
    Ok(OrganizingFunctions {
        dialogs: || {
            view! {
                <MoveDialog />
                <ShareDialog />
            }
            .into_any()
        },
        menu: menu_items,
        search_results: || view! { <SearchResults /> }.into_any(),
        delete: ConversationListState::delete,
        search: ConversationSearch::request,
        rename: |item| view! { <RenameField item /> }.into_any(),
        folder_tools,
        selection_bar,
        undo: undo_notice,
        import: import_file,
        item_list: |properties, events| view! { <ItemList properties events /> }.into_any(),
    })
}
