//! The request `Http`.

use crate::section::value::Id;
use crate::section::{Context, step_connection};
use crate::shape::{Shape, decode};
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
    let request: Option<HttpRequest> =
        Shape::for_type::<HttpRequest>().and_then(|shape| decode(step, shape, context.report));
    if let Some(request) = request {
        step_connection(&request.connection_id.0, "Http", "the type Http", |found| found == "Http", step, context);
    }
}

/// Whether a step may change data, judging by its method.
pub(crate) fn writes(step: &Node) -> bool {
    let method = step.get("properties").and_then(|entry| entry.value.get("method")?.value.text());
    !matches!(method, None | Some("GET" | "HEAD"))
}
