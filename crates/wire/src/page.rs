//! A page as the config declares it: blocks with their properties, what their events do, and the state that an agent may share.
//!
//! Properties stay JSON on their way to the browser: any of them may be an operator, which is evaluated as the page is shown.
//! [`properties`] has them as types, for pages that are written in Rust.

mod chat;
mod client_tool;
pub mod display;
pub mod messages;
pub mod properties;
pub mod sender;
mod shared;
mod welcome;

pub use chat::AgentChatProperties;
pub use client_tool::ClientTool;
pub use display::{Display, Drawer, Placement};
pub use messages::{MessageActions, MessageDisplay, ResultDisplay, Roles, Speaker};
pub use properties::{
    AgentConversationsProperties, AlertProperties, ButtonProperties, Choice, ColumnsProperties, Input, TableColumn,
    TableProperties, TabsProperties,
};
pub use sender::{Attachments, Sender, SenderCommand, SenderMention, SenderSwitch};
pub use shared::{FieldType, SharedField, Updates, apply_updates, is_date, parse_number, shared_fields};
pub use welcome::{Prompt, Track, Welcome, prompts};

use crate::read::{read_names, read_struct};
use litemap::LiteMap;
use serde::Serialize;
use serde_json::{Map, Value};

/// What an `AgentChat` tells the page around it, by name; the first one may be answered with a no.
pub const CHAT_EVENTS: [&str; 15] = [
    "onBeforeSend",
    "onUserMessage",
    "onMessageComplete",
    "onToolCall",
    "onToolResult",
    "onError",
    "onStop",
    "onRegenerate",
    "onEditMessage",
    "onDeleteMessage",
    "onFeedback",
    "onSuggestionClick",
    "onSwitchChange",
    "onTitleGenerated",
    "onDataPart",
];

/// What an event does, by the event's name: one action after the other. A map of few entries, kept as a sorted list: the code of a
/// tree would be a good part of what the browser downloads.
pub type Events = LiteMap<String, Vec<Action>>;

/// A page of the config.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Page {
    /// Its address: `/{id}`.
    pub id: String,
    /// The browser's title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// `onInit`: what happens when the page has come to life.
    #[serde(skip_serializing_if = "LiteMap::is_empty")]
    pub events: Events,
    /// What stands on it, in order.
    pub blocks: Vec<Block>,
}

/// One block.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Block {
    /// Unique on the page; an input's value lives in page state under it.
    pub id: String,
    /// What it is.
    #[serde(rename = "type")]
    pub kind: BlockType,
    /// Operators are not evaluated.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub properties: Map<String, Value>,
    /// Whether it is there; an operator mostly. `null`: it is.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub visible: Value,
    /// What happens when something happens to it.
    #[serde(skip_serializing_if = "LiteMap::is_empty")]
    pub events: Events,
    /// What stands in it, for layout blocks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub blocks: Vec<Block>,
}

/// What a block is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub enum BlockType {
    /// Puts its blocks below each other.
    Box,
    /// Puts its blocks beside each other; they stack on a narrow screen.
    Columns,
    /// A framed group with a heading.
    Card,
    /// Shows one of its blocks at a time.
    Tabs,
    /// A heading.
    Title,
    /// Text in Markdown.
    Markdown,
    /// One line of text.
    TextInput,
    /// Several lines of text.
    TextArea,
    /// A number.
    NumberInput,
    /// A choice of one.
    Select,
    /// A choice of several.
    MultiSelect,
    /// Yes or no, at once.
    Switch,
    /// Yes or no, in a form.
    Checkbox,
    /// A day, `YYYY-MM-DD`.
    DatePicker,
    /// Does something.
    Button,
    /// Rows of values.
    Table,
    /// A message in the page.
    Alert,
    /// The chat.
    AgentChat,
    /// The list of conversations.
    AgentConversations,
}

read_struct!(Page { id: "id", title: "title", events: "events" or default, blocks: "blocks" or default });

read_struct!(Block {
    id: "id",
    kind: "type",
    properties: "properties" or default,
    visible: "visible" or default,
    events: "events" or default,
    blocks: "blocks" or default,
});

read_struct!(Action { id: "id", kind: "type", params: "params" or default, skip: "skip" or default });

