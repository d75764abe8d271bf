//! Fields of events that have other names.

use super::Notes;
use crate::tree::{Tree, Value};

/// An event of a type of block, with its fields that have another name here.
struct RenamedFields {
    block: &'static str,
    event: &'static str,
    fields: &'static [(&'static str, &'static str)],
}

const fn of_chat(event: &'static str, fields: &'static [(&'static str, &'static str)]) -> RenamedFields {
    RenamedFields { block: "AgentChat", event, fields }
}

const RENAMED: [RenamedFields; 10] = [
    of_chat("onUserMessage", &[("content", "text"), ("messageId", "id")]),
    of_chat("onMessageComplete", &[("content", "text"), ("messageId", "id")]),
    of_chat("onToolResult", &[("error", "errorText")]),
    of_chat("onRegenerate", &[("messageId", "id")]),
    of_chat("onDeleteMessage", &[("messageId", "id"), ("content", "text")]),
    of_chat("onEditMessage", &[("messageId", "replaces"), ("originalContent", "textBefore"), ("newContent", "text")]),
    of_chat("onFeedback", &[("messageId", "id"), ("messageContent", "text")]),
    of_chat("onSuggestionClick", &[("suggestion", "text")]),
    of_chat("onSwitchChange", &[("checked", "value")]),
    RenamedFields {
        block: "AgentConversations",
        event: "onMenuClick",
        fields: &[("key", "action"), ("item", "conversation")],
    },
];

/// Renames the fields that the actions of an event read.
pub(super) fn rename(block: &str, event: &str, actions: &mut Tree, notes: &mut Notes<'_>) {
    let renamed = RENAMED.iter().find(|known| (known.block, known.event) == (block, event));
    let fields = renamed.map_or(&[][..], |known| known.fields);
    actions.for_each_mut(&mut |tree| {
        let at = tree.at;
        let Value::Map(entries) = &mut tree.value else { return };
        let [entry] = entries.as_mut_slice() else { return };
        if entry.key != "_event" {
            return;
        }
        // `_event:` without a value reads all fields.
        if matches!(entry.value.value, Value::Null) {
            entry.value.value = Value::Bool(true);
        }
        if matches!(entry.value.value, Value::Bool(true)) && !fields.is_empty() {
            note_all(event, fields, at, notes);
        }
        let path = if entry.value.is_map() { entry.value.get_mut("key") } else { Some(&mut entry.value) };
        let Some(Tree { value: Value::Text(path), .. }) = path else { return };
        let (first, rest) = path.split_at(path.find('.').unwrap_or(path.len()));
        note_meaning(event, first, at, notes);
        if let Some(role) = role(block, event, first) {
            tree.value = Value::Text(role.to_owned());
        } else if let Some((_, now)) = fields.iter().find(|(known, _)| *known == first) {
            *path = format!("{now}{rest}");
        }
    });
}

/// Returns the role of the message in an event that had it as a field.
fn role(block: &str, event: &str, field: &str) -> Option<&'static str> {
    match (block, event, field) {
        ("AgentChat", "onUserMessage", "role") => Some("user"),
        ("AgentChat", "onMessageComplete", "role") => Some("assistant"),
        _ => None,
    }
}

/// Notes a field whose values are others.
fn note_meaning(event: &str, field: &str, at: config::Span, notes: &mut Notes<'_>) {
    let (what, help) = match (event, field) {
        ("onFeedback", "rating") => (
            "the rating is `up`, `down` or null, not `like`, `dislike` or `default`",
            "compare with the new values, also in the endpoints that are told it",
        ),
        ("onToolResult", "error") => {
            ("the field `errorText` is the message or null, not true or false", "compare it with null")
        }
        _ => return,
    };
    notes.changed(at, what, help);
}

/// Notes that all fields are read, of which some have other names.
fn note_all(event: &str, fields: &[(&str, &str)], at: config::Span, notes: &mut Notes<'_>) {
    let names: Vec<String> = fields.iter().map(|(from, to)| format!("`{from}` is `{to}`")).collect();
    let rating = if event == "onFeedback" { ", and `rating` is `up`, `down` or null" } else { "" };
    let help = "rename them where they are read; docs/events.md lists the fields";
    notes.changed(at, format!("fields of `{event}` have other names: {}{rating}", names.join(", ")), help);
}
