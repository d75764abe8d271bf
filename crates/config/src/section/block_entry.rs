//! How a block is written. Only the schema of these types is used: a block goes to the browser as it is written, because any of
//! its properties may be an operator.

use super::dynamic::Dynamic;
use super::messages::{ActionsEntry, MessageDisplayEntry, RolesEntry};
use super::sender::SenderEntry;
use super::value::{Id, Text};
use indexmap::IndexMap;
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
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-keys-not-yet" = ["rows", "type", "autocomplete"]))]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct TextEntry {
    /// The label; without it the id in words.
    label: Option<Dynamic<Text>>,
    /// Shown while it is empty.
    placeholder: Option<Dynamic<String>>,
    /// What it holds at first.
    initial: Option<Dynamic<String>>,
    /// It must not stay empty.
    required: Option<Dynamic<bool>>,
    /// It cannot be changed now.
    disabled: Option<Dynamic<bool>>,
    /// Characters that it must have at least.
    min_length: Option<u32>,
    /// Characters that it may have at most.
    max_length: Option<u32>,
    /// A regular expression, as in JavaScript, that the whole text must match.
    pattern: Option<Text>,
    /// What is said when the text does not match `pattern`.
    pattern_message: Option<Text>,
}

#[derive(JsonSchema)]
#[schemars(extend("x-keys-not-yet" = ["step"]))]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct NumberEntry {
    /// The label; without it the id in words.
    label: Option<Dynamic<Text>>,
    /// Shown while it is empty.
    placeholder: Option<Dynamic<String>>,
    /// What it holds at first.
    initial: Option<Dynamic<f64>>,
    /// It must not stay empty.
    required: Option<Dynamic<bool>>,
    /// It cannot be changed now.
    disabled: Option<Dynamic<bool>>,
    /// The least that it may be.
    min: Option<Dynamic<f64>>,
    /// The most that it may be.
    max: Option<Dynamic<f64>>,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct SelectEntry {
    /// The label; without it the id in words.
    label: Option<Dynamic<Text>>,
    /// Shown while nothing is chosen.
    placeholder: Option<Dynamic<String>>,
    /// What can be chosen.
    options: Dynamic<Choices>,
    /// The value that is chosen at first.
    initial: Option<Dynamic<Text>>,
    /// Something must be chosen.
    required: Option<Dynamic<bool>>,
    /// It cannot be changed now.
    disabled: Option<Dynamic<bool>>,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct MultiSelectEntry {
    /// The label; without it the id in words.
    label: Option<Dynamic<Text>>,
    /// What can be chosen.
    options: Dynamic<Choices>,
    /// The values that are chosen at first.
    initial: Option<Dynamic<Vec<Text>>>,
    /// Something must be chosen.
    required: Option<Dynamic<bool>>,
    /// It cannot be changed now.
    disabled: Option<Dynamic<bool>>,
    /// How many must be chosen at least.
    min: Option<u32>,
    /// How many may be chosen at most.
    max: Option<u32>,
}

/// What can be chosen.
#[derive(JsonSchema)]
#[serde(transparent)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct Choices(#[schemars(length(min = 1))] Vec<ChoiceEntry>);

/// Something that can be chosen.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) enum ChoiceEntry {
    /// Shown and stored as it is.
    Short(Text),
    /// Shown as one thing, stored as another.
    Long(ChoiceProperties),
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct ChoiceProperties {
    /// What is stored.
    value: Text,
    /// What is shown.
    label: Option<Text>,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct SwitchEntry {
    /// The label; without it the id in words.
    label: Option<Dynamic<Text>>,
    /// What it holds at first.
    initial: Option<Dynamic<bool>>,
    /// It cannot be changed now.
    disabled: Option<Dynamic<bool>>,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct CheckboxEntry {
    /// The label; without it the id in words.
    label: Option<Dynamic<Text>>,
    /// What it holds at first.
    initial: Option<Dynamic<bool>>,
    /// It must be ticked.
    required: Option<Dynamic<bool>>,
    /// It cannot be changed now.
    disabled: Option<Dynamic<bool>>,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct DateEntry {
    /// The label; without it the id in words.
    label: Option<Dynamic<Text>>,
    /// The day that is chosen at first, as `YYYY-MM-DD`.
    initial: Option<Dynamic<Text>>,
    /// A day must be chosen.
    required: Option<Dynamic<bool>>,
    /// It cannot be changed now.
    disabled: Option<Dynamic<bool>>,
    /// The first day that may be chosen, as `YYYY-MM-DD`.
    min: Option<Dynamic<Text>>,
    /// The last day that may be chosen, as `YYYY-MM-DD`.
    max: Option<Dynamic<Text>>,
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

#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-keys-not-yet" = [
    "conversationId", "messages", "urlQuery", "sharedStateReadOnly", "height", "maxWidth", "feedbackValues"
]))]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct AgentChatEntry {
    /// The agent that answers.
    agent_id: Id,
    /// What the agent sees of the page and, where a value is `{ _state: id }`, may write; `{ _state: true }` is every
    /// input of the page.
    shared_state: Option<IndexMap<String, Value>>,
    /// What the agent may have this page do: tools that run in the user's browser.
    #[schemars(with = "Vec<super::client_tools::ClientToolEntry>", extend("x-checked-apart" = true))]
    #[serde(default)]
    client_tools: Value,
    /// What the empty chat says.
    welcome: Option<WelcomeEntry>,
    /// Shown in the empty composer.
    placeholder: Option<String>,
    /// What the user can do with messages.
    actions: Option<ActionsEntry>,
    /// How messages are shown.
    message_display: Option<MessageDisplayEntry>,
    /// Who speaks.
    roles: Option<RolesEntry>,
    /// What the composer can do.
    sender: Option<SenderEntry>,
    /// Offered below the newest answer, to click; each is sent as it stands. `data-suggestions` of a hook take their place.
    suggestions: Option<Vec<PromptEntry>>,
    /// Where it stands; `inline` without it.
    display: Option<DisplayEntry>,
    /// How it looks as a `drawer`.
    drawer: Option<DrawerEntry>,
    /// The language of this chat, or its words, where they are others than those of the page.
    #[schemars(with = "Option<super::locale::LocaleEntry>", extend("x-checked-apart" = true))]
    #[serde(default)]
    locale: Value,
}

/// Where a chat stands on its page.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-names" = "display"))]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) enum DisplayEntry {
    /// Beside the rest of the page.
    Inline,
    /// Over the page, opened by a button that floats on it.
    Drawer,
    /// On the whole page; what would stand beside it opens from the bar.
    Page,
}

