//! A page as the config declares it: blocks, their inputs, and the state that an agent may share.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A page of the config.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Page {
    /// Its address: `/{id}`.
    pub id: String,
    /// The browser's title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What stands on it, in order.
    #[serde(default)]
    pub blocks: Vec<Block>,
}

/// One block.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Block {
    /// Unique on the page; an input's value lives in page state under it.
    pub id: String,
    /// What it is.
    #[serde(flatten)]
    pub kind: BlockKind,
    /// What stands in it, for layout blocks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blocks: Vec<Block>,
}

/// What a block is, with its properties.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", content = "properties")]
pub enum BlockKind {
    /// Puts its blocks below each other.
    Box(Empty),
    /// Puts its blocks beside each other; they stack on a narrow screen.
    Columns(Columns),
    /// A framed group with a heading.
    Card(Titled),
    /// A heading.
    Title(Titled),
    /// Text in Markdown.
    Markdown(MarkdownText),
    /// One line of text.
    TextInput(Input),
    /// Several lines of text.
    TextArea(Input),
    /// A number.
    NumberInput(Input),
    /// A choice of one.
    Select(Input),
    /// Yes or no.
    Switch(Input),
    /// A day, `YYYY-MM-DD`.
    DatePicker(Input),
    /// The chat.
    AgentChat(AgentChatProperties),
    /// The list of conversations.
    AgentConversations(AgentConversationsProperties),
}

/// No properties.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Empty {}

/// How columns share the width.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Columns {
    /// Shares of the width, for example `[1, 2]`; empty: equal shares.
    pub widths: Vec<f64>,
}

/// A heading.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Titled {
    /// Its text.
    pub title: String,
}

/// Text in Markdown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct MarkdownText {
    /// The text.
    pub content: String,
}

/// An input's properties; which apply follows from the block's type.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Input {
    /// Its label; the id in words without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Shown while it is empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub placeholder: Option<String>,
    /// Of a `Select`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<Choice>,
    /// What it holds at first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial: Option<Value>,
}

/// One option of a `Select`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choice {
    /// What is stored.
    pub value: String,
    /// What is shown.
    pub label: String,
}

/// The chat's properties.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AgentChatProperties {
    /// The agent that answers.
    pub agent_id: String,
    /// What the agent sees of the page, by key; each value is `{_state: key}`, another operator, or a constant (L-64).
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub shared_state: Map<String, Value>,
    /// The heading of the empty chat.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub welcome: Option<Welcome>,
    /// Shown in the empty composer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub placeholder: Option<String>,
}

/// What an empty chat says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Welcome {
    /// Its heading.
    pub title: String,
    /// A sentence below it.
    pub description: String,
    /// Prompts to click; each is sent as it stands.
    pub prompts: Vec<String>,
}

/// The list's properties.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AgentConversationsProperties {
    /// The label of the button for a new conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new_label: Option<String>,
}

/// A key of the shared state: what it is called, what it may hold, where it is written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SharedField {
    /// The key that the agent sees.
    pub key: String,
    /// The key of the page state that a write goes to; absent: the agent may read it only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// What it may hold.
    #[serde(flatten)]
    pub field_type: FieldType,
}

/// What a field may hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum FieldType {
    /// Any text.
    Text,
    /// A finite number.
    Number,
    /// `true` or `false`.
    Boolean,
    /// One of the options' values.
    Choice {
        /// The values that may be written.
        options: Vec<String>,
    },
    /// A day of the calendar, `YYYY-MM-DD`.
    Date,
    /// Not declared: anything.
    Any,
}
