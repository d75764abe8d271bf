//! Estimates what the keywords of a subschema cost for an instance. Nested subschemas have costs of
//! their own.

use serde_json::{Map, Value};

/// Keywords that apply a subschema to each element of an array.
const OVER_ELEMENTS: [&str; 6] =
    ["items", "prefixItems", "additionalItems", "contains", "unevaluatedItems", "uniqueItems"];
/// Keywords that visit each property of an object.
const OVER_PROPERTIES: [&str; 5] =
    ["properties", "additionalProperties", "patternProperties", "propertyNames", "unevaluatedProperties"];
/// Bytes of a string that a simple pattern, a character count or a copy processes in one unit of
/// work.
const BYTES_PER_UNIT: u64 = 64;
/// Units per [`BYTES_PER_UNIT`] of a string with a format, since dates, addresses and URIs are
/// parsed.
const FORMAT_WEIGHT: u64 = 16;
/// Units per [`BYTES_PER_UNIT`] of encoded content, which is decoded and parsed.
const CONTENT_WEIGHT: u64 = 32;
/// The number of elements up to which `uniqueItems` compares pairwise; more are hashed.
const COMPARED_PAIRWISE: u64 = 16;

/// The cost of one evaluation in units of work.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cost {
    /// The cost for any instance.
    pub(crate) base: u64,
    /// The cost for each element of an array.
    pub(crate) per_element: u64,
    /// The cost for each property of an object.
    pub(crate) per_property: u64,
    /// The cost for each [`BYTES_PER_UNIT`] of a string.
    pub(crate) per_text: u64,
    /// The cost for each [`BYTES_PER_UNIT`] of an object's keys.
    pub(crate) per_keys: u64,
    /// Whether all elements of an array are compared with each other.
    pub(crate) is_unique: bool,
    /// Whether the keys of an object may be matched against the patterns of other subschemas.
    pub(crate) is_unevaluated: bool,
}

impl Cost {
    /// Computes the cost of a subschema's own keywords. `pattern` is the weight of its `pattern`,
    /// `patterns` that of all patterns that are matched against the keys of an object.
    pub(crate) fn for_schema(schema: &Map<String, Value>, pattern: u64, patterns: u64) -> Self {
        let has = |keyword: &str| schema.contains_key(keyword);
        let count = |keywords: &[&str]| keywords.iter().filter(|keyword| has(keyword)).count() as u64;
        let mut text = pattern;
        text += u64::from(has("minLength") || has("maxLength") || has("const") || has("enum"));
        text += if has("format") { FORMAT_WEIGHT } else { 0 };
        text += if has("contentEncoding") || has("contentMediaType") { CONTENT_WEIGHT } else { 0 };
        let own: u64 = schema.iter().map(|(keyword, value)| keyword_cost(keyword, value)).sum();
        Self {
            base: 1 + own,
            per_element: count(&OVER_ELEMENTS),
            per_property: count(&OVER_PROPERTIES) + patterns,
            per_text: text,
            per_keys: patterns,
            is_unique: schema.get("uniqueItems") == Some(&Value::Bool(true)),
            is_unevaluated: has("unevaluatedProperties"),
        }
    }

    /// Returns the cost for this instance; exact up to `limit`.
    pub(crate) fn for_instance(&self, instance: &Value, limit: u64) -> u64 {
        let own = match instance {
            Value::String(text) => self.per_text * units(text),
            Value::Array(elements) => {
                let unique = if self.is_unique { uniqueness_cost(elements, limit) } else { 0 };
                self.per_element * elements.len() as u64 + unique
            }
            Value::Object(properties) => {
                let keys = if self.per_keys > 0 { properties.keys().map(|key| units(key)).sum() } else { 0 };
                self.per_property * properties.len() as u64 + self.per_keys * keys
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        };
        self.base + own
    }
}

fn units(text: &str) -> u64 {
    1 + text.len() as u64 / BYTES_PER_UNIT
}

/// Returns the cost of comparing all elements with each other.
fn uniqueness_cost(elements: &[Value], limit: u64) -> u64 {
    let mut size = 0;
    for element in elements {
        measure(element, limit, &mut size);
    }
    size * (elements.len() as u64).clamp(1, COMPARED_PAIRWISE)
}

/// Adds the units of all values in a value; stops above the limit.
fn measure(value: &Value, limit: u64, size: &mut u64) {
    if *size > limit {
        return;
    }
    *size += 2;
    match value {
        Value::String(text) => *size += units(text),
        Value::Array(elements) => elements.iter().for_each(|element| measure(element, limit, size)),
        Value::Object(properties) => {
            for (key, value) in properties {
                *size += units(key);
                measure(value, limit, size);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Returns the cost of a keyword's own content: constants to compare, names to look up, subschemas
/// to start.
fn keyword_cost(keyword: &str, value: &Value) -> u64 {
    match keyword {
        "enum" | "const" => {
            let mut size = 0;
            measure(value, u64::MAX, &mut size);
            size
        }
        "dependentRequired" | "dependencies" => {
            let names = |value: &Value| 1 + value.as_array().map_or(0, Vec::len) as u64;
            value.as_object().map_or(0, |map| map.values().map(names).sum())
        }
        _ => match value {
            Value::Array(values) => 1 + values.len() as u64,
            // Looks up either the instance's properties or the schema's, whichever are fewer.
            Value::Object(map) => 1 + map.len() as u64,
            _ => 1,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn each_loop_of_a_keyword_is_charged() {
        let check = |schema: Value, instance: Value, expected: u64| {
            let cost = Cost::for_schema(schema.as_object().unwrap(), 1, 2);
            assert_eq!(cost.for_instance(&instance, u64::MAX), expected, "{schema} {instance}");
        };
        check(json!({}), json!(1), 1);
        check(json!({ "type": "string" }), json!(1), 2);
        check(json!({ "items": true }), json!([1, 2, 3]), 1 + 1 + 3);
        check(json!({ "uniqueItems": true }), json!([1, 2, 3]), 1 + 1 + 3 + 6 * 3);
        check(json!({ "uniqueItems": true }), json!(vec![1; 100]), 1 + 1 + 100 + 200 * 16);
        check(
            json!({ "patternProperties": { "a": true, "b": true } }),
            json!({ "a": 1, "b": 2 }),
            1 + 3 + 2 * 3 + 2 * 2,
        );
        check(json!({ "enum": [[1, 2], "x"] }), json!("x"), 1 + 2 + 2 + 2 + 2 + 2 + 1 + 2);
        check(json!({ "pattern": "a" }), json!("x".repeat(6400)), 1 + 1 + 101);
    }
}
