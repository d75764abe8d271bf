//! Converts PostgreSQL's values to JSON.

use super::{array, numeric, time};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Map, Value};
use sqlx::postgres::{PgRow, PgTypeInfo, PgTypeKind};
use sqlx::types::Uuid;
use sqlx::{Column, Row, TypeInfo, ValueRef};

/// Converts a row to an object.
///
/// # Errors
/// A message for the caller: the column whose type has no JSON form.
pub(super) fn row_object(row: &PgRow) -> Result<Map<String, Value>, String> {
    let cells = row.columns().iter().map(|column| {
        let value = column_value(row, column.ordinal(), column.type_info()).ok_or_else(|| {
            let (name, kind) = (column.name(), column.type_info().name().to_lowercase());
            format!("the column `{name}` contains a value of the type {kind} that cannot be converted to JSON; cast it, for example to text (`{name}::text`)")
        });
        Ok((column.name().to_owned(), value?))
    });
    cells.collect()
}

fn column_value(row: &PgRow, at: usize, kind: &PgTypeInfo) -> Option<Value> {
    let raw = row.try_get_raw(at).ok()?;
    if raw.is_null() {
        return Some(Value::Null);
    }
    decode(kind, raw.as_bytes().ok()?)
}

/// Decodes a value in the binary format; `None` if its type, or this value, has no JSON form.
pub(super) fn decode(kind: &PgTypeInfo, bytes: &[u8]) -> Option<Value> {
    match kind.kind() {
        PgTypeKind::Array(element) => return array::decode_array(bytes, element),
        PgTypeKind::Domain(inner) => return decode(inner, bytes),
        PgTypeKind::Enum(_) => return Some(text_value(bytes)),
        _ => {}
    }
    let mut reader = BinaryReader(bytes);
    Some(match kind.name() {
        "BOOL" => Value::from(*bytes.first()? != 0),
        "INT2" => Value::from(reader.read_i16()?),
        "INT4" => Value::from(reader.read_i32()?),
        "INT8" => Value::from(reader.read_i64()?),
        "OID" => Value::from(reader.read_i32()?.cast_unsigned()),
        "FLOAT4" => float_value(f32::from_bits(reader.read_i32()?.cast_unsigned()).to_string()),
        "FLOAT8" => float_value(f64::from_bits(reader.read_i64()?.cast_unsigned()).to_string()),
        "NUMERIC" => numeric::numeric_value(numeric::numeric_text(bytes)?),
        "TEXT" | "VARCHAR" | "CHAR" | "NAME" | "\"CHAR\"" | "UNKNOWN" | "citext" | "xml" => text_value(bytes),
        "JSON" => serde_json::from_slice(bytes).ok()?,
        // The first byte is the version of the format.
        "JSONB" => serde_json::from_slice(bytes.strip_prefix(&[1])?).ok()?,
        "UUID" => Value::from(Uuid::from_slice(bytes).ok()?.to_string()),
        "BYTEA" => Value::from(BASE64_STANDARD.encode(bytes)),
        "DATE" => Value::from(time::date_text(reader.read_i32()?)?),
        "TIME" => Value::from(time::time_text(reader.read_i64()?)?),
        "TIMESTAMP" => Value::from(time::timestamp_text(reader.read_i64()?)?),
        "TIMESTAMPTZ" => Value::from(time::timestamptz_text(reader.read_i64()?)?),
        "VOID" => Value::Null,
        _ => return None,
    })
}

fn text_value(bytes: &[u8]) -> Value {
    Value::from(String::from_utf8_lossy(bytes))
}

/// Parses the shortest decimal form, which for a `real` has fewer digits than for the same `double
/// precision`. Values without a JSON number become strings.
fn float_value(text: String) -> Value {
    match text.as_str() {
        "inf" => Value::from("Infinity"),
        "-inf" => Value::from("-Infinity"),
        text => text.parse::<f64>().ok().filter(|number| number.is_finite()).map_or(Value::from(text), Value::from),
    }
}

/// Reads integers in network byte order.
pub(super) struct BinaryReader<'a>(pub(super) &'a [u8]);

impl<'a> BinaryReader<'a> {
    pub(super) fn read_bytes(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    pub(super) fn read_i16(&mut self) -> Option<i16> {
        self.read_bytes(2)?.try_into().ok().map(i16::from_be_bytes)
    }

    pub(super) fn read_i32(&mut self) -> Option<i32> {
        self.read_bytes(4)?.try_into().ok().map(i32::from_be_bytes)
    }

    pub(super) fn read_i64(&mut self) -> Option<i64> {
        self.read_bytes(8)?.try_into().ok().map(i64::from_be_bytes)
    }
}
