//! The properties of the inputs, brought together.

use super::block_entry::{
    ChoiceEntry, DatePickerProperties, NumberInputProperties, SelectProperties, SwitchProperties, TextInputProperties,
};
use super::value::Text;
use serde_json::Value;

/// The properties of an input, whatever its type.
#[derive(Default)]
pub(super) struct InputParts {
    pub(super) label: Option<Text>,
    pub(super) placeholder: Option<String>,
    pub(super) options: Vec<ChoiceEntry>,
    pub(super) initial: Option<Value>,
}

impl From<TextInputProperties> for InputParts {
    fn from(own: TextInputProperties) -> Self {
        Self {
            label: own.label,
            placeholder: own.placeholder,
            initial: own.initial.map(Value::from),
            ..Self::default()
        }
    }
}

impl From<NumberInputProperties> for InputParts {
    fn from(own: NumberInputProperties) -> Self {
        Self {
            label: own.label,
            placeholder: own.placeholder,
            initial: own.initial.map(Value::from),
            ..Self::default()
        }
    }
}

impl From<SelectProperties> for InputParts {
    fn from(own: SelectProperties) -> Self {
        let initial = own.initial.map(|Text(text)| Value::from(text));
        Self { label: own.label, placeholder: own.placeholder, options: own.options, initial }
    }
}

impl From<SwitchProperties> for InputParts {
    fn from(own: SwitchProperties) -> Self {
        Self { label: own.label, initial: own.initial.map(Value::from), ..Self::default() }
    }
}

impl From<DatePickerProperties> for InputParts {
    fn from(own: DatePickerProperties) -> Self {
        Self { label: own.label, initial: own.initial.map(|Text(text)| Value::from(text)), ..Self::default() }
    }
}
