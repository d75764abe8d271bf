//! Reads records: lists, sums and the values of fields.

use crate::filter::Filter;
use crate::store::{Record, RecordSet, push_where, record};
use ::store::sql::{QueryBuilder, Row};
use ::store::{Store, StoreError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The field by which records are sorted.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Order {
    pub(crate) field: String,
    #[serde(default)]
    pub(crate) descending: bool,
}

/// An aggregate of records.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Aggregate {
    pub(crate) op: AggregateOperator,
    /// The field with the numbers; not for `count`.
    pub(crate) field: Option<String>,
}

/// A value of a field.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Facet {
    pub(crate) value: Value,
    /// The number of records with this value.
    pub(crate) count: i64,
}

/// The function of an aggregate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) enum AggregateOperator {
    Count,
    Sum,
    Avg,
    Min,
    Max,
}

impl AggregateOperator {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Count => "count",
            Self::Sum => "sum",
            Self::Avg => "avg",
            Self::Min => "min",
            Self::Max => "max",
        }
    }

    /// Returns the beginning of the SQL function.
    fn function(self) -> &'static str {
        match self {
            Self::Count => "count(",
            Self::Sum => "sum(",
            Self::Avg => "avg(",
            Self::Min => "min(",
            Self::Max => "max(",
        }
    }
}

/// Returns records, sorted, and records without a value of the field last; then by their ids, that is,
/// by their age.
pub(crate) async fn list(
    store: &Store,
    set: &RecordSet,
    filter: &Filter,
    orders: &[Order],
    (limit, offset): (u32, u32),
) -> Result<Vec<Record>, StoreError> {
    let mut sql = QueryBuilder::new("SELECT r.id, r.data, r.version FROM data_records r");
    push_joins(&mut sql, 'o', orders.iter().map(|order| order.field.as_str()));
    push_where(&mut sql, set, filter);
    sql.push(" ORDER BY ");
    for (index, order) in orders.iter().enumerate() {
        push_column(&mut sql, ("(", 'o', index, "kind"));
        sql.push(" IS NULL), ");
        for column in ["kind", "number", "text"] {
            push_column(&mut sql, ("", 'o', index, column));
            sql.push(if order.descending { " DESC, " } else { ", " });
        }
    }
    sql.push("r.id LIMIT ").push_bind(limit).push(" OFFSET ").push_bind(offset);
    let query = sql.build();
    store.rows(query, record).await
}

/// Returns how many records pass the filter.
pub(crate) async fn count(store: &Store, set: &RecordSet, filter: &Filter) -> Result<i64, StoreError> {
    let mut sql = QueryBuilder::new("SELECT count(*) AS count FROM data_records r");
    push_where(&mut sql, set, filter);
    let query = sql.build();
    store.read(move |db| Box::pin(async move { Ok(query.fetch_one(db).await?.try_get("count")?) })).await
}

/// Returns the groups with their aggregates, the largest first: `{group: {field: value}, count, …}`. Of a
/// field with a list, the first value counts.
pub(crate) async fn aggregate(
    store: &Store,
    set: &RecordSet,
    filter: &Filter,
    groups: &[String],
    (aggregates, limit): (&[Aggregate], u32),
) -> Result<Vec<Value>, StoreError> {
    let mut sql = QueryBuilder::new("SELECT count(*) AS count");
    for (index, _) in groups.iter().enumerate() {
        push_group(&mut sql, index);
    }
    for (index, aggregate) in aggregates.iter().enumerate() {
        sql.push(", ").push(aggregate.op.function());
        match (aggregate.op, &aggregate.field) {
            (AggregateOperator::Count, Some(_)) => {
                push_column(&mut sql, ("", 'a', index, "kind"));
                sql.push(")");
            }
            // `sum` and others ignore values that are not numbers.
            (_, Some(_)) => {
                sql.push("CASE WHEN ");
                push_column(&mut sql, ("", 'a', index, "kind"));
                sql.push(" = 1 THEN ");
                push_column(&mut sql, ("", 'a', index, "number"));
                sql.push(" END)");
            }
            (_, None) => {
                sql.push("*)");
            }
        }
        push_alias(&mut sql, 'x', index);
    }
    sql.push(" FROM data_records r");
    push_joins(&mut sql, 'g', groups.iter().map(String::as_str));
    push_joins(&mut sql, 'a', aggregates.iter().map(|aggregate| aggregate.field.as_deref().unwrap_or_default()));
    push_where(&mut sql, set, filter);
    for index in 0..groups.len() {
        sql.push(if index == 0 { " GROUP BY " } else { ", " });
        for (part, column) in ["kind", "number", "text"].into_iter().enumerate() {
            push_column(&mut sql, (if part == 0 { "" } else { ", " }, 'g', index, column));
        }
    }
    sql.push(" ORDER BY count(*) DESC");
    for index in 0..groups.len() {
        push_column(&mut sql, (", (", 'g', index, "kind"));
        sql.push(" IS NULL)");
        for column in ["kind", "number", "text"] {
            push_column(&mut sql, (", ", 'g', index, column));
        }
    }
    sql.push(" LIMIT ").push_bind(limit);
    let (query, groups, aggregates) = (sql.build(), groups.to_vec(), aggregates.to_vec());
    let read = move |row: &Row| group(row, &groups, &aggregates);
    store.rows(query, read).await
}

