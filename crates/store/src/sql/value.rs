//! Values that are bound to statements.

use bytes::Bytes;
use sqlx::postgres::PgArguments;
use sqlx::query::Query;
use sqlx::sqlite::SqliteArguments;
use sqlx::{Postgres, SqlStr, Sqlite};

/// The value of a parameter. Booleans are the numbers 1 and 0, as in the tables.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A whole number or NULL.
    Int(Option<i64>),
    /// A number or NULL.
    Real(Option<f64>),
    /// A text or NULL.
    Text(Option<String>),
    /// Bytes.
    Blob(Bytes),
    /// For SQLite a JSON array, to read with `json_each`; for PostgreSQL `text[]`.
    Texts(Vec<String>),
    /// For PostgreSQL only.
    Ints(Vec<i64>),
    /// For PostgreSQL only.
    Blobs(Vec<Bytes>),
}

macro_rules! from {
    ($($type:ty => |$value:ident| $made:expr;)*) => {
        $(impl From<$type> for Value {
            fn from($value: $type) -> Self {
                $made
            }
        })*
    };
}

from! {
    i64 => |value| Self::Int(Some(value));
    u32 => |value| Self::Int(Some(value.into()));
    bool => |value| Self::Int(Some(value.into()));
    Option<i64> => |value| Self::Int(value);
    Option<bool> => |value| Self::Int(value.map(i64::from));
    f64 => |value| Self::Real(Some(value));
    Option<f64> => |value| Self::Real(value);
    String => |value| Self::Text(Some(value));
    &str => |value| Self::Text(Some(value.to_owned()));
    &String => |value| Self::Text(Some(value.clone()));
    Option<String> => |value| Self::Text(value);
    &Option<String> => |value| Self::Text(value.clone());
    Option<&str> => |value| Self::Text(value.map(str::to_owned));
    Vec<u8> => |value| Self::Blob(value.into());
    Bytes => |value| Self::Blob(value);
    Vec<String> => |value| Self::Texts(value);
    Vec<i64> => |value| Self::Ints(value);
    Vec<Bytes> => |value| Self::Blobs(value);
}

pub(super) fn to_sqlite(sql: SqlStr, values: Vec<Value>) -> Query<'static, Sqlite, SqliteArguments> {
    values.into_iter().fold(sqlx::query(sql), |query, value| match value {
        Value::Int(value) => query.bind(value),
        Value::Real(value) => query.bind(value),
        Value::Text(value) => query.bind(value),
        Value::Blob(value) => query.bind(value.to_vec()),
        Value::Texts(values) => query.bind(serde_json::Value::from(values).to_string()),
        Value::Ints(values) => query.bind(serde_json::Value::from(values).to_string()),
        // SQLite has no arrays; a NULL makes the mistake obvious.
        Value::Blobs(_) => query.bind(None::<Vec<u8>>),
    })
}

pub(super) fn to_postgres(sql: SqlStr, values: Vec<Value>) -> Query<'static, Postgres, PgArguments> {
    values.into_iter().fold(sqlx::query(sql), |query, value| match value {
        Value::Int(value) => query.bind(value),
        Value::Real(value) => query.bind(value),
        Value::Text(value) => query.bind(value.map(without_nul)),
        Value::Blob(value) => query.bind(&value[..]),
        Value::Texts(values) => query.bind(values.into_iter().map(without_nul).collect::<Vec<_>>()),
        Value::Ints(values) => query.bind(values),
        Value::Blobs(values) => query.bind(values.iter().map(|value| &value[..]).collect::<Vec<_>>()),
    })
}

/// Replaces NUL, the only character that PostgreSQL's texts cannot contain, by U+FFFD. JSON escapes
/// it as `\u0000`, so message bodies never contain it.
pub(crate) fn without_nul(text: String) -> String {
    if text.contains('\0') { text.replace('\0', "\u{fffd}") } else { text }
}
