//! Merges the config's `providerOptions`, in the API's spelling or in the AI SDK's, into a request.

use serde_json::{Map, Value};

/// The mapping of the AI SDK's options to an API's fields. Options that are in neither list are
/// sent unchanged.
pub(crate) struct OptionMapping {
    /// The AI SDK's option names and their paths in the request.
    pub(crate) paths: &'static [(&'static str, &'static [&'static str])],
    /// The options whose value is an object, or an array of objects, with keys in the AI SDK's
    /// spelling: `budgetTokens` for `budget_tokens`.
    pub(crate) snake_case_values: &'static [&'static str],
}

impl OptionMapping {
    /// Translates options to the API's fields. If an option is given in both spellings, the API's
    /// takes precedence.
    pub(crate) fn translate(&self, options: &Map<String, Value>) -> Map<String, Value> {
        let (mut mapped, mut own) = (Map::new(), Map::new());
        for (key, value) in options {
            let value =
                if self.snake_case_values.contains(&key.as_str()) { snake_case_keys(value) } else { value.clone() };
            match self.paths.iter().find(|(name, _)| name == key) {
                Some((_, path)) => insert_at_path(&mut mapped, path, value),
                None => drop(own.insert(key.clone(), value)),
            }
        }
        for (key, value) in own {
            merge_field(&mut mapped, key, value);
        }
        mapped
    }
}

/// Inserts a value at a path of keys and keeps what is next to it.
fn insert_at_path(map: &mut Map<String, Value>, path: &[&str], value: Value) {
    let Some((last, before)) = path.split_last() else { return };
    let value = before.iter().rev().fold(Map::from_iter([((*last).to_owned(), value)]), |inner, key| {
        Map::from_iter([((*key).to_owned(), Value::Object(inner))])
    });
    value.into_iter().for_each(|(key, value)| merge_field(map, key, value));
}

/// Converts the keys of objects to snake case. If a key is given in both spellings, the API's takes
/// precedence.
fn snake_case_keys(value: &Value) -> Value {
    match value {
        Value::Array(list) => list.iter().map(snake_case_keys).collect(),
        Value::Object(fields) => {
            let (theirs, own): (Vec<_>, Vec<_>) =
                fields.iter().partition(|(key, _)| key.contains(|c: char| c.is_ascii_uppercase()));
            let spelled = theirs.into_iter().map(|(key, value)| (to_snake_case(key), snake_case_keys(value)));
            let own = own.into_iter().map(|(key, value)| (key.clone(), snake_case_keys(value)));
            spelled.chain(own).collect::<Map<_, _>>().into()
        }
        other => other.clone(),
    }
}

fn to_snake_case(key: &str) -> String {
    key.chars().fold(String::new(), |mut name, c| {
        if c.is_ascii_uppercase() {
            name.push('_');
        }
        name.push(c.to_ascii_lowercase());
        name
    })
}

/// Merges the options into the body. An option replaces the existing value, except that objects are
/// merged and two arrays are extended: `tools`, where the provider's own tools follow the agent's,
/// and `include`, which reasoning needs, too. Afterwards, each codec sets the response format that
/// the request asks for.
pub(crate) fn merge(body: &mut Map<String, Value>, options: &Map<String, Value>) {
    for (key, value) in options {
        match (body.get_mut(key), value) {
            (Some(Value::Array(own)), Value::Array(more)) if matches!(key.as_str(), "tools" | "include") => {
                let news: Vec<_> = more.iter().filter(|value| !own.contains(value)).cloned().collect();
                own.extend(news);
            }
            _ => merge_field(body, key.clone(), value.clone()),
        }
    }
}

fn merge_field(map: &mut Map<String, Value>, key: String, value: Value) {
    match map.get_mut(&key) {
        Some(known) => merge_values(known, value),
        None => drop(map.insert(key, value)),
    }
}

/// Merges a value into another one. Objects are merged key by key unless their `type` differs;
/// anything else is replaced.
fn merge_values(known: &mut Value, news: Value) {
    let is_same_kind = |known: Option<&Value>, news: Option<&Value>| known.zip(news).is_none_or(|(a, b)| a == b);
    match (known, news) {
        (Value::Object(known), Value::Object(news)) if is_same_kind(known.get("type"), news.get("type")) => {
            news.into_iter().for_each(|(key, value)| merge_field(known, key, value));
        }
        (known, news) => *known = news,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn object(value: Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    #[test]
    fn options_replace_or_merge_and_tools_are_added() {
        let check = |body: Value, options: Value, expected: Value| {
            let mut body = object(body);
            merge(&mut body, &object(options));
            assert_eq!(Value::Object(body), expected);
        };
        check(json!({ "a": [1], "b": 1 }), json!({ "a": [2], "c": null }), json!({ "a": [2], "b": 1, "c": null }));
        check(json!({ "tools": [1] }), json!({ "tools": [2] }), json!({ "tools": [1, 2] }));
        check(json!({}), json!({ "tools": [2] }), json!({ "tools": [2] }));
        check(json!({ "include": ["a"] }), json!({ "include": ["b", "a"] }), json!({ "include": ["a", "b"] }));
        check(
            json!({ "a": { "type": "x", "n": 1 } }),
            json!({ "a": { "n": 2 } }),
            json!({ "a": { "type": "x", "n": 2 } }),
        );
        check(
            json!({ "a": { "type": "x", "n": 1 } }),
            json!({ "a": { "type": "y" } }),
            json!({ "a": { "type": "y" } }),
        );
        check(
            json!({ "text": { "format": { "type": "json_schema" } } }),
            json!({ "text": { "verbosity": "low" } }),
            json!({ "text": { "format": { "type": "json_schema" }, "verbosity": "low" } }),
        );
    }

    #[test]
    fn ai_sdk_spelling_is_translated() {
        const MAPPING: OptionMapping = OptionMapping {
            paths: &[("effort", &["output", "effort"]), ("maxUses", &["max_uses"]), ("servers", &["mcp_servers"])],
            snake_case_values: &["thinking", "servers"],
        };
        let check = |options: Value, expected: Value| {
            assert_eq!(Value::Object(MAPPING.translate(&object(options))), expected);
        };
        check(json!({ "effort": "low", "maxUses": 2 }), json!({ "output": { "effort": "low" }, "max_uses": 2 }));
        check(json!({ "thinking": { "budgetTokens": 1 } }), json!({ "thinking": { "budget_tokens": 1 } }));
        check(
            json!({ "servers": [{ "toolConfiguration": { "allowedTools": ["aB"] } }] }),
            json!({ "mcp_servers": [{ "tool_configuration": { "allowed_tools": ["aB"] } }] }),
        );
        // The API's spelling takes precedence, in any order.
        check(
            json!({ "output": { "effort": "high" }, "max_uses": 3, "maxUses": 2, "effort": "low" }),
            json!({ "output": { "effort": "high" }, "max_uses": 3 }),
        );
        check(
            json!({ "thinking": { "budget_tokens": 5, "budgetTokens": 1 } }),
            json!({ "thinking": { "budget_tokens": 5 } }),
        );
        check(json!({ "laterWord": { "aB": 1 } }), json!({ "laterWord": { "aB": 1 } }));
    }
}
