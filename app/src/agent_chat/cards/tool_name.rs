//! The names of tools.

use crate::ui::hidden_characters::{TextKind, text_with_code_points};

/// The name of a tool for display.
pub(in crate::agent_chat) fn tool_label(name: &str) -> String {
    text_with_code_points(&crate::page_state::label_from_id(name), TextKind::Value).into_owned()
}
