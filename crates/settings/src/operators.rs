//! Operators, which are evaluated for each turn. `config` checks and evaluates them; here is what
//! the schema says about them.

use schemars::Schema;
use serde_json::{Value, json};

/// Allows an operator in place of each property of a mapping, and of each item of a list in it:
/// `#[schemars(transform = settings::allow_operators)]`.
pub fn allow_operators(schema: &mut Schema) {
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
    properties.into_iter().flatten().for_each(|(_, property)| allow_operator(property, "TurnOperator"));
}

/// Allows an operator in place of a value, and of each item if it is a list. `definition` is the
/// name of the operators' schema.
pub fn allow_operator(schema: &mut Value, definition: &str) {
    let Value::Object(keywords) = schema else { return };
    keywords.get_mut("items").into_iter().for_each(|items| allow_operator(items, definition));
    let kept = ["description", "default"].map(|keyword| keywords.remove_entry(keyword));
    let own = std::mem::take(keywords);
    keywords.extend(kept.into_iter().flatten());
    keywords.insert("anyOf".to_owned(), json!([own, { "$ref": format!("#/$defs/{definition}") }]));
}
