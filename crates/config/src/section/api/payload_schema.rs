//! Checks the JSON Schemas in a config.

use config_source::{Node, NodeKind, PathStep, Report, suggest};
use schemas::{Schema, SchemaError};

/// The types of JSON Schema.
const TYPES: [&str; 7] = ["object", "string", "number", "integer", "boolean", "array", "null"];

/// Checks that a schema is valid, describes an object, and refers to no other document. `what`
/// names the schema in messages: "payload schema".
pub(crate) fn check(schema: &Node, what: &str, report: &mut Report) {
    if schema.get("type").and_then(|entry| entry.value.text()) != Some("object") {
        let help = "add `type: object`".to_owned();
        report.error(schema.at, format!("this {what} is not the schema of an object"), Some(help));
    }
    let before = report.error_count();
    check_references(schema, report);
    if report.error_count() > before || schema.is_broken() {
        return;
    }
    match Schema::new(&schema.to_value()) {
        Ok(_) => {}
        Err(SchemaError::Invalid { path, value, message }) => {
            let path: Vec<String> = path.split('/').skip(1).map(unescape).collect();
            let steps: Vec<PathStep<'_>> =
                path.iter().map(|part| part.parse().map_or(PathStep::Key(part.as_str()), PathStep::Index)).collect();
            match value.filter(|_| path.last().is_some_and(|last| last == "type")) {
                Some(wrong) => report.error(
                    schema.span_at(&steps),
                    format!("JSON Schema has no type `{wrong}`"),
                    suggest::help(&wrong, TYPES),
                ),
                None => report.error(schema.span_at(&steps), format!("this is not valid JSON Schema: {message}"), None),
            }
        }
        Err(error) => report.error(schema.at, error.to_string(), None),
    }
}

/// Reports references to other documents, which are never fetched.
fn check_references(node: &Node, report: &mut Report) {
    match &node.kind {
        NodeKind::List(items) => items.iter().for_each(|item| check_references(item, report)),
        NodeKind::Map(entries) => {
            for entry in entries {
                if entry.key == "$ref" && entry.value.text().is_some_and(|target| !target.starts_with('#')) {
                    let help = "write the definition under `$defs` and refer to it as `#/$defs/NAME`".to_owned();
                    report.error(entry.value.at, "a schema cannot refer to another document", Some(help));
                }
                check_references(&entry.value, report);
            }
        }
        _ => {}
    }
}

/// Decodes a part of a JSON pointer.
fn unescape(part: &str) -> String {
    part.replace("~1", "/").replace("~0", "~")
}
