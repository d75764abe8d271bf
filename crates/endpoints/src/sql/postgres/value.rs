//! PostgreSQL's values as JSON.

use super::{array, numeric, time};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Map, Value};
use sqlx::postgres::{PgRow, PgTypeInfo, PgTypeKind};
use sqlx::types::Uuid;
use sqlx::{Column, Row, TypeInfo, ValueRef};

/// A row as an object.
///
/// # Errors
/// For the caller: the column whose type has no form in JSON.
pub(super) fn object(row: &PgRow) -> Result<Map<String, Value>, String> {
    let cells = row.columns().iter().map(|column| {
        let value = cell(row, column.ordinal(), column.type_info()).ok_or_else(|| {
            let (name, kind) = (column.name(), column.type_info().name().to_lowercase());
            format!("the column `{name}` holds a value of the type {kind} that has no form here; cast it, for example to text (`{name}::text`)")
        });
        Ok((column.name().to_owned(), value?))
    });
    cells.collect()
}

fn cell(row: &PgRow, at: usize, kind: &PgTypeInfo) -> Option<Value> {
    let raw = row.try_get_raw(at).ok()?;
    if raw.is_null() {
        return Some(Value::Null);
    }
    decode(kind, raw.as_bytes().ok()?)
}

/// A value in the form in which it is sent; none if this type, or this value of it, has no form in JSON.
pub(super) fn decode(kind: &PgTypeInfo, bytes: &[u8]) -> Option<Value> {
    match kind.kind() {
        PgTypeKind::Array(element) => return array::read(bytes, element),
        PgTypeKind::Domain(inner) => return decode(inner, bytes),
        PgTypeKind::Enum(_) => return Some(text(bytes)),
        _ => {}
    }
    let mut reader = Reader(bytes);
    Some(match kind.name() {
        "BOOL" => Value::from(*bytes.first()? != 0),
        "INT2" => Value::from(reader.i16()?),
        "INT4" => Value::from(reader.i32()?),
        "INT8" => Value::from(reader.i64()?),
        "OID" => Value::from(reader.i32()?.cast_unsigned()),
        "FLOAT4" => float(f32::from_bits(reader.i32()?.cast_unsigned()).to_string()),
        "FLOAT8" => float(f64::from_bits(reader.i64()?.cast_unsigned()).to_string()),
        "NUMERIC" => numeric::value(numeric::text(bytes)?),
        "TEXT" | "VARCHAR" | "CHAR" | "NAME" | "\"CHAR\"" | "UNKNOWN" | "citext" | "xml" => text(bytes),
        "JSON" => serde_json::from_slice(bytes).ok()?,
        // The first byte is the version of the form.
        "JSONB" => serde_json::from_slice(bytes.strip_prefix(&[1])?).ok()?,
        "UUID" => Value::from(Uuid::from_slice(bytes).ok()?.to_string()),
        "BYTEA" => Value::from(BASE64_STANDARD.encode(bytes)),
        "DATE" => Value::from(time::day(reader.i32()?)?),
        "TIME" => Value::from(time::of_day(reader.i64()?)?),
        "TIMESTAMP" => Value::from(time::civil(reader.i64()?)?),
        "TIMESTAMPTZ" => Value::from(time::instant(reader.i64()?)?),
        "VOID" => Value::Null,
        _ => return None,
    })
}

fn text(bytes: &[u8]) -> Value {
    Value::from(String::from_utf8_lossy(bytes))
}

/// The shortest decimals that say the number, which for a `real` are fewer than those of the same `double precision`; what JSON
/// has no number for is a text.
fn float(text: String) -> Value {
    match text.as_str() {
        "inf" => Value::from("Infinity"),
        "-inf" => Value::from("-Infinity"),
        text => text.parse::<f64>().ok().filter(|number| number.is_finite()).map_or(Value::from(text), Value::from),
    }
}

/// Numbers in the order of the network.
pub(super) struct Reader<'a>(pub(super) &'a [u8]);

impl<'a> Reader<'a> {
    pub(super) fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    pub(super) fn i16(&mut self) -> Option<i16> {
        self.take(2)?.try_into().ok().map(i16::from_be_bytes)
    }

    pub(super) fn i32(&mut self) -> Option<i32> {
        self.take(4)?.try_into().ok().map(i32::from_be_bytes)
    }

    pub(super) fn i64(&mut self) -> Option<i64> {
        self.take(8)?.try_into().ok().map(i64::from_be_bytes)
    }
}
