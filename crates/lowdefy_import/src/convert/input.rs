//! Blocks that users enter something into.

use super::blocks::retype;
use super::{Notes, leave_out_keys};
use crate::tree::Tree;

/// The inputs, with the type that is most like each.
const INPUTS: [(&str, &str); 15] = [
    ("TextInput", "TextInput"),
    ("AutoComplete", "TextInput"),
    ("PhoneNumberInput", "TextInput"),
    ("TextArea", "TextArea"),
    ("NumberInput", "NumberInput"),
    ("Selector", "Select"),
    ("RadioSelector", "Select"),
    ("ButtonSelector", "Select"),
    ("SegmentedSelector", "Select"),
    ("MultipleSelector", "MultiSelect"),
    ("CheckboxSelector", "MultiSelect"),
    ("Switch", "Switch"),
    ("CheckboxSwitch", "Checkbox"),
    ("DateSelector", "DatePicker"),
    ("DatePicker", "DatePicker"),
];

/// Whether blocks of a type are inputs, in either language.
pub(super) fn is_input(kind: &str) -> bool {
    INPUTS.iter().any(|(name, now)| [*name, *now].contains(&kind))
}

/// Converts a block, if it is an input. Returns whether it is one.
pub(super) fn convert(block: &mut Tree, kind: &str, notes: &mut Notes<'_>) -> bool {
    let Some((_, now)) = INPUTS.iter().find(|(name, _)| *name == kind) else { return false };
    retype(block, now);
    let help = "use `pattern`, `minLength`, `min` or `max` of the input, or check the value in the endpoint";
    leave_out_keys(block, &[("validate", help)], notes);
    if let Some(required) = block.remove("required") {
        // A text is the message, which is a text of the server here.
        let value = match required.value.text() {
            Some(_) => Tree::new(required.value.at, crate::tree::Value::Bool(true)),
            None => required.value,
        };
        if let Some(properties) = block.map_of("properties") {
            properties.set("required", value);
        }
    }
    if let Some(properties) = block.get_mut("properties") {
        if properties.get("label").is_some_and(Tree::is_map) {
            leave_out_keys(properties, &[("label", "the label is a text")], notes);
        }
        properties.rename("title", "label");
    }
    true
}
