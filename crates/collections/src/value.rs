//! The values of a record as they are compared.

use serde_json::{Map, Value};
use std::collections::HashMap;

/// The longest record in bytes.
pub(crate) const MAX_RECORD: usize = 64 << 10;
/// The most scalars of a record.
const MAX_VALUES: usize = 500;
/// The deepest nesting.
const MAX_DEPTH: usize = 8;
/// The longest path of a field in bytes.
pub(crate) const MAX_FIELD: usize = 200;

/// A scalar of a record. `null` is no value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Scalar {
    Bool(bool),
    Number(f64),
    Text(String),
}

impl Scalar {
    /// Reads a value that is neither null, a list nor an object.
    pub(crate) fn read(value: &Value) -> Option<Self> {
        match value {
            Value::Bool(value) => Some(Self::Bool(*value)),
            Value::Number(number) => number.as_f64().map(Self::Number),
            Value::String(text) => Some(Self::Text(text.clone())),
            Value::Null | Value::Array(_) | Value::Object(_) => None,
        }
    }

    /// Returns the number that stands for the type, by which values of several types are sorted.
    pub(crate) fn kind(&self) -> i64 {
        match self {
            Self::Bool(_) => 0,
            Self::Number(_) => 1,
            Self::Text(_) => 2,
        }
    }

    pub(crate) fn number(&self) -> Option<f64> {
        match self {
            Self::Bool(value) => Some(f64::from(u8::from(*value))),
            // Both zeros are one.
            Self::Number(number) => Some(number + 0.0),
            Self::Text(_) => None,
        }
    }

    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// A scalar with the path of its field and its position among the values of this field.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FieldValue {
    pub(crate) field: String,
    pub(crate) item: i64,
    pub(crate) scalar: Scalar,
}

/// Returns the scalars of a record: those in objects as `address.city`, and all those of a list under
/// the path of the list.
///
/// # Errors
/// A message for the model: the record is too large, or has a character that cannot be stored.
pub(crate) fn values(record: &Map<String, Value>) -> Result<Vec<FieldValue>, String> {
    let mut found = Vec::new();
    let mut counts = HashMap::new();
    for (key, value) in record {
        collect(key.clone(), value, 1, &mut counts, &mut found)?;
    }
    Ok(found)
}

fn collect(
    path: String,
    value: &Value,
    depth: usize,
    counts: &mut HashMap<String, i64>,
    found: &mut Vec<FieldValue>,
) -> Result<(), String> {
    if depth > MAX_DEPTH || path.len() > MAX_FIELD {
        return Err("A record is nested too deeply, or a name in it is too long.".to_owned());
    }
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                collect(format!("{path}.{key}"), value, depth + 1, counts, found)?;
            }
        }
        Value::Array(items) => {
            for item in items {
                collect(path.clone(), item, depth + 1, counts, found)?;
            }
        }
        value => {
            if let Some(scalar) = Scalar::read(value) {
                if found.len() >= MAX_VALUES {
                    return Err(format!("A record has more than {MAX_VALUES} values."));
                }
                if path.contains('\0') || scalar.text().is_some_and(|text| text.contains('\0')) {
                    return Err("A text has the character NUL, which cannot be stored.".to_owned());
                }
                let item = counts.entry(path.clone()).or_default();
                found.push(FieldValue { field: path, item: *item, scalar });
                *item += 1;
            }
        }
    }
    Ok(())
}
