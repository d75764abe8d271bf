//! Parses a provider's JSON and tolerates fields of unexpected types.
//!
//! Text that is not a string is kept as its JSON, a number may be written as a string, and any
//! other field of an unexpected type counts as absent. If such a field may contain a part of the
//! answer, [`StrictField`] returns an error that names it.

use crate::driver::stream_error;
use contract::ModelError;
use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;

/// Parses an object. `spare` is a buffer that is used only if an object has a key twice; the last
/// value counts.
///
/// # Errors
/// If the text is not JSON, or not an object.
pub(crate) fn parse<'a, T: Deserialize<'a>>(json: &'a str, spare: &'a mut String) -> serde_json::Result<T> {
    // Without this check, serde would read an array as the fields in their order.
    if json_kind(json) != JsonKind::Object {
        serde_json::from_str::<Value>(json)?;
        return Err(serde::de::Error::custom(format!("expected an object, found {}", json_kind(json))));
    }
    if let Ok(read) = serde_json::from_str(json) {
        return Ok(read);
    }
    *spare = serde_json::from_str::<Value>(json)?.to_string();
    serde_json::from_str(spare)
}

/// Parses an object like [`parse`] into a type that borrows nothing.
///
/// # Errors
/// If the text is not JSON, or not an object.
pub(crate) fn parse_owned<T: DeserializeOwned>(json: &str) -> serde_json::Result<T> {
    parse(json, &mut String::new())
}

/// Returns whether an event contains an object. To keep a connection open, providers and gateways
/// may send empty events or other JSON.
///
/// # Errors
/// If it is not JSON: it may be a truncated part of the answer.
pub(crate) fn has_object(data: &str) -> Result<bool, ModelError> {
    if json_kind(data) == JsonKind::Object {
        return Ok(true);
    }
    if !data.trim().is_empty() {
        serde_json::from_str::<serde::de::IgnoredAny>(data).map_err(|error| parse_error("an event", &error))?;
    }
    Ok(false)
}

/// Returns the error for JSON that cannot be parsed; `what` names its part of the stream.
pub(crate) fn parse_error(what: &str, error: &serde_json::Error) -> ModelError {
    stream_error(format!("{what} cannot be parsed: {error}"))
}

/// Deserializes text. Anything but a string is kept as its JSON; null is `None`.
pub(crate) fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let raw = Option::<&'de RawValue>::deserialize(deserializer)?;
    Ok(raw.and_then(|raw| text_from_json(raw.get())))
}

/// Converts JSON to text like [`text`].
pub(crate) fn text_from_json(json: &str) -> Option<String> {
    match json_kind(json) {
        JsonKind::Null => None,
        JsonKind::String => serde_json::from_str::<LossyText>(json).ok().map(|LossyText(text)| text),
        _ => Some(json.to_owned()),
    }
}

/// Converts a value to text like [`text`].
pub(crate) fn text_from_value(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}

/// Deserializes the type of an event or item; empty if it is not a string.
pub(crate) fn name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Cow<'de, str>, D::Error> {
    let json = <&'de RawValue>::deserialize(deserializer)?.get();
    Ok(match json.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(plain) if !plain.contains('\\') => Cow::Borrowed(plain),
        Some(_) => Cow::Owned(text_from_json(json).unwrap_or_default()),
        None => Cow::Borrowed(""),
    })
}

/// Deserializes an integer that may be written as a string; `None` for anything else.
pub(crate) fn number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    let raw = Option::<&'de RawValue>::deserialize(deserializer)?;
    Ok(raw.and_then(|raw| raw.get().trim_matches('"').parse().ok()))
}

/// Deserializes a value; `None` if it has another type.
pub(crate) fn or_none<'de, D: Deserializer<'de>, T: DeserializeOwned>(deserializer: D) -> Result<Option<T>, D::Error> {
    let raw = Option::<&'de RawValue>::deserialize(deserializer)?;
    Ok(raw.and_then(|raw| match json_kind(raw.get()) {
        JsonKind::Object => parse_owned(raw.get()).ok(),
        _ => serde_json::from_str(raw.get()).ok(),
    }))
}

/// Deserializes an object that is not essential to the answer; `None` if it is not an object.
pub(crate) fn object<'de, D: Deserializer<'de>, T: DeserializeOwned>(deserializer: D) -> Result<Option<T>, D::Error> {
    let raw = Option::<&'de RawValue>::deserialize(deserializer)?;
    Ok(raw.and_then(|raw| parse_owned(raw.get()).ok()))
}

/// The unparsed value of a field that may contain a part of the answer.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(transparent)]
pub(crate) struct StrictField<'a>(#[serde(borrow)] Option<&'a RawValue>);

