//! The request `CallEndpoint`.

use crate::section::Context;
use crate::section::value::{EndpointId, Id};
use config_source::{Node, PathStep};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

/// A call of another endpoint for the same user. It counts towards the time and step limits of the
/// caller.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CallRequest {
    /// The name under which later steps find the result.
    #[serde(rename = "id")]
    _id: Id,
    /// Always `CallEndpoint`.
    #[serde(rename = "type")]
    _type: CallRequestType,
    /// The endpoint and its payload.
    properties: CallRequestProperties,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(extend("x-names" = "request type"))]
enum CallRequestType {
    /// Calls another endpoint.
    CallEndpoint,
}

/// The endpoint and its payload.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CallRequestProperties {
    /// The id of the endpoint.
    endpoint_id: EndpointId,
    /// The payload. Operators are allowed.
    #[serde(default, rename = "payload")]
    _payload: Map<String, Value>,
}

impl CallRequest {
    /// Reads a step.
    pub(crate) fn read(step: &Node, context: &mut Context<'_, '_>) -> Option<Self> {
        context.decode(step)
    }
}

/// Checks that the endpoint exists.
pub(crate) fn check(request: &CallRequest, step: &Node, context: &mut Context<'_, '_>) {
    let id = request.properties.endpoint_id.0.as_str();
    context.endpoint(id, step.span_at(&[PathStep::Key("properties"), PathStep::Key("endpointId")]));
}
