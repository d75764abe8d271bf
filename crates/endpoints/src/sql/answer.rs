//! What a statement answered, within its limits.

use super::{Access, SqlLimits};
use serde_json::{Map, Value, json};

/// Rows, as they come.
pub(super) struct Answer {
    limits: SqlLimits,
    rows: Vec<Value>,
    rows_affected: u64,
    bytes: usize,
}

impl Answer {
    pub(super) fn new(limits: SqlLimits) -> Self {
        Self { limits, rows: Vec::new(), rows_affected: 0, bytes: 0 }
    }

    /// One row more.
    ///
    /// # Errors
    /// For the caller: that it was one too many.
    pub(super) fn add(&mut self, row: Map<String, Value>) -> Result<(), String> {
        if self.rows.len() == self.limits.rows {
            return Err(format!("the answer has more than {} rows; give the statement a `limit`", self.limits.rows));
        }
        self.bytes += row.iter().map(|(name, value)| name.len() + size(value) + 6).sum::<usize>();
        if self.bytes > self.limits.bytes {
            return Err(format!("the answer has more than {} bytes; select less", self.limits.bytes));
        }
        self.rows.push(Value::Object(row));
        Ok(())
    }

    pub(super) fn add_affected(&mut self, rows: u64) {
        self.rows_affected += rows;
    }

    /// A list of rows for a statement that reads, `{rowsAffected}` for one that writes, with `rows` if it returns any.
    pub(super) fn into_value(self, access: Access) -> Value {
        match access {
            Access::Read => Value::Array(self.rows),
            Access::Write if self.rows.is_empty() => json!({ "rowsAffected": self.rows_affected }),
            Access::Write => json!({ "rowsAffected": self.rows_affected, "rows": self.rows }),
        }
    }
}

/// About how many bytes of JSON a value takes.
fn size(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 16,
        Value::String(text) => text.len(),
        Value::Array(items) => 2 + items.iter().map(|item| size(item) + 1).sum::<usize>(),
        Value::Object(entries) => 2 + entries.iter().map(|(key, value)| key.len() + size(value) + 4).sum::<usize>(),
    }
}