read_names!(BlockType {
    "Box" => Box,
    "Columns" => Columns,
    "Card" => Card,
    "Tabs" => Tabs,
    "Title" => Title,
    "Markdown" => Markdown,
    "TextInput" => TextInput,
    "TextArea" => TextArea,
    "NumberInput" => NumberInput,
    "Select" => Select,
    "MultiSelect" => MultiSelect,
    "Switch" => Switch,
    "Checkbox" => Checkbox,
    "DatePicker" => DatePicker,
    "Button" => Button,
    "Table" => Table,
    "Alert" => Alert,
    "AgentChat" => AgentChat,
    "AgentConversations" => AgentConversations,
});

read_names!(ActionType {
    "SetState" => SetState,
    "Reset" => Reset,
    "Validate" => Validate,
    "CallEndpoint" => CallEndpoint,
    "CallMethod" => CallMethod,
    "Link" => Link,
    "Message" => Message,
});

impl BlockType {
    /// What an input of this type may hold; `None` for blocks that hold no value.
    pub fn field_type(self, properties: &Map<String, Value>) -> Option<FieldType> {
        Some(match self {
            Self::TextInput | Self::TextArea => FieldType::Text,
            Self::NumberInput => FieldType::Number,
            Self::Switch | Self::Checkbox => FieldType::Boolean,
            Self::DatePicker => FieldType::Date,
            // Options that are computed are not known here: then any text is a choice.
            Self::Select => match properties::static_choices(properties) {
                Some(options) => FieldType::Choice { options },
                None => FieldType::Text,
            },
            Self::MultiSelect => {
                FieldType::Choices { options: properties::static_choices(properties).unwrap_or_default() }
            }
            _ => return None,
        })
    }

    /// What an input of this type holds when it is empty.
    pub fn empty_value(self) -> Value {
        match self {
            Self::Switch | Self::Checkbox => Value::Bool(false),
            Self::MultiSelect => Value::Array(Vec::new()),
            _ => Value::Null,
        }
    }
}

/// One step of what an event does.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Action {
    /// Later actions read its result with `{ _step: id }`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// What it does.
    #[serde(rename = "type")]
    pub kind: ActionType,
    /// Operators are not evaluated.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub params: Map<String, Value>,
    /// Whether to leave it out; an operator mostly.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub skip: Value,
}

/// What an action does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum ActionType {
    /// Writes keys of the page state.
    SetState,
    /// Puts inputs back to what they held at first.
    Reset,
    /// Checks inputs; ends the list of actions when one is wrong.
    Validate,
    /// Calls an endpoint; its result is the action's.
    CallEndpoint,
    /// Calls a method of a block.
    CallMethod,
    /// Goes to another page or address.
    Link,
    /// Shows a message for a moment.
    Message,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn pages_are_read_as_they_are_written() {
        let page = json!({"id": "p", "title": "Page", "events": {"onInit": [{"id": "load", "type": "CallEndpoint", "params": {"endpointId": "e"}}]},
            "blocks": [
                {"id": "frame", "type": "Card", "properties": {"title": {"_state": "name"}}, "visible": {"_state": "on"}, "blocks": [
                    {"id": "go", "type": "Button", "properties": {"title": "Go"}, "events": {"onClick": [
                        {"type": "SetState", "params": {"name": "Ada"}, "skip": {"_state": "off"}}]}}]},
                {"id": "chat", "type": "AgentChat", "properties": {"agentId": "a"}}]});
        let read: Page = serde_json::from_value(page.clone()).unwrap();
        assert_eq!(serde_json::to_value(&read).unwrap(), page);
    }

    #[test]
    fn wrong_blocks_are_refused_with_the_reason() {
        let check = |block: Value, expected: &str| {
            let error = serde_json::from_value::<Block>(block).unwrap_err().to_string();
            assert_eq!(error, expected);
        };
        check(json!({"id": "b", "type": "Slider"}), "type: unknown value `Slider`");
        check(json!({"type": "Box"}), "missing field `id`");
        check(json!({"id": "b"}), "missing field `type`");
        let events = json!({"onClick": [{"type": "Explode"}]});
        check(json!({"id": "b", "type": "Box", "events": events}), "events: type: unknown value `Explode`");
    }
}
