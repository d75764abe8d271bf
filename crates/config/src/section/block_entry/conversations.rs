//! How an `AgentConversations` is written (L-94 to L-96).

use crate::section::dynamic::Dynamic;
use crate::section::value::Text;
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde_json::Value;

#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct AgentConversationsEntry {
    /// The label of the button for a new conversation, where the list is that of the stored conversations.
    new_label: Option<Text>,
    /// The language of this list, or its words, where they are others than those of the page.
    #[schemars(with = "Option<crate::section::locale::LocaleEntry>", extend("x-checked-apart" = true))]
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
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct ConversationItemEntry {
    /// Unique in the list.
    key: Text,
    /// What is shown; without it the key.
    label: Option<Text>,
    /// A picture's address (`/…` or `https://…`), or a character or two, before the label.
    icon: Option<Text>,
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
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct MenuItemEntry {
    /// The event's `action`.
    key: Text,
    /// What is shown; without it the key.
    label: Option<Text>,
    /// A picture's address (`/…` or `https://…`), or a character or two, before the label.
    icon: Option<Text>,
    /// It destroys something.
    danger: Option<bool>,
}

/// The button for a new conversation.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct CreationEntry {
    /// What stands on it.
    label: Option<Text>,
    /// A picture's address (`/…` or `https://…`), or a character or two, before the label.
    icon: Option<Text>,
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
