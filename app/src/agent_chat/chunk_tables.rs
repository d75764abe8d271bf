//! The chunks of the chat, with the tables of their functions. The tables are filled in `lazy.rs`.

use super::artifacts::ArtifactState;
use super::cards::standing_state::StandingApprovalState;
use super::composer::types::OpenForm;
use super::message::state::MessageState;
use super::session::{ChatBlock, Session, SessionAction};
use crate::api::ReadConversation;
use crate::chunks::Chunk;
use crate::prelude::*;
use leptos::ev::MouseEvent;
use leptos::html;
use leptos::web_sys::File;
use serde_json::Value;
use wire::api::ConversationView;
use wire::page::Page;
use wire::{DataPart, ToolPart};

/// The tokens used and the size of the context in tokens, once they are known.
pub(in crate::agent_chat) type ContextUsage = Memo<Option<(u64, u64)>>;

/// The chunk for showing conversations with messages.
pub(crate) static CONVERSATION: Chunk<ConversationFunctions> = Chunk::new("conversation");

/// The functions of the chunk.
pub(crate) struct ConversationFunctions {
    pub(in crate::agent_chat) log: fn() -> AnyView,
    pub(in crate::agent_chat) context_meter: fn(Session) -> AnyView,
    pub(in crate::agent_chat) read: ReadConversation,
    pub(in crate::agent_chat) messages: fn(&ConversationView) -> Vec<MessageState>,
    pub(in crate::agent_chat) listen: fn(Session),
    pub(in crate::agent_chat) resume: fn(Session),
}

/// The chunk for acting in a conversation: sending, following answers. It is loaded when the pointer
/// enters the chat or something in it gets the focus, and at once if an answer is being written or did
/// not complete.
pub(crate) static SESSION: Chunk<SessionFunctions> = Chunk::new("session");

/// The functions of the chunk.
pub(crate) struct SessionFunctions {
    pub(in crate::agent_chat) perform: fn(Session, SessionAction),
    pub(in crate::agent_chat) persist_queue: fn(Session),
    /// The notice below an answer that did not complete, given whether it is the newest answer.
    pub(in crate::agent_chat) ending: fn(Session, &MessageState, bool) -> AnyView,
    /// The button that opens the list of standing approvals.
    pub(in crate::agent_chat) standing_button: fn(StandingApprovalState) -> AnyView,
    /// Follows the property `messages`, given its expression and its first value.
    pub(in crate::agent_chat) watch_messages: fn(Session, &Value, &Value),
    /// Emits the event for a click on an address, if the page wants to know of it.
    pub(in crate::agent_chat) link_clicked: fn(Session, &MouseEvent),
}

/// The chunk for chats in a drawer or in a frame, which few pages need.
pub(crate) static FRAMES: Chunk<FrameFunctions> = Chunk::new("frames");

/// The functions of the chunk.
pub(crate) struct FrameFunctions {
    pub(in crate::agent_chat) drawer: fn(ChatBlock) -> AnyView,
    /// The chat of a page without its other blocks, for a frame on another site.
    pub(crate) embedded: fn(Page, Option<&str>) -> AnyView,
}

/// The chunk for tool calls: cards, questions to the user, and calls that the page executes.
pub(crate) static TOOLS: Chunk<ToolFunctions> = Chunk::new("tools");

/// The functions of the chunk.
pub(crate) struct ToolFunctions {
    pub(in crate::agent_chat) card: fn(ArcRwSignal<ToolPart>) -> AnyView,
    /// The card of an item of a provider's reply, or the user interface of a tool.
    pub(in crate::agent_chat) call_data: fn(&DataPart) -> AnyView,
    pub(in crate::agent_chat) run_calls: fn(Session),
    pub(in crate::agent_chat) run_calls_later: fn(Session),
    /// The dialog that lists standing approvals.
    pub(in crate::agent_chat) standing_dialog: fn() -> AnyView,
    /// The bar about the changes that an agent made to the form.
    pub(crate) changes: fn() -> AnyView,
    /// The bar about the user's entries that are left in the form when the conversation changes.
    pub(crate) left_over: fn() -> AnyView,
}

