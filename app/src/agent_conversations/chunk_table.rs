//! The chunk of the actions on conversations, with the table of its functions. The table is filled in
//! `organizing.rs`.

use super::list::{ConversationEntry, ConversationListState};
use super::row_window::RowWindow;
use super::search::ConversationSearch;
use crate::actions::BlockEvents;
use crate::chat_context::ChatContext;
use crate::chunks::Chunk;
use crate::prelude::*;
use crate::properties::Properties;
use leptos::ev::DragEvent;
use leptos::html;
use leptos::web_sys::HtmlInputElement;

/// The chunk with this code.
pub(crate) static ORGANIZING: Chunk<OrganizingFunctions> = Chunk::new("organizing");

/// The functions of the chunk.
pub(crate) struct OrganizingFunctions {
    /// The dialogs to move and to share conversations.
    pub(super) dialogs: fn() -> AnyView,
    /// The items of a conversation's menu, given the popover around them.
    pub(super) menu: fn(NodeRef<html::Div>) -> AnyView,
    /// The button above the stored conversations, if the page changes it, given the list's element
    /// and the button's id and label.
    pub(super) list_head: fn(Properties, NodeRef<html::Div>, String, String) -> AnyView,
    pub(super) search_results: fn() -> AnyView,
    /// Performs the action of a key in the row of a conversation.
    pub(super) press: fn(ConversationListState, RowWindow, &str, String),
    pub(super) drag: fn(ConversationListState, &DragEvent),
    pub(super) search: fn(ConversationSearch, ConversationListState, Option<String>),
    pub(super) rename: fn(ConversationEntry) -> AnyView,
    pub(super) folder_tools: fn(ConversationListState, String, RwSignal<bool>) -> AnyView,
    /// The folders with the conversations in them.
    pub(super) folder_tree: fn(ConversationListState) -> AnyView,
    /// The checkbox that selects a conversation.
    pub(super) checkbox: fn(ConversationListState, String) -> AnyView,
    /// The toolbar for the selected conversations.
    pub(super) selection_bar: fn(ConversationListState) -> AnyView,
    /// The notice that offers to undo a deletion.
    pub(super) undo: fn(ConversationListState, usize) -> AnyView,
    pub(super) import: fn(HtmlInputElement, String, ConversationListState, ChatContext),
    /// A list whose entries come from the page's config.
    pub(crate) item_list: fn(Properties, BlockEvents) -> AnyView,
}

impl ConversationListState {
    /// Runs a function of the chunk `organizing` as soon as it is loaded.
    pub(super) fn with_organizing(self, act: impl FnOnce(&OrganizingFunctions) + 'static) {
        let act: Box<dyn FnOnce(&OrganizingFunctions)> = Box::new(act);
        leptos::task::spawn_local(async move {
            let loaded = ORGANIZING.load().await;
            // The user may have left the page meanwhile.
            if self.items.try_with_untracked(Vec::is_empty).is_none() {
                return;
            }
            match loaded {
                Ok(code) => act(code),
                Err(_) => self.report_missing_code(),
            }
        });
    }
}

/// The events of the list, and the `menu`, `creation` and `width` of the page, if it has any, as a
/// Leptos context.
#[derive(Clone)]
pub(crate) struct ListEvents(pub(crate) BlockEvents, pub(crate) Option<Properties>);
