//! The properties of the blocks for layout and content.

use super::action::MessageStatus;
use super::define::{choices, properties};
use super::property::{Property, truthy};
#[cfg(feature = "schema")]
use super::schema::{Dynamic, Or, Text};
use serde_json::Value;

/// No properties.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NoProperties {}

properties! {
    /// The properties of a `Columns` block.
    pub struct ColumnsProperties {
        /// The relative widths of the columns, one for each block, for example `[1, 2]`. Default:
        /// equal. Beside a chat or a list of conversations, columns with other blocks are one
        /// region below each other, as wide as all of them.
        #[schemars(inner(range(min = 0.05, max = 100)))]
        pub widths: Vec<f64> = Vec::new(),
    }

    /// The properties of a `Card` block.
    pub struct CardProperties {
        /// The heading.
        #[schemars(with = "Dynamic<String>")]
        pub title: Option<String>,
    }

    /// The properties of a `Tabs` block.
    #[derive(Eq)]
    pub struct TabsProperties {
        /// The labels of the tabs, one for each block.
        #[schemars(with = "Vec<Text>")]
        #[read(titles)]
        pub titles: Vec<String>,
    }

    /// The properties of a `Title` block.
    pub struct TitleProperties {
        /// The heading.
        #[schemars(with = "Dynamic<Text>")]
        pub title: String,
    }

    /// The properties of a `Markdown` block.
    pub struct MarkdownProperties {
        /// The text.
        #[schemars(with = "Dynamic<Text>")]
        pub content: String,
    }

    /// The properties of a `Button` block.
    #[derive(Eq)]
    #[schemars(extend("x-keys-not-yet" = ["icon", "loading"]))]
    pub struct ButtonProperties {
        /// The label of the button.
        #[schemars(with = "Dynamic<Text>")]
        pub title: String,
        /// The style of the button.
        pub variant: ButtonVariant = ButtonVariant::Default,
        /// The button is disabled.
        #[schemars(with = "Dynamic<bool>")]
        #[read(truthy)]
        pub disabled: bool = false,
    }

    /// The properties of a `Table` block.
    pub struct TableProperties {
        /// The heading.
        #[schemars(with = "Dynamic<String>")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub title: Option<String>,
        /// A list of objects, one for each row. Usually an operator.
        #[schemars(with = "Dynamic<Vec<Value>>")]
        pub rows: Vec<Value>,
        /// The columns. Default: all keys of the first row.
        #[schemars(with = "Vec<Or<Text, TableColumn>>")]
        #[serde(skip_serializing_if = "Vec::is_empty")]
        pub columns: Vec<TableColumn> = Vec::new(),
        /// The text that is shown if there are no rows.
        #[schemars(with = "Dynamic<String>")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub empty: Option<String>,
    }

    /// The properties of a `WorkflowTasks` block.
    #[derive(Eq)]
    pub struct WorkflowTasksProperties {
        /// The heading.
        #[schemars(with = "Dynamic<String>")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub title: Option<String>,
        /// The text that is shown if nothing waits for the user. Default: `You have no open tasks.`
        #[schemars(with = "Dynamic<String>")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub empty: Option<String>,
    }

    /// The properties of a `WorkflowRuns` block.
    #[derive(Eq)]
    pub struct WorkflowRunsProperties {
        /// The heading.
        #[schemars(with = "Dynamic<String>")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub title: Option<String>,
        /// The id of the only workflow that can be started here. Default: all that the user may start.
        #[schemars(with = "Dynamic<Text>")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub workflow_id: Option<String>,
    }

    /// The properties of a `Libraries` block.
    #[derive(Eq)]
    pub struct LibrariesProperties {
        /// The heading.
        #[schemars(with = "Dynamic<String>")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub title: Option<String>,
        /// The ids of the libraries that are shown, as far as the user may read them. Default: all that
        /// the user may read. A single one is opened at once.
        #[schemars(with = "Vec<Text>")]
        #[serde(skip_serializing_if = "Vec::is_empty")]
        pub libraries: Vec<String> = Vec::new(),
        /// Whether users can create libraries here.
        #[schemars(with = "Dynamic<bool>")]
        #[read(truthy)]
        pub create: bool = true,
    }

    /// A column of a table.
    #[derive(Eq)]
    #[text(key)]
    pub struct TableColumn {
        /// The key of the value in a row; `a.b` reaches into an object.
        #[schemars(with = "Text")]
        pub key: String,
        /// The heading. Default: derived from the key.
        #[schemars(with = "Text")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub title: Option<String>,
    }

    /// The properties of an `Alert` block.
    #[derive(Eq)]
    #[schemars(extend("x-keys-not-yet" = ["closable", "icon"]))]
    pub struct AlertProperties {
        /// The heading.
        #[schemars(with = "Dynamic<String>")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub title: Option<String>,
        /// The text.
        #[schemars(with = "Dynamic<String>")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub content: Option<String>,
        /// The kind of message.
        #[schemars(with = "Dynamic<MessageStatus>")]
        pub status: MessageStatus = MessageStatus::Info,
    }
}

choices! {
    /// The style of a button.
    #[schemars(extend("x-names" = "variant"))]
    pub enum ButtonVariant {
        /// A normal button.
        Default,
        /// The main action.
        Primary,
        /// A destructive action.
        Danger,
    }
}

/// Reads the titles of tabs. An entry that is no text stays as an empty title, because the titles belong to the blocks
/// by their positions.
fn titles(own: &Value) -> Option<Vec<String>> {
    let titles = own.as_array()?.iter();
    Some(titles.map(|title| String::from_value(title).unwrap_or_default()).collect())
}
