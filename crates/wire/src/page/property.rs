//! Reads values of properties and parameters. Reading is lenient, because operators may yield any
//! value: one that has a wrong type counts as absent.

use serde_json::{Map, Value};

/// A value of a property.
pub trait Property: Sized {
    /// Reads the value. `None` if it has another type, as the result of an operator may.
    fn from_value(value: &Value) -> Option<Self>;

    /// Returns the value of an absent key without a default. `None` if the key is required.
    fn absent() -> Option<Self> {
        None
    }
}

/// The properties of a block, the parameters of an action, or a part of them.
pub trait Keys: Property + Default {
    /// Reads each key by itself: a key that is absent or has a wrong type gets its default.
    fn read_keys(own: &Map<String, Value>) -> Self;
}

/// Any value that is not `null` becomes text: numbers and others as JSON.
impl Property for String {
    fn from_value(value: &Value) -> Option<Self> {
        as_text(value)
    }
}

impl Property for bool {
    fn from_value(value: &Value) -> Option<Self> {
        value.as_bool()
    }
}

impl Property for u32 {
    fn from_value(value: &Value) -> Option<Self> {
        value.as_u64()?.try_into().ok()
    }
}

impl Property for u64 {
    fn from_value(value: &Value) -> Option<Self> {
        value.as_u64()
    }
}

impl Property for f64 {
    fn from_value(value: &Value) -> Option<Self> {
        value.as_f64()
    }
}

impl Property for Value {
    fn from_value(value: &Value) -> Option<Self> {
        Some(value.clone())
    }
}

impl Property for Map<String, Value> {
    fn from_value(value: &Value) -> Option<Self> {
        value.as_object().cloned()
    }
}

/// Items of a wrong type are left out.
impl<T: Property> Property for Vec<T> {
    fn from_value(value: &Value) -> Option<Self> {
        Some(value.as_array()?.iter().filter_map(T::from_value).collect())
    }
}

impl<T: Property> Property for Option<T> {
    fn from_value(value: &Value) -> Option<Self> {
        T::from_value(value).map(Some)
    }

    fn absent() -> Option<Self> {
        Some(None)
    }
}

/// Converts a value to text: text unchanged, `null` to `None`, everything else as JSON.
pub fn as_text(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}

/// Reads a flag that an operator may compute, by the operators' rule of what counts as true: not
/// `null`, `false`, `0` or an empty text.
pub(super) fn truthy(value: &Value) -> Option<bool> {
    match value {
        Value::Null => None,
        Value::Bool(yes) => Some(*yes),
        Value::Number(number) => Some(number.as_f64() != Some(0.0)),
        Value::String(text) => Some(!text.is_empty()),
        Value::Array(_) | Value::Object(_) => Some(true),
    }
}

/// Reads a key. The default stands for an absent key and for a value of a wrong type.
pub(super) fn read_key<T>(
    own: &Map<String, Value>,
    key: &str,
    read: impl FnOnce(&Value) -> Option<T>,
    default: T,
) -> T {
    own.get(key).and_then(read).unwrap_or(default)
}
