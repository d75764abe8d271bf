//! `SqlQuery` and `SqlExecute`.

use super::value::{Id, Text};
use super::{Context, connection_of};
use crate::shape::{Shape, decode, suggest};
use crate::source::{Kind, Node, Step};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

/// One SQL statement, with named parameters only.
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
    /// The parameters by name; operators are allowed.
    #[serde(default)]
    parameters: Map<String, Value>,
}

impl SqlRequest {
    /// Reads a step.
    pub(super) fn read(step: &Node, context: &mut Context<'_, '_>) -> Option<Self> {
        decode(step, Shape::of::<Self>()?, context.report)
    }
}

/// Whether the connection fits, and whether statement and parameters name the same things.
pub(super) fn check(request: &SqlRequest, request_type: &str, step: &Node, context: &mut Context<'_, '_>) {
    check_connection(&request.connection_id.0, request_type, step, context);
    let properties = Step::Key("properties");
    let SqlRequestProperties { query: Text(query), parameters } = &request.properties;
    let used = parameter_names(query);
    for name in used.iter().filter(|name| !parameters.contains_key(**name)) {
        let help = suggest::nearest(name, parameters.keys().map(String::as_str)).map(suggest::did_you_mean);
        let help = help.or_else(|| Some(format!("add `{name}` to `parameters`")));
        context.report.error(
            step.at(&[properties, Step::Key("query")]),
            format!("the parameter `:{name}` has no value"),
            help,
        );
    }
    let given = step.get("properties").and_then(|entry| entry.value.get("parameters"));
    for entry in given.map(|entry| entry.value.entries()).unwrap_or_default() {
        if !used.contains(&entry.key.as_str()) {
            let message = format!("the statement does not use the parameter `{}`", entry.key);
            context.report.error(
                entry.key_at,
                message,
                suggest::nearest(&entry.key, used.iter().copied()).map(suggest::did_you_mean),
            );
        }
    }
}

fn check_connection(id: &str, request_type: &str, step: &Node, context: &mut Context<'_, '_>) {
    let is_sql = |found: &str| found == "Sql";
    let Some(connection) = connection_of(id, request_type, "the type Sql", is_sql, step, context) else { return };
    let read_only = connection.get("properties").and_then(|entry| entry.value.get("readOnly"));
    if request_type == "SqlExecute" && read_only.is_some_and(|entry| matches!(entry.value.kind, Kind::Bool(true))) {
        let at = step.at(&[Step::Key("connectionId")]);
        context.report.error(at, format!("the connection `{id}` is read-only"), None);
    }
}

/// The names after `:` in a statement, outside of texts, quoted names and comments: those that the server will bind.
fn parameter_names(query: &str) -> Vec<&str> {
    let bytes = query.as_bytes();
    let mut names = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let rest = &query[at..];
        let end = match bytes[at] {
            quote @ (b'\'' | b'"' | b'`') => rest[1..].find(quote as char).map(|end| end + 2),
            b'-' if rest.starts_with("--") => rest.find('\n'),
            b'/' if rest.starts_with("/*") => rest.find("*/").map(|end| end + 2),
            // `::` is a cast in PostgreSQL.
            b':' if rest.starts_with("::") => Some(2),
            b':' => {
                let name = &rest[1..];
                let end = name.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(name.len());
                if end > 0 && !names.contains(&&name[..end]) {
                    names.push(&name[..end]);
                }
                Some(end + 1)
            }
            _ => Some(rest.chars().next().map_or(1, char::len_utf8)),
        };
        at += end.unwrap_or(rest.len());
    }
    names
}

#[cfg(test)]
mod tests {
    use super::parameter_names;

    #[test]
    fn parameters_are_found_where_they_are_parameters() {
        let check = |query: &str, expected: &[&str]| assert_eq!(parameter_names(query), expected, "{query}");
        check("select 1", &[]);
        check("select * from a where b = :b and c like :c_1 or b = :b", &["b", "c_1"]);
        check("select ':x', \":y\", 'it''s :w' where a = :a", &["a"]);
        check("select 1 -- :x\n where a = :a /* :y */ and b = :b", &["a", "b"]);
        check("select a::text, 'unfinished :x", &[]);
        check("select 'ü' || :ü || :a", &["a"]);
        check(":", &[]);
    }
}
