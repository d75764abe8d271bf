//! What a value refers to.

use crate::path::{ValuePath, is_path};
use operators::{ExpressionLanguage, name_outside_functions, operator};
use serde_json::Value;

/// The operators that read a value in a workflow.
pub const OPERATORS: [&str; 7] = ["_input", "_step", "_item", "_user", "_error", "_expr", "_template"];

/// A key or an index on the way to a part of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A key.
    Key(String),
    /// An index.
    Index(usize),
}

/// What a part of a value refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference<'v> {
    /// What it refers to.
    pub target: Target<'v>,
    /// The place of the part in the value.
    pub place: Vec<Place>,
}

/// What a part of a value may refer to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target<'v> {
    /// The result of the step with this id.
    Step(&'v str),
    /// The item of a loop by its name, or its index.
    Item(&'v str),
    /// A path into the input or the user, which every step has.
    Given,
    /// A path that begins with the id of a step or the name of an item.
    Path(&'v str),
    /// The error of a step.
    Error,
    /// The results of all steps.
    AllSteps,
    /// The source of an expression or a template.
    Source(ExpressionLanguage, &'v str),
    /// A path that cannot be parsed.
    InvalidPath(&'v str),
}

/// Returns whether the argument of an operator is the name of what it reads, or a source, and so
/// contains no values.
pub fn reads_by_name(operator: &str) -> bool {
    matches!(
        name_outside_functions(operator),
        "_input" | "_step" | "_item" | "_user" | "_error" | "_event" | "_args" | "_expr" | "_template"
    )
}

/// Returns everything that a value refers to.
pub fn references(value: &Value) -> Vec<Reference<'_>> {
    let mut found = Vec::new();
    visit(value, &mut Vec::new(), &mut found);
    found
}

fn visit<'v>(value: &'v Value, place: &mut Vec<Place>, found: &mut Vec<Reference<'v>>) {
    if let Some((name, argument)) = operator(value)
        && reads_by_name(name)
    {
        if let Some(target) = operator_target(name_outside_functions(name), argument) {
            let place = place.iter().cloned().chain([Place::Key(name.to_owned())]).collect();
            found.push(Reference { target, place });
        }
        return;
    }
    match value {
        Value::String(text) if is_path(text) => {
            let target = match ValuePath::parse(text) {
                Ok(path) if matches!(path.root, "input" | "user") => Target::Given,
                Ok(path) if path.root == "error" => Target::Error,
                Ok(path) => Target::Path(path.root),
                Err(_) => Target::InvalidPath(text),
            };
            found.push(Reference { target, place: place.clone() });
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                place.push(Place::Index(index));
                visit(item, place, found);
                place.pop();
            }
        }
        Value::Object(fields) => {
            for (key, field) in fields {
                place.push(Place::Key(key.clone()));
                visit(field, place, found);
                place.pop();
            }
        }
        _ => {}
    }
}

fn operator_target<'v>(name: &str, argument: &'v Value) -> Option<Target<'v>> {
    if let Some(language) = ExpressionLanguage::from_operator(name) {
        return Some(Target::Source(language, argument.as_str()?));
    }
    match (name, argument) {
        ("_step", Value::String(key)) => Some(Target::Step(first_name(key))),
        ("_step", _) => Some(Target::AllSteps),
        ("_item", Value::String(key)) => Some(Target::Item(first_name(key))),
        ("_error", _) => Some(Target::Error),
        _ => None,
    }
}

/// Returns the part of a key before the first dot.
fn first_name(key: &str) -> &str {
    key.split(['.', '[']).next().unwrap_or(key)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn references_are_found_with_their_places() {
        let value = json!({
            "a": { "_step": "one.total" },
            "b": ["$.two.rows", { "_if": { "test": { "_item": "row.x" }, "then": "$.input.n", "else": "$.a b" } }],
            "c": { "_template": "$.not {{ step.three }}" },
        });
        let seen: Vec<_> = references(&value).into_iter().map(|found| format!("{found:?}")).collect();
        insta::assert_snapshot!(seen.join("\n"), @r#"
        Reference { target: Step("one"), place: [Key("a"), Key("_step")] }
        Reference { target: Path("two"), place: [Key("b"), Index(0)] }
        Reference { target: Item("row"), place: [Key("b"), Index(1), Key("_if"), Key("test"), Key("_item")] }
        Reference { target: Given, place: [Key("b"), Index(1), Key("_if"), Key("then")] }
        Reference { target: InvalidPath("$.a b"), place: [Key("b"), Index(1), Key("_if"), Key("else")] }
        Reference { target: Source(Template, "$.not {{ step.three }}"), place: [Key("c"), Key("_template")] }
        "#);
    }
}
