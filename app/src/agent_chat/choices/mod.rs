//! What the user chooses for answers: switches for documents and for the web, and a menu of libraries. It is
//! kept for the conversation.

mod menu;
mod state;
pub(super) mod view;
