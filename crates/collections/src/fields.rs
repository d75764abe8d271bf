//! The fields that a schema allows, so that a mistake in a name is told instead of finding nothing.

use crate::failure::DataError;
use crate::filter::Filter;
use serde_json::{Map, Value};

/// The most fields that are named to the model.
const MAX_NAMED: usize = 50;
/// The deepest nesting that is looked at.
const MAX_DEPTH: usize = 8;

/// Checks that a record can have a field. Where a schema leaves open which fields there are, it can have any.
///
/// # Errors
/// There is no such field, with those that there are.
pub(crate) fn check_known(schema: &Map<String, Value>, field: &str) -> Result<(), DataError> {
    allowed(schema, field, "", 0).map_err(|known| {
        let fields = if known.is_empty() {
            "There are none here.".to_owned()
        } else {
            format!("The fields are {}.", known.join(", "))
        };
        DataError::Invalid(format!("There is no field `{field}`. {fields}"))
    })
}

/// Checks the fields of a filter.
///
/// # Errors
/// The errors of [`check_known`].
pub(crate) fn check_filter(schema: &Map<String, Value>, filter: &Filter) -> Result<(), DataError> {
    match filter {
        Filter::All(filters) | Filter::Any(filters) => {
            filters.iter().try_for_each(|filter| check_filter(schema, filter))
        }
        Filter::Not(filter) => check_filter(schema, filter),
        Filter::Ids(_) => Ok(()),
        Filter::Exists(field) | Filter::Value(field, _) => check_known(schema, field),
    }
}

/// Returns the fields that there are instead of the one with this path below `above`.
fn allowed(schema: &Map<String, Value>, path: &str, above: &str, depth: usize) -> Result<(), Vec<String>> {
    if depth > MAX_DEPTH {
        return Ok(());
    }
    // The values of a list have the path of the list.
    if let Some(Value::Object(items)) = schema.get("items") {
        return allowed(items, path, above, depth + 1);
    }
    if schema.get("additionalProperties") != Some(&Value::Bool(false)) || schema.contains_key("patternProperties") {
        return Ok(());
    }
    let properties = schema.get("properties").and_then(Value::as_object);
    let mut known: Vec<String> =
        properties.into_iter().flatten().take(MAX_NAMED).map(|(name, _)| format!("{above}{name}")).collect();
    for (name, inner) in properties.into_iter().flatten() {
        match (path.strip_prefix(name.as_str()), inner) {
            (Some(""), _) => return Ok(()),
            (Some(rest), Value::Bool(true)) if rest.starts_with('.') => return Ok(()),
            (Some(rest), Value::Object(inner)) => {
                let Some(rest) = rest.strip_prefix('.') else { continue };
                match allowed(inner, rest, &format!("{above}{name}."), depth + 1) {
                    Ok(()) => return Ok(()),
                    Err(inner) => known = inner,
                }
            }
            _ => {}
        }
    }
    Err(known)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn fields_that_a_schema_closes_out_are_refused() {
        let check = |schema: &Value, field: &str, expected: Option<&str>| {
            let error = check_known(schema.as_object().unwrap(), field).err();
            let message = error.map(|error| match error {
                DataError::Invalid(message) => message,
                other => format!("{other:?}"),
            });
            assert_eq!(message.as_deref(), expected, "{field}");
        };
        let city = json!({ "type": "object", "properties": { "city": {} }, "additionalProperties": false });
        let closed = json!({
            "properties": {
                "total": { "type": "number" }, "a.b": {}, "to": city, "tags": { "type": "array" },
                "lines": { "type": "array", "items": city }, "open": { "type": "object" }, "any": true,
            },
            "additionalProperties": false,
        });
        for field in ["total", "a.b", "to", "to.city", "tags", "lines.city", "open.anything", "any.thing"] {
            check(&closed, field, None);
        }
        let all = "There is no field `amount`. The fields are total, a.b, to, tags, lines, open, any.";
        check(&closed, "amount", Some(all));
        check(&closed, "to.town", Some("There is no field `to.town`. The fields are to.city."));
        check(&closed, "lines.town", Some("There is no field `lines.town`. The fields are lines.city."));
        check(&json!({ "properties": { "total": {} } }), "amount", None);
        check(&json!({ "patternProperties": { "^x": {} }, "additionalProperties": false }), "xy", None);
        check(&json!({ "additionalProperties": false }), "x", Some("There is no field `x`. There are none here."));
    }
}
