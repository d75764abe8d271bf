//! Secrets in the requests of routines: given to what is asked, and taken out of what is answered.

use secrecy::{ExposeSecret, SecretString};
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::sync::Arc;

/// What stands where a secret stood.
const HIDDEN: &str = "[secret]";
/// A shorter one is too likely to be part of an ordinary word.
const MIN_LENGTH: usize = 4;

/// Secrets by the names of their variables; a cheap handle.
#[derive(Clone, Debug, Default)]
pub struct Secrets(Arc<HashMap<String, SecretString>>);

impl FromIterator<(String, SecretString)> for Secrets {
    fn from_iter<T: IntoIterator<Item = (String, SecretString)>>(secrets: T) -> Self {
        Self(Arc::new(secrets.into_iter().collect()))
    }
}

impl Secrets {
    pub(crate) fn get(&self, name: &str) -> Option<String> {
        self.0.get(name).map(|secret| secret.expose_secret().to_owned())
    }

    /// The value without any of the secrets: an answer may repeat what it was asked.
    pub(crate) fn hide(&self, value: Value) -> Value {
        if self.0.is_empty() {
            return value;
        }
        match value {
            Value::String(text) => Value::String(self.hide_in(text)),
            Value::Array(items) => items.into_iter().map(|item| self.hide(item)).collect(),
            Value::Object(fields) => {
                let hidden: Map<_, _> =
                    fields.into_iter().map(|(key, value)| (self.hide_in(key), self.hide(value))).collect();
                Value::Object(hidden)
            }
            plain => plain,
        }
    }

    /// The text without any of them.
    pub(crate) fn hide_in(&self, mut text: String) -> String {
        for secret in self.0.values().map(ExposeSecret::expose_secret) {
            if secret.len() >= MIN_LENGTH && text.contains(secret) {
                text = text.replace(secret, HIDDEN);
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn answers_do_not_repeat_secrets() {
        let secrets: Secrets = [("A", "s3cret"), ("B", "abc")]
            .map(|(name, secret)| (name.to_owned(), secret.into()))
            .into_iter()
            .collect();
        let check = |value: Value, expected: Value| assert_eq!(secrets.hide(value), expected);
        check(json!("Bearer s3cret"), json!("Bearer [secret]"));
        check(json!({ "s3cret": ["as3cretb", 1, null] }), json!({ "[secret]": ["a[secret]b", 1, null] }));
        check(json!("abcdef"), json!("abcdef"));
    }
}
