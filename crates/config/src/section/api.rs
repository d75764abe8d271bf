//! The section `api`: endpoints.

use super::value::{EndpointId, Text};
use super::{Context, routine, schema_problem, shape_of};
use crate::config::Endpoint;
use crate::shape::{Item, decode_list};
use crate::source::{Node, Step};
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

/// A routine that pages, agents and other clients can call.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-not-yet" = ["auth"]))]
pub(crate) struct EndpointEntry {
    /// The name by which it is called.
    id: EndpointId,
    /// Always `Api`.
    #[serde(rename = "type", default)]
    _type: EndpointType,
    /// What it does, for models that may call it.
    description: Option<Text>,
    /// JSON Schema of the payload; a call whose payload does not fit it is refused.
    payload_schema: Option<Map<String, Value>>,
    /// What it does, step by step: requests, and controls such as `:return`.
    #[schemars(with = "Vec<routine::StepEntry>", length(min = 1))]
    routine: Vec<Value>,
}

#[derive(Default, Deserialize, JsonSchema)]
#[schemars(extend("x-names" = "endpoint type", "x-not-yet" = ["InternalApi"]))]
enum EndpointType {
    /// Pages, agents and other clients may call it.
    #[default]
    Api,
}

/// Reads the section.
pub(super) fn read(section: &Node, context: &mut Context<'_, '_>) -> IndexMap<String, Endpoint> {
    let Some(shape) = shape_of("api") else { return IndexMap::new() };
    let items: Vec<Item<'_, EndpointEntry>> = decode_list(section, shape, context.report);
    items.into_iter().map(|item| endpoint(item, context)).map(|endpoint| (endpoint.id.clone(), endpoint)).collect()
}

fn endpoint(item: Item<'_, EndpointEntry>, context: &mut Context<'_, '_>) -> Endpoint {
    let Item { entry, node } = item;
    let payload_schema = entry.payload_schema.map(Value::Object);
    if let Some(schema) = &payload_schema {
        check_schema(schema, node, context);
    }
    routine::check(node, context);
    Endpoint {
        id: entry.id.0,
        description: entry.description.map(|Text(text)| text),
        payload_schema,
        routine: entry.routine,
        at: context.report.location(node.at),
    }
}

fn check_schema(schema: &Value, node: &Node, context: &mut Context<'_, '_>) {
    let place = [Step::Key("payloadSchema")];
    if schema.get("type").and_then(Value::as_str) != Some("object") {
        let help = "add `type: object`; a payload is always a mapping".to_owned();
        context.report.error(node.at(&place), "this payload schema is not the schema of an object", Some(help));
    }
    if let Some((path, problem)) = schema_problem(schema) {
        let parts: Vec<String> =
            path.split('/').skip(1).map(|part| part.replace("~1", "/").replace("~0", "~")).collect();
        let mut steps = place.to_vec();
        steps.extend(parts.iter().map(|part| part.parse().map_or(Step::Key(part), Step::Index)));
        context.report.error(node.at(&steps), format!("this is not valid JSON Schema: {problem}"), None);
    }
}
