//! `Http`.

use super::value::Id;
use super::{Context, connection_of};
use crate::shape::{Shape, decode};
use crate::source::Node;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

/// A request to a web service. The result is `{ status, body }`; a status of 400 and more is a failure.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct HttpRequest {
    /// The name under which later steps find the result.
    #[serde(rename = "id")]
    _id: Id,
    /// `Http`
    #[serde(rename = "type")]
    _type: HttpRequestType,
    /// A connection of the type `Http`.
    connection_id: Id,
    /// What is sent.
    #[serde(default, rename = "properties")]
    _properties: HttpRequestProperties,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(extend("x-names" = "request type"))]
enum HttpRequestType {
    /// Asks a web service.
    Http,
}

/// What is sent.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct HttpRequestProperties {
    /// `GET` unless it says something else.
    #[serde(default, rename = "method")]
    _method: Method,
    /// Below the connection's address; an operator is allowed. What `{{ … }}` puts into a `_template` is one step of the path, so that a `/`
    /// in it is encoded; `..` is refused.
    #[serde(default, rename = "path")]
    _path: Value,
    /// Parameters of the address by name; operators are allowed.
    #[serde(default, rename = "query")]
    _query: Map<String, Value>,
    /// Headers by name; operators are allowed. Those of the connection stay as they are.
    #[serde(default, rename = "headers")]
    _headers: Map<String, Value>,
    /// Sent as JSON, or as it is when it is a text; operators are allowed.
    #[serde(default, rename = "body")]
    _body: Value,
    /// Take every status as a result instead of a failure.
    #[serde(default, rename = "anyStatus")]
    _any_status: bool,
}

#[derive(Default, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
#[schemars(extend("x-names" = "method"))]
enum Method {
    /// Reads.
    #[default]
    Get,
    /// Reads without a body.
    Head,
    /// Sends something new.
    Post,
    /// Replaces something.
    Put,
    /// Changes something.
    Patch,
    /// Removes something.
    Delete,
}

/// Reports what is wrong with a step.
pub(super) fn check(step: &Node, context: &mut Context<'_, '_>) {
    let request: Option<HttpRequest> = Shape::of::<HttpRequest>().and_then(|shape| decode(step, shape, context.report));
    if let Some(request) = request {
        connection_of(&request.connection_id.0, "Http", "the type Http", |found| found == "Http", step, context);
    }
}

/// Whether a step changes something there.
pub(super) fn writes(step: &Node) -> bool {
    let method = step.get("properties").and_then(|entry| entry.value.get("method")?.value.text());
    !matches!(method, None | Some("GET" | "HEAD"))
}
