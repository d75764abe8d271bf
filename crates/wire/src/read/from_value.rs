//! A serde deserializer of [`Value`] for derived types, with errors that do not print numbers:
//! serde_json's do, and with them the browser would download the tables for formatting fractions
//! (8 KB).

use super::Unreadable;
use serde::de::value::{MapDeserializer, SeqDeserializer};
use serde::de::{DeserializeOwned, Deserializer, Error, Expected, IntoDeserializer, Unexpected, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::Value;
use std::fmt::Display;

/// Reads a type that implements serde's `Deserialize`.
///
/// # Errors
/// The JSON does not have the expected shape.
pub(crate) fn from_value<T: DeserializeOwned>(value: Value) -> Result<T, Unreadable> {
    T::deserialize(Json(value))
}

struct Json(Value);

impl<'de> IntoDeserializer<'de, Unreadable> for Json {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for Json {
    type Error = Unreadable;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        match self.0 {
            Value::Null => visitor.visit_unit(),
            Value::Bool(yes) => visitor.visit_bool(yes),
            Value::Number(number) => match (number.as_u64(), number.as_i64(), number.as_f64()) {
                (Some(number), _, _) => visitor.visit_u64(number),
                (_, Some(number), _) => visitor.visit_i64(number),
                (_, _, number) => visitor.visit_f64(number.unwrap_or(f64::NAN)),
            },
            Value::String(text) => visitor.visit_string(text),
            Value::Array(items) => visitor.visit_seq(SeqDeserializer::new(items.into_iter().map(Json))),
            Value::Object(fields) => {
                visitor.visit_map(MapDeserializer::new(fields.into_iter().map(|(name, value)| (name, Json(value)))))
            }
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        if self.0.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

impl std::error::Error for Unreadable {}

impl Error for Unreadable {
    fn custom<T: Display>(error: T) -> Self {
        Self(error.to_string())
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        let found = match found {
            Unexpected::Str(_) => "a string",
            Unexpected::Bool(_) => "a boolean",
            Unexpected::Unsigned(_) | Unexpected::Signed(_) | Unexpected::Float(_) => "a number",
            Unexpected::Unit | Unexpected::Option => "null",
            Unexpected::Seq => "a list",
            Unexpected::Map => "an object",
            _ => "a value",
        };
        Self(format!("invalid type: {found}, expected {expected}"))
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::invalid_type(found, expected)
    }
}
