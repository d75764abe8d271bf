//! The config's `providerOptions`, merged last into a request.

use serde_json::{Map, Value};

/// Puts the options into the body as they are written. Only two do not replace what is there: tools, of which those that the
/// provider runs itself stand behind the agent's own, and what is to be included, which thoughts need, too. A form of the answer that
/// the request asks for is put into the body after them by each codec.
pub(crate) fn merge(body: &mut Map<String, Value>, options: &Map<String, Value>) {
    for (key, value) in options {
        match (body.get_mut(key), value) {
            (Some(Value::Array(own)), Value::Array(more)) if matches!(key.as_str(), "tools" | "include") => {
                let news: Vec<_> = more.iter().filter(|value| !own.contains(value)).cloned().collect();
                own.extend(news);
            }
            _ => {
                body.insert(key.clone(), value.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn options_replace_and_tools_add() {
        let check = |body: Value, options: Value, expected: Value| {
            let (Value::Object(mut body), Value::Object(options)) = (body, options) else { unreachable!() };
            merge(&mut body, &options);
            assert_eq!(Value::Object(body), expected);
        };
        check(json!({ "a": [1], "b": 1 }), json!({ "a": [2], "c": null }), json!({ "a": [2], "b": 1, "c": null }));
        check(json!({ "tools": [1] }), json!({ "tools": [2] }), json!({ "tools": [1, 2] }));
        check(json!({}), json!({ "tools": [2] }), json!({ "tools": [2] }));
        check(json!({ "include": ["a"] }), json!({ "include": ["b", "a"] }), json!({ "include": ["a", "b"] }));
    }
}
