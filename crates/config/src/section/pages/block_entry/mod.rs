//! The schema of blocks. The types only provide the schema: a block is sent to the browser as it is
//! written, because any of its properties may be an operator.

mod chat;
mod conversations;
mod inputs;

use crate::section::dynamic::Dynamic;
use crate::section::value::{Id, Text};
use chat::AgentChatEntry;
use conversations::AgentConversationsEntry;
use indexmap::IndexMap;
use inputs::{CheckboxEntry, DateEntry, MultiSelectEntry, NumberEntry, SelectEntry, SwitchEntry, TextEntry};
use schemars::JsonSchema;
use serde_json::Value;

/// A block of a page.
#[derive(JsonSchema)]
#[schemars(extend("x-keys-not-yet" = ["layout", "style", "required", "validate", "loading", "skeleton", "slots", "areas"]))]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct BlockEntry {
    /// The block's id, unique on the page. It is also the key of an input's value in the page
    /// state.
    id: Id,
    #[serde(flatten)]
    kind: BlockTypeEntry,
    /// Whether the block is shown. Usually an operator.
    visible: Option<Dynamic<bool>>,
    /// A list of actions for each event.
    #[schemars(with = "IndexMap<String, Vec<super::action_entry::ActionEntry>>", extend("x-checked-apart" = true))]
    #[serde(default)]
    events: Value,
    /// The blocks in this block, if its type is a container.
    #[serde(default)]
    #[schemars(with = "Vec<BlockEntry>", extend("x-checked-apart" = true))]
    blocks: Value,
}

/// The type of a block, with its properties.
#[derive(JsonSchema)]
#[serde(tag = "type", content = "properties")]
#[schemars(extend("x-names" = "block type"))]
#[expect(dead_code, clippy::large_enum_variant, reason = "only its schema is used")]
pub(crate) enum BlockTypeEntry {
    /// Arranges its blocks vertically.
    Box(NoProperties),
    /// Arranges its blocks in columns, which are stacked on a narrow screen.
    Columns(ColumnsEntry),
    /// A framed group with a heading.
    Card(CardEntry),
    /// Shows one of its blocks at a time.
    Tabs(TabsEntry),
    /// A heading.
    Title(TitleEntry),
    /// Text in Markdown.
    Markdown(MarkdownEntry),
    /// An input for one line of text.
    TextInput(TextEntry),
    /// An input for several lines of text.
    TextArea(TextEntry),
    /// An input for a number.
    NumberInput(NumberEntry),
    /// Selects one option.
    Select(SelectEntry),
    /// Selects several options.
    MultiSelect(MultiSelectEntry),
    /// A toggle switch.
    Switch(SwitchEntry),
    /// A checkbox.
    Checkbox(CheckboxEntry),
    /// Selects a day.
    DatePicker(DateEntry),
    /// A button.
    Button(ButtonEntry),
    /// A table.
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
    /// The relative widths of the columns, one for each block, for example `[1, 2]`. Default:
    /// equal.
    widths: Option<Vec<Share>>,
}

/// A relative width.
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
    /// The labels of the tabs, one for each block.
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
    /// The label of the button.
    title: Dynamic<Text>,
    /// The style of the button. Default: `default`.
    variant: Option<Variant>,
    /// The button is disabled.
    disabled: Option<Dynamic<bool>>,
}

#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-names" = "variant"))]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) enum Variant {
    /// A normal button.
    Default,
    /// The main action.
    Primary,
    /// A destructive action.
    Danger,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct TableEntry {
    /// The heading.
    title: Option<Dynamic<String>>,
    /// A list of objects, one for each row. Usually an operator.
    rows: Dynamic<Vec<Value>>,
    /// The columns. Default: all keys of the first row.
    columns: Option<Vec<ColumnEntry>>,
    /// The text that is shown if there are no rows.
    empty: Option<Dynamic<String>>,
}

/// A column of a table.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) enum ColumnEntry {
    /// The key of the value in a row. The heading is derived from it.
    Short(Text),
    /// A column with a heading of its own.
    Long(ColumnProperties),
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct ColumnProperties {
    /// The key of the value in a row; `a.b` reaches into an object.
    key: Text,
    /// The heading. Default: derived from the key.
    title: Option<Text>,
}

#[derive(JsonSchema)]
#[schemars(extend("x-keys-not-yet" = ["closable", "icon"]))]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct AlertEntry {
    /// The heading.
    title: Option<Dynamic<String>>,
    /// The text.
    content: Option<Dynamic<String>>,
    /// The kind of message.
    status: Option<Dynamic<Status>>,
}

#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-names" = "status"))]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) enum Status {
    /// Information.
    Info,
    /// Success.
    Success,
    /// A warning.
    Warning,
    /// An error.
    Error,
}
