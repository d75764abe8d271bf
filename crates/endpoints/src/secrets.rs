//! Secrets in the requests of routines. They are redacted in the responses.

use secrecy::{ExposeSecret, SecretString};
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::sync::Arc;

/// Replaces a secret in a response.
const REDACTED: &str = "[secret]";
/// The minimum length of secrets that are redacted; a shorter one is too likely to be part of an
/// ordinary word.
const MIN_LENGTH: usize = 4;

/// Secrets by the names of their environment variables; a cheap handle.
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

    /// Redacts all secrets in a value, because a response may repeat its request.
    pub(crate) fn redact(&self, value: Value) -> Value {
        if self.0.is_empty() {
            return value;
        }
        match value {
            Value::String(text) => Value::String(self.redact_text(text)),
            Value::Array(items) => items.into_iter().map(|item| self.redact(item)).collect(),
            Value::Object(fields) => {
                let hidden: Map<_, _> =
                    fields.into_iter().map(|(key, value)| (self.redact_text(key), self.redact(value))).collect();
                Value::Object(hidden)
            }
            plain => plain,
        }
    }

    /// Redacts all secrets in a text.
    pub(crate) fn redact_text(&self, mut text: String) -> String {
        for secret in self.0.values().map(ExposeSecret::expose_secret) {
            if secret.len() >= MIN_LENGTH && text.contains(secret) {
                text = text.replace(secret, REDACTED);
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
    fn secrets_are_redacted_in_responses() {
        let secrets: Secrets = [("A", "s3cret"), ("B", "abc")]
            .map(|(name, secret)| (name.to_owned(), secret.into()))
            .into_iter()
            .collect();
        let check = |value: Value, expected: Value| assert_eq!(secrets.redact(value), expected);
        check(json!("Bearer s3cret"), json!("Bearer [secret]"));
        check(json!({ "s3cret": ["as3cretb", 1, null] }), json!({ "[secret]": ["a[secret]b", 1, null] }));
        check(json!("abcdef"), json!("abcdef"));
    }
}
