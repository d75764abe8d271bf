//! The schema of the block `AgentConversations`.

use crate::section::dynamic::Dynamic;
use crate::section::value::Text;
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde_json::Value;

#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct AgentConversationsEntry {
    /// The label of the button for a new conversation, if the list shows the stored conversations.
    new_label: Option<Text>,
    /// The language and the texts of this list, if they differ from those of the page.
    #[schemars(with = "Option<crate::section::locale::LocaleEntry>", extend("x-checked-apart" = true))]
    #[serde(default)]
    locale: Value,
    /// Items to show instead of the stored conversations. The page stores them and handles their
    /// events.
    items: Option<Dynamic<Vec<ConversationItemEntry>>>,
    /// The key of the selected item.
    active_key: Option<Dynamic<Text>>,
    /// The menu of each item.
    menu: Option<Dynamic<Vec<MenuItemEntry>>>,
    /// The button above the items.
    creation: Option<Dynamic<CreationEntry>>,
    /// Groups items under headings.
    groupable: Option<Dynamic<GroupableEntry>>,
    /// The maximum width in pixels.
    #[schemars(range(min = 100, max = 2000))]
    width: Option<f64>,
}

/// An item of a list that the page stores.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct ConversationItemEntry {
    /// The item's key, unique in the list.
    key: Text,
    /// The label. Default: the key.
    label: Option<Text>,
    /// The icon before the label: the address of an image (`/…` or `https://…`), or one or two
    /// characters.
    icon: Option<Text>,
    /// The item cannot be selected.
    disabled: Option<bool>,
    /// The time of the item. A number is Unix time in milliseconds.
    timestamp: Option<Value>,
    /// The item's group.
    group: Option<Text>,
    /// A reply is being written in it.
    loading: Option<bool>,
}

/// An entry of a menu.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct MenuItemEntry {
    /// The entry's key, which is the `action` of the event.
    key: Text,
    /// The label. Default: the key.
    label: Option<Text>,
    /// The icon before the label: the address of an image (`/…` or `https://…`), or one or two
    /// characters.
    icon: Option<Text>,
    /// The entry is destructive.
    danger: Option<bool>,
}

/// The button for a new conversation.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct CreationEntry {
    /// The label of the button.
    label: Option<Text>,
    /// The icon before the label: the address of an image (`/…` or `https://…`), or one or two
    /// characters.
    icon: Option<Text>,
    /// The alignment of the label.
    align: Option<AlignEntry>,
}

/// The alignment of a label.
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
    /// Whether items are grouped, with the default settings.
    Switch(bool),
    /// Items are grouped with these settings.
    Options(GroupOptions),
}

#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct GroupOptions {
    /// Whether groups can be collapsed. Default: `true`.
    collapsible: Option<bool>,
    /// The headings by group. Default: the name of the group.
    label: Option<IndexMap<String, Text>>,
    /// The groups that are expanded at first. Default: all.
    default_expanded_keys: Option<Vec<Text>>,
}
