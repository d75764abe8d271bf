//! A message: its state, its parts, and the actions on it.

pub(super) mod actions;
pub(crate) mod attachment;
pub(super) mod context_note;
pub(super) mod feedback;
pub(super) mod info;
pub(super) mod menu;
pub(crate) mod notice;
pub(super) mod part;
pub(super) mod presented;
pub(super) mod reader;
pub(super) mod reasoning;
pub(super) mod sources;
pub(super) mod state;
pub(super) mod summary;
pub(super) mod user_text;
pub(super) mod versions;
pub(super) mod view;
