//! The secrets of a request's headers, to be removed from what the server returns.

use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;

/// The minimum length of a secret; shorter ones would occur in ordinary text.
const MIN_LENGTH: usize = 4;
/// The replacement of a secret.
const INSTEAD: &str = "[secret]";

/// The secrets of one request.
#[derive(Clone)]
pub(crate) struct Secrets(Vec<SecretString>);

impl Secrets {
    pub(crate) fn new<'a>(secrets: impl IntoIterator<Item = &'a SecretString>) -> Self {
        // HTTP trims spaces.
        let trimmed = secrets.into_iter().map(|secret| secret.expose_secret().trim());
        let mut kept: Vec<&str> = trimmed.filter(|secret| secret.len() >= MIN_LENGTH).collect();
        // A secret may contain another one. The longer one is replaced first, so that no part of it
        // remains.
        kept.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        Self(kept.into_iter().map(SecretString::from).collect())
    }

    /// Returns these secrets and another one.
    pub(crate) fn with(&self, secret: &SecretString) -> Self {
        Self::new(self.0.iter().chain([secret]))
    }

    /// Replaces the secrets in a text.
    pub(crate) fn redact(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, secret| {
            if text.contains(secret.expose_secret()) { text.replace(secret.expose_secret(), INSTEAD) } else { text }
        })
    }

    /// Replaces the secrets in a value, including its keys.
    pub(crate) fn redact_value(&self, value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.redact(&text)),
            Value::Array(items) => items.into_iter().map(|item| self.redact_value(item)).collect(),
            Value::Object(entries) => {
                entries.into_iter().map(|(key, value)| (self.redact(&key), self.redact_value(value))).collect()
            }
            plain => plain,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(secrets: &[&str], text: &str, expected: &str) {
        let secrets: Vec<_> = secrets.iter().map(|&secret| SecretString::from(secret)).collect();
        assert_eq!(Secrets::new(&secrets).redact(text), expected);
    }

    #[test]
    fn secrets_are_replaced_in_text() {
        check(&["key-1234"], "wrong key-1234, Bearer key-1234.", "wrong [secret], Bearer [secret].");
        check(&["key-1234", "key-1234567"], "key-1234567 key-1234", "[secret] [secret]");
        check(&[" key-1234 "], "key-1234", "[secret]");
        check(&["eu", ""], "eu", "eu");
    }

    #[test]
    fn secrets_are_replaced_in_keys_and_values() {
        let secrets = Secrets::new(&["key-1234".into()]).with(&"t0ken".into());
        let value = secrets.redact_value(json!({ "key-1234": [1, { "a": "t0ken" }, null] }));
        assert_eq!(value, json!({ "[secret]": [1, { "a": "[secret]" }, null] }));
    }
}
