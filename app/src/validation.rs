//! Validates the values of inputs.

use crate::properties::Properties;
use crate::texts::{Text, fill, t};
use serde_json::Value;
use wire::page::BlockType;

/// Returns the error message for a value, for the user who entered it. Tracks the properties that
/// it reads.
pub(crate) fn validation_error(kind: BlockType, properties: Properties, value: &Value) -> Option<String> {
    let is_empty = match value {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(chosen) => chosen.is_empty(),
        _ => false,
    };
    if is_empty {
        return properties.flag("required").then(|| {
            match kind {
                BlockType::Checkbox => t(Text::MustBeTicked),
                BlockType::Select | BlockType::MultiSelect | BlockType::DatePicker => t(Text::ChooseOne),
                _ => t(Text::IsNeeded),
            }
            .to_owned()
        });
    }
    let (min, max) = (properties.value("min"), properties.value("max"));
    match value {
        Value::String(text) if kind == BlockType::DatePicker => date_error(text, &min, &max),
        Value::String(text) if matches!(kind, BlockType::TextInput | BlockType::TextArea) => {
            text_error(text, properties)
        }
        Value::Number(number) => number_error(number.as_f64()?, bound(&min), bound(&max)),
        Value::Array(chosen) => count_error(chosen.len() as f64, bound(&min), bound(&max)),
        _ => None,
    }
}

/// Checks a date. Dates as `YYYY-MM-DD` sort like their texts.
fn date_error(text: &str, min: &Value, max: &Value) -> Option<String> {
    if let Some(min) = min.as_str().filter(|min| text < *min) {
        return Some(fill(Text::DayFrom, &[min]));
    }
    max.as_str().filter(|max| text > *max).map(|max| fill(Text::DayUpTo, &[max]))
}

/// A bound with its text. The text is the JSON number's own, because formatting floating-point
/// numbers would add some kilobytes to the download.
struct Bound {
    value: f64,
    text: String,
}

fn bound(value: &Value) -> Option<Bound> {
    Some(Bound { value: value.as_f64()?, text: wire::json::text(value) })
}

fn number_error(number: f64, min: Option<Bound>, max: Option<Bound>) -> Option<String> {
    if min.as_ref().is_none_or(|min| number >= min.value) && max.as_ref().is_none_or(|max| number <= max.value) {
        return None;
    }
    Some(match (min, max) {
        (Some(min), Some(max)) => fill(Text::NumberBetween, &[&min.text, &max.text]),
        (Some(min), None) => fill(Text::NumberAtLeast, &[&min.text]),
        (None, max) => fill(Text::NumberAtMost, &[&max?.text]),
    })
}

fn count_error(chosen: f64, min: Option<Bound>, max: Option<Bound>) -> Option<String> {
    if let Some(min) = min.filter(|min| chosen < min.value) {
        return Some(fill(Text::ChooseAtLeast, &[&min.text]));
    }
    max.filter(|max| chosen > max.value).map(|max| fill(Text::ChooseAtMost, &[&max.text]))
}

fn text_error(text: &str, properties: Properties) -> Option<String> {
    let length = text.chars().count() as f64;
    let of = |key: &str| bound(&properties.value(key));
    if let Some(least) = of("minLength").filter(|least| length < least.value) {
        return Some(fill(Text::WriteAtLeast, &[&least.text]));
    }
    if let Some(most) = of("maxLength").filter(|most| length > most.value) {
        return Some(fill(Text::WriteAtMost, &[&most.text]));
    }
    properties.text("pattern").filter(|pattern| !matches_pattern(pattern, text))?;
    Some(properties.text("patternMessage").unwrap_or_else(|| t(Text::WrongForm).to_owned()))
}

/// Returns whether the whole text matches, by the rules of HTML's attribute `pattern`. Uses the
/// browser's regular expressions: an engine of our own would be a fifth of the download.
#[cfg(not(feature = "ssr"))]
fn matches_pattern(pattern: &str, text: &str) -> bool {
    js_sys::RegExp::new(&format!("^(?:{pattern})$"), "u").test(text)
}

/// Accepts every text: inputs are validated in the browser only.
#[cfg(feature = "ssr")]
fn matches_pattern(_: &str, _: &str) -> bool {
    true
}

#[cfg(all(test, feature = "ssr"))]
mod tests {
    use super::*;
    use leptos::prelude::Owner;
    use serde_json::json;

    fn check(kind: BlockType, properties: Value, value: Value, expected: &str) {
        let properties = properties.as_object().cloned().unwrap_or_default();
        let seen = Owner::new().with(|| validation_error(kind, Properties::from_config(properties), &value));
        assert_eq!(seen.unwrap_or_default(), expected, "{value}");
    }

    #[test]
    fn empty_required_values_are_rejected() {
        check(BlockType::TextInput, json!({"required": true}), json!(" "), "This field is required.");
        check(BlockType::TextInput, json!({"required": false}), json!(null), "");
        check(BlockType::NumberInput, json!({"required": true}), json!(0), "");
        check(BlockType::Checkbox, json!({"required": true}), json!(false), "Please tick this box.");
        check(BlockType::MultiSelect, json!({"required": true}), json!([]), "Please choose one.");
    }

    #[test]
    fn values_out_of_bounds_are_rejected() {
        check(BlockType::NumberInput, json!({"min": 1, "max": 9}), json!(10), "The number must be between 1 and 9.");
        check(BlockType::NumberInput, json!({"min": 1}), json!(0.5), "The number must be at least 1.");
        check(BlockType::NumberInput, json!({"max": 9}), json!(9), "");
        check(BlockType::TextInput, json!({"minLength": 3}), json!("éé"), "Write at least 3 characters.");
        check(BlockType::TextArea, json!({"maxLength": 2}), json!("abc"), "Write at most 2 characters.");
        check(
            BlockType::DatePicker,
            json!({"min": "2026-11-20"}),
            json!("2026-11-19"),
            "Choose 2026-11-20 or a later day.",
        );
        check(BlockType::DatePicker, json!({"max": "2026-11-20"}), json!("2026-11-20"), "");
        check(BlockType::MultiSelect, json!({"min": 2, "max": 3}), json!(["a"]), "Choose at least 2.");
        check(BlockType::MultiSelect, json!({"max": 1}), json!(["a", "b"]), "Choose at most 1.");
    }

    #[test]
    fn rules_of_the_wrong_type_are_ignored() {
        check(BlockType::NumberInput, json!({"min": "five"}), json!(1), "");
        check(BlockType::DatePicker, json!({"min": 7}), json!("2026-11-20"), "");
    }
}
