//! How a block is written. Only the schema of these types is used: a block goes to the browser as it is written, because any of
//! its properties may be an operator.

mod chat;
mod conversations;
mod inputs;

use super::dynamic::Dynamic;
use super::value::{Id, Text};
use chat::AgentChatEntry;
use conversations::AgentConversationsEntry;
use indexmap::IndexMap;
use inputs::{CheckboxEntry, DateEntry, MultiSelectEntry, NumberEntry, SelectEntry, SwitchEntry, TextEntry};
use schemars::JsonSchema;
use serde_json::Value;

/// A part of a page.
#[derive(JsonSchema)]
#[schemars(extend("x-keys-not-yet" = ["layout", "style", "required", "validate", "loading", "skeleton", "slots", "areas"]))]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct BlockEntry {
    /// Unique on the page. The value of an input lives in page state under it.
    id: Id,
    #[serde(flatten)]
    kind: BlockTypeEntry,
    /// Whether it is there; an operator mostly.
    visible: Option<Dynamic<bool>>,
    /// What happens when something happens to it: a list of actions for each event.
    #[schemars(with = "IndexMap<String, Vec<super::action_entry::ActionEntry>>", extend("x-checked-apart" = true))]
    #[serde(default)]
    events: Value,
    /// The blocks in it, if it is one that holds others.
    #[serde(default)]
    #[schemars(with = "Vec<BlockEntry>", extend("x-checked-apart" = true))]
    blocks: Value,
}

/// What a block is, with its properties.
#[derive(JsonSchema)]
#[serde(tag = "type", content = "properties")]
#[schemars(extend("x-names" = "block type"))]
#[expect(dead_code, clippy::large_enum_variant, reason = "only its schema is used")]
pub(crate) enum BlockTypeEntry {
    /// Puts its blocks below each other.
    Box(NoProperties),
    /// Puts its blocks beside each other; they stack on a narrow screen.
    Columns(ColumnsEntry),
    /// A framed group with a heading.
    Card(CardEntry),
    /// Shows one of its blocks at a time.
    Tabs(TabsEntry),
    /// A heading.
    Title(TitleEntry),
    /// Text in Markdown.
    Markdown(MarkdownEntry),
    /// One line of text.
    TextInput(TextEntry),
    /// Several lines of text.
    TextArea(TextEntry),
    /// A number.
    NumberInput(NumberEntry),
    /// A choice of one.
    Select(SelectEntry),
    /// A choice of several.
    MultiSelect(MultiSelectEntry),
    /// Yes or no, at once.
    Switch(SwitchEntry),
    /// Yes or no, in a form.
    Checkbox(CheckboxEntry),
    /// A day.
    DatePicker(DateEntry),
    /// Does something.
    Button(ButtonEntry),
    /// Rows of values.
    Table(TableEntry),
    /// A message in the page.
    Alert(AlertEntry),
    /// A chat with an agent.
    AgentChat(AgentChatEntry),
    /// The list of conversations.
    AgentConversations(AgentConversationsEntry),
}

#[derive(JsonSchema)]
pub(crate) struct NoProperties {}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct ColumnsEntry {
    /// Shares of the width, one for each block, for example `[1, 2]`; without it they are equal.
    widths: Option<Vec<Share>>,
}

/// A share of the width.
#[derive(JsonSchema)]
#[serde(transparent)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct Share(#[schemars(range(min = 0.05, max = 100))] f64);

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct CardEntry {
    /// The heading.
    title: Option<Dynamic<String>>,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct TabsEntry {
    /// What stands on the tabs, one for each block.
    titles: Vec<Text>,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct TitleEntry {
    /// The heading.
    title: Dynamic<Text>,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct MarkdownEntry {
    /// The text.
    content: Dynamic<Text>,
}

#[derive(JsonSchema)]
#[schemars(extend("x-keys-not-yet" = ["icon", "loading"]))]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct ButtonEntry {
    /// What stands on it.
    title: Dynamic<Text>,
    /// How it looks.
    variant: Option<Variant>,
    /// It cannot be pressed now.
    disabled: Option<Dynamic<bool>>,
}

#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-names" = "variant"))]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) enum Variant {
    /// One of several.
    Default,
    /// What is done mostly.
    Primary,
    /// What cannot be taken back.
    Danger,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct TableEntry {
    /// The heading.
    title: Option<Dynamic<String>>,
    /// A list of objects, one for each row; an operator mostly.
    rows: Dynamic<Vec<Value>>,
    /// What is shown of each row; without it every key of the first one.
    columns: Option<Vec<ColumnEntry>>,
    /// What is said when there are no rows.
    empty: Option<Dynamic<String>>,
}

/// A column of a table.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) enum ColumnEntry {
    /// The key of the value in a row; its heading is the key in words.
    Short(Text),
    /// With a heading of its own.
    Long(ColumnProperties),
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct ColumnProperties {
    /// The key of the value in a row; `a.b` reaches into an object.
    key: Text,
    /// The heading; without it the key in words.
    title: Option<Text>,
}

#[derive(JsonSchema)]
#[schemars(extend("x-keys-not-yet" = ["closable", "icon"]))]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct AlertEntry {
    /// The heading.
    title: Option<Dynamic<String>>,
    /// What it says.
    content: Option<Dynamic<String>>,
    /// What kind of message it is.
    status: Option<Dynamic<Status>>,
}

#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-names" = "status"))]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) enum Status {
    /// Good to know.
    Info,
    /// Something was done.
    Success,
    /// Something needs care.
    Warning,
    /// Something went wrong.
    Error,
}
