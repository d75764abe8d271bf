//! JSON deserialization with little code, for types that the browser reads on most pages. A type with serde's derive
//! adds some kilobytes to the download (8 KB for [`crate::Chunk`]); here a field costs one call. Every type is read
//! from a [`Value`], so that there is a single JSON deserializer. Messages are read with serde's derive, see
//! `message/read.rs`.

mod from_value;

pub(crate) use from_value::from_value;

use litemap::LiteMap;
use serde_json::{Map, Number, Value};
use std::fmt;

/// An error: the JSON does not have the expected shape.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Unreadable(String);

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<String> for Unreadable {
    fn from(error: String) -> Self {
        Self(error)
    }
}

impl Unreadable {
    /// The value has another type than expected.
    pub(crate) fn wrong_type(found: &Value, expected: &str) -> Self {
        let found = match found {
            Value::Null => "null".to_owned(),
            Value::Bool(yes) => format!("boolean `{yes}`"),
            Value::Number(number) => format!("number `{number}`"),
            Value::String(text) => format!("string {}", Value::String(text.chars().take(40).collect())),
            Value::Array(_) => "a list".to_owned(),
            Value::Object(_) => "an object".to_owned(),
        };
        Self(format!("invalid type: {found}, expected {expected}"))
    }

    /// The name is not one of the known values.
    pub(crate) fn unknown_name(name: &str) -> Self {
        Self(format!("unknown value `{}`", name.chars().take(40).collect::<String>()))
    }
}

/// A type that can be read from JSON.
pub(crate) trait Read: Sized {
    /// Reads the value.
    ///
    /// # Errors
    /// The JSON does not have the expected shape.
    fn read(value: Value) -> Result<Self, Unreadable>;

    /// Returns the value of an absent field.
    ///
    /// # Errors
    /// The field is required.
    fn absent(name: &str) -> Result<Self, Unreadable> {
        Err(Unreadable(format!("missing field `{name}`")))
    }
}

impl Read for Value {
    fn read(value: Value) -> Result<Self, Unreadable> {
        Ok(value)
    }
}

impl Read for String {
    fn read(value: Value) -> Result<Self, Unreadable> {
        match value {
            Value::String(text) => Ok(text),
            other => Err(Unreadable::wrong_type(&other, "a string")),
        }
    }
}

impl Read for bool {
    fn read(value: Value) -> Result<Self, Unreadable> {
        value.as_bool().ok_or_else(|| Unreadable::wrong_type(&value, "a boolean"))
    }
}

impl Read for Map<String, Value> {
    fn read(value: Value) -> Result<Self, Unreadable> {
        match value {
            Value::Object(fields) => Ok(fields),
            other => Err(Unreadable::wrong_type(&other, "an object")),
        }
    }
}

macro_rules! read_numbers {
    ($($number:ty, $get:ident, $expected:literal;)*) => {$(
        impl Read for $number {
            fn read(value: Value) -> Result<Self, Unreadable> {
                let number = value.as_number().and_then(Number::$get).and_then(|number| number.try_into().ok());
                number.ok_or_else(|| Unreadable::wrong_type(&value, $expected))
            }
        }
    )*};
}

read_numbers! {
    u32, as_u64, "a whole number of 32 bits";
    u64, as_u64, "a whole number";
    i64, as_i64, "a whole number";
    f64, as_f64, "a number";
}

impl<T: Read> Read for Vec<T> {
    fn read(value: Value) -> Result<Self, Unreadable> {
        match value {
            Value::Array(items) => items.into_iter().map(T::read).collect(),
            other => Err(Unreadable::wrong_type(&other, "a list")),
        }
    }
}

impl<T: Read> Read for LiteMap<String, T> {
    fn read(value: Value) -> Result<Self, Unreadable> {
        // Inserts one by one: `collect` would sort, and add a sort function for each map type.
        let mut map = Self::new();
        for (key, value) in Map::read(value)? {
            map.insert(key, T::read(value)?);
        }
        Ok(map)
    }
}

/// Reads `null` as `None`.
impl<T: Read> Read for Option<T> {
    fn read(value: Value) -> Result<Self, Unreadable> {
        if value.is_null() { Ok(None) } else { T::read(value).map(Some) }
    }

    fn absent(_: &str) -> Result<Self, Unreadable> {
        Ok(None)
    }
}

/// The fields of an object, removed one by one as they are read.
pub(crate) struct Fields(Map<String, Value>);

impl Fields {
    /// # Errors
    /// The value is not an object.
    pub(crate) fn of(value: Value) -> Result<Self, Unreadable> {
        Map::read(value).map(Self)
    }

