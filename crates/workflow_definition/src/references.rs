//! The references in a value.

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

/// A reference in a part of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference<'v> {
    /// The target.
    pub target: Target<'v>,
    /// The keys that it reads of that, each within the one before, as far as they are written out.
    pub keys: Vec<&'v str>,
    /// The place of the part in the value.
    pub place: Vec<Place>,
}

/// The target of a reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target<'v> {
    /// The result of the step with this id.
    Step(&'v str),
    /// The item of a loop by its name, or its index.
    Item(&'v str),
    /// The input of the run.
    Input,
    /// A path into the user of the run.
    User,
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
        if let Some((target, keys)) = operator_target(name_outside_functions(name), argument) {
            let place = place.iter().cloned().chain([Place::Key(name.to_owned())]).collect();
            found.push(Reference { target, keys, place });
        }
        return;
    }
    match value {
        Value::String(text) if is_path(text) => {
            let (target, keys) = match ValuePath::parse(text) {
                Ok(path) => (path_target(path.root), path.keys),
                Err(_) => (Target::InvalidPath(text), Vec::new()),
            };
            found.push(Reference { target, keys, place: place.clone() });
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

fn path_target(root: &str) -> Target<'_> {
    match root {
        "input" => Target::Input,
        "user" => Target::User,
        "error" => Target::Error,
        root => Target::Path(root),
    }
}

/// Returns the target of an operator, and the keys that it reads of it.
fn operator_target<'v>(name: &str, argument: &'v Value) -> Option<(Target<'v>, Vec<&'v str>)> {
    if let Some(language) = ExpressionLanguage::from_operator(name) {
        return Some((Target::Source(language, argument.as_str()?), Vec::new()));
    }
    match (name, argument) {
        ("_step", Value::String(key)) => Some((Target::Step(first_name(key)), key.split('.').skip(1).collect())),
        ("_step", _) => Some((Target::AllSteps, Vec::new())),
        ("_input", Value::String(key)) => Some((Target::Input, key.split('.').collect())),
        ("_item", Value::String(key)) => Some((Target::Item(first_name(key)), Vec::new())),
        ("_error", _) => Some((Target::Error, Vec::new())),
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
            "a": { "_step": "one.total.0" },
            "b": ["$.two.rows", { "_if": { "test": { "_item": "row.x" }, "then": "$.input.n", "else": "$.a b" } }],
            "c": { "_template": "$.not {{ step.three }}" },
            "d": { "_input": "n.m" },
        });
        let seen: Vec<_> = references(&value).into_iter().map(|found| format!("{found:?}")).collect();
        insta::assert_snapshot!(seen.join("\n"), @r#"
        Reference { target: Step("one"), keys: ["total", "0"], place: [Key("a"), Key("_step")] }
        Reference { target: Path("two"), keys: ["rows"], place: [Key("b"), Index(0)] }
        Reference { target: Item("row"), keys: [], place: [Key("b"), Index(1), Key("_if"), Key("test"), Key("_item")] }
        Reference { target: Input, keys: ["n"], place: [Key("b"), Index(1), Key("_if"), Key("then")] }
        Reference { target: InvalidPath("$.a b"), keys: [], place: [Key("b"), Index(1), Key("_if"), Key("else")] }
        Reference { target: Source(Template, "$.not {{ step.three }}"), keys: [], place: [Key("c"), Key("_template")] }
        Reference { target: Input, keys: ["n", "m"], place: [Key("d"), Key("_input")] }
        "#);
    }
}
