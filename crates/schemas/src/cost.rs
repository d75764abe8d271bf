//! Estimates the cost of the keywords of a subschema for an instance. Nested subschemas have costs of their own.

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
/// Units to begin a match of a pattern.
const MATCH_COST: u64 = 2;
/// Units per [`BYTES_PER_UNIT`] of a string with a format, since dates, addresses and URIs are
/// parsed.
const FORMAT_WEIGHT: u64 = 16;
/// Units per [`BYTES_PER_UNIT`] of encoded content, which is decoded and parsed.
const CONTENT_WEIGHT: u64 = 32;
/// The number of elements up to which `uniqueItems` compares pairwise; more are hashed.
const COMPARED_PAIRWISE: u64 = 16;

/// The cost of matching a pattern.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PatternCost {
    /// The cost for each [`BYTES_PER_UNIT`] of a text.
    pub(crate) per_text: u64,
    /// The number of bytes after which a match ends.
    pub(crate) most_read: u64,
}

impl PatternCost {
    /// Returns the cost for a text of this length.
    fn for_length(self, bytes: usize) -> u64 {
        MATCH_COST + (bytes as u64).min(self.most_read).saturating_mul(self.per_text) / BYTES_PER_UNIT
    }
}

/// The costs of all patterns that are matched against the keys of an object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct KeyPatterns {
    /// The number of patterns.
    pub(crate) count: u64,
    /// The cost for each [`BYTES_PER_UNIT`] of a key.
    pub(crate) per_text: u64,
}

impl KeyPatterns {
    /// Adds a pattern.
    pub(crate) fn add(&mut self, pattern: PatternCost) {
        self.count += 1;
        self.per_text = self.per_text.saturating_add(pattern.per_text);
    }

    fn for_keys(self, properties: &Map<String, Value>) -> u64 {
        if self.count == 0 {
            return 0;
        }
        let bytes: usize = properties.keys().map(String::len).sum();
        let matches = self.count * MATCH_COST * properties.len() as u64;
        matches.saturating_add(self.per_text.saturating_mul(bytes as u64) / BYTES_PER_UNIT)
    }
}

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
    /// The cost of the subschema's pattern for a string.
    pub(crate) pattern: Option<PatternCost>,
    /// The cost of the patterns for an object's keys.
    pub(crate) keys: KeyPatterns,
    /// Whether all elements of an array are compared with each other.
    pub(crate) is_unique: bool,
    /// Whether the keys of an object may be matched against the patterns of other subschemas.
    pub(crate) is_unevaluated: bool,
}

impl Cost {
    /// Computes the cost of a subschema's own keywords. `pattern` is the cost of its `pattern`,
    /// `keys` that of all patterns that are matched against the keys of an object.
    pub(crate) fn for_schema(schema: &Map<String, Value>, pattern: Option<PatternCost>, keys: KeyPatterns) -> Self {
        let has = |keyword: &str| schema.contains_key(keyword);
        let count = |keywords: &[&str]| keywords.iter().filter(|keyword| has(keyword)).count() as u64;
        let mut text = u64::from(has("minLength") || has("maxLength") || has("const") || has("enum"));
        text += if has("format") { FORMAT_WEIGHT } else { 0 };
        text += if has("contentEncoding") || has("contentMediaType") { CONTENT_WEIGHT } else { 0 };
        let own: u64 = schema.iter().map(|(keyword, value)| keyword_cost(keyword, value)).sum();
        Self {
            base: 1 + own,
            per_element: count(&OVER_ELEMENTS),
            per_property: count(&OVER_PROPERTIES),
            per_text: text,
            pattern,
            keys,
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
            Value::Object(properties) => self.per_property * properties.len() as u64,
            Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        };
        self.base + own
    }

    /// Returns the cost of matching patterns, which is not part of the cost for the instance.
    pub(crate) fn of_patterns(&self, instance: &Value) -> u64 {
        match instance {
            Value::String(text) => self.pattern.map_or(0, |cost| cost.for_length(text.len())),
            Value::Object(properties) => self.keys.for_keys(properties),
            _ => 0,
        }
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
            let pattern = schema.get("pattern").map(|_| PatternCost { per_text: 64, most_read: 1_000 });
            let mut keys = KeyPatterns::default();
            let patterns = schema.get("patternProperties").and_then(Value::as_object).map_or(0, Map::len);
            (0..patterns).for_each(|_| keys.add(PatternCost { per_text: 64, most_read: 1_000 }));
            let cost = Cost::for_schema(schema.as_object().unwrap(), pattern, keys);
            let seen = cost.for_instance(&instance, u64::MAX) + cost.of_patterns(&instance);
            assert_eq!(seen, expected, "{schema} {instance}");
        };
        check(json!({}), json!(1), 1);
        check(json!({ "type": "string" }), json!(1), 2);
        check(json!({ "items": true }), json!([1, 2, 3]), 1 + 1 + 3);
        check(json!({ "uniqueItems": true }), json!([1, 2, 3]), 1 + 1 + 3 + 6 * 3);
        check(json!({ "uniqueItems": true }), json!(vec![1; 100]), 1 + 1 + 100 + 200 * 16);
        check(
            json!({ "patternProperties": { "a": true, "b": true } }),
            json!({ "a": 1, "bc": 2 }),
            1 + 3 + 2 + 2 * 2 * MATCH_COST + 2 * 3,
        );
        check(json!({ "enum": [[1, 2], "x"] }), json!("x"), 1 + 2 + 2 + 2 + 2 + 2 + 1 + 1);
        check(json!({ "pattern": "a" }), json!("x".repeat(640)), 1 + 1 + MATCH_COST + 640);
        check(json!({ "pattern": "a" }), json!("x".repeat(6400)), 1 + 1 + MATCH_COST + 1_000);
        check(json!({ "maxLength": 1 }), json!("x".repeat(6400)), 1 + 1 + 101);
    }
}