    /// # Errors
    /// The field has the wrong type, or is required and absent.
    pub(crate) fn take<T: Read>(&mut self, name: &str) -> Result<T, Unreadable> {
        match self.0.remove(name) {
            Some(value) => T::read(value).map_err(|Unreadable(error)| Unreadable(format!("{name}: {error}"))),
            None => T::absent(name),
        }
    }

    /// # Errors
    /// The field has the wrong type.
    pub(crate) fn take_or_default<T: Read + Default>(&mut self, name: &str) -> Result<T, Unreadable> {
        self.take::<Option<T>>(name).map(Option::unwrap_or_default)
    }

    /// Returns the fields that have not been read.
    pub(crate) fn rest(self) -> Value {
        Value::Object(self.0)
    }
}

/// Implements `Deserialize` for types that implement [`Read`].
macro_rules! deserialize_by_reading {
    ($($type:ty),* $(,)?) => {$(
        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
                let value = <serde_json::Value as serde::Deserialize>::deserialize(d)?;
                <Self as $crate::read::Read>::read(value).map_err(serde::de::Error::custom)
            }
        }
    )*};
}

/// Implements [`Read`] and `Deserialize` for a struct: `field: "name"`, or `field: "name" or
/// default` for an optional field.
macro_rules! read_struct {
    ($type:ident { $($field:ident: $name:literal $(or $default:ident)?),* $(,)? }) => {
        impl $crate::read::Read for $type {
            fn read(value: serde_json::Value) -> Result<Self, $crate::read::Unreadable> {
                let mut fields = $crate::read::Fields::of(value)?;
                Ok(Self { $($field: $crate::read::read_struct!(@take fields $name $($default)?)),* })
            }
        }
        $crate::read::deserialize_by_reading!($type);
    };
    (@take $fields:ident $name:literal) => { $fields.take($name)? };
    (@take $fields:ident $name:literal default) => { $fields.take_or_default($name)? };
}

/// Implements [`Read`] and `Deserialize` for a fieldless enum, by the names of its variants.
macro_rules! read_names {
    ($type:ident { $($name:literal => $variant:ident),* $(,)? }) => {
        impl $crate::read::Read for $type {
            fn read(value: serde_json::Value) -> Result<Self, $crate::read::Unreadable> {
                match <String as $crate::read::Read>::read(value)?.as_str() {
                    $($name => Ok(Self::$variant),)*
                    other => Err($crate::read::Unreadable::unknown_name(other)),
                }
            }
        }
        $crate::read::deserialize_by_reading!($type);
    };
}

pub(crate) use {deserialize_by_reading, read_names, read_struct};

#[cfg(test)]
mod tests {
    use crate::UserError;
    use crate::api::{ConversationList, MessageMetadata, TokenUsage};
    use serde::de::DeserializeOwned;
    use serde_json::{Value, json};

    fn check<T: DeserializeOwned>(json: Value, expected: &str) {
        let read = serde_json::from_value::<T>(json.clone()).map(|_| "read".to_owned());
        assert_eq!(read.unwrap_or_else(|error| error.to_string()), expected, "{json}");
    }

    #[test]
    fn errors_name_the_unreadable_field() {
        check::<UserError>(json!({ "code": "busy", "message": "Wait." }), "read");
        check::<UserError>(json!({ "code": "busy", "message": "Wait.", "path": null, "more": 1 }), "read");
        check::<UserError>(json!({ "code": "busy" }), "missing field `message`");
        check::<UserError>(json!({ "code": "sleepy", "message": "" }), "code: unknown value `sleepy`");
        check::<UserError>(json!({ "code": 1, "message": "" }), "code: invalid type: number `1`, expected a string");
        check::<UserError>(json!([]), "invalid type: a list, expected an object");
        check::<UserError>(
            json!({ "code": "busy", "message": "", "retryAfter": -1 }),
            "retryAfter: invalid type: number `-1`, expected a whole number of 32 bits",
        );
        check::<TokenUsage>(json!({ "inputTokens": 1, "outputTokens": 2 }), "read");
        check::<MessageMetadata>(json!({}), "read");
        check::<MessageMetadata>(
            json!({ "usage": { "inputTokens": 1.5, "outputTokens": 2 } }),
            "usage: inputTokens: invalid type: number `1.5`, expected a whole number",
        );
        check::<ConversationList>(json!({ "items": [{}] }), "items: missing field `id`");
        check::<ConversationList>(json!({ "items": {} }), "items: invalid type: an object, expected a list");
    }
}
