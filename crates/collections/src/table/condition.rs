//! Filters as conditions of statements.

use super::column::{Column, ColumnKind};
use super::{Statement, Table};
use crate::failure::DataError;
use crate::filter::{Filter, Test};
use crate::query::escape;
use crate::read::number;
use crate::value::Scalar;
use dialect::Dialect;

/// A comparison that no row passes.
const NEVER: &str = "1 = 0";

impl Table {
    /// Appends which rows are meant: those of the user that pass the filter.
    pub(super) fn push_where(&self, sql: &mut Statement, filter: &Filter) -> Result<(), DataError> {
        sql.push(" WHERE ");
        if let Some((column, user_id)) = &self.owner {
            sql.push(column).push(" = ").bind(user_id.as_str()).push(" AND ");
        }
        self.push_filter(sql, filter)
    }

    fn push_filter(&self, sql: &mut Statement, filter: &Filter) -> Result<(), DataError> {
        match filter {
            Filter::All(filters) => return self.push_list(sql, filters, (" AND ", "1 = 1")),
            Filter::Any(filters) => return self.push_list(sql, filters, (" OR ", NEVER)),
            Filter::Not(filter) => {
                // A comparison with NULL does not hold, so its opposite does.
                sql.push("NOT coalesce((");
                self.push_filter(sql, filter)?;
                sql.push("), false)");
            }
            Filter::Ids(ids) if ids.is_empty() => drop(sql.push(NEVER)),
            Filter::Ids(ids) => {
                sql.push(&self.key).push(" IN (");
                for (index, id) in ids.iter().enumerate() {
                    sql.push(if index > 0 { ", " } else { "" }).bind(id.as_str());
                }
                sql.push(")");
            }
            Filter::Exists(field) => drop(sql.push(&self.column(field)?.sql).push(" IS NOT NULL")),
            Filter::Value(field, test) => push_test(sql, self.column(field)?, test, self.dialect),
        }
        Ok(())
    }

    fn push_list(
        &self,
        sql: &mut Statement,
        filters: &[Filter],
        (separator, empty): (&str, &str),
    ) -> Result<(), DataError> {
        sql.push(if filters.is_empty() { empty } else { "(" });
        for (index, filter) in filters.iter().enumerate() {
            sql.push(if index > 0 { separator } else { "" });
            self.push_filter(sql, filter)?;
        }
        sql.push(if filters.is_empty() { "" } else { ")" });
        Ok(())
    }
}

fn push_test(sql: &mut Statement, column: &Column, test: &Test, dialect: Dialect) {
    let (operator, scalar) = match test {
        Test::Equals(scalar) => ("=", scalar),
        Test::Greater(scalar) => (">", scalar),
        Test::GreaterOrEqual(scalar) => (">=", scalar),
        Test::Less(scalar) => ("<", scalar),
        Test::LessOrEqual(scalar) => ("<=", scalar),
        Test::Contains(text) => return push_like(sql, column, format!("%{}%", escape(text)), dialect),
        Test::StartsWith(text) => return push_like(sql, column, format!("{}%", escape(text)), dialect),
    };
    let name = &column.sql;
    match (scalar, column.kind, dialect) {
        (Scalar::Bool(value), ColumnKind::Boolean, _) => {
            sql.push(&format!("{name} {operator} ")).bind(*value);
        }
        (Scalar::Number(value), ColumnKind::Number, Dialect::Sqlite) => {
            sql.push(&format!("(typeof({name}) IN ('integer', 'real') AND {name} {operator} "));
            sql.bind(number(*value)).push(")");
        }
        (Scalar::Number(value), ColumnKind::Number, Dialect::Postgres) => {
            let value = number(*value);
            // Whole numbers are compared as such, so that an index on them is used.
            let cast = if value.is_i64() { "::bigint" } else { "::numeric" };
            sql.push(&format!("{name} {operator} ")).bind(value).push(cast);
        }
        (Scalar::Text(text), ColumnKind::Text | ColumnKind::Formatted, Dialect::Sqlite) => {
            sql.push(&format!("(typeof({name}) = 'text' AND {name} {operator} "));
            sql.bind(text.as_str()).push(" COLLATE BINARY)");
        }
        // Texts are the same in every order; without one, an index is used.
        (Scalar::Text(text), ColumnKind::Text, Dialect::Postgres) if operator == "=" => {
            sql.push(&format!("{name}::text = ")).bind(text.as_str()).push("::text");
        }
        (Scalar::Text(text), ColumnKind::Text, Dialect::Postgres) => {
            sql.push(&format!("{} {operator} ", column.ordered(dialect))).bind(text.as_str()).push("::text");
        }
        (Scalar::Text(text), ColumnKind::Formatted, Dialect::Postgres) => {
            sql.push(&format!("{name} {operator} ")).bind(text.as_str());
        }
        // A value of another type does not pass.
        _ => drop(sql.push(NEVER)),
    }
}

fn push_like(sql: &mut Statement, column: &Column, pattern: String, dialect: Dialect) {
    let name = &column.sql;
    match (column.kind, dialect) {
        (ColumnKind::Text | ColumnKind::Formatted, Dialect::Sqlite) => {
            sql.push(&format!("(typeof({name}) = 'text' AND lower({name}) LIKE ")).bind(pattern);
            sql.push(" ESCAPE '\\')");
        }
        (ColumnKind::Text | ColumnKind::Formatted, Dialect::Postgres) => {
            sql.push(&format!("lower({name}::text) LIKE ")).bind(pattern).push("::text ESCAPE '\\'");
        }
        _ => drop(sql.push(NEVER)),
    }
}