fn group(row: &Row, groups: &[String], aggregates: &[Aggregate]) -> Result<Value, StoreError> {
    let mut result = json!({ "count": row.try_get::<i64>("count")? });
    for (index, field) in groups.iter().enumerate() {
        let column = |name: &str| format!("g{index}_{name}");
        result["group"][field] = scalar(row, &column("kind"), &column("number"), &column("text"))?;
    }
    for (index, Aggregate { op, field }) in aggregates.iter().enumerate() {
        let Some(field) = field else { continue };
        let column = format!("x{index}");
        let value = match op {
            AggregateOperator::Count => row.try_get::<i64>(column.as_str())?.into(),
            _ => row.try_get::<Option<f64>>(column.as_str())?.map_or(Value::Null, |value| number(round(value))),
        };
        result[format!("{}({field})", op.name())] = value;
    }
    Ok(result)
}

/// Returns the most frequent values of a field, with the number of records that have them.
pub(crate) async fn facets(
    store: &Store,
    set: &RecordSet,
    filter: &Filter,
    field: &str,
    limit: u32,
) -> Result<Vec<Facet>, StoreError> {
    let mut sql = QueryBuilder::new(
        "SELECT f.kind, f.number, f.text, count(DISTINCT r.id) AS count
         FROM data_records r JOIN data_values f ON f.record_id = r.id AND f.field = ",
    );
    sql.push_bind(field);
    push_where(&mut sql, set, filter);
    sql.push(" GROUP BY f.kind, f.number, f.text ORDER BY count(DISTINCT r.id) DESC, f.kind, f.number, f.text LIMIT ");
    sql.push_bind(limit);
    let query = sql.build();
    let read = |row: &Row| {
        let value = scalar(row, "kind", "number", "text")?;
        Ok(Facet { value, count: row.try_get("count")? })
    };
    store.rows(query, read).await
}

fn scalar(row: &Row, kind: &str, number_column: &str, text: &str) -> Result<Value, StoreError> {
    let value: Option<f64> = row.try_get(number_column)?;
    Ok(match row.try_get::<Option<i64>>(kind)? {
        Some(0) => Value::Bool(value == Some(1.0)),
        Some(1) => number(value.unwrap_or_default()),
        Some(_) => row.try_get::<Option<String>>(text)?.map_or(Value::Null, Value::String),
        None => Value::Null,
    })
}

/// Returns a number as JSON, a whole one without a fraction.
pub(crate) fn number(value: f64) -> Value {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if value.fract() == 0.0 && value.abs() <= EXACT { Value::from(value as i64) } else { Value::from(value) }
}

/// Rounds to 12 digits: the databases add in another order, and so differ in the last ones.
pub(crate) fn round(value: f64) -> f64 {
    format!("{value:.11e}").parse().unwrap_or(value)
}

/// The aliases of joined tables and columns; statements are made of constants only.
const NUMBERS: [&str; 10] = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"];
/// The most fields of one kind in a statement.
pub(crate) const MAX_JOINED: usize = NUMBERS.len();

fn prefix(kind: char) -> &'static str {
    match kind {
        'o' => "o",
        'g' => "g",
        'a' => "a",
        _ => "x",
    }
}

/// Joins the first value of each field as the tables `o0`, `o1`, ….
fn push_joins<'a>(sql: &mut QueryBuilder, kind: char, fields: impl Iterator<Item = &'a str>) {
    for (index, field) in fields.enumerate().filter(|(_, field)| !field.is_empty()) {
        let number = NUMBERS[index % MAX_JOINED];
        sql.push(" LEFT JOIN data_values ").push(prefix(kind)).push(number).push(" ON ");
        sql.push(prefix(kind)).push(number).push(".record_id = r.id AND ");
        sql.push(prefix(kind)).push(number).push(".item = 0 AND ");
        sql.push(prefix(kind)).push(number).push(".field = ").push_bind(field);
    }
}

fn push_column(sql: &mut QueryBuilder, (before, kind, index, column): (&'static str, char, usize, &'static str)) {
    sql.push(before).push(prefix(kind)).push(NUMBERS[index % MAX_JOINED]).push(".").push(column);
}

fn push_alias(sql: &mut QueryBuilder, kind: char, index: usize) {
    sql.push(" AS ").push(prefix(kind)).push(NUMBERS[index % MAX_JOINED]);
}

fn push_group(sql: &mut QueryBuilder, index: usize) {
    for column in ["kind", "number", "text"] {
        push_column(sql, (", ", 'g', index, column));
        push_alias(sql, 'g', index);
        sql.push("_").push(column);
    }
}
