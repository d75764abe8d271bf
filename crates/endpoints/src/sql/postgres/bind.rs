//! JSON as parameters.
//!
//! PostgreSQL decides of which type a parameter is, by where it stands. So it is asked first, and then each value is sent as a
//! text that it reads as this type itself: what it takes in a literal, it takes here, without loss, for every type that it knows.

use super::array;
use super::fault::Fault;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use dialect::Statement;
use serde_json::Value;
use sqlx::postgres::{PgArguments, PgConnection, PgDatabaseError, PgTypeInfo, PgTypeKind};
use sqlx::{Arguments, AssertSqlSafe, Either, Executor, SqlSafeStr, Statement as _, TypeInfo};

/// Integers that a fraction such as `3.0` stands for exactly.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// The text of a statement, and its values.
pub(super) async fn bind(
    connection: &mut PgConnection,
    statement: &Statement,
    values: &[&Value],
) -> Result<(String, PgArguments), Fault> {
    let mut arguments = PgArguments::default();
    let plain = statement.text(|at| format!("${}", at + 1));
    if values.is_empty() {
        return Ok((plain, arguments));
    }
    let prepared = connection.prepare_with(AssertSqlSafe(plain).into_sql_str(), &[]).await;
    let prepared = prepared.map_err(|error| of_prepare(error, statement.names()))?;
    let types = match prepared.parameters() {
        Some(Either::Left(types)) if types.len() == values.len() => types,
        _ => return Err(Fault::before("the types of the parameters are not known".to_owned())),
    };
    for ((value, kind), name) in values.iter().zip(types).zip(statement.names()) {
        let text = text(value, kind).map_err(|problem| Fault::before(format!("the parameter `{name}` {problem}")))?;
        arguments.add(text).map_err(|error| Fault::before(error.to_string()))?;
    }
    Ok((statement.text(|at| place(at, &types[at])), arguments))
}

/// A parameter that is sent as a text, read as its type.
fn place(at: usize, kind: &PgTypeInfo) -> String {
    match kind.name() {
        "TEXT" => format!("${}", at + 1),
        name => format!("(${}::text::{})", at + 1, type_name(name)),
    }
}

/// A type as a cast names it. Of what the driver calls `CHAR` and `BIT`, a cast would keep the first one only.
fn type_name(name: &str) -> &str {
    match name {
        "CHAR" => "pg_catalog.bpchar",
        "CHAR[]" => "pg_catalog.bpchar[]",
        "BIT" => "pg_catalog.\"bit\"",
        "BIT[]" => "pg_catalog.\"bit\"[]",
        name => name,
    }
}

/// A value as PostgreSQL reads it, or what is wrong with it.
pub(super) fn text(value: &Value, kind: &PgTypeInfo) -> Result<Option<String>, String> {
    if value.is_null() {
        return Ok(None);
    }
    if let PgTypeKind::Domain(inner) = kind.kind() {
        return text(value, inner);
    }
    let whole = |number: f64| number.fract() == 0.0 && number.abs() <= EXACT;
    let text = match (kind.name(), value) {
        ("JSON" | "JSONB", value) => value.to_string(),
        (_, Value::Array(items)) if matches!(kind.kind(), PgTypeKind::Array(_)) => array::literal(items, kind)?,
        ("BYTEA", Value::String(text)) => match BASE64_STANDARD.decode(text) {
            Ok(bytes) => bytes.iter().fold("\\x".to_owned(), |hex, byte| format!("{hex}{byte:02x}")),
            Err(_) => return Err("stands for bytes, which are given as base64".to_owned()),
        },
        // What an expression computed may be `3.0`.
        ("INT2" | "INT4" | "INT8", Value::Number(number)) => match number.as_f64().filter(|_| number.is_f64()) {
            Some(number) if whole(number) => format!("{number:.0}"),
            _ => number.to_string(),
        },
        (_, Value::String(text)) => text.clone(),
        (_, Value::Bool(_) | Value::Number(_)) => value.to_string(),
        // Kept in a text as it would be in SQLite.
        ("TEXT" | "VARCHAR" | "CHAR", Value::Array(_) | Value::Object(_)) => value.to_string(),
        (name, value) => {
            let found = if value.is_array() { "a list" } else { "a mapping" };
            return Err(format!("must fit the type {}, and is {found}", name.to_lowercase()));
        }
    };
    match text.contains('\0') {
        true => Err("holds the character NUL, which PostgreSQL cannot keep in a text".to_owned()),
        false => Ok(Some(text)),
    }
}

/// A statement that cannot be prepared. PostgreSQL knows its parameters by number only.
fn of_prepare(error: sqlx::Error, names: &[String]) -> Fault {
    let code = match &error {
        sqlx::Error::Database(database) => database.downcast_ref::<PgDatabaseError>().code(),
        _ => "",
    };
    // indeterminate_datatype, ambiguous_parameter
    let is_about_types = matches!(code, "42P18" | "42P08");
    let fault = Fault::from(error);
    if !is_about_types {
        return fault;
    }
    // From the last, so that `$1` is not found in `$10`.
    let told = names
        .iter()
        .enumerate()
        .rev()
        .fold(fault.text, |text, (at, name)| text.replace(&format!("${}", at + 1), &format!("`:{name}`")));
    Fault { text: format!("{told}; say its type where it stands, for example `:name::text`"), ..fault }
}
