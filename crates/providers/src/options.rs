//! The config's `providerOptions`, in the API's own words or in the AI SDK's, merged last into a request.

use serde_json::{Map, Value};

/// How the AI SDK's options are written for an API. What is in none of the lists goes into the request as it is.
pub(crate) struct Words {
    /// Options by the AI SDK's name, and where they stand in the request.
    pub(crate) places: &'static [(&'static str, &'static [&'static str])],
    /// Of these, the ones whose value is a mapping, or a list of them, with keys in the AI SDK's words: `budgetTokens` for `budget_tokens`.
    pub(crate) spelled: &'static [&'static str],
}

impl Words {
    /// The options in the API's words. Where an option is given in both, the API's word counts.
    pub(crate) fn of_api(&self, options: &Map<String, Value>) -> Map<String, Value> {
        let (mut told, mut own) = (Map::new(), Map::new());
        for (key, value) in options {
            let value = if self.spelled.contains(&key.as_str()) { snake(value) } else { value.clone() };
            match self.places.iter().find(|(name, _)| name == key) {
                Some((_, path)) => put(&mut told, path, value),
                None => drop(own.insert(key.clone(), value)),
            }
        }
        for (key, value) in own {
            put_over(&mut told, key, value);
        }
        told
    }
}

/// Puts a value at a path of keys; beside what stands there.
fn put(map: &mut Map<String, Value>, path: &[&str], value: Value) {
    let Some((last, before)) = path.split_last() else { return };
    let value = before.iter().rev().fold(Map::from_iter([((*last).to_owned(), value)]), |inner, key| {
        Map::from_iter([((*key).to_owned(), Value::Object(inner))])
    });
    value.into_iter().for_each(|(key, value)| put_over(map, key, value));
}

/// Keys of mappings in snake case. A key that is there in both spellings keeps the value of the API's.
fn snake(value: &Value) -> Value {
    match value {
        Value::Array(list) => list.iter().map(snake).collect(),
        Value::Object(fields) => {
            let (theirs, own): (Vec<_>, Vec<_>) =
                fields.iter().partition(|(key, _)| key.contains(|c: char| c.is_ascii_uppercase()));
            let spelled = theirs.into_iter().map(|(key, value)| (snake_key(key), snake(value)));
            let own = own.into_iter().map(|(key, value)| (key.clone(), snake(value)));
            spelled.chain(own).collect::<Map<_, _>>().into()
        }
        other => other.clone(),
    }
}

fn snake_key(key: &str) -> String {
    key.chars().fold(String::new(), |mut name, c| {
        if c.is_ascii_uppercase() {
            name.push('_');
        }
        name.push(c.to_ascii_lowercase());
        name
    })
}

/// Puts the options into the body. An option replaces what is there, but for mappings, which are merged, and two lists: tools, of which
/// those that the provider runs itself stand behind the agent's own, and what is to be included, which thoughts need, too. A form of
/// the answer that the request asks for is put into the body after them by each codec.
pub(crate) fn merge(body: &mut Map<String, Value>, options: &Map<String, Value>) {
    for (key, value) in options {
        match (body.get_mut(key), value) {
            (Some(Value::Array(own)), Value::Array(more)) if matches!(key.as_str(), "tools" | "include") => {
                let news: Vec<_> = more.iter().filter(|value| !own.contains(value)).cloned().collect();
                own.extend(news);
            }
            _ => put_over(body, key.clone(), value.clone()),
        }
    }
}

fn put_over(map: &mut Map<String, Value>, key: String, value: Value) {
    match map.get_mut(&key) {
        Some(known) => merge_values(known, value),
        None => drop(map.insert(key, value)),
    }
}

/// Puts a value over another one. Mappings are merged key by key, unless their `type` says that they are two different things; anything
/// else is replaced.
fn merge_values(known: &mut Value, news: Value) {
    let is_same_kind = |known: Option<&Value>, news: Option<&Value>| known.zip(news).is_none_or(|(a, b)| a == b);
    match (known, news) {
        (Value::Object(known), Value::Object(news)) if is_same_kind(known.get("type"), news.get("type")) => {
            news.into_iter().for_each(|(key, value)| put_over(known, key, value));
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
    fn options_replace_or_merge_and_tools_add() {
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
    fn words_of_the_ai_sdk_are_those_of_the_api() {
        const WORDS: Words = Words {
            places: &[("effort", &["output", "effort"]), ("maxUses", &["max_uses"]), ("servers", &["mcp_servers"])],
            spelled: &["thinking", "servers"],
        };
        let check = |options: Value, expected: Value| {
            assert_eq!(Value::Object(WORDS.of_api(&object(options))), expected);
        };
        check(json!({ "effort": "low", "maxUses": 2 }), json!({ "output": { "effort": "low" }, "max_uses": 2 }));
        check(json!({ "thinking": { "budgetTokens": 1 } }), json!({ "thinking": { "budget_tokens": 1 } }));
        check(
            json!({ "servers": [{ "toolConfiguration": { "allowedTools": ["aB"] } }] }),
            json!({ "mcp_servers": [{ "tool_configuration": { "allowed_tools": ["aB"] } }] }),
        );
        // The API's own word counts, whichever stands first.
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
