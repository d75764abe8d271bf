//! What was sent in headers, to take it out of what comes back.

use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;

/// Shorter ones are found in any text.
const MIN_LENGTH: usize = 4;
/// What stands in their place.
const INSTEAD: &str = "[secret]";

/// Everything secret that one request holds.
#[derive(Clone)]
pub(super) struct Secrets(Vec<SecretString>);

impl Secrets {
    pub(super) fn of<'a>(secrets: impl IntoIterator<Item = &'a SecretString>) -> Self {
        // HTTP takes spaces at the ends off.
        let trimmed = secrets.into_iter().map(|secret| secret.expose_secret().trim());
        let mut kept: Vec<&str> = trimmed.filter(|secret| secret.len() >= MIN_LENGTH).collect();
        // One may hold another: the longer one first, or its rest would stay.
        kept.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        Self(kept.into_iter().map(SecretString::from).collect())
    }

    /// With one more.
    pub(super) fn and(&self, secret: Option<&SecretString>) -> Self {
        Self::of(self.0.iter().chain(secret))
    }

    /// The text without them.
    pub(super) fn clean(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, secret| match text.contains(secret.expose_secret()) {
            true => text.replace(secret.expose_secret(), INSTEAD),
            false => text,
        })
    }

    /// The value without them, in keys as well.
    pub(super) fn clean_value(&self, value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.clean(&text)),
            Value::Array(items) => items.into_iter().map(|item| self.clean_value(item)).collect(),
            Value::Object(entries) => {
                entries.into_iter().map(|(key, value)| (self.clean(&key), self.clean_value(value))).collect()
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
        assert_eq!(Secrets::of(&secrets).clean(text), expected);
    }

    #[test]
    fn they_are_taken_out() {
        check(&["key-1234"], "wrong key-1234, Bearer key-1234.", "wrong [secret], Bearer [secret].");
        check(&["key-1234", "key-1234567"], "key-1234567 key-1234", "[secret] [secret]");
        check(&[" key-1234 "], "key-1234", "[secret]");
        check(&["eu", ""], "eu", "eu");
    }

    #[test]
    fn keys_and_values_alike() {
        let secrets = Secrets::of(&["key-1234".into()]).and(Some(&"t0ken".into()));
        let value = secrets.clean_value(json!({ "key-1234": [1, { "a": "t0ken" }, null] }));
        assert_eq!(value, json!({ "[secret]": [1, { "a": "[secret]" }, null] }));
    }
}
