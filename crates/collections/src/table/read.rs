//! Reads rows: lists, sums and the values of columns.

use super::{Column, Statement, Table};
use crate::failure::DataError;
use crate::filter::Filter;
use crate::read::{Aggregate, AggregateOperator, Facet, Order, number, round};
use crate::store::Record;
use serde_json::{Map, Value, json};

impl Table {
    /// Returns records, sorted, and records without a value of the field last; then by their keys.
    pub(crate) async fn list(
        &self,
        filter: &Filter,
        orders: &[Order],
        (limit, offset): (u32, u32),
    ) -> Result<Vec<Record>, DataError> {
        let mut sql = Statement::new("SELECT CAST(");
        sql.push(&self.key).push(" AS TEXT) AS k");
        for (index, column) in self.columns.iter().enumerate() {
            sql.push(&format!(", {} AS c{index}", column.sql));
        }
        sql.push(&format!(" FROM {}", self.name));
        self.push_where(&mut sql, filter)?;
        sql.push(" ORDER BY ");
        for order in orders {
            let column = self.column(&order.field)?;
            let direction = if order.descending { " DESC" } else { "" };
            sql.push(&format!("({} IS NULL), {}{direction}, ", column.sql, column.ordered(self.dialect)));
        }
        sql.push(&format!("{} LIMIT {limit} OFFSET {offset}", self.key));
        let rows = self.rows(&sql).await?;
        Ok(rows.into_iter().map(|row| self.record(row)).collect())
    }

    fn record(&self, mut row: Value) -> Record {
        let mut data = Map::new();
        for (index, column) in self.columns.iter().enumerate() {
            match column.value(row[format!("c{index}")].take()) {
                Value::Null => {}
                value => drop(data.insert(column.field.clone(), value)),
            }
        }
        Record { id: row["k"].as_str().unwrap_or_default().to_owned(), data, version: 0 }
    }

    /// Returns how many records pass the filter.
    pub(crate) async fn count(&self, filter: &Filter) -> Result<i64, DataError> {
        let mut sql = Statement::new("SELECT count(*) AS count FROM ");
        sql.push(&self.name);
        self.push_where(&mut sql, filter)?;
        let rows = self.rows(&sql).await?;
        Ok(rows.first().and_then(|row| row["count"].as_i64()).unwrap_or_default())
    }

    /// Returns the groups with their aggregates, the largest first.
    pub(crate) async fn aggregate(
        &self,
        filter: &Filter,
        groups: &[String],
        (aggregates, limit): (&[Aggregate], u32),
    ) -> Result<Vec<Value>, DataError> {
        let columns = groups.iter().map(|field| self.column(field)).collect::<Result<Vec<_>, _>>()?;
        let mut sql = Statement::new("SELECT count(*) AS count");
        for (index, column) in columns.iter().enumerate() {
            sql.push(&format!(", {} AS g{index}", column.ordered(self.dialect)));
        }
        for (index, Aggregate { op, field }) in aggregates.iter().enumerate() {
            let of = match (op, field) {
                (AggregateOperator::Count, Some(field)) => self.column(field)?.ordered(self.dialect),
                (_, Some(field)) => self.column(field)?.numeric(self.dialect),
                (_, None) => "*".to_owned(),
            };
            sql.push(&format!(", {}({of}) AS x{index}", op.name()));
        }
        sql.push(&format!(" FROM {}", self.name));
        self.push_where(&mut sql, filter)?;
        self.push_groups(&mut sql, &columns);
        sql.push(&format!(" LIMIT {limit}"));
        let rows = self.rows(&sql).await?;
        Ok(rows.into_iter().map(|row| group(row, &columns, aggregates)).collect())
    }

    /// Appends the groups, and their order: the largest first, then by their values.
    fn push_groups(&self, sql: &mut Statement, columns: &[&Column]) {
        let groups: Vec<_> = columns.iter().map(|column| column.ordered(self.dialect)).collect();
        if !groups.is_empty() {
            sql.push(&format!(" GROUP BY {}", groups.join(", ")));
        }
        sql.push(" ORDER BY count(*) DESC");
        for group in groups {
            sql.push(&format!(", ({group} IS NULL), {group}"));
        }
    }

    /// Returns the most frequent values of a field, with the number of records that have them.
    pub(crate) async fn facets(&self, filter: &Filter, field: &str, limit: u32) -> Result<Vec<Facet>, DataError> {
        let column = self.column(field)?;
        let mut sql = Statement::new("SELECT count(*) AS count");
        sql.push(&format!(", {} AS g0 FROM {}", column.ordered(self.dialect), self.name));
        let has_value = Filter::All(vec![filter.clone(), Filter::Exists(field.to_owned())]);
        self.push_where(&mut sql, &has_value)?;
        self.push_groups(&mut sql, &[column]);
        sql.push(&format!(" LIMIT {limit}"));
        let rows = self.rows(&sql).await?;
        let facet = |mut row: Value| Facet {
            value: column.value(row["g0"].take()),
            count: row["count"].as_i64().unwrap_or_default(),
        };
        Ok(rows.into_iter().map(facet).collect())
    }
}

fn group(mut row: Value, columns: &[&Column], aggregates: &[Aggregate]) -> Value {
    let mut result = json!({ "count": row["count"].take() });
    for (index, column) in columns.iter().enumerate() {
        result["group"][&column.field] = column.value(row[format!("g{index}")].take());
    }
    for (index, Aggregate { op, field }) in aggregates.iter().enumerate() {
        let Some(field) = field else { continue };
        let value = row[format!("x{index}")].take();
        result[format!("{}({field})", op.name())] = match (op, value.as_f64()) {
            (AggregateOperator::Count, _) => value,
            (_, Some(value)) => number(round(value)),
            _ => Value::Null,
        };
    }
    result
}
