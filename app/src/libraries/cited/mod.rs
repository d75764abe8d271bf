//! Documents that answers in a chat cite: the card of a citation, and the panel with the passage in its document.

pub(super) mod card;
pub(super) mod panel;
mod quotes;
pub(super) mod state;
mod text;
