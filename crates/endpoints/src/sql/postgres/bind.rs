//! Binds JSON values as parameters.
//!
//! PostgreSQL infers the type of each parameter from its position, so the statement is prepared
//! first. Each value is then sent as text that PostgreSQL parses as that type. So a parameter
//! accepts whatever a literal of the type accepts, without loss, for all types.

use super::array;
use super::fault::StatementFault;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use dialect::Statement;
use serde_json::Value;
use sqlx::postgres::{PgArguments, PgConnection, PgDatabaseError, PgTypeInfo, PgTypeKind};
use sqlx::{Arguments, AssertSqlSafe, Either, Executor, SqlSafeStr, Statement as _, TypeInfo};

/// The limit up to which every integer is exact as a float, so that `3.0` can be sent as `3`.
const MAX_EXACT_INTEGER: f64 = 9_007_199_254_740_992.0;

/// Returns the text of a statement, and its values.
pub(super) async fn bind(
    connection: &mut PgConnection,
    statement: &Statement,
    values: &[&Value],
) -> Result<(String, PgArguments), StatementFault> {
    let mut arguments = PgArguments::default();
    let plain = statement.render(|at| format!("${}", at + 1));
    if values.is_empty() {
        return Ok((plain, arguments));
    }
    let prepared = connection.prepare_with(AssertSqlSafe(plain).into_sql_str(), &[]).await;
    let prepared = prepared.map_err(|error| prepare_fault(error, statement.names()))?;
    let types = match prepared.parameters() {
        Some(Either::Left(types)) if types.len() == values.len() => types,
        _ => return Err(StatementFault::before_execution("the types of the parameters are not known".to_owned())),
    };
    for ((value, kind), name) in values.iter().zip(types).zip(statement.names()) {
        let text = parameter_text(value, kind)
            .map_err(|problem| StatementFault::before_execution(format!("the parameter `{name}` {problem}")))?;
        arguments.add(text).map_err(|error| StatementFault::before_execution(error.to_string()))?;
    }
    Ok((statement.render(|at| placeholder(at, &types[at])), arguments))
}

/// Returns the placeholder of a parameter: sent as text, cast to its type.
fn placeholder(at: usize, kind: &PgTypeInfo) -> String {
    match kind.name() {
        "TEXT" => format!("${}", at + 1),
        name => format!("(${}::text::{})", at + 1, cast_type(name)),
    }
}

/// Returns the name of a type for a cast. A cast to what the driver calls `CHAR` and `BIT` would
/// keep only the first character or bit.
fn cast_type(name: &str) -> &str {
    match name {
        "CHAR" => "pg_catalog.bpchar",
        "CHAR[]" => "pg_catalog.bpchar[]",
        "BIT" => "pg_catalog.\"bit\"",
        "BIT[]" => "pg_catalog.\"bit\"[]",
        name => name,
    }
}

/// Formats a value as text that PostgreSQL parses, or returns its problem.
pub(super) fn parameter_text(value: &Value, kind: &PgTypeInfo) -> Result<Option<String>, String> {
    if value.is_null() {
        return Ok(None);
    }
    if let PgTypeKind::Domain(inner) = kind.kind() {
        return parameter_text(value, inner);
    }
    let whole = |number: f64| number.fract() == 0.0 && number.abs() <= MAX_EXACT_INTEGER;
    let text = match (kind.name(), value) {
        ("JSON" | "JSONB", value) => value.to_string(),
        (_, Value::Array(items)) if matches!(kind.kind(), PgTypeKind::Array(_)) => array::array_literal(items, kind)?,
        ("BYTEA", Value::String(text)) => match BASE64_STANDARD.decode(text) {
            Ok(bytes) => format!("\\x{}", hex::encode(bytes)),
            Err(_) => return Err("must be bytes in base64".to_owned()),
        },
        // An expression may compute `3.0`.
        ("INT2" | "INT4" | "INT8", Value::Number(number)) => match number.as_f64().filter(|_| number.is_f64()) {
            Some(number) if whole(number) => format!("{number:.0}"),
            _ => number.to_string(),
        },
        (_, Value::String(text)) => text.clone(),
        (_, Value::Bool(_) | Value::Number(_)) => value.to_string(),
        // Stored as JSON text, as in SQLite.
        ("TEXT" | "VARCHAR" | "CHAR", Value::Array(_) | Value::Object(_)) => value.to_string(),
        (name, value) => {
            let found = if value.is_array() { "a list" } else { "a mapping" };
            return Err(format!("must have the type {}, but is {found}", name.to_lowercase()));
        }
    };
    if text.contains('\0') {
        Err("contains the character NUL, which PostgreSQL does not allow in text".to_owned())
    } else {
        Ok(Some(text))
    }
}

/// Converts an error of preparing a statement. PostgreSQL names parameters by number only, so the
/// numbers are replaced by names.
fn prepare_fault(error: sqlx::Error, names: &[String]) -> StatementFault {
    let code = match &error {
        sqlx::Error::Database(database) => database.downcast_ref::<PgDatabaseError>().code(),
        _ => "",
    };
    // indeterminate_datatype, ambiguous_parameter
    let is_about_types = matches!(code, "42P18" | "42P08");
    let fault = StatementFault::from(error);
    if !is_about_types {
        return fault;
    }
    // In reverse order, so that `$1` does not match in `$10`.
    let message = names
        .iter()
        .enumerate()
        .rev()
        .fold(fault.message, |message, (at, name)| message.replace(&format!("${}", at + 1), &format!("`:{name}`")));
    StatementFault { message: format!("{message}; state its type, for example `:name::text`"), ..fault }
}
