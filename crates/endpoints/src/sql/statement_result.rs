//! The result of a statement, within its limits.

use super::{SqlAccess, SqlLimits};
use serde_json::{Map, Value, json};

/// Collects rows as they arrive.
pub(super) struct StatementResult {
    limits: SqlLimits,
    rows: Vec<Value>,
    rows_affected: u64,
    bytes: usize,
}

impl StatementResult {
    pub(super) fn new(limits: SqlLimits) -> Self {
        Self { limits, rows: Vec::new(), rows_affected: 0, bytes: 0 }
    }

    /// Adds a row.
    ///
    /// # Errors
    /// A message for the caller, if the result exceeds a limit.
    pub(super) fn add_row(&mut self, row: Map<String, Value>) -> Result<(), String> {
        if self.rows.len() == self.limits.rows {
            return Err(format!("the result has more than {} rows; add a `limit` to the statement", self.limits.rows));
        }
        self.bytes += row.iter().map(|(name, value)| name.len() + json_size(value) + 6).sum::<usize>();
        if self.bytes > self.limits.bytes {
            return Err(format!("the result has more than {} bytes; select less", self.limits.bytes));
        }
        self.rows.push(Value::Object(row));
        Ok(())
    }

    pub(super) fn add_affected(&mut self, rows: u64) {
        self.rows_affected += rows;
    }

    /// Returns a list of rows for a statement that reads, otherwise `{rowsAffected}`, with `rows`
    /// if the statement returned any.
    pub(super) fn into_value(self, access: SqlAccess) -> Value {
        match access {
            SqlAccess::Read => Value::Array(self.rows),
            SqlAccess::Write if self.rows.is_empty() => json!({ "rowsAffected": self.rows_affected }),
            SqlAccess::Write => json!({ "rowsAffected": self.rows_affected, "rows": self.rows }),
        }
    }
}

/// Estimates the size of a value as JSON in bytes.
fn json_size(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 16,
        Value::String(text) => text.len(),
        Value::Array(items) => 2 + items.iter().map(|item| json_size(item) + 1).sum::<usize>(),
        Value::Object(entries) => {
            2 + entries.iter().map(|(key, value)| key.len() + json_size(value) + 4).sum::<usize>()
        }
    }
}
