//! The section `api`: endpoints.

pub(super) mod call_request;
pub(super) mod http_path;
pub(super) mod http_request;
pub(super) mod payload_schema;
pub(super) mod routine;
pub(super) mod sql_request;
pub(super) mod step_entry;
pub(super) mod steps;
pub(super) mod text_request;

use crate::config::Endpoint;
use crate::section::rule_entry::{self, RuleEntry};
use crate::section::value::{EndpointId, Text};
use crate::section::{Context, operator};
use crate::shape::list_items;
use config_source::{Node, NodeKind};
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

/// An endpoint: a routine that pages, agents and other clients can call.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EndpointEntry {
    /// The endpoint's id, by which it is called.
    id: EndpointId,
    /// Which kinds of callers may call it.
    #[serde(rename = "type", default)]
    endpoint_type: EndpointType,
    /// Who may call it. Default: all signed-in users. A routine or an agent calls it on behalf of
    /// its user.
    auth: Option<RuleEntry>,
    /// The purpose of the endpoint, for models that may call it as a tool.
    description: Option<Text>,
    /// The JSON Schema of the payload. A call whose payload does not match is rejected.
    payload_schema: Option<Map<String, Value>>,
    /// The steps of the endpoint: requests, and controls such as `:return`.
    #[schemars(with = "Vec<step_entry::StepEntry>", extend("x-checked-apart" = true))]
    routine: Vec<Value>,
}

#[derive(Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[schemars(extend("x-names" = "endpoint type"))]
enum EndpointType {
    /// Pages, agents and other clients may call it.
    #[default]
    Api,
    /// Only routines, hooks and agents may call it, never a page or another client.
    InternalApi,
}

/// Reads the section.
pub(super) fn read(section: &Node, context: &mut Context<'_, '_>) -> IndexMap<String, Endpoint> {
    let items = list_items(section, context.report);
    items.iter().filter_map(|node| endpoint(node, context)).map(|endpoint| (endpoint.id.clone(), endpoint)).collect()
}

fn endpoint(node: &Node, context: &mut Context<'_, '_>) -> Option<Endpoint> {
    if let Some(schema) = node.get("payloadSchema").filter(|entry| matches!(entry.value.kind, NodeKind::Map(_))) {
        payload_schema::check(&schema.value, "payload schema", context.report);
    }
    routine::check(node, context);
    let entry: EndpointEntry = context.decode(node)?;
    Some(Endpoint {
        secrets: operator::resolve_secrets(&entry.routine, context.env),
        id: entry.id.0,
        description: entry.description.map(|Text(text)| text),
        payload_schema: entry.payload_schema.map(Value::Object),
        routine: entry.routine,
        is_internal: entry.endpoint_type == EndpointType::InternalApi,
        auth: rule_entry::read(entry.auth, node, context.report),
        at: context.report.location(node.at),
        step_positions: steps::step_spans(node).map(|(id, at)| (id, context.report.location(at))).collect(),
    })
}
