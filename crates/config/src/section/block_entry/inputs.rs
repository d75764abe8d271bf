//! How the inputs of a page are written.

use crate::section::dynamic::Dynamic;
use crate::section::value::Text;
use schemars::JsonSchema;

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
