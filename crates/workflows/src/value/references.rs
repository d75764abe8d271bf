//! What a value refers to.

use super::path::{ValuePath, is_path};
use operators::{ExpressionLanguage, name_outside_functions, operator};
use serde_json::Value;

/// A key or an index on the way to a part of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// A key.
    Key(String),
    /// An index.
    Index(usize),
}

/// What a part of a value refers to, with its place in the value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reference<'v> {
    /// The result of a step.
    Step { id: &'v str, place: Vec<Place> },
    /// An item or the index of a loop.
    Item { name: &'v str, place: Vec<Place> },
    /// A path into the input or the user, which every step has.
    Given,
    /// A path, whose name is that of a step or an item.
    Path { root: &'v str, place: Vec<Place> },
    /// The error of a step.
    Error { place: Vec<Place> },
    /// The results of all steps.
    AllSteps { place: Vec<Place> },
    /// An expression or a template.
    Source { language: ExpressionLanguage, text: &'v str, place: Vec<Place> },
    /// A path that cannot be read.
    Broken { problem: String, place: Vec<Place> },
}

/// Returns whether the argument of an operator is the name of what it reads, or a source, and so
/// contains no values.
pub(super) fn reads_by_name(operator: &str) -> bool {
    matches!(
        name_outside_functions(operator),
        "_input" | "_step" | "_item" | "_user" | "_error" | "_event" | "_args" | "_expr" | "_template"
    )
}

/// Returns everything that a value refers to.
pub(crate) fn references(value: &Value) -> Vec<Reference<'_>> {
    let mut found = Vec::new();
    visit(value, &mut Vec::new(), &mut found);
    found
}

fn visit<'v>(value: &'v Value, place: &mut Vec<Place>, found: &mut Vec<Reference<'v>>) {
    if let Some((name, argument)) = operator(value)
        && reads_by_name(name)
    {
        place.push(Place::Key(name.to_owned()));
        found.extend(read(name_outside_functions(name), argument, place.clone()));
        place.pop();
        return;
    }
    match value {
        Value::String(text) if is_path(text) => {
            let place = place.clone();
            found.push(match ValuePath::parse(text) {
                Ok(path) if matches!(path.root, "input" | "user") => Reference::Given,
                Ok(path) if path.root == "error" => Reference::Error { place },
                Ok(path) => Reference::Path { root: path.root, place },
                Err(problem) => Reference::Broken { problem, place },
            });
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

fn read<'v>(name: &str, argument: &'v Value, place: Vec<Place>) -> Option<Reference<'v>> {
    if let Some(language) = ExpressionLanguage::from_operator(name) {
        return Some(Reference::Source { language, text: argument.as_str()?, place });
    }
    match (name, argument) {
        ("_step", Value::String(key)) => Some(Reference::Step { id: first_name(key), place }),
        ("_step", _) => Some(Reference::AllSteps { place }),
        ("_item", Value::String(key)) => Some(Reference::Item { name: first_name(key), place }),
        ("_error", _) => Some(Reference::Error { place }),
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
        Step { id: "one", place: [Key("a"), Key("_step")] }
        Path { root: "two", place: [Key("b"), Index(0)] }
        Item { name: "row", place: [Key("b"), Index(1), Key("_if"), Key("test"), Key("_item")] }
        Given
        Broken { problem: "at position 1, parser error", place: [Key("b"), Index(1), Key("_if"), Key("else")] }
        Source { language: Template, text: "$.not {{ step.three }}", place: [Key("c"), Key("_template")] }
        "#);
    }
}
