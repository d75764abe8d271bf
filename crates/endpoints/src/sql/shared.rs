//! SQL connections for other crates, which make their statements themselves.

use super::run::timeout_message;
use super::{BUSY, FAILED, SqlAccess, SqlConnection, UNREACHABLE};
use dialect::Statement;
use parking_lot::RwLock;
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::sync::Arc;

/// The SQL connections of the config in use, by their ids; a cheap handle.
#[derive(Clone, Default)]
pub struct OpenDatabases(Arc<RwLock<HashMap<String, SqlConnection>>>);

impl OpenDatabases {
    /// Returns a connection.
    pub fn get(&self, id: &str) -> Option<SqlConnection> {
        self.0.read().get(id).cloned()
    }

    /// Replaces all connections.
    pub fn replace(&self, connections: HashMap<String, SqlConnection>) {
        *self.0.write() = connections;
    }
}

/// A statement that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SqlFailure {
    /// The message for the caller, about the statement or its values.
    pub message: String,
    /// Whether the database cannot be reached, is busy, or took too long.
    pub is_unavailable: bool,
}

impl SqlConnection {
    /// Runs a statement that reads. Its parameters are named, as `:name`. The text must not contain
    /// anything that a user or a model has written.
    ///
    /// # Errors
    /// The statement failed, or its result exceeds a limit.
    pub async fn query(&self, sql: &str, parameters: &Map<String, Value>) -> Result<Vec<Value>, SqlFailure> {
        match self.checked(sql, SqlAccess::Read, parameters).await? {
            Value::Array(rows) => Ok(rows),
            _ => Ok(Vec::new()),
        }
    }

    /// Runs a statement that writes, as [`SqlConnection::query`]. Returns how many rows it changed, and
    /// the rows that it returned.
    ///
    /// # Errors
    /// The statement failed and has changed nothing.
    pub async fn execute(&self, sql: &str, parameters: &Map<String, Value>) -> Result<(u64, Vec<Value>), SqlFailure> {
        let mut result = self.checked(sql, SqlAccess::Write, parameters).await?;
        let rows = match result["rows"].take() {
            Value::Array(rows) => rows,
            _ => Vec::new(),
        };
        Ok((result["rowsAffected"].as_u64().unwrap_or_default(), rows))
    }

    async fn checked(
        &self,
        sql: &str,
        access: SqlAccess,
        parameters: &Map<String, Value>,
    ) -> Result<Value, SqlFailure> {
        let failure = |message| SqlFailure { message, is_unavailable: false };
        let statement = Statement::parse(sql, self.dialect()).map_err(failure)?;
        self.run(&statement, access, parameters).await.map_err(|message| {
            let is_unavailable = [FAILED, BUSY, UNREACHABLE].contains(&message.as_str())
                || message == timeout_message(self.limits.timeout);
            SqlFailure { message, is_unavailable }
        })
    }
}
