//! Limits the expansion of `unevaluatedProperties` and `unevaluatedItems`. For each of them
//! `jsonschema` compiles everything that applies to the same instance, and follows each reference
//! again, so doubled references double the work at every level.

use serde_json::Value;

/// The maximum number of subschemas to which all of them together may expand.
const MAX_EXPANDED: usize = 2_000;

/// Checks that a rewritten schema stays within the limit.
pub(crate) fn check(root: &Value) -> Result<(), String> {
    let mut expansion = Expansion { root, followed: Vec::new(), count: 0 };
    let is_within = expansion.check_value(root);
    is_within.then_some(()).ok_or_else(|| "its `unevaluatedProperties` or `unevaluatedItems` expand too far".to_owned())
}

struct Expansion<'a> {
    root: &'a Value,
    /// The references that are being followed; a cycle is not followed twice.
    followed: Vec<&'a str>,
    count: usize,
}

impl<'a> Expansion<'a> {
    /// Expands each subschema that has one of the keywords. Returns whether the limit holds.
    fn check_value(&mut self, value: &'a Value) -> bool {
        match value {
            Value::Object(map) => {
                let is_one =
                    ["unevaluatedProperties", "unevaluatedItems"].iter().any(|keyword| map.contains_key(*keyword));
                (!is_one || self.expand(value)) && map.values().all(|value| self.check_value(value))
            }
            Value::Array(values) => values.iter().all(|value| self.check_value(value)),
            _ => true,
        }
    }

    fn expand(&mut self, schema: &'a Value) -> bool {
        self.count += 1;
        if self.count > MAX_EXPANDED {
            return false;
        }
        let Value::Object(keywords) = schema else { return true };
        keywords.iter().all(|(keyword, value)| match (keyword.as_str(), value) {
            ("allOf" | "anyOf" | "oneOf", Value::Array(list)) => list.iter().all(|schema| self.expand(schema)),
            ("dependentSchemas", Value::Object(map)) => map.values().all(|schema| self.expand(schema)),
            ("if" | "then" | "else", schema) => self.expand(schema),
            ("$ref", Value::String(reference)) => self.follow(reference),
            _ => true,
        })
    }

    fn follow(&mut self, reference: &'a str) -> bool {
        let target = reference.strip_prefix('#').and_then(|pointer| self.root.pointer(pointer));
        let Some(target) = target.filter(|_| !self.followed.contains(&reference)) else { return true };
        self.followed.push(reference);
        let is_within = self.expand(target);
        self.followed.pop();
        is_within
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn doubled_references_are_counted() {
        let doubled = |levels: usize| {
            let mut definitions = json!({ "0": true });
            for level in 1..=levels {
                let below = json!({ "$ref": format!("#/$defs/{}", level - 1) });
                definitions[level.to_string()] = json!({ "allOf": [below, below] });
            }
            let top = format!("#/$defs/{levels}");
            json!({ "$ref": top, "unevaluatedProperties": false, "$defs": definitions })
        };
        assert_eq!(check(&doubled(6)), Ok(()));
        assert!(check(&doubled(40)).is_err());
        assert_eq!(check(&json!({ "$defs": { "0": { "$ref": "#/$defs/0" } }, "$ref": "#/$defs/0" })), Ok(()));
    }
}
