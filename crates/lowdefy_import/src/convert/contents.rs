//! Describes the chats and inputs that are lost with a value that is left out.

use super::input;
use crate::tree::Tree;

/// Describes the chats and inputs in a value, without itself: ", with the chat `help`".
pub(crate) fn describe(tree: &Tree) -> String {
    let (mut chats, mut inputs) = (Vec::new(), Vec::new());
    let children = tree.items().iter().chain(tree.entries().iter().map(|entry| &entry.value));
    children.for_each(|child| {
        child.for_each(&mut |tree| {
            let (Some(kind), Some(id)) = (tree.text_of("type"), tree.text_of("id")) else { return };
            if kind == "AgentChat" {
                chats.push(id);
            } else if input::is_input(kind) {
                inputs.push(id);
            }
        });
    });
    let parts: Vec<String> = [("chat", chats), ("input", inputs)].into_iter().filter_map(list).collect();
    if parts.is_empty() { String::new() } else { format!(", with {}", parts.join(" and ")) }
}

/// Returns "the chats `a`, `b`".
fn list((kind, ids): (&str, Vec<&str>)) -> Option<String> {
    let plural = if ids.len() > 1 { "s" } else { "" };
    (!ids.is_empty()).then(|| format!("the {kind}{plural} `{}`", ids.join("`, `")))
}
