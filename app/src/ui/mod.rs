//! Small views and helpers that know nothing of the chat, the list, the blocks and the pages.

pub mod any_view;
pub(crate) mod bidi;
pub(crate) mod browser;
pub mod dates;
pub mod effect;
pub(crate) mod emblem;
pub(crate) mod entry_field;
pub(crate) mod hidden_characters;
pub mod icons;
pub mod image_origins;
pub mod keyed_list;
pub(crate) mod node;
pub(crate) mod numbers;
pub(crate) mod pdf;
pub(crate) mod script;
pub(crate) mod share_link;
pub(crate) mod side_panel;
pub(crate) mod switch_button;
pub(crate) mod web_link;
