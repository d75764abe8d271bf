//! The properties of an `AgentConversations` block.

use super::define::{choices, properties};
use super::property::{Property, truthy};
#[cfg(feature = "schema")]
use super::schema::{Dynamic, LocaleEntry, Or, Text};
use crate::locale::Locale;
use serde_json::{Map, Value};
#[cfg(feature = "schema")]
use std::collections::BTreeMap;

properties! {
    /// The properties of an `AgentConversations` block.
    #[derive(Eq)]
    pub struct AgentConversationsProperties {
        /// The label of the button for a new conversation, if the list shows the stored conversations.
        #[schemars(with = "Text")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub new_label: Option<String>,
        /// The language and the texts of this list, if they differ from those of the page.
        #[schemars(with = "LocaleEntry", extend("x-checked-apart" = true))]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub locale: Option<Locale>,
    }

    /// The properties of an `AgentConversations` block that shows items of the page instead. `menu`,
    /// `creation` and `width` also apply to the stored conversations.
    pub struct ItemListProperties {
        /// Items to show instead of the stored conversations. The page stores them and handles their
        /// events.
        #[schemars(with = "Dynamic<Vec<ConversationItem>>")]
        pub items: Vec<Value> = Vec::new(),
        /// The key of the selected item. Needs `items`.
        #[schemars(with = "Dynamic<Text>")]
        pub active_key: Option<String>,
        /// Entries for the menu of each item, or of each stored conversation after its own ones. A
        /// click is the event `onMenuClick`.
        #[schemars(with = "Dynamic<Vec<MenuItem>>")]
        pub menu: Vec<MenuItem> = Vec::new(),
        /// The button above the list.
        #[schemars(with = "Dynamic<Creation>")]
        pub creation: Creation = Creation::default(),
        /// Groups items under headings. Needs `items`.
        #[schemars(with = "Dynamic<Or<bool, Grouping>>")]
        #[read(grouping)]
        pub groupable: Option<Grouping>,
        /// The maximum width in pixels. Default: 250 for `items`, otherwise that of the container.
        #[schemars(range(min = 100, max = 2000))]
        pub width: Option<f64>,
    }

    /// An item of a list that the page stores.
    pub struct ConversationItem {
        /// The item's key, unique in the list.
        #[schemars(with = "Text")]
        pub key: String,
        /// The label. Default: the key.
        #[schemars(with = "Text")]
        pub label: Option<String>,
        /// The icon before the label: the address of an image (`/…` or `https://…`), or one or two
        /// characters.
        #[schemars(with = "Text")]
        pub icon: Option<String>,
        /// The item cannot be selected.
        #[read(truthy)]
        pub disabled: bool = false,
        /// The time of the item. A number is Unix time in milliseconds.
        pub timestamp: Option<Value>,
        /// The item's group.
        #[schemars(with = "Text")]
        pub group: Option<String>,
        /// A reply is being written in it.
        #[read(truthy)]
        pub loading: bool = false,
    }

    /// An entry of a menu.
    pub struct MenuItem {
        /// The entry's key, which is the `action` of the event.
        #[schemars(with = "Text")]
        pub key: String,
        /// The label. Default: the key.
        #[schemars(with = "Text")]
        pub label: Option<String>,
        /// The icon before the label: the address of an image (`/…` or `https://…`), or one or two
        /// characters.
        #[schemars(with = "Text")]
        pub icon: Option<String>,
        /// The entry is destructive.
        #[read(truthy)]
        pub danger: bool = false,
    }

    /// The button for a new conversation.
    pub struct Creation {
        /// The label of the button.
        #[schemars(with = "Text")]
        pub label: Option<String>,
        /// The icon before the label: the address of an image (`/…` or `https://…`), or one or two
        /// characters.
        #[schemars(with = "Text")]
        pub icon: Option<String>,
        /// The alignment of the label.
        pub align: Alignment = Alignment::Start,
    }

    /// How items are grouped.
    pub struct Grouping {
        /// Whether groups can be collapsed.
        pub collapsible: bool = true,
        /// The headings by group. Default: the name of the group.
        #[schemars(with = "BTreeMap<String, Text>")]
        pub label: Map<String, Value> = Map::new(),
        /// The groups that are expanded at first. Default: all.
        #[schemars(with = "Vec<Text>")]
        pub default_expanded_keys: Option<Vec<String>>,
    }
}

choices! {
    /// The alignment of a label.
    pub enum Alignment {
        /// At the start of the line.
        Start,
        /// In the middle of the line.
        Center,
        /// At the end of the line.
        End,
    }
}

/// Reads whether and how items are grouped: a flag, or settings.
fn grouping(own: &Value) -> Option<Grouping> {
    truthy(own)?.then(|| Grouping::from_value(own).unwrap_or_default())
}

impl ItemListProperties {
    /// The maximum width of a list with items in pixels, if it has no other.
    pub const ITEMS_WIDTH: f64 = 250.0;
    /// The properties that also apply to a list of the stored conversations.
    pub const OF_STORED: [&str; 3] = ["menu", "creation", "width"];
}
