//! Converts between JSON and SQLite's values.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Map, Value};
use sqlx::error::BoxDynError;
use sqlx::sqlite::{SqliteArguments, SqliteRow};
use sqlx::{Arguments, Column, Row, TypeInfo, ValueRef};

/// Binds a value as the next parameter. Lists and objects are bound as JSON text.
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

/// Converts a row to an object.
pub(super) fn row_object(row: &SqliteRow) -> Map<String, Value> {
    row.columns().iter().enumerate().map(|(at, column)| (column.name().to_owned(), column_value(row, at))).collect()
}

/// Converts a value by its storage class in this row: integers and reals stay distinct, blobs
/// become base64, and values of BOOLEAN columns become booleans.
fn column_value(row: &SqliteRow, at: usize) -> Value {
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
        "BLOB" => column_bytes(row, at).map_or(Value::Null, |bytes| Value::from(BASE64_STANDARD.encode(bytes))),
        // SQLite does not guarantee that text is UTF-8.
        _ => column_bytes(row, at).map_or(Value::Null, |bytes| Value::from(String::from_utf8_lossy(&bytes))),
    }
}

fn column_bytes(row: &SqliteRow, at: usize) -> Option<Vec<u8>> {
    row.try_get_unchecked(at).ok()
}