impl<'a> StrictField<'a> {
    /// Returns the object in the field `name`; `None` if it is absent or empty.
    ///
    /// # Errors
    /// If the value has another type; the error names the field.
    pub(crate) fn object(self, name: &str) -> Result<Option<&'a str>, ModelError> {
        self.expect_kind(JsonKind::Object, name)
    }

    /// Returns the elements of the array in the field `name`; empty if it is absent.
    ///
    /// # Errors
    /// If the value has another type; the error names the field.
    pub(crate) fn list(self, name: &str) -> Result<Vec<&'a RawValue>, ModelError> {
        let Some(json) = self.expect_kind(JsonKind::List, name)? else { return Ok(Vec::new()) };
        serde_json::from_str(json).map_err(|error| parse_error(&format!("`{name}`"), &error))
    }

    /// Returns whether the field is absent or null.
    pub(crate) fn is_absent(self) -> bool {
        self.0.is_none_or(|raw| json_kind(raw.get()) == JsonKind::Null)
    }

    fn expect_kind(self, expected: JsonKind, name: &str) -> Result<Option<&'a str>, ModelError> {
        let Some(json) = self.0.map(RawValue::get) else { return Ok(None) };
        match json_kind(json) {
            found if found == expected => Ok(Some(json)),
            JsonKind::Null => Ok(None),
            _ if matches!(json, "\"\"" | "false" | "{}" | "[]") => Ok(None),
            found => Err(stream_error(format!("`{name}` cannot be parsed: expected {expected}, found {found}"))),
        }
    }
}

/// Returns an array's element that must be an object, as JSON.
///
/// # Errors
/// If the element has another type; the error names the array.
pub(crate) fn object_entry<'a>(raw: &'a RawValue, list: &str) -> Result<Option<&'a str>, ModelError> {
    StrictField(Some(raw)).object(list)
}

/// The type of a JSON value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum JsonKind {
    Null,
    Bool,
    Number,
    String,
    List,
    Object,
}

fn json_kind(json: &str) -> JsonKind {
    match json.trim_start().as_bytes().first() {
        Some(b'n') | None => JsonKind::Null,
        Some(b't' | b'f') => JsonKind::Bool,
        Some(b'"') => JsonKind::String,
        Some(b'[') => JsonKind::List,
        Some(b'{') => JsonKind::Object,
        Some(_) => JsonKind::Number,
    }
}

impl fmt::Display for JsonKind {
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

/// A string in which unpaired surrogates, which JavaScript can write, are replaced by U+FFFD.
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
    struct LenientFields<'a> {
        #[serde(rename = "type", borrow, default, deserialize_with = "name")]
        kind: Cow<'a, str>,
        #[serde(default, deserialize_with = "text")]
        content: Option<String>,
        #[serde(default, deserialize_with = "number")]
        index: Option<u64>,
        #[serde(default, borrow)]
        list: StrictField<'a>,
    }

    #[test]
    fn fields_of_any_type_are_parsed() {
        let check = |json: &str, expected: &str| {
            let mut spare = String::new();
            let shown = match parse::<LenientFields<'_>>(json, &mut spare) {
                Ok(LenientFields { kind, content, index, list }) => {
                    let list = list.list("list").map(|list| list.len()).map_err(|error| error.cause);
                    format!("{kind:?} {content:?} {index:?} {list:?}")
                }
                Err(error) => error.to_string(),
            };
            assert_eq!(shown, expected, "{json}");
        };
        check("{}", r#""" None None Ok(0)"#);
        check(r#"{"type":"a","content":"b","index":1,"list":[1,{}]}"#, r#""a" Some("b") Some(1) Ok(2)"#);
        check(
            r#"{"type":"\u0061","content":{"c": [1]},"index":"2","list":{}}"#,
            r#""a" Some("{\"c\": [1]}") Some(2) Ok(0)"#,
        );
        check(r#"{"type":7,"content":1.5,"index":-1,"list":""}"#, r#""" Some("1.5") None Ok(0)"#);
        check(
            r#"{"type":null,"content":null,"index":null,"list":3}"#,
            r#""" None None Err("`list` cannot be parsed: expected a list, found a number")"#,
        );
        check(r#"{"content":"a","content":"b"}"#, r#""" Some("b") None Ok(0)"#);
        check(r#"{"content":"\ud83c!"}"#, "\"\" Some(\"\u{fffd}\u{fffd}\u{fffd}!\") None Ok(0)");
        check("[1]", "expected an object, found a list");
        check("{", "EOF while parsing an object at line 1 column 1");
    }

    #[test]
    fn empty_events_are_ignored() {
        let check = |data: &str, expected: Result<bool, ()>| {
            assert_eq!(has_object(data).map_err(|_| ()), expected, "{data}");
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
