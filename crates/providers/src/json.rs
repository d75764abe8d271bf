//! Reads the JSON of a provider without failing over a field whose shape is not the expected one.
//!
//! A text that is no string is kept as its JSON, a number may come as a string, and any other field of an unexpected shape counts as
//! absent. Where such a field holds a piece of the answer, [`Needed`] makes the codec report it by its name.

use crate::driver::broken;
use contract::ModelError;
use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;

/// Reads an object. `spare` is used only for one that has a key twice, of which the last counts.
///
/// # Errors
/// When it is no JSON, or no object.
pub(crate) fn read<'a, T: Deserialize<'a>>(json: &'a str, spare: &'a mut String) -> serde_json::Result<T> {
    // Without this, a list would be read as an object's fields in their order.
    if kind_of(json) != Kind::Object {
        serde_json::from_str::<Value>(json)?;
        return Err(serde::de::Error::custom(format!("{} instead of an object", kind_of(json))));
    }
    if let Ok(read) = serde_json::from_str(json) {
        return Ok(read);
    }
    *spare = serde_json::from_str::<Value>(json)?.to_string();
    serde_json::from_str(spare)
}

/// As [`read`], for what borrows nothing.
///
/// # Errors
/// When it is no JSON, or no object.
pub(crate) fn read_owned<T: DeserializeOwned>(json: &str) -> serde_json::Result<T> {
    read(json, &mut String::new())
}

/// Whether an event holds something: providers and gateways may send empty ones, or JSON that is no object, to keep a connection open.
///
/// # Errors
/// When it is no JSON: then it may be anything, also a piece of the answer that was cut off.
pub(crate) fn is_event(data: &str) -> Result<bool, ModelError> {
    if kind_of(data) == Kind::Object {
        return Ok(true);
    }
    if !data.trim().is_empty() {
        serde_json::from_str::<serde::de::IgnoredAny>(data).map_err(|error| unreadable("an event", &error))?;
    }
    Ok(false)
}

/// The error for JSON that cannot be read at all; `what` says which.
pub(crate) fn unreadable(what: &str, error: &serde_json::Error) -> ModelError {
    broken(format!("{what} cannot be read: {error}"))
}

/// A text. What is no string is kept as its JSON; null is none.
pub(crate) fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let raw = Option::<&'de RawValue>::deserialize(deserializer)?;
    Ok(raw.and_then(|raw| text_of(raw.get())))
}

/// See [`text`].
pub(crate) fn text_of(json: &str) -> Option<String> {
    match kind_of(json) {
        Kind::Null => None,
        Kind::String => serde_json::from_str::<LossyText>(json).ok().map(|LossyText(text)| text),
        _ => Some(json.to_owned()),
    }
}

/// The text of a value, see [`text`].
pub(crate) fn text_in(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}

/// The name of an event's or an item's type; empty when it is no string.
pub(crate) fn name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Cow<'de, str>, D::Error> {
    let json = <&'de RawValue>::deserialize(deserializer)?.get();
    Ok(match json.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(plain) if !plain.contains('\\') => Cow::Borrowed(plain),
        Some(_) => Cow::Owned(text_of(json).unwrap_or_default()),
        None => Cow::Borrowed(""),
    })
}

/// A whole number, which may be written as a string; anything else is none.
pub(crate) fn number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    let raw = Option::<&'de RawValue>::deserialize(deserializer)?;
    Ok(raw.and_then(|raw| raw.get().trim_matches('"').parse().ok()))
}

/// A value of a given shape; none where it has another one.
pub(crate) fn or_none<'de, D: Deserializer<'de>, T: DeserializeOwned>(deserializer: D) -> Result<Option<T>, D::Error> {
    let raw = Option::<&'de RawValue>::deserialize(deserializer)?;
    Ok(raw.and_then(|raw| match kind_of(raw.get()) {
        Kind::Object => read_owned(raw.get()).ok(),
        _ => serde_json::from_str(raw.get()).ok(),
    }))
}

/// An object that the answer can do without; none where it is something else.
pub(crate) fn object<'de, D: Deserializer<'de>, T: DeserializeOwned>(deserializer: D) -> Result<Option<T>, D::Error> {
    let raw = Option::<&'de RawValue>::deserialize(deserializer)?;
    Ok(raw.and_then(|raw| read_owned(raw.get()).ok()))
}

/// A field that may hold a piece of the answer, as it came.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(transparent)]
pub(crate) struct Needed<'a>(#[serde(borrow)] Option<&'a RawValue>);

