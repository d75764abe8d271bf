//! What the user chooses for answers: switches for documents, for the web and for delegating tasks, and a menu of libraries. It is
//! kept for the conversation.

mod menu;
mod state;
pub(super) mod view;
