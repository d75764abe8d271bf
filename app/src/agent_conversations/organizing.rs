//! The actions on conversations other than opening them. Their code is loaded just before it is
//! needed: when a row gets the pointer or the focus, and with the first letter of a search.

use super::actions::menu_items;
use super::chunk_table::{ORGANIZING, OrganizingFunctions};
use super::import::import_file;
use super::items::{ItemList, list_head};
use super::keys::press;
use super::move_dialog::{DropTargets, MoveDialog, drag_row};
use super::rename::RenameField;
use super::scope::folder_tools;
use super::search::{ConversationSearch, SearchResults};
use super::selection::{selection_bar, selection_checkbox, undo_notice};
use super::share_dialog::ShareDialog;
use super::tree::folder_tree;
use crate::chunks::{ChunkError, ChunkFuture, ChunkTable};
use crate::prelude::*;
use wasm_split_helpers::wasm_split;

impl ChunkTable for OrganizingFunctions {
    fn load() -> ChunkFuture {
        Box::pin(async { ORGANIZING.set_functions(functions().await?) })
    }
}

#[wasm_split(organizing, fallible)]
fn functions() -> Result<OrganizingFunctions, ChunkError> {
    Ok(OrganizingFunctions {
        dialogs: || {
            view! {
                <MoveDialog />
                <ShareDialog />
                <DropTargets />
            }
            .into_any()
        },
        menu: menu_items,
        list_head,
        search_results: || view! { <SearchResults /> }.into_any(),
        press,
        drag: drag_row,
        search: ConversationSearch::request,
        rename: |item| view! { <RenameField item /> }.into_any(),
        folder_tools,
        folder_tree,
        checkbox: selection_checkbox,
        selection_bar,
        undo: undo_notice,
        import: import_file,
        item_list: |properties, events| view! { <ItemList properties events /> }.into_any(),
    })
}