impl<'a> Needed<'a> {
    /// Reads the object that the field `name` holds; none where it is absent or empty.
    ///
    /// # Errors
    /// When it holds something else; the error names the field.
    pub(crate) fn object(self, name: &str) -> Result<Option<&'a str>, ModelError> {
        self.of(Kind::Object, name)
    }

    /// The entries of the list that the field `name` holds; empty where it is absent.
    ///
    /// # Errors
    /// When it holds something else; the error names the field.
    pub(crate) fn list(self, name: &str) -> Result<Vec<&'a RawValue>, ModelError> {
        let Some(json) = self.of(Kind::List, name)? else { return Ok(Vec::new()) };
        serde_json::from_str(json).map_err(|error| unreadable(&format!("`{name}`"), &error))
    }

    /// Whether the field is absent or null.
    pub(crate) fn is_absent(self) -> bool {
        self.0.is_none_or(|raw| kind_of(raw.get()) == Kind::Null)
    }

    fn of(self, expected: Kind, name: &str) -> Result<Option<&'a str>, ModelError> {
        let Some(json) = self.0.map(RawValue::get) else { return Ok(None) };
        match kind_of(json) {
            found if found == expected => Ok(Some(json)),
            Kind::Null => Ok(None),
            _ if matches!(json, "\"\"" | "false" | "{}" | "[]") => Ok(None),
            found => Err(broken(format!("`{name}` cannot be read: it is {found} instead of {expected}"))),
        }
    }
}

/// The JSON of an entry that has to be an object.
///
/// # Errors
/// When it is something else; the error names the list.
pub(crate) fn entry<'a>(raw: &'a RawValue, list: &str) -> Result<Option<&'a str>, ModelError> {
    Needed(Some(raw)).object(list)
}

/// What a JSON value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Null,
    Bool,
    Number,
    String,
    List,
    Object,
}

fn kind_of(json: &str) -> Kind {
    match json.trim_start().as_bytes().first() {
        Some(b'n') | None => Kind::Null,
        Some(b't' | b'f') => Kind::Bool,
        Some(b'"') => Kind::String,
        Some(b'[') => Kind::List,
        Some(b'{') => Kind::Object,
        Some(_) => Kind::Number,
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Null => "null",
            Self::Bool => "a boolean",
            Self::Number => "a number",
            Self::String => "a string",
            Self::List => "a list",
            Self::Object => "an object",
        })
    }
}

/// A string of which half a surrogate pair, as JavaScript can write it, becomes U+FFFD.
struct LossyText(String);

impl<'de> Deserialize<'de> for LossyText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_bytes(LossyVisitor)
    }
}

struct LossyVisitor;

impl Visitor<'_> for LossyVisitor {
    type Value = LossyText;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_bytes<E>(self, bytes: &[u8]) -> Result<LossyText, E> {
        Ok(LossyText(String::from_utf8_lossy(bytes).into_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Deserialize)]
    struct Fields<'a> {
        #[serde(rename = "type", borrow, default, deserialize_with = "name")]
        kind: Cow<'a, str>,
        #[serde(default, deserialize_with = "text")]
        said: Option<String>,
        #[serde(default, deserialize_with = "number")]
        index: Option<u64>,
        #[serde(default, borrow)]
        list: Needed<'a>,
    }

    #[test]
    fn fields_of_any_shape_are_read() {
        let check = |json: &str, expected: &str| {
            let mut spare = String::new();
            let shown = match read::<Fields<'_>>(json, &mut spare) {
                Ok(Fields { kind, said, index, list }) => {
                    let list = list.list("list").map(|list| list.len()).map_err(|error| error.cause);
                    format!("{kind:?} {said:?} {index:?} {list:?}")
                }
                Err(error) => error.to_string(),
            };
            assert_eq!(shown, expected, "{json}");
        };
        check("{}", r#""" None None Ok(0)"#);
        check(r#"{"type":"a","said":"b","index":1,"list":[1,{}]}"#, r#""a" Some("b") Some(1) Ok(2)"#);
        check(
            r#"{"type":"\u0061","said":{"c": [1]},"index":"2","list":{}}"#,
            r#""a" Some("{\"c\": [1]}") Some(2) Ok(0)"#,
        );
        check(r#"{"type":7,"said":1.5,"index":-1,"list":""}"#, r#""" Some("1.5") None Ok(0)"#);
        check(
            r#"{"type":null,"said":null,"index":null,"list":3}"#,
            r#""" None None Err("`list` cannot be read: it is a number instead of a list")"#,
        );
        check(r#"{"said":"a","said":"b"}"#, r#""" Some("b") None Ok(0)"#);
        check(r#"{"said":"\ud83c!"}"#, "\"\" Some(\"\u{fffd}\u{fffd}\u{fffd}!\") None Ok(0)");
        check("[1]", "a list instead of an object");
        check("{", "EOF while parsing an object at line 1 column 1");
    }

    #[test]
    fn empty_events_are_passed_over() {
        let check = |data: &str, expected: Result<bool, ()>| {
            assert_eq!(is_event(data).map_err(|_| ()), expected, "{data}");
        };
        check("{}", Ok(true));
        check(" ", Ok(false));
        check("null", Ok(false));
        check("[1]", Ok(false));
        check("{\"cut", Ok(true));
        check("[cut", Err(()));
        check("keep-alive", Err(()));
    }
}
