//! The user's choices for answers: switches for documents, for the web and for delegating tasks, and a menu of
//! libraries. They are kept for the conversation.

mod menu;
mod state;
pub(super) mod view;
