//! JSON to SQL and back.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Map, Value};
use sqlx::error::BoxDynError;
use sqlx::sqlite::{SqliteArguments, SqliteRow};
use sqlx::{Arguments, Column, Row, TypeInfo, ValueRef};

/// Adds a value to those of a statement. Lists and mappings are bound as their JSON text.
pub(super) fn bind(arguments: &mut SqliteArguments, value: &Value) -> Result<(), BoxDynError> {
    match value {
        Value::Null => arguments.add(None::<String>),
        Value::Bool(yes) => arguments.add(*yes),
        Value::Number(number) => match number.as_i64() {
            Some(whole) => arguments.add(whole),
            None => arguments.add(number.as_f64()),
        },
        Value::String(text) => arguments.add(text.clone()),
        Value::Array(_) | Value::Object(_) => arguments.add(value.to_string()),
    }
}

/// A row as an object.
pub(super) fn object(row: &SqliteRow) -> Map<String, Value> {
    row.columns().iter().enumerate().map(|(at, column)| (column.name().to_owned(), cell(row, at))).collect()
}

/// A value by the type that it has in this row: whole numbers and fractions stay apart, bytes become base64, and what a column
/// of the type BOOLEAN holds is a truth value.
fn cell(row: &SqliteRow, at: usize) -> Value {
    let Ok(raw) = row.try_get_raw(at) else { return Value::Null };
    if raw.is_null() {
        return Value::Null;
    }
    let is_boolean = row.columns().get(at).is_some_and(|column| column.type_info().name() == "BOOLEAN");
    match raw.type_info().name() {
        "INTEGER" => match row.try_get_unchecked::<i64, _>(at) {
            Ok(whole @ (0 | 1)) if is_boolean => Value::Bool(whole == 1),
            Ok(whole) => Value::from(whole),
            Err(_) => Value::Null,
        },
        "REAL" => row.try_get_unchecked::<f64, _>(at).map_or(Value::Null, Value::from),
        "BLOB" => bytes(row, at).map_or(Value::Null, |bytes| Value::from(BASE64_STANDARD.encode(bytes))),
        // SQLite does not promise that a text is UTF-8.
        _ => bytes(row, at).map_or(Value::Null, |bytes| Value::from(String::from_utf8_lossy(&bytes))),
    }
}

fn bytes(row: &SqliteRow, at: usize) -> Option<Vec<u8>> {
    row.try_get_unchecked(at).ok()
}
