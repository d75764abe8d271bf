//! The fields of `_event` in the events of the product's blocks, as `docs/events.md` lists them.

use super::BlockType;

/// The events of an `AgentChat` block with their fields.
pub const CHAT_EVENT_FIELDS: [(&str, &[&str]); 17] = [
    ("onBeforeSend", &["text", "files", "switches", "messages"]),
    ("onConversationStart", &["conversationId"]),
    ("onUserMessage", &["id", "text", "files", "parts", "messages"]),
    (
        "onMessageComplete",
        &["id", "conversationId", "text", "parts", "outcome", "finishReason", "isAbort", "isDisconnect", "messages"],
    ),
    ("onToolCall", &["toolCallId", "toolName", "input"]),
    ("onToolResult", &["toolCallId", "toolName", "input", "output", "errorText"]),
    ("onError", &["message"]),
    ("onStop", &["conversationId", "messages"]),
    ("onRegenerate", &["conversationId", "id", "messages"]),
    ("onEditMessage", &["conversationId", "id", "replaces", "text", "textBefore", "messages"]),
    ("onDeleteMessage", &["conversationId", "id", "text", "messages"]),
    ("onFeedback", &["conversationId", "id", "text", "rating", "reason"]),
    ("onSuggestionClick", &["text", "key"]),
    ("onSwitchChange", &["key", "value", "switches"]),
    ("onTitleGenerated", &["title"]),
    ("onDataPart", &["type", "id", "data"]),
    ("onLinkClick", &["href", "text"]),
];

/// Returns the fields of `_event` in an event of a block. `None` for events that the block does not
/// have, and for blocks that programs add, whose events have any fields.
pub fn event_fields(block: BlockType, event: &str) -> Option<&'static [&'static str]> {
    match (block, event) {
        (BlockType::Added, _) => None,
        (BlockType::AgentChat, _) => {
            CHAT_EVENT_FIELDS.iter().find(|(name, _)| *name == event).map(|(_, fields)| *fields)
        }
        (BlockType::AgentConversations, "onSelect") => Some(&["id", "key", "previousKey"]),
        (BlockType::AgentConversations, "onNew") => Some(&[]),
        (BlockType::AgentConversations, "onMenuClick") => Some(&["action", "conversationKey", "conversation"]),
        (BlockType::Button, "onClick") => Some(&[]),
        (BlockType::Tabs, "onChange") => Some(&["index", "title"]),
        (_, "onChange") => Some(&["value"]),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::CHAT_EVENTS;

    #[test]
    fn every_event_of_the_chat_has_its_fields() {
        assert_eq!(CHAT_EVENT_FIELDS.map(|(name, _)| name), CHAT_EVENTS);
    }

    #[test]
    fn documentation_lists_the_events_with_their_fields() {
        let page = include_str!("../../../../docs/events.md");
        for (name, fields) in CHAT_EVENT_FIELDS {
            let start = format!("| `{name}` |");
            let row = page.lines().find(|line| line.starts_with(&start)).expect(name);
            let listed = row.rsplit(" | ").next().expect("a column with the fields");
            for field in fields {
                assert!(listed.contains(&format!("`{field}`")), "{name} {field}");
            }
        }
    }
}
