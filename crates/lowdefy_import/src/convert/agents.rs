//! The section `agents`. Most of it is the same in both languages.

use super::{Notes, Secrets, connections, make_list, operators};
use crate::tree::{Tree, Value};
use std::collections::HashMap;

/// Properties that are sent to the provider, in which the documentation of Lowdefy writes
/// `{{ user.id }}`.
const SENT: [&str; 4] = ["user", "tags", "providerOptions", "byok"];

/// Converts the section.
pub(super) fn convert(section: &mut Tree, secrets: &mut Secrets, notes: &mut Notes<'_>) {
    make_list(section);
    for agent in section.items_mut() {
        if agent.text_of("type") == Some("AnthropicAgent") {
            agent.set("type", Tree::text_at(agent.at, "ClaudeAgent"));
        }
        if let Some(servers) = agent.get_mut("mcp") {
            servers.items_mut().iter_mut().for_each(|server| connections::convert_headers(server, secrets, notes));
        }
        let Some(properties) = agent.get_mut("properties") else { continue };
        operators::convert(properties, &operators::Place::Routine(&HashMap::new()), notes);
        for key in SENT {
            if let Some(property) = properties.get_mut(key) {
                evaluate_user(property, notes);
            }
        }
    }
}

/// Makes templates of texts that name the user.
fn evaluate_user(tree: &mut Tree, notes: &mut Notes<'_>) {
    if tree.operator().is_some() {
        return;
    }
    match &mut tree.value {
        Value::Text(text) if text.contains("{{") && text.contains("user.") => {
            let template = text.replace("user.sub", "user.id");
            notes.changed(tree.at, format!("`{text}` is evaluated, as a template"), "");
            tree.value = Tree::map_at(tree.at, vec![("_template", Tree::text_at(tree.at, template))]).value;
        }
        Value::List(items) => items.iter_mut().for_each(|item| evaluate_user(item, notes)),
        Value::Map(entries) => entries.iter_mut().for_each(|entry| evaluate_user(&mut entry.value, notes)),
        _ => {}
    }
}
