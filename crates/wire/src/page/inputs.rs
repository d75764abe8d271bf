//! The properties of inputs.

use super::define::properties;
use super::property::{Property, truthy};
#[cfg(feature = "schema")]
use super::schema::{Dynamic, NonEmpty, Or, Text};
use serde_json::{Map, Value};

properties! {
    /// The properties of a `TextInput` or a `TextArea` block.
    #[schemars(extend("x-keys-not-yet" = ["rows", "type", "autocomplete"]))]
    pub struct TextInputProperties {
        /// The label. Default: derived from the id.
        #[schemars(with = "Dynamic<Text>")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub label: Option<String>,
        /// The placeholder of an empty input.
        #[schemars(with = "Dynamic<String>")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub placeholder: Option<String>,
        /// The initial value.
        #[schemars(with = "Dynamic<String>")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub initial: Option<Value>,
        /// The input must not be empty.
        #[schemars(with = "Dynamic<bool>")]
        #[read(truthy)]
        pub required: bool = false,
        /// The input is disabled.
        #[schemars(with = "Dynamic<bool>")]
        #[read(truthy)]
        pub disabled: bool = false,
        /// The minimum number of characters.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub min_length: Option<u32>,
        /// The maximum number of characters.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub max_length: Option<u32>,
        /// A regular expression, as in JavaScript, that the whole text must match.
        #[schemars(with = "Text")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub pattern: Option<String>,
        /// The message if the text does not match `pattern`.
        #[schemars(with = "Text")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub pattern_message: Option<String>,
    }

    /// The properties of a `NumberInput` block.
    #[schemars(extend("x-keys-not-yet" = ["step"]))]
    pub struct NumberInputProperties {
        /// The label. Default: derived from the id.
        #[schemars(with = "Dynamic<Text>")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub label: Option<String>,
        /// The placeholder of an empty input.
        #[schemars(with = "Dynamic<String>")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub placeholder: Option<String>,
        /// The initial value.
        #[schemars(with = "Dynamic<f64>")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub initial: Option<Value>,
        /// The input must not be empty.
        #[schemars(with = "Dynamic<bool>")]
        #[read(truthy)]
        pub required: bool = false,
        /// The input is disabled.
        #[schemars(with = "Dynamic<bool>")]
        #[read(truthy)]
        pub disabled: bool = false,
        /// The minimum.
        #[schemars(with = "Dynamic<f64>")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub min: Option<Value>,
        /// The maximum.
        #[schemars(with = "Dynamic<f64>")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub max: Option<Value>,
    }

    /// The properties of a `Select` block.
    pub struct SelectProperties {
        /// The label. Default: derived from the id.
        #[schemars(with = "Dynamic<Text>")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub label: Option<String>,
        /// The placeholder while no option is selected.
        #[schemars(with = "Dynamic<String>")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub placeholder: Option<String>,
        /// The options.
        #[schemars(with = "Dynamic<NonEmpty<Or<Text, SelectOption>>>")]
        pub options: Vec<SelectOption>,
        /// The value that is selected initially.
        #[schemars(with = "Dynamic<Text>")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub initial: Option<Value>,
        /// An option must be selected.
        #[schemars(with = "Dynamic<bool>")]
        #[read(truthy)]
        pub required: bool = false,
        /// The input is disabled.
        #[schemars(with = "Dynamic<bool>")]
        #[read(truthy)]
        pub disabled: bool = false,
    }

    /// The properties of a `MultiSelect` block.
    pub struct MultiSelectProperties {
        /// The label. Default: derived from the id.
        #[schemars(with = "Dynamic<Text>")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub label: Option<String>,
        /// The options.
        #[schemars(with = "Dynamic<NonEmpty<Or<Text, SelectOption>>>")]
        pub options: Vec<SelectOption>,
        /// The values that are selected initially.
        #[schemars(with = "Dynamic<Vec<Text>>")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub initial: Option<Value>,
        /// An option must be selected.
        #[schemars(with = "Dynamic<bool>")]
        #[read(truthy)]
        pub required: bool = false,
        /// The input is disabled.
        #[schemars(with = "Dynamic<bool>")]
        #[read(truthy)]
        pub disabled: bool = false,
        /// The minimum number of selected options.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub min: Option<u32>,
        /// The maximum number of selected options.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub max: Option<u32>,
    }

    /// An option of a `Select` or a `MultiSelect`.
    #[derive(Eq)]
    #[text(value)]
    #[then(label_by_value)]
    pub struct SelectOption {
        /// The stored value.
        #[schemars(with = "Text")]
        pub value: String,
        /// The label. Default: the value.
        #[schemars(with = "Text")]
        pub label: String = String::new(),
    }

    /// The properties of a `Switch` block.
    pub struct SwitchProperties {
        /// The label. Default: derived from the id.
        #[schemars(with = "Dynamic<Text>")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub label: Option<String>,
        /// The initial value.
        #[schemars(with = "Dynamic<bool>")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub initial: Option<Value>,
        /// The input is disabled.
        #[schemars(with = "Dynamic<bool>")]
        #[read(truthy)]
        pub disabled: bool = false,
    }

    /// The properties of a `Checkbox` block.
    pub struct CheckboxProperties {
        /// The label. Default: derived from the id.
        #[schemars(with = "Dynamic<Text>")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub label: Option<String>,
        /// The initial value.
        #[schemars(with = "Dynamic<bool>")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub initial: Option<Value>,
        /// The checkbox must be ticked.
        #[schemars(with = "Dynamic<bool>")]
        #[read(truthy)]
        pub required: bool = false,
        /// The input is disabled.
        #[schemars(with = "Dynamic<bool>")]
        #[read(truthy)]
        pub disabled: bool = false,
    }

    /// The properties of a `DatePicker` block.
    pub struct DatePickerProperties {
        /// The label. Default: derived from the id.
        #[schemars(with = "Dynamic<Text>")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub label: Option<String>,
        /// The day that is selected initially, as `YYYY-MM-DD`.
        #[schemars(with = "Dynamic<Text>")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub initial: Option<Value>,
        /// A day must be selected.
        #[schemars(with = "Dynamic<bool>")]
        #[read(truthy)]
        pub required: bool = false,
        /// The input is disabled.
        #[schemars(with = "Dynamic<bool>")]
        #[read(truthy)]
        pub disabled: bool = false,
        /// The first day that can be selected, as `YYYY-MM-DD`.
        #[schemars(with = "Dynamic<Text>")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub min: Option<String>,
        /// The last day that can be selected, as `YYYY-MM-DD`.
        #[schemars(with = "Dynamic<Text>")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub max: Option<String>,
    }
}

/// Returns the values of the options, unless the options are computed.
pub(super) fn static_choices(properties: &Map<String, Value>) -> Option<Vec<String>> {
    let options = Vec::<SelectOption>::from_value(properties.get("options")?)?;
    Some(options.into_iter().map(|choice| choice.value).collect())
}

fn label_by_value(option: SelectOption) -> SelectOption {
    let label = if option.label.is_empty() { option.value.clone() } else { option.label };
    SelectOption { label, ..option }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn options_are_texts_or_pairs() {
        let check = |option: Value, expected: Option<(&str, &str)>| {
            let choice = SelectOption::from_value(&option).map(|choice| (choice.value, choice.label));
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
