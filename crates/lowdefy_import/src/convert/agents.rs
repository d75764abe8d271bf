//! The section `agents`. Most of it is the same in both languages.

use super::{make_list, operators};
use crate::tree::Tree;
use std::collections::HashMap;

/// Converts the section.
pub(super) fn convert(section: &mut Tree) {
    make_list(section);
    for agent in section.items_mut() {
        if agent.text_of("type") == Some("AnthropicAgent") {
            agent.set("type", Tree::text_at(agent.at, "ClaudeAgent"));
        }
        if let Some(properties) = agent.get_mut("properties") {
            operators::convert(properties, &operators::Place::Routine(&HashMap::new()));
        }
    }
}
