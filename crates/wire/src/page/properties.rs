//! The properties of blocks as types: for pages in Rust, and for the few that the server itself reads.

use crate::locale::Locale;
use serde::Serialize;
use serde_json::{Map, Value};

/// The properties of an input; which apply follows from its type.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Input {
    /// Its label; the id in words without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Shown while it is empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub placeholder: Option<String>,
    /// Of a `Select` or a `MultiSelect`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<Choice>,
    /// What it holds at first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial: Option<Value>,
    /// It must not stay empty; a checkbox must be ticked.
    pub required: bool,
    /// It cannot be changed now.
    pub disabled: bool,
    /// The least number, the first day, or how many must be chosen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<Value>,
    /// The greatest number, the last day, or how many may be chosen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<Value>,
    /// Characters that a text must have at least.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_length: Option<u32>,
    /// Characters that a text may have at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_length: Option<u32>,
    /// A regular expression, as in JavaScript, that the whole text must match.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// What is said when the text does not match `pattern`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pattern_message: Option<String>,
}

/// One option of a `Select` or a `MultiSelect`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Choice {
    /// What is stored.
    pub value: String,
    /// What is shown.
    pub label: String,
}

impl Choice {
    /// An option as it is written: a text that is shown and stored, or `{value, label}`.
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

/// The values of the options, unless these are computed.
pub(super) fn static_choices(properties: &Map<String, Value>) -> Option<Vec<String>> {
    let options = properties.get("options")?.as_array()?;
    Some(options.iter().filter_map(Choice::read).map(|choice| choice.value).collect())
}

/// How columns share the width.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ColumnsProperties {
    /// Shares of the width, for example `[1, 2]`; empty: equal shares.
    pub widths: Vec<f64>,
}

impl ColumnsProperties {
    /// Out of a block's properties.
    pub fn read(properties: &Map<String, Value>) -> Self {
        let widths = properties.get("widths").and_then(Value::as_array).into_iter().flatten();
        Self { widths: widths.filter_map(Value::as_f64).collect() }
    }
}

/// The names of tabs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TabsProperties {
    /// One for each block.
    pub titles: Vec<String>,
}

impl TabsProperties {
    /// Out of a block's properties.
    pub fn read(properties: &Map<String, Value>) -> Self {
        let titles = properties.get("titles").and_then(Value::as_array).into_iter().flatten();
        Self { titles: titles.map(|title| as_text(title).unwrap_or_default()).collect() }
    }
}

/// A button.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ButtonProperties {
    /// What stands on it.
    pub title: String,
    /// `primary`, `danger` or `default`.
    pub variant: &'static str,
    /// It cannot be pressed now.
    pub disabled: bool,
}

/// A message in the page.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AlertProperties {
    /// Its heading.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// `info`, `success`, `warning` or `error`.
    pub status: &'static str,
}

/// Rows of values.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TableProperties {
    /// Its heading.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What is shown of each row; empty: every key of the first one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<TableColumn>,
    /// Objects, one for each row.
    pub rows: Vec<Value>,
    /// What is said when there are no rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub empty: Option<String>,
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TableColumn {
    /// The key of the value in a row; `a.b` reaches into an object.
    pub key: String,
    /// Its heading.
    pub title: String,
}

/// The list's properties.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentConversationsProperties {
    /// The label of the button for a new conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new_label: Option<String>,
    /// The words of this list, where they are others than those of the page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub locale: Option<Locale>,
}

impl AgentConversationsProperties {
    /// Out of a block's properties.
    pub fn read(properties: &Map<String, Value>) -> Self {
        Self {
            new_label: text(properties, "newLabel"),
            locale: properties.get("locale").and_then(Value::as_object).map(Locale::read),
        }
    }
}

/// A property as text.
pub(super) fn text(properties: &Map<String, Value>, key: &str) -> Option<String> {
    properties.get(key).and_then(as_text)
}

/// A value as a reader sees it: text as it is, `null` as nothing, everything else as JSON.
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
            let choice = Choice::read(&option).map(|choice| (choice.value, choice.label));
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