/// The drawer of a chat.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct DrawerEntry {
    /// The side that it comes from; `right` without it.
    placement: Option<PlacementEntry>,
    /// In pixels, 400 without it; on a narrow screen it takes the whole width.
    #[schemars(range(min = 240, max = 2000))]
    width: Option<u32>,
    /// What it is called, also on the button that opens it; `Chat` without it.
    title: Option<Text>,
}

/// A side of the page.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-names" = "placement"))]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) enum PlacementEntry {
    /// The left.
    Left,
    /// The right.
    Right,
}

/// What an empty chat says.
#[derive(JsonSchema)]
#[schemars(extend("x-keys-not-yet" = ["icon", "variant", "tracks"]))]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct WelcomeEntry {
    /// Its heading.
    title: Option<String>,
    /// A sentence below it.
    description: Option<String>,
    /// Prompts to click; each is sent as it stands.
    prompts: Option<Vec<PromptEntry>>,
}

/// A prompt to click.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) enum PromptEntry {
    /// What is shown and sent.
    Short(Text),
    /// The same as a mapping.
    Long(PromptProperties),
}

#[derive(JsonSchema)]
#[schemars(extend("x-keys-not-yet" = ["description", "icon"]))]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct PromptProperties {
    /// What is shown and sent.
    label: Text,
}

#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct AgentConversationsEntry {
    /// The label of the button for a new conversation, where the list is that of the stored conversations.
    new_label: Option<Text>,
    /// The language of this list, or its words, where they are others than those of the page.
    #[schemars(with = "Option<super::locale::LocaleEntry>", extend("x-checked-apart" = true))]
    #[serde(default)]
    locale: Value,
    /// What the list shows instead of the stored conversations; the page keeps it, and does what its events say.
    items: Option<Dynamic<Vec<ConversationItemEntry>>>,
    /// The key of the item that is selected.
    active_key: Option<Dynamic<Text>>,
    /// What each item's menu offers.
    menu: Option<Dynamic<Vec<MenuItemEntry>>>,
    /// The button above the items.
    creation: Option<Dynamic<CreationEntry>>,
    /// Puts items under the headings of their groups.
    groupable: Option<Dynamic<GroupableEntry>>,
    /// The greatest width, in pixels.
    #[schemars(range(min = 100, max = 2000))]
    width: Option<f64>,
}

/// An item of a list that the page keeps.
#[derive(JsonSchema)]
#[schemars(extend("x-keys-not-yet" = ["icon"]))]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct ConversationItemEntry {
    /// Unique in the list.
    key: Text,
    /// What is shown; without it the key.
    label: Option<Text>,
    /// It cannot be selected.
    disabled: Option<bool>,
    /// When it was; a number is Unix time in milliseconds.
    timestamp: Option<Value>,
    /// The group under whose heading it stands.
    group: Option<Text>,
    /// Something is being written in it.
    loading: Option<bool>,
}

/// What a menu offers.
#[derive(JsonSchema)]
#[schemars(extend("x-keys-not-yet" = ["icon"]))]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct MenuItemEntry {
    /// The event's `action`.
    key: Text,
    /// What is shown; without it the key.
    label: Option<Text>,
    /// It destroys something.
    danger: Option<bool>,
}

/// The button for a new conversation.
#[derive(JsonSchema)]
#[schemars(extend("x-keys-not-yet" = ["icon"]))]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct CreationEntry {
    /// What stands on it.
    label: Option<Text>,
    /// Where its label stands.
    align: Option<AlignEntry>,
}

/// Where a label stands.
#[derive(JsonSchema)]
#[serde(rename_all = "lowercase")]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) enum AlignEntry {
    Start,
    Center,
    End,
}

/// Whether and how items are grouped.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) enum GroupableEntry {
    /// As usual, or not.
    Switch(bool),
    /// How.
    Options(GroupOptions),
}

#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct GroupOptions {
    /// Whether groups can be folded; they can unless this is false.
    collapsible: Option<bool>,
    /// The headings of groups, by group; without it the group itself.
    label: Option<IndexMap<String, Text>>,
    /// The groups that are not folded at first; without it none is.
    default_expanded_keys: Option<Vec<Text>>,
}
