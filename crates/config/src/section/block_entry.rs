//! How a block is written.

use super::value::{Id, Text};
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

/// A part of a page.
#[derive(Deserialize, JsonSchema)]
#[schemars(extend("x-keys-not-yet" = ["events", "visible", "layout", "style", "required", "validate", "loading", "skeleton", "slots", "areas"]))]
pub(crate) struct BlockEntry {
    /// Unique on the page. The value of an input lives in page state under it.
    pub(super) id: Id,
    #[serde(flatten)]
    pub(super) kind: BlockTypeEntry,
    /// The blocks in it, if it is one that holds others.
    #[serde(rename = "blocks", default)]
    #[schemars(with = "Vec<BlockEntry>", extend("x-checked-apart" = true))]
    _blocks: Value,
}

/// What a block is, with its properties.
#[derive(Deserialize, JsonSchema)]
#[serde(tag = "type", content = "properties")]
#[schemars(extend("x-names" = "block type", "x-not-yet" = ["Tabs", "MultiSelect", "Checkbox", "Button", "Table", "Alert"]))]
pub(crate) enum BlockTypeEntry {
    /// Puts its blocks below each other.
    Box(NoProperties),
    /// Puts its blocks beside each other; they stack on a narrow screen.
    Columns(ColumnsProperties),
    /// A framed group with a heading.
    Card(TitledProperties),
    /// A heading.
    Title(HeadingProperties),
    /// Text in Markdown.
    Markdown(MarkdownProperties),
    /// One line of text.
    TextInput(TextInputProperties),
    /// Several lines of text.
    TextArea(TextInputProperties),
    /// A number.
    NumberInput(NumberInputProperties),
    /// A choice of one.
    Select(SelectProperties),
    /// Yes or no.
    Switch(SwitchProperties),
    /// A day.
    DatePicker(DatePickerProperties),
    /// A chat with an agent.
    AgentChat(AgentChatEntry),
    /// The list of conversations.
    AgentConversations(AgentConversationsEntry),
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct NoProperties {}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct ColumnsProperties {
    /// Shares of the width, one for each block, for example `[1, 2]`; without it they are equal.
    #[serde(default)]
    pub(super) widths: Vec<Share>,
}

/// A share of the width.
#[derive(Deserialize, JsonSchema)]
#[serde(transparent)]
pub(crate) struct Share(#[schemars(range(min = 0.05, max = 100))] pub(super) f64);

#[derive(Deserialize, JsonSchema)]
pub(crate) struct TitledProperties {
    /// The heading.
    pub(super) title: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct HeadingProperties {
    /// The heading.
    pub(super) title: Text,
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct MarkdownProperties {
    /// The text.
    pub(super) content: Text,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(extend("x-keys-not-yet" = ["required", "pattern", "minLength", "maxLength", "disabled", "rows"]))]
pub(crate) struct TextInputProperties {
    /// The label; without it the id in words.
    pub(super) label: Option<Text>,
    /// Shown while it is empty.
    pub(super) placeholder: Option<String>,
    /// What it holds at first.
    pub(super) initial: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(extend("x-keys-not-yet" = ["required", "min", "max", "step", "disabled"]))]
pub(crate) struct NumberInputProperties {
    /// The label; without it the id in words.
    pub(super) label: Option<Text>,
    /// Shown while it is empty.
    pub(super) placeholder: Option<String>,
    /// What it holds at first.
    pub(super) initial: Option<f64>,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(extend("x-keys-not-yet" = ["required", "disabled"]))]
pub(crate) struct SelectProperties {
    /// The label; without it the id in words.
    pub(super) label: Option<Text>,
    /// Shown while nothing is chosen.
    pub(super) placeholder: Option<String>,
    /// What can be chosen.
    #[schemars(length(min = 1))]
    pub(super) options: Vec<ChoiceEntry>,
    /// The value that is chosen at first.
    pub(super) initial: Option<Text>,
}

/// Something that can be chosen.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum ChoiceEntry {
    /// Shown and stored as it is.
    Short(Text),
    /// Shown as one thing, stored as another.
    Long(ChoiceProperties),
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct ChoiceProperties {
    /// What is stored.
    pub(super) value: Text,
    /// What is shown.
    pub(super) label: Option<Text>,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(extend("x-keys-not-yet" = ["disabled"]))]
pub(crate) struct SwitchProperties {
    /// The label; without it the id in words.
    pub(super) label: Option<Text>,
    /// What it holds at first.
    pub(super) initial: Option<bool>,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(extend("x-keys-not-yet" = ["required", "min", "max", "disabled"]))]
pub(crate) struct DatePickerProperties {
    /// The label; without it the id in words.
    pub(super) label: Option<Text>,
    /// The day that is chosen at first, as `YYYY-MM-DD`.
    pub(super) initial: Option<Text>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-keys-not-yet" = [
    "conversationId", "messages", "urlQuery", "sharedStateReadOnly", "height", "maxWidth", "display", "drawer", "suggestions",
    "messageDisplay", "sender", "feedbackValues"
]))]
pub(crate) struct AgentChatEntry {
    /// The agent that answers.
    pub(super) agent_id: Id,
    /// What the agent sees of the page and, where a value is `{ _state: id }`, may write; `{ _state: true }` is every
    /// input of the page.
    #[serde(default)]
    pub(super) shared_state: IndexMap<String, Value>,
    /// What the empty chat says.
    pub(super) welcome: Option<WelcomeEntry>,
    /// Shown in the empty composer.
    pub(super) placeholder: Option<String>,
}

/// What an empty chat says.
#[derive(Deserialize, JsonSchema)]
#[schemars(extend("x-keys-not-yet" = ["icon", "variant", "tracks"]))]
pub(crate) struct WelcomeEntry {
    /// Its heading.
    #[serde(default)]
    pub(super) title: String,
    /// A sentence below it.
    #[serde(default)]
    pub(super) description: String,
    /// Prompts to click; each is sent as it stands.
    #[serde(default)]
    pub(super) prompts: Vec<PromptEntry>,
}

/// A prompt to click.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum PromptEntry {
    /// What is shown and sent.
    Short(Text),
    /// The same as a mapping.
    Long(PromptProperties),
}

#[derive(Deserialize, JsonSchema)]
#[schemars(extend("x-keys-not-yet" = ["description", "icon"]))]
pub(crate) struct PromptProperties {
    /// What is shown and sent.
    pub(super) label: Text,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-keys-not-yet" = ["items", "activeKey", "menu", "creation", "groupable", "width"]))]
pub(crate) struct AgentConversationsEntry {
    /// The label of the button for a new conversation.
    pub(super) new_label: Option<Text>,
}
