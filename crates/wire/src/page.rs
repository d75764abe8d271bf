//! A page as the config declares it: blocks with their properties, event handlers, and the state
//! that an agent may share.
//!
//! Properties are sent to the browser as JSON, since any of them may be an operator, which is
//! evaluated when the page is shown. Each type of block and of action has a type for its properties
//! or parameters: it reads them, has their defaults, and is the schema by which `config` checks and
//! documents them (see `define.rs`). Pages that are written in Rust use the same types.

mod action;
#[cfg(feature = "schema")]
mod added;
mod block_type;
mod chat;
mod client_tool;
mod conversations;
mod define;
pub mod display;
pub mod event_fields;
pub mod events;
mod inputs;
mod link;
pub mod messages;
mod properties;
mod property;
#[cfg(feature = "schema")]
pub mod schema;
pub mod sender;
mod shared;
mod welcome;

pub use action::{
    Action, ActionType, CallEndpointParams, CallMethodParams, InputsParams, LinkParams, MessageParams, MessageStatus,
    ThrowParams, is_safe_url,
};
#[cfg(feature = "schema")]
pub use added::{AddedBlock, PropertyProblem};
pub use block_type::BlockType;
pub use chat::{AgentChatProperties, FeedbackValue};
pub use client_tool::ClientTool;
pub use conversations::{
    AgentConversationsProperties, Alignment, ConversationItem, Creation, Grouping, ItemListProperties, MenuItem,
};
pub use display::{Display, Drawer, Placement};
pub use inputs::{
    CheckboxProperties, DatePickerProperties, MultiSelectProperties, NumberInputProperties, SelectOption,
    SelectProperties, SwitchProperties, TextInputProperties,
};
pub use link::PageLink;
pub use messages::{
    LinePosition, MessageActions, MessageDisplay, MessageShape, MessageVariant, ReasoningDisplay, ResultDisplay, Roles,
    SourcesDisplay, Speaker, ToolResultDisplay,
};
pub use properties::{
    AlertProperties, ButtonProperties, ButtonVariant, CardProperties, ColumnsProperties, LibrariesProperties,
    MarkdownProperties, NoProperties, TableColumn, TableProperties, TabsProperties, TitleProperties,
    WorkflowRunsProperties, WorkflowTasksProperties,
};
pub use property::{Keys, Property, as_text};
pub use sender::{
    Attachments, PlanMode, SenderCommand, SenderHeader, SenderMention, SenderProperties, SenderSwitch, SenderWorkflow,
    SubmitType, UploadStorage, WhileRunning,
};
pub use shared::{
    FieldType, PageStateUpdate, ReadOnlyKeys, SharedField, UPDATE_PAGE_STATE, apply_updates, is_date, object_fields,
    parse_number, shared_fields, shared_object,
};
pub use welcome::{Prompt, PromptGroup, Welcome, WelcomeVariant, prompts};

use crate::read::read_struct;
use litemap::LiteMap;
#[cfg(feature = "schema")]
use schema::{Dynamic, Id};
use serde::Serialize;
use serde_json::{Map, Value};
#[cfg(feature = "schema")]
use std::collections::BTreeMap;

/// The events of an `AgentChat` block. The handler of the first one may cancel the action.
pub const CHAT_EVENTS: [&str; 17] = [
    "onBeforeSend",
    "onConversationStart",
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
    "onLinkClick",
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

/// A block of a page.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(extend("x-keys-not-yet" = ["layout", "style", "required", "validate", "loading", "skeleton", "slots", "areas"]))
)]
pub struct Block {
    /// The block's id, unique on the page. It is also the key of an input's value in the page
    /// state.
    #[cfg_attr(feature = "schema", schemars(with = "Id"))]
    pub id: String,
    /// The type.
    #[serde(rename = "type")]
    #[cfg_attr(feature = "schema", schemars(flatten))]
    pub kind: BlockType,
    /// The name of the type, if a program adds it.
    #[serde(skip_serializing_if = "String::is_empty")]
    #[cfg_attr(feature = "schema", schemars(skip))]
    pub added: String,
    /// The properties; their operators are not evaluated.
    #[serde(skip_serializing_if = "Map::is_empty")]
    #[cfg_attr(feature = "schema", schemars(skip))]
    pub properties: Map<String, Value>,
    /// Whether the block is shown. Usually an operator.
    #[serde(skip_serializing_if = "Value::is_null")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<Dynamic<bool>>"))]
    pub visible: Value,
    /// A list of actions for each event.
    #[serde(skip_serializing_if = "LiteMap::is_empty")]
    #[cfg_attr(
        feature = "schema",
        schemars(default, with = "BTreeMap<String, Vec<Action>>", extend("x-checked-apart" = true))
    )]
    pub events: Events,
    /// The blocks in this block, if its type is a container.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(default, extend("x-checked-apart" = true)))]
    pub blocks: Vec<Block>,
}

read_struct!(Page { id: "id", title: "title", events: "events" or default, blocks: "blocks" or default });

read_struct!(Block {
    id: "id",
    kind: "type",
    added: "added" or default,
    properties: "properties" or default,
    visible: "visible" or default,
    events: "events" or default,
    blocks: "blocks" or default,
});

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
