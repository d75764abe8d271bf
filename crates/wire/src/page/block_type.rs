//! The types of blocks.

use super::define::types;
use super::inputs::static_choices;
use super::shared::FieldType;
#[cfg(feature = "schema")]
use super::{
    AgentChatProperties, AgentConversationsProperties, AlertProperties, ButtonProperties, CardProperties,
    CheckboxProperties, ColumnsProperties, DatePickerProperties, ItemListProperties, LibrariesProperties,
    MarkdownProperties, MultiSelectProperties, NoProperties, NumberInputProperties, SelectProperties, SwitchProperties,
    TableProperties, TabsProperties, TextInputProperties, TitleProperties, WorkflowRunsProperties,
    WorkflowTasksProperties, schema::Both,
};
use serde_json::{Map, Value};

types! {
    /// The type of a block, with its properties.
    pub enum BlockType ("properties", named "block type", not_yet []) {
        /// Arranges its blocks vertically.
        Box(NoProperties),
        /// Arranges its blocks in columns, which are stacked on a narrow screen.
        Columns(ColumnsProperties),
        /// A framed group with a heading.
        Card(CardProperties),
        /// Shows one of its blocks at a time.
        Tabs(TabsProperties),
        /// A heading.
        Title(TitleProperties),
        /// Text in Markdown.
        Markdown(MarkdownProperties),
        /// An input for one line of text.
        TextInput(TextInputProperties),
        /// An input for several lines of text.
        TextArea(TextInputProperties),
        /// An input for a number.
        NumberInput(NumberInputProperties),
        /// Selects one option.
        Select(SelectProperties),
        /// Selects several options.
        MultiSelect(MultiSelectProperties),
        /// A toggle switch.
        Switch(SwitchProperties),
        /// A checkbox.
        Checkbox(CheckboxProperties),
        /// Selects a day.
        DatePicker(DatePickerProperties),
        /// A button.
        Button(ButtonProperties),
        /// A table.
        Table(TableProperties),
        /// A message in the page.
        Alert(AlertProperties),
        /// A chat with an agent.
        AgentChat(AgentChatProperties),
        /// The list of conversations.
        AgentConversations(Both<AgentConversationsProperties, ItemListProperties>),
        /// The questions of workflows to the user: approvals, choices and forms.
        WorkflowTasks(WorkflowTasksProperties),
        /// The user's runs of workflows, with a form that starts one and a picture of each.
        WorkflowRuns(WorkflowRunsProperties),
        /// Libraries of documents: what is in them, uploads, searches, and who may read them.
        Libraries(LibrariesProperties),
    }
    /// A type that a program adds: [`Block::added`](super::Block::added).
    and Added
}

impl BlockType {
    /// Returns the type of value that an input of this type holds; `None` for blocks without a
    /// value.
    pub fn field_type(self, properties: &Map<String, Value>) -> Option<FieldType> {
        Some(match self {
            Self::TextInput | Self::TextArea => FieldType::Text,
            Self::NumberInput => FieldType::Number,
            Self::Switch | Self::Checkbox => FieldType::Boolean,
            Self::DatePicker => FieldType::Date,
            // Computed options are not known here, so any text is accepted.
            Self::Select => match static_choices(properties) {
                Some(options) => FieldType::Choice { options },
                None => FieldType::Text,
            },
            Self::MultiSelect => FieldType::Choices { options: static_choices(properties).unwrap_or_default() },
            _ => return None,
        })
    }

    /// Returns the value of an empty input of this type.
    pub fn empty_value(self) -> Value {
        match self {
            Self::Switch | Self::Checkbox => Value::Bool(false),
            Self::MultiSelect => Value::Array(Vec::new()),
            _ => Value::Null,
        }
    }
}
