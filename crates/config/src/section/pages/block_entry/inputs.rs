//! The schemas of input blocks.

use crate::section::dynamic::Dynamic;
use crate::section::value::Text;
use schemars::JsonSchema;

#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-keys-not-yet" = ["rows", "type", "autocomplete"]))]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct TextEntry {
    /// The label. Default: derived from the id.
    label: Option<Dynamic<Text>>,
    /// The placeholder of an empty input.
    placeholder: Option<Dynamic<String>>,
    /// The initial value.
    initial: Option<Dynamic<String>>,
    /// The input must not be empty.
    required: Option<Dynamic<bool>>,
    /// The input is disabled.
    disabled: Option<Dynamic<bool>>,
    /// The minimum number of characters.
    min_length: Option<u32>,
    /// The maximum number of characters.
    max_length: Option<u32>,
    /// A regular expression, as in JavaScript, that the whole text must match.
    pattern: Option<Text>,
    /// The message if the text does not match `pattern`.
    pattern_message: Option<Text>,
}

#[derive(JsonSchema)]
#[schemars(extend("x-keys-not-yet" = ["step"]))]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct NumberEntry {
    /// The label. Default: derived from the id.
    label: Option<Dynamic<Text>>,
    /// The placeholder of an empty input.
    placeholder: Option<Dynamic<String>>,
    /// The initial value.
    initial: Option<Dynamic<f64>>,
    /// The input must not be empty.
    required: Option<Dynamic<bool>>,
    /// The input is disabled.
    disabled: Option<Dynamic<bool>>,
    /// The minimum.
    min: Option<Dynamic<f64>>,
    /// The maximum.
    max: Option<Dynamic<f64>>,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct SelectEntry {
    /// The label. Default: derived from the id.
    label: Option<Dynamic<Text>>,
    /// The placeholder while no option is selected.
    placeholder: Option<Dynamic<String>>,
    /// The options.
    options: Dynamic<Choices>,
    /// The value that is selected initially.
    initial: Option<Dynamic<Text>>,
    /// An option must be selected.
    required: Option<Dynamic<bool>>,
    /// The input is disabled.
    disabled: Option<Dynamic<bool>>,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct MultiSelectEntry {
    /// The label. Default: derived from the id.
    label: Option<Dynamic<Text>>,
    /// The options.
    options: Dynamic<Choices>,
    /// The values that are selected initially.
    initial: Option<Dynamic<Vec<Text>>>,
    /// An option must be selected.
    required: Option<Dynamic<bool>>,
    /// The input is disabled.
    disabled: Option<Dynamic<bool>>,
    /// The minimum number of selected options.
    min: Option<u32>,
    /// The maximum number of selected options.
    max: Option<u32>,
}

/// The options.
#[derive(JsonSchema)]
#[serde(transparent)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct Choices(#[schemars(length(min = 1))] Vec<ChoiceEntry>);

/// An option.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) enum ChoiceEntry {
    /// The value, which is also the label.
    Short(Text),
    /// A value with a label.
    Long(ChoiceProperties),
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct ChoiceProperties {
    /// What is stored.
    value: Text,
    /// The label. Default: the value.
    label: Option<Text>,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct SwitchEntry {
    /// The label. Default: derived from the id.
    label: Option<Dynamic<Text>>,
    /// The initial value.
    initial: Option<Dynamic<bool>>,
    /// The input is disabled.
    disabled: Option<Dynamic<bool>>,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct CheckboxEntry {
    /// The label. Default: derived from the id.
    label: Option<Dynamic<Text>>,
    /// The initial value.
    initial: Option<Dynamic<bool>>,
    /// The checkbox must be ticked.
    required: Option<Dynamic<bool>>,
    /// The input is disabled.
    disabled: Option<Dynamic<bool>>,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct DateEntry {
    /// The label. Default: derived from the id.
    label: Option<Dynamic<Text>>,
    /// The day that is selected initially, as `YYYY-MM-DD`.
    initial: Option<Dynamic<Text>>,
    /// A day must be selected.
    required: Option<Dynamic<bool>>,
    /// The input is disabled.
    disabled: Option<Dynamic<bool>>,
    /// The first day that can be selected, as `YYYY-MM-DD`.
    min: Option<Dynamic<Text>>,
    /// The last day that can be selected, as `YYYY-MM-DD`.
    max: Option<Dynamic<Text>>,
}
