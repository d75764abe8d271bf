//! Filters as parts of statements. Everything that comes from a filter is bound.

use crate::filter::{Filter, Test};
use crate::value::Scalar;
use ::store::sql::QueryBuilder;

/// Appends the condition that the record `r` passes the filter.
pub(crate) fn push_filter(sql: &mut QueryBuilder, filter: &Filter) {
    match filter {
        Filter::All(filters) => push_list(sql, filters, " AND ", "1 = 1"),
        Filter::Any(filters) => push_list(sql, filters, " OR ", "1 = 0"),
        Filter::Not(filter) => {
            sql.push("NOT ");
            push_filter(sql, filter);
        }
        Filter::Ids(ids) => {
            sql.push("r.id IN (");
            for (index, id) in ids.iter().enumerate() {
                sql.push(if index > 0 { ", " } else { "" }).push_bind(id);
            }
            sql.push(if ids.is_empty() { "NULL)" } else { ")" });
        }
        Filter::Exists(field) => {
            push_values_of(sql, field);
            sql.push(")");
        }
        Filter::Value(field, test) => {
            push_values_of(sql, field);
            sql.push(" AND ");
            push_test(sql, test);
            sql.push(")");
        }
    }
}

fn push_list(sql: &mut QueryBuilder, filters: &[Filter], separator: &'static str, empty: &'static str) {
    sql.push("(");
    if filters.is_empty() {
        sql.push(empty);
    }
    for (index, filter) in filters.iter().enumerate() {
        if index > 0 {
            sql.push(separator);
        }
        push_filter(sql, filter);
    }
    sql.push(")");
}

fn push_values_of(sql: &mut QueryBuilder, field: &str) {
    sql.push("EXISTS (SELECT 1 FROM data_values v WHERE v.record_id = r.id AND v.field = ").push_bind(field);
}

fn push_test(sql: &mut QueryBuilder, test: &Test) {
    let (operator, scalar) = match test {
        Test::Equals(scalar) => (" = ", scalar),
        Test::Greater(scalar) => (" > ", scalar),
        Test::GreaterOrEqual(scalar) => (" >= ", scalar),
        Test::Less(scalar) => (" < ", scalar),
        Test::LessOrEqual(scalar) => (" <= ", scalar),
        Test::Contains(text) => return push_like(sql, format!("%{}%", escape(text))),
        Test::StartsWith(text) => return push_like(sql, format!("{}%", escape(text))),
    };
    sql.push("v.kind = ").push_bind(scalar.kind()).push(" AND ");
    match scalar {
        Scalar::Text(text) => sql.push("v.text").push(operator).push_bind(text),
        scalar => sql.push("v.number").push(operator).push_bind(scalar.number()),
    };
}

/// `LIKE` of SQLite ignores the case of letters, which are all in lower case here.
fn push_like(sql: &mut QueryBuilder, pattern: String) {
    sql.push("v.folded LIKE ").push_bind(pattern).push(" ESCAPE '\\'");
}

/// Escapes a text for `LIKE`.
pub(crate) fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_")
}
