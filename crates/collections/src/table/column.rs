//! Columns, and how their values are compared and returned.

use crate::read::number;
use dialect::Dialect;
use serde_json::Value;

/// A column of a table, as a field of its records.
#[derive(Clone, Debug)]
pub(super) struct Column {
    /// The property of the schema.
    pub(super) field: String,
    /// The name, quoted.
    pub(super) sql: String,
    pub(super) kind: ColumnKind,
}

/// The values of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ColumnKind {
    /// Texts, which are compared by their bytes.
    Text,
    /// Texts with a `format`, such as dates, which PostgreSQL compares as values of the column's type.
    Formatted,
    Number,
    Boolean,
}

/// Returns the kind of a property; `None` if a column cannot have its values.
pub(crate) fn column_kind(schema: &Value) -> Option<ColumnKind> {
    let name = match &schema["type"] {
        Value::String(name) => name.as_str(),
        Value::Array(names) => {
            let mut names = names.iter().filter_map(Value::as_str).filter(|name| *name != "null");
            names.next().filter(|_| names.next().is_none())?
        }
        _ => return None,
    };
    Some(match name {
        "string" if schema.get("format").is_some() => ColumnKind::Formatted,
        "string" => ColumnKind::Text,
        "number" | "integer" => ColumnKind::Number,
        "boolean" => ColumnKind::Boolean,
        _ => return None,
    })
}

impl Column {
    /// Returns the expression by which rows are sorted and grouped.
    pub(super) fn ordered(&self, dialect: Dialect) -> String {
        match (self.kind, dialect) {
            (ColumnKind::Text, Dialect::Postgres) => format!("({}::text COLLATE \"C\")", self.sql),
            (ColumnKind::Text | ColumnKind::Formatted, Dialect::Sqlite) => format!("({} COLLATE BINARY)", self.sql),
            _ => self.sql.clone(),
        }
    }

    /// Returns the expression of its numbers; NULL where it has none.
    pub(super) fn numeric(&self, dialect: Dialect) -> String {
        match (self.kind, dialect) {
            (ColumnKind::Number, Dialect::Postgres) => format!("{}::float8", self.sql),
            (ColumnKind::Number, Dialect::Sqlite) => {
                format!("CASE WHEN typeof({0}) IN ('integer', 'real') THEN CAST({0} AS REAL) END", self.sql)
            }
            _ => "CAST(NULL AS REAL)".to_owned(),
        }
    }

    /// Converts a value of a row.
    pub(super) fn value(&self, value: Value) -> Value {
        match (self.kind, &value) {
            // SQLite has no type for them, PostgreSQL has numbers that JSON has not.
            (ColumnKind::Boolean, Value::Number(_)) => Value::Bool(value.as_i64() != Some(0)),
            (ColumnKind::Number, Value::String(text)) => text.parse().map_or_else(|_| value.clone(), number),
            (ColumnKind::Number, Value::Number(float)) if float.is_f64() => number(float.as_f64().unwrap_or_default()),
            (ColumnKind::Text | ColumnKind::Formatted, Value::Number(_)) => Value::String(value.to_string()),
            _ => value,
        }
    }
}
