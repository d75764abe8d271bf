//! Lists: <https://www.postgresql.org/docs/current/arrays.html>

use super::bind;
use super::value::{Reader, decode};
use serde_json::Value;
use sqlx::TypeInfo;
use sqlx::postgres::{PgTypeInfo, PgTypeKind};

/// How deep PostgreSQL's arrays go.
const MAX_DIMENSIONS: usize = 6;

/// A list as PostgreSQL reads it: `{1,"a b",NULL}`. `kind` is the array's.
pub(super) fn literal(items: &[Value], kind: &PgTypeInfo) -> Result<String, String> {
    let PgTypeKind::Array(element) = kind.kind() else { return Err("is a list".to_owned()) };
    let is_json = matches!(element.name(), "JSON" | "JSONB");
    let items = items.iter().map(|item| match item {
        // A list in a list is one more dimension, unless it is a value of JSON.
        Value::Array(inner) if !is_json => literal(inner, kind),
        item => Ok(bind::text(item, element)?.map_or("NULL".to_owned(), |text| quoted(&text))),
    });
    Ok(format!("{{{}}}", items.collect::<Result<Vec<_>, String>>()?.join(",")))
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// An array as it comes: dimensions, flags, the type of its elements, each dimension's length and first index, the elements.
pub(super) fn read(bytes: &[u8], element: &PgTypeInfo) -> Option<Value> {
    let mut reader = Reader(bytes);
    let dimensions = usize::try_from(reader.i32()?).ok().filter(|dimensions| *dimensions <= MAX_DIMENSIONS)?;
    let (_flags, _element) = (reader.i32()?, reader.i32()?);
    let mut lengths = Vec::with_capacity(dimensions);
    for _ in 0..dimensions {
        lengths.push(reader.i32()?);
        let _first_index = reader.i32()?;
    }
    if lengths.is_empty() { Some(Value::Array(Vec::new())) } else { read_dimension(&mut reader, &lengths, element) }
}

fn read_dimension(reader: &mut Reader<'_>, lengths: &[i32], element: &PgTypeInfo) -> Option<Value> {
    let Some((length, inner)) = lengths.split_first() else {
        return match reader.i32()? {
            -1 => Some(Value::Null),
            length => decode(element, reader.take(usize::try_from(length).ok()?)?),
        };
    };
    (0..*length).map(|_| read_dimension(reader, inner, element)).collect::<Option<_>>().map(Value::Array)
}
