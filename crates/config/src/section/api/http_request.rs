//! The request `Http`.

use crate::section::value::Id;
use crate::section::{Context, step_connection};
use config_source::Node;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

/// A request to an HTTP service. The result is `{ status, body }`; a status of 400 or more is an
/// error.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct HttpRequest {
    /// The name under which later steps find the result.
    #[serde(rename = "id")]
    _id: Id,
    /// Always `Http`.
    #[serde(rename = "type")]
    _type: HttpRequestType,
    /// A connection of the type `Http`.
    connection_id: Id,
    /// The parts of the request.
    #[serde(default, rename = "properties")]
    _properties: HttpRequestProperties,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(extend("x-names" = "request type"))]
enum HttpRequestType {
    /// Sends an HTTP request.
    Http,
}

/// The parts of the request.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct HttpRequestProperties {
    /// The method. Default: `GET`.
    #[serde(default, rename = "method")]
    _method: Method,
    /// The path below the connection's base URL; an operator is allowed. A value that `{{ … }}`
    /// inserts into a `_template` is one segment of the path, so that a `/` in it is encoded. `..`
    /// is refused.
    #[serde(default, rename = "path")]
    _path: Value,
    /// Query parameters by name. Operators are allowed.
    #[serde(default, rename = "query")]
    _query: Map<String, Value>,
    /// Headers by name; operators are allowed. They do not replace headers of the connection.
    #[serde(default, rename = "headers")]
    _headers: Map<String, Value>,
    /// The body: a text is sent as it is, any other value as JSON. Operators are allowed.
    #[serde(default, rename = "body")]
    _body: Value,
    /// Returns the response for every status, instead of an error for 400 or more.
    #[serde(default, rename = "anyStatus")]
    _any_status: bool,
}

#[derive(Default, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
#[schemars(extend("x-names" = "method"))]
enum Method {
    /// Reads a resource.
    #[default]
    Get,
    /// Reads a resource without its body.
    Head,
    /// Submits data.
    Post,
    /// Replaces a resource.
    Put,
    /// Changes a resource.
    Patch,
    /// Deletes a resource.
    Delete,
}

/// Checks a step.
pub(crate) fn check(step: &Node, context: &mut Context<'_, '_>) {
    if let Some(request) = context.decode::<HttpRequest>(step) {
        step_connection(&request.connection_id.0, "Http", "the type Http", |found| found == "Http", step, context);
        if let Some(path) = step.get("properties").and_then(|properties| properties.value.get("path")) {
            check_path(&path.value, context);
        }
    }
}

/// Checks the text of a path, or what a template has outside of its expressions: requests with a character that ends the
/// path, or with another address, are refused.
fn check_path(path: &Node, context: &mut Context<'_, '_>) {
    let template = path.get("_template").map(|entry| &entry.value);
    let Some((node, text)) = template.into_iter().chain([path]).find_map(|node| Some((node, node.text()?))) else {
        return;
    };
    let literal = if template.is_some() { without_expressions(text) } else { text.to_owned() };
    if literal.starts_with("http://") || literal.starts_with("https://") {
        let help = "the path is below the connection's `baseURL`; another site needs its own connection";
        context.report.error(node.at, "a path cannot be a whole address", Some(help.to_owned()));
    } else if let Some(character) = literal.chars().find(|c| ['?', '#', '\\'].contains(c)) {
        let help = "write parameters as `query: { name: value }`; a value inserted by `_template` is encoded";
        context.report.error(node.at, format!("a path cannot contain `{character}`"), Some(help.to_owned()));
    }
}

/// Returns a template without its expressions, tags and comments.
fn without_expressions(template: &str) -> String {
    let (mut literal, mut rest) = (String::new(), template);
    while let Some((at, end)) = rest.find('{').and_then(|at| {
        let end =
            [("{{", "}}"), ("{%", "%}"), ("{#", "#}")].into_iter().find(|(start, _)| rest[at..].starts_with(start));
        Some((at, end?.1))
    }) {
        literal.push_str(&rest[..at]);
        // What is not closed is an error of its own.
        rest = rest[at..].split_once(end).map_or("", |(_, after)| after);
    }
    literal.push_str(rest);
    literal
}

/// Whether a step may change data, judging by its method.
pub(crate) fn writes(step: &Node) -> bool {
    let method = step.get("properties").and_then(|entry| entry.value.get("method")?.value.text());
    !matches!(method, None | Some("GET" | "HEAD"))
}
