//! The requests `SqlQuery` and `SqlExecute`.

use crate::section::value::{Id, Text};
use crate::section::{Context, connections, step_connection};
use config_source::{Node, NodeKind, PathStep, suggest};
use dialect::{Dialect, Statement};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

/// A SQL statement. Parameters are named.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SqlRequest {
    /// The name under which later steps find the result.
    #[serde(rename = "id")]
    _id: Id,
    /// `SqlQuery` reads, `SqlExecute` writes.
    #[serde(rename = "type")]
    _type: SqlRequestType,
    /// A connection of the type `Sql`.
    connection_id: Id,
    /// Statement and parameters.
    properties: SqlRequestProperties,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(extend("x-names" = "request type"))]
enum SqlRequestType {
    /// Reads rows.
    SqlQuery,
    /// Changes rows.
    SqlExecute,
}

/// Statement and parameters.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SqlRequestProperties {
    /// The statement, with `:name` where a parameter goes.
    query: Text,
    /// The parameters by name. Operators are allowed.
    #[serde(default)]
    parameters: Map<String, Value>,
}

impl SqlRequest {
    /// Reads a step.
    pub(crate) fn read(step: &Node, context: &mut Context<'_, '_>) -> Option<Self> {
        context.decode(step)
    }
}

/// Checks the connection, and that the statement and `parameters` have the same parameters.
pub(crate) fn check(request: &SqlRequest, request_type: &str, step: &Node, context: &mut Context<'_, '_>) {
    let Some(dialect) = check_connection(&request.connection_id.0, request_type, step, context) else { return };
    let properties = PathStep::Key("properties");
    let SqlRequestProperties { query: Text(query), parameters } = &request.properties;
    let query_at = step.span_at(&[properties, PathStep::Key("query")]);
    let statement = match Statement::parse(query, dialect) {
        Ok(statement) => statement,
        Err(problem) => return context.report.error(query_at, problem, None),
    };
    let used = statement.names();
    for name in used.iter().filter(|name| !parameters.contains_key(*name)) {
        let help = suggest::nearest(name, parameters.keys().map(String::as_str)).map(suggest::did_you_mean);
        let help = help.or_else(|| Some(format!("add `{name}` to `parameters`")));
        context.report.error(query_at, format!("the parameter `:{name}` has no value"), help);
    }
    let given = step.get("properties").and_then(|entry| entry.value.get("parameters"));
    for entry in given.map(|entry| entry.value.entries()).unwrap_or_default() {
        if !used.contains(&entry.key) {
            let message = format!("the statement does not use the parameter `{}`", entry.key);
            let help = suggest::nearest(&entry.key, used.iter().map(String::as_str)).map(suggest::did_you_mean);
            context.report.error(entry.key_at, message, help);
        }
    }
}

/// Checks the connection and returns its SQL dialect, if that is known.
fn check_connection(id: &str, request_type: &str, step: &Node, context: &mut Context<'_, '_>) -> Option<Dialect> {
    let is_sql = |found: &str| found == "Sql";
    let connection = step_connection(id, request_type, "the type Sql", is_sql, step, context);
    // With an unknown connection the statement is checked as one for SQLite.
    let Some(connection) = connection else { return Some(Dialect::default()) };
    let read_only = connection.get("properties").and_then(|entry| entry.value.get("readOnly"));
    if request_type == "SqlExecute" && read_only.is_some_and(|entry| matches!(entry.value.kind, NodeKind::Bool(true))) {
        let at = step.span_at(&[PathStep::Key("connectionId")]);
        context.report.error(at, format!("the connection `{id}` is read-only"), None);
    }
    connections::dialect_of(connection, context)
}