/// The chunk for plans of agents.
pub(crate) static PLAN: Chunk<PlanFunctions> = Chunk::new("plan");

/// The functions of the chunk.
pub(crate) struct PlanFunctions {
    /// The bar above the composer, given the id of its list.
    pub(in crate::agent_chat) bar: fn(Session, String) -> AnyView,
    /// The switch in the composer.
    pub(in crate::agent_chat) switch: fn(Session) -> AnyView,
}

/// The chunk for files that agents show as results, and the panel in which they are opened.
pub(crate) static PRESENTED: Chunk<PresentedFunctions> = Chunk::new("presented");

/// The functions of the chunk.
pub(crate) struct PresentedFunctions {
    /// The list of files, given the data of the part.
    pub(in crate::agent_chat) files: fn(&Value) -> AnyView,
    /// The panel with the file that is open.
    pub(in crate::agent_chat) panel: fn(Session, ArtifactState) -> AnyView,
}

/// The chunk for the user's choices for answers: documents, libraries, the web.
pub(crate) static CHOICES: Chunk<ChoiceFunctions> = Chunk::new("choices");

/// The functions of the chunk.
pub(crate) struct ChoiceFunctions {
    /// The switches and the menu in the composer.
    pub(in crate::agent_chat) choices: fn(Session) -> AnyView,
}

/// The chunk for choosing among the models of an agent.
pub(crate) static MODELS: Chunk<ModelFunctions> = Chunk::new("models");

/// The functions of the chunk.
pub(crate) struct ModelFunctions {
    /// The picker and the switch for thinking, in the composer.
    pub(in crate::agent_chat) picker: fn(Session) -> AnyView,
}

/// The chunk for the content below the newest answer, by the keys of the agent.
pub(crate) static BELOW: Chunk<BelowFunctions> = Chunk::new("below");

/// The functions of the chunk.
pub(crate) struct BelowFunctions {
    pub(in crate::agent_chat) below: fn(Session) -> AnyView,
}

/// The chunk for less common actions: files, versions, message menus, feedback, the queue,
/// dictation.
pub(crate) static EXTRAS: Chunk<ExtraFunctions> = Chunk::new("extras");

/// The functions of the chunk.
pub(crate) struct ExtraFunctions {
    pub(in crate::agent_chat) attach: fn(Session, Vec<File>, bool),
    pub(in crate::agent_chat) attachments: fn() -> AnyView,
    pub(in crate::agent_chat) context_meter: fn(Session, ContextUsage) -> AnyView,
    pub(in crate::agent_chat) dictate: fn(Session),
    pub(in crate::agent_chat) edit: fn() -> AnyView,
    pub(in crate::agent_chat) feedback: fn(MessageState, RwSignal<bool>) -> AnyView,
    /// The line or panel above the composer.
    pub(in crate::agent_chat) header: fn(Session, &Value) -> AnyView,
    /// The form above the composer.
    pub(in crate::agent_chat) open_form: fn(Session, &OpenForm) -> AnyView,
    /// The items of a message's menu, given the popover that contains them.
    pub(in crate::agent_chat) menu: fn(Session, NodeRef<html::Div>) -> AnyView,
    /// Loads prompts and other agents for the list of commands. Shows nothing.
    pub(in crate::agent_chat) options: fn(Session) -> AnyView,
    pub(in crate::agent_chat) queue: fn() -> AnyView,
    pub(in crate::agent_chat) sources: fn(MessageState) -> AnyView,
    /// The line about the context of an answer: a summary of earlier messages, what the provider
    /// cleared, what was not available.
    pub(in crate::agent_chat) context_note: fn(&DataPart) -> AnyView,
    pub(in crate::agent_chat) undo: fn() -> AnyView,
    pub(in crate::agent_chat) versions: fn(MessageState) -> AnyView,
}
