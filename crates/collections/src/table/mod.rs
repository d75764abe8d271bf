//! Records that are the rows of a table of a SQL connection.
//!
//! Statements consist of constants, of names that the config has, and of parameters. Input of a model or a caller is
//! either compared with those names, or bound.

mod change;
mod column;
mod condition;
mod read;
mod statement;

pub(crate) use column::column_kind;

use crate::failure::DataError;
use crate::section::{Collection, Source};
use column::Column;
use dialect::Dialect;
use endpoints::{OpenDatabases, SqlConnection, SqlFailure, SqlLimits};
use serde_json::Value;
use statement::Statement;
use std::time::Duration;

/// The longest time of a statement.
const TIMEOUT: Duration = Duration::from_secs(15);

/// The rows of a table that a user sees.
pub(crate) struct Table {
    connection: SqlConnection,
    dialect: Dialect,
    /// The name of the table, quoted.
    name: String,
    /// The column that identifies a row, quoted.
    key: String,
    /// The column with the user, quoted, and the user; `None` if the rows are shared.
    owner: Option<(String, String)>,
    columns: Vec<Column>,
}

impl Table {
    /// Returns the table of a collection.
    ///
    /// # Errors
    /// The connection is not open, because the config has changed meanwhile.
    pub(crate) fn new(
        collection: &Collection,
        source: &Source,
        user_id: &str,
        databases: &OpenDatabases,
    ) -> Result<Self, DataError> {
        let connection = databases.get(&source.connection_id.0).ok_or(DataError::Unavailable)?;
        let connection = connection.with_limits(SqlLimits { timeout: TIMEOUT, ..SqlLimits::default() });
        let properties = collection.schema.get("properties").and_then(Value::as_object);
        let columns = properties.into_iter().flatten().filter_map(|(field, schema)| {
            let name = source.columns.get(field).map_or(field.as_str(), |column| column.0.as_str());
            Some(Column { field: field.clone(), sql: quoted(name), kind: column_kind(schema)? })
        });
        Ok(Self {
            dialect: connection.dialect(),
            connection,
            name: source.table.0.split('.').map(quoted).collect::<Vec<_>>().join("."),
            key: quoted(&source.key.0),
            owner: source.owner_column.as_ref().map(|column| (quoted(&column.0), user_id.to_owned())),
            columns: columns.collect(),
        })
    }

    /// Returns the column of a field.
    ///
    /// # Errors
    /// A message for the model: there is none.
    fn column(&self, field: &str) -> Result<&Column, DataError> {
        self.columns.iter().find(|column| column.field == field).ok_or_else(|| {
            let known: Vec<_> = self.columns.iter().map(|column| column.field.as_str()).collect();
            DataError::Invalid(format!("There is no field `{field}`. The fields are {}.", known.join(", ")))
        })
    }

    async fn rows(&self, statement: &Statement) -> Result<Vec<Value>, DataError> {
        Ok(self.connection.query(&statement.text, &statement.values).await?)
    }
}

impl From<SqlFailure> for DataError {
    fn from(failure: SqlFailure) -> Self {
        if failure.is_unavailable {
            Self::Unavailable
        } else {
            Self::Invalid(format!("The database refused this: {}.", failure.message.trim_end_matches('.')))
        }
    }
}

/// Quotes a name of the config.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

#[cfg(test)]
mod tests;
