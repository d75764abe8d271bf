//! Converts arrays: <https://www.postgresql.org/docs/current/arrays.html>

use super::bind;
use super::value::{BinaryReader, decode};
use serde_json::Value;
use sqlx::TypeInfo;
use sqlx::postgres::{PgTypeInfo, PgTypeKind};

/// The maximum number of dimensions of an array in PostgreSQL.
const MAX_DIMENSIONS: usize = 6;

/// Formats a list as an array literal: `{1,"a b",NULL}`. `kind` is the type of the array.
pub(super) fn array_literal(items: &[Value], kind: &PgTypeInfo) -> Result<String, String> {
    let PgTypeKind::Array(element) = kind.kind() else { return Err("is a list".to_owned()) };
    let is_json = matches!(element.name(), "JSON" | "JSONB");
    let items = items.iter().map(|item| match item {
        // A list in a list is a further dimension, unless the elements are JSON values.
        Value::Array(inner) if !is_json => array_literal(inner, kind),
        item => Ok(bind::parameter_text(item, element)?.map_or("NULL".to_owned(), |text| quote(&text))),
    });
    Ok(format!("{{{}}}", items.collect::<Result<Vec<_>, String>>()?.join(",")))
}

fn quote(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Decodes an array in the binary format: the number of dimensions, flags, the element type, the
/// length and the first index of each dimension, and the elements.
pub(super) fn decode_array(bytes: &[u8], element: &PgTypeInfo) -> Option<Value> {
    let mut reader = BinaryReader(bytes);
    let dimensions = usize::try_from(reader.read_i32()?).ok().filter(|dimensions| *dimensions <= MAX_DIMENSIONS)?;
    let (_flags, _element) = (reader.read_i32()?, reader.read_i32()?);
    let mut lengths = Vec::with_capacity(dimensions);
    for _ in 0..dimensions {
        lengths.push(reader.read_i32()?);
        let _first_index = reader.read_i32()?;
    }
    if lengths.is_empty() { Some(Value::Array(Vec::new())) } else { decode_dimension(&mut reader, &lengths, element) }
}

fn decode_dimension(reader: &mut BinaryReader<'_>, lengths: &[i32], element: &PgTypeInfo) -> Option<Value> {
    let Some((length, inner)) = lengths.split_first() else {
        return match reader.read_i32()? {
            -1 => Some(Value::Null),
            length => decode(element, reader.read_bytes(usize::try_from(length).ok()?)?),
        };
    };
    (0..*length).map(|_| decode_dimension(reader, inner, element)).collect::<Option<_>>().map(Value::Array)
}
