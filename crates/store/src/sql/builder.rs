//! Builds statements from fragments.

use super::{Query, Sql, Value, query};
use sqlx::{AssertSqlSafe, SqlSafeStr};
use std::fmt::Write;

/// A statement under construction. Its fragments are constants; users' input is
/// bound.
pub struct QueryBuilder {
    sqlite: String,
    postgres: String,
    values: Vec<Value>,
}

impl QueryBuilder {
    /// Starts with a fragment.
    pub fn new(sql: impl Into<Sql>) -> Self {
        let mut builder = Self { sqlite: String::new(), postgres: String::new(), values: Vec::new() };
        builder.push(sql);
        builder
    }

    /// Appends a fragment.
    pub fn push(&mut self, sql: impl Into<Sql>) -> &mut Self {
        let sql = sql.into();
        self.sqlite.push_str(sql.sqlite.as_str());
        self.postgres.push_str(sql.postgres.as_str());
        self
    }

    /// Appends a parameter.
    pub fn push_bind(&mut self, value: impl Into<Value>) -> &mut Self {
        self.values.push(value.into());
        for text in [&mut self.sqlite, &mut self.postgres] {
            // Writing to a string cannot fail.
            let _ = write!(text, "${}", self.values.len());
        }
        self
    }

    /// Returns the statement.
    pub fn build(self) -> Query {
        let safe = |text: String| AssertSqlSafe(text).into_sql_str();
        let sql = Sql { sqlite: safe(self.sqlite), postgres: safe(self.postgres) };
        self.values.into_iter().fold(query(sql), Query::bind)
    }
}
