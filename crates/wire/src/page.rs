//! A page as the config declares it: blocks with their properties, event handlers, and the state
//! that an agent may share.
//!
//! Properties are sent to the browser as JSON, since any of them may be an operator, which is
//! evaluated when the page is shown. [`properties`] has them as types, for pages that are written
//! in Rust.

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
    AgentConversationsProperties, AlertProperties, ButtonProperties, ColumnsProperties, InputProperties, SelectOption,
    TableColumn, TableProperties, TabsProperties,
};
pub use sender::{Attachments, SenderCommand, SenderMention, SenderProperties, SenderSwitch};
pub use shared::{FieldType, PageStateUpdate, SharedField, apply_updates, is_date, parse_number, shared_fields};
pub use welcome::{Prompt, PromptGroup, Welcome, prompts};

use crate::read::{read_names, read_struct};
use litemap::LiteMap;
use serde::Serialize;
use serde_json::{Map, Value};

/// The events of an `AgentChat` block. The handler of the first one may cancel the action.
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

/// Event handlers: the actions that run one after the other, by the event's name. A sorted list
/// instead of a tree, because there are few entries and the code of a tree map would noticeably
/// enlarge the browser's download.
pub type Events = LiteMap<String, Vec<Action>>;

/// A page of the config.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Page {
    /// The path of its URL: `/{id}`.
    pub id: String,
    /// The title of the browser tab.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The event handlers: `onInit` runs once the page is interactive.
    #[serde(skip_serializing_if = "LiteMap::is_empty")]
    pub events: Events,
    /// The blocks of the page, in order.
    pub blocks: Vec<Block>,
}

/// A block.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Block {
    /// Unique on the page. The value of an input is stored in the page state under this id.
    pub id: String,
    /// The type.
    #[serde(rename = "type")]
    pub kind: BlockType,
    /// The properties; their operators are not evaluated.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub properties: Map<String, Value>,
    /// Whether the block is shown, usually an operator; `null` means shown.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub visible: Value,
    /// The event handlers.
    #[serde(skip_serializing_if = "LiteMap::is_empty")]
    pub events: Events,
    /// The nested blocks of a layout block.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub blocks: Vec<Block>,
}

/// The type of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub enum BlockType {
    /// Stacks its blocks vertically.
    Box,
    /// Places its blocks side by side; they stack on a narrow screen.
    Columns,
    /// A framed group with a heading.
    Card,
    /// Shows one of its blocks at a time.
    Tabs,
    /// A heading.
    Title,
    /// Markdown text.
    Markdown,
    /// A single-line text input.
    TextInput,
    /// A multi-line text input.
    TextArea,
    /// A number input.
    NumberInput,
    /// A choice of one option.
    Select,
    /// A choice of several options.
    MultiSelect,
    /// A switch that takes effect at once.
    Switch,
    /// A checkbox of a form.
    Checkbox,
    /// A date input, `YYYY-MM-DD`.
    DatePicker,
    /// A button.
    Button,
    /// A table.
    Table,
    /// A message on the page.
    Alert,
    /// A chat with an agent.
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
    /// Returns the type of value that an input of this type holds; `None` for blocks without a
    /// value.
    pub fn field_type(self, properties: &Map<String, Value>) -> Option<FieldType> {
        Some(match self {
            Self::TextInput | Self::TextArea => FieldType::Text,
            Self::NumberInput => FieldType::Number,
            Self::Switch | Self::Checkbox => FieldType::Boolean,
            Self::DatePicker => FieldType::Date,
            // Computed options are not known here, so any text is accepted.
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

    /// Returns the value of an empty input of this type.
    pub fn empty_value(self) -> Value {
        match self {
            Self::Switch | Self::Checkbox => Value::Bool(false),
            Self::MultiSelect => Value::Array(Vec::new()),
            _ => Value::Null,
        }
    }
}

/// One action of an event handler.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Action {
    /// An id by which later actions read its result with `{ _step: id }`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The type.
    #[serde(rename = "type")]
    pub kind: ActionType,
    /// The parameters; their operators are not evaluated.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub params: Map<String, Value>,
    /// Whether to skip the action; usually an operator.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub skip: Value,
}

/// The type of an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum ActionType {
    /// Writes keys of the page state.
    SetState,
    /// Resets inputs to their initial values.
    Reset,
    /// Validates inputs; an invalid one ends the list of actions.
    Validate,
    /// Calls an endpoint and returns its result.
    CallEndpoint,
    /// Calls a method of a block.
    CallMethod,
    /// Navigates to another page or URL.
    Link,
    /// Shows a temporary message.
    Message,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn pages_round_trip() {
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
    fn invalid_blocks_are_rejected_with_a_reason() {
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
