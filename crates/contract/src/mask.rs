//! Prepares arguments of tools for logs and recordings: masks credentials and truncates long values.

use serde_json::Value;

/// The replacement of a masked value.
const MASK: &str = "[masked]";

/// The maximum length of a stored text in bytes.
const MAX_TEXT: usize = 2 * 1024;

/// The maximum size of stored arguments in bytes of JSON. Of longer ones, the beginning is stored
/// as text.
const MAX_ARGUMENTS: usize = 32 * 1024;

/// Parts of keys that indicate a secret, in any spelling (`apiKey`, `api_key`, `X-API-Key`).
const SECRETS: [&str; 12] = [
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "secret",
    "token",
    "apikey",
    "accesskey",
    "privatekey",
    "credential",
    "authorization",
    "cookie",
];

/// Keys whose value names the sibling `value`, as in a list of headers.
const NAMES: [&str; 3] = ["name", "key", "header"];

/// Prepares arguments for the audit log: credentials are masked, and long values are truncated.
pub fn arguments(input: &Value) -> Value {
    let masked = match input {
        // Malformed arguments of a model have no keys to check.
        Value::String(text) if is_secret(text) => Value::from(MASK),
        input => mask(input, cut),
    };
    let json = masked.to_string();
    if json.len() <= MAX_ARGUMENTS { masked } else { Value::from(cut_to(&json, MAX_ARGUMENTS)) }
}

/// Returns a value in which credentials are masked, by the names of their keys. Texts are not truncated.
pub fn mask_secrets(value: &Value) -> Value {
    mask(value, str::to_owned)
}

/// Truncates a text for the audit log.
pub fn cut(text: &str) -> String {
    cut_to(text, MAX_TEXT)
}

fn cut_to(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    format!("{}… ({} bytes)", &text[..text.floor_char_boundary(most)], text.len())
}

/// Masks a value; `text` prepares the texts in it.
fn mask(value: &Value, text_of: fn(&str) -> String) -> Value {
    match value {
        Value::String(text) => Value::from(mask_text(text, text_of)),
        Value::Array(items) => items.iter().map(|item| mask(item, text_of)).collect(),
        Value::Object(fields) => {
            let names_secret = NAMES.iter().any(|key| fields.get(*key).and_then(Value::as_str).is_some_and(is_secret));
            let masked = fields.iter().map(|(key, value)| {
                let hidden = (is_secret(key) && !is_harmless(key, value)) || (names_secret && key == "value");
                (text_of(key), if hidden { Value::from(MASK) } else { mask(value, text_of) })
            });
            Value::Object(masked.collect())
        }
        plain => plain.clone(),
    }
}

/// Masks a text, which may itself be JSON, such as a request body.
fn mask_text(text: &str, text_of: fn(&str) -> String) -> String {
    if !text.trim_start().starts_with(['{', '[']) {
        return text_of(text);
    }
    match serde_json::from_str::<Value>(text) {
        Ok(inner) => {
            let masked = mask(&inner, text_of);
            if masked == inner { text_of(text) } else { text_of(&masked.to_string()) }
        }
        Err(_) if is_secret(text) => MASK.to_owned(),
        Err(_) => text_of(text),
    }
}

fn is_secret(key: &str) -> bool {
    let plain: String = key.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    SECRETS.iter().any(|secret| plain.contains(secret))
}

/// Returns whether a value is not secret despite its key: booleans, null, and token counts.
fn is_harmless(key: &str, value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(_) => true,
        Value::Number(_) => key.to_lowercase().ends_with("tokens"),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn secrets_are_masked() {
        let check = |input: Value, expected: Value| assert_eq!(arguments(&input), expected, "{input}");
        for key in ["password", "DB_PASSWORD", "token", "accessToken", "refresh-token", "client_secret", "apiKey"] {
            check(json!({ key: "hunter2" }), json!({ key: "[masked]" }));
        }
        for key in ["X-API-Key", "api key", "Authorization", "Set-Cookie", "cookies", "aws_access_key", "credentials"] {
            check(json!({ "a": [{ key: { "deep": ["hunter2"] } }] }), json!({ "a": [{ key: "[masked]" }] }));
        }
        check(json!({ "password": 1234, "pin": 1 }), json!({ "password": "[masked]", "pin": 1 }));
        let harmless = json!({ "maxTokens": 50, "cookie": true, "token": null, "key": "b", "author": "Ada" });
        check(harmless.clone(), harmless);
        check(
            json!([{ "name": "Authorization", "value": "Bearer x" }, { "name": "Accept", "value": "text" }]),
            json!([{ "name": "Authorization", "value": "[masked]" }, { "name": "Accept", "value": "text" }]),
        );
        check(json!({ "body": r#"{"token": "x", "n": 1}"# }), json!({ "body": r#"{"token":"[masked]","n":1}"# }));
        check(json!({ "body": r#"{ "n":  1 }"# }), json!({ "body": r#"{ "n":  1 }"# }));
        check(json!({ "body": r#"{"token": "x"#  }), json!({ "body": "[masked]" }));
        check(json!(r#"{"password": "hun"#), json!("[masked]"));
        check(json!("not JSON"), json!("not JSON"));
        check(Value::Null, Value::Null);
    }

    #[test]
    fn long_values_are_truncated() {
        let text = "é".repeat(1024);
        assert_eq!(arguments(&json!({ "text": text })), json!({ "text": text }));
        let longer = arguments(&json!({ "text": format!("a{text}b") }));
        assert_eq!(longer, json!({ "text": format!("a{}… (2050 bytes)", "é".repeat(1023)) }));
        let many = arguments(&json!(vec![1; 100_000]));
        let many = many.as_str().unwrap();
        assert!(many.starts_with("[1,1,") && many.ends_with("1,1… (200001 bytes)"), "{many}");
    }

    proptest! {
        /// For any arguments, the stored form is bounded and contains no value of a secret key.
        #[test]
        fn any_arguments_are_bounded_and_masked(texts in proptest::collection::vec("\\PC{0,40}", 0..40), times in 1_usize..400) {
            let items: Vec<_> = texts.iter().map(|text| json!({ "text": text.repeat(times), "token": "hunter2" })).collect();
            let kept = arguments(&json!({ "items": items })).to_string();
            prop_assert!(!kept.contains("hunter2"));
            // As text, each byte may be escaped.
            prop_assert!(kept.len() <= 2 * MAX_ARGUMENTS + 100, "{}", kept.len());
        }
    }
}
