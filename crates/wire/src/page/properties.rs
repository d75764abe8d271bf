//! Block properties as types: for pages in Rust, and for the few that the server itself reads.

use crate::locale::Locale;
use serde::Serialize;
use serde_json::{Map, Value};

/// The properties of an input; which of them apply depends on its type.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct InputProperties {
    /// The label; if absent, it is derived from the id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The placeholder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub placeholder: Option<String>,
    /// The options of a `Select` or a `MultiSelect`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<SelectOption>,
    /// The initial value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial: Option<Value>,
    /// Whether a value is required; a checkbox must be ticked.
    pub required: bool,
    /// Whether the input is disabled.
    pub disabled: bool,
    /// The minimum: a number, a date, or how many options must be chosen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<Value>,
    /// The maximum: a number, a date, or how many options may be chosen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<Value>,
    /// The minimum length of a text in characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_length: Option<u32>,
    /// The maximum length of a text in characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_length: Option<u32>,
    /// A JavaScript regular expression that the whole text must match.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// The error message for a text that does not match `pattern`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pattern_message: Option<String>,
}

/// An option of a `Select` or a `MultiSelect`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SelectOption {
    /// The stored value.
    pub value: String,
    /// The displayed label.
    pub label: String,
}

impl SelectOption {
    /// Reads an option: a text that is both value and label, or `{value, label}`.
    pub fn read(option: &Value) -> Option<Self> {
        match option {
            Value::Object(own) => {
                let value = text(own, "value")?;
                Some(Self { label: text(own, "label").unwrap_or_else(|| value.clone()), value })
            }
            other => as_text(other).map(|value| Self { label: value.clone(), value }),
        }
    }
}

/// Returns the values of the options, unless the options are computed.
pub(super) fn static_choices(properties: &Map<String, Value>) -> Option<Vec<String>> {
    let options = properties.get("options")?.as_array()?;
    Some(options.iter().filter_map(SelectOption::read).map(|choice| choice.value).collect())
}

/// The properties of a `Columns` block.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ColumnsProperties {
    /// Relative widths, for example `[1, 2]`; empty for equal widths.
    pub widths: Vec<f64>,
}

impl ColumnsProperties {
    /// Reads a block's properties.
    pub fn read(properties: &Map<String, Value>) -> Self {
        let widths = properties.get("widths").and_then(Value::as_array).into_iter().flatten();
        Self { widths: widths.filter_map(Value::as_f64).collect() }
    }
}

/// The properties of a `Tabs` block.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TabsProperties {
    /// The titles, one for each block.
    pub titles: Vec<String>,
}

impl TabsProperties {
    /// Reads a block's properties.
    pub fn read(properties: &Map<String, Value>) -> Self {
        let titles = properties.get("titles").and_then(Value::as_array).into_iter().flatten();
        Self { titles: titles.map(|title| as_text(title).unwrap_or_default()).collect() }
    }
}

/// The properties of a `Button` block.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ButtonProperties {
    /// The label.
    pub title: String,
    /// `primary`, `danger` or `default`.
    pub variant: &'static str,
    /// Whether the button is disabled.
    pub disabled: bool,
}

/// The properties of an `Alert` block.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AlertProperties {
    /// The heading.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// `info`, `success`, `warning` or `error`.
    pub status: &'static str,
}

/// The properties of a `Table` block.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TableProperties {
    /// The heading.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The columns; if empty, every key of the first row.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<TableColumn>,
    /// The rows, one object each.
    pub rows: Vec<Value>,
    /// The text that is shown if there are no rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub empty: Option<String>,
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TableColumn {
    /// The key of the value in a row; `a.b` accesses a nested object.
    pub key: String,
    /// The heading.
    pub title: String,
}

/// The properties of an `AgentConversations` block.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentConversationsProperties {
    /// The label of the button for a new conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new_label: Option<String>,
    /// Texts of this list that differ from those of the page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub locale: Option<Locale>,
}

impl AgentConversationsProperties {
    /// Reads a block's properties.
    pub fn read(properties: &Map<String, Value>) -> Self {
        Self {
            new_label: text(properties, "newLabel"),
            locale: properties.get("locale").and_then(Value::as_object).map(Locale::read),
        }
    }
}

/// Returns a property as text.
pub(super) fn text(properties: &Map<String, Value>, key: &str) -> Option<String> {
    properties.get(key).and_then(as_text)
}

/// Converts a value to text: text unchanged, `null` to `None`, everything else as JSON.
pub fn as_text(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn options_are_texts_or_pairs() {
        let check = |option: Value, expected: Option<(&str, &str)>| {
            let choice = SelectOption::read(&option).map(|choice| (choice.value, choice.label));
            assert_eq!(choice.as_ref().map(|(value, label)| (value.as_str(), label.as_str())), expected, "{option}");
        };
        check(json!("a"), Some(("a", "a")));
        check(json!(7), Some(("7", "7")));
        check(json!({"value": "a", "label": "A"}), Some(("a", "A")));
        check(json!({"value": "a"}), Some(("a", "a")));
        check(json!({"label": "A"}), None);
        check(json!(null), None);
    }
}
