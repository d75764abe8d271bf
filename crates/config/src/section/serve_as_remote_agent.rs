//! The section `serveAsRemoteAgent`: endpoints that other agent platforms may call.

use super::Context;
use super::agents::remote_parameters;
use super::agents::tools::check_endpoint;
use super::value::{EndpointId, SecretEntry, Text};
use crate::config::Endpoint;
use crate::rule::AccessRule;
use crate::served::{ServedAgent, ServedTool};
use crate::shape::pattern;
use config_source::{Node, NodeKind, PathStep, Span, suggest};
use indexmap::IndexMap;
use schemars::JsonSchema;
use schemas::Schema;
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// Endpoints that other agent platforms may call as tools, under `/remote-agent`: `GET /tools`,
/// `POST /tools/{name}`, `POST /resource`.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ServeEntry {
    /// The endpoints that others may call. Each needs a `description`, and a `payloadSchema` that
    /// describes every property.
    #[schemars(length(min = 1))]
    endpoints: Vec<ServedEndpointEntry>,
    /// The key that the other platform must send as `x-api-key`, as `{ _secret: NAME_OF_A_VARIABLE }`.
    api_key: SecretEntry,
    /// The id of the endpoint that answers `POST /resource` with information that is useful before
    /// a tool is called. It gets an empty payload.
    resource: Option<EndpointId>,
}

/// An endpoint that others may call. The tool's name is the endpoint's id, with `__` for `/`.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum ServedEndpointEntry {
    /// The endpoint's id.
    Short(EndpointId),
    /// The endpoint with settings.
    Long(ServedEndpointProperties),
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ServedEndpointProperties {
    /// The id of the endpoint.
    endpoint_id: EndpointId,
    /// Tells the other platform to let its user approve each call. The server cannot enforce this.
    #[serde(default)]
    confirm: bool,
    /// The parameters that the approval shows. Default: the platform decides.
    visible_parameters: Option<Vec<Text>>,
}

/// Reads the section.
pub(super) fn read(
    section: &Node,
    endpoints: &IndexMap<String, Endpoint>,
    context: &mut Context<'_, '_>,
) -> Option<ServedAgent> {
    if matches!(section.kind, NodeKind::Null) {
        return None;
    }
    let ServeEntry { endpoints: entries, api_key, resource } = context.decode(section)?;
    let api_key = key(api_key, section.span_at(&[PathStep::Key("apiKey")]), context);
    let nodes = section.get("endpoints").map(|entry| entry.value.items()).unwrap_or_default();
    let mut tools: Vec<ServedTool> = Vec::new();
    for (entry, node) in entries.into_iter().zip(nodes) {
        let Some(tool) = tool(entry, node, endpoints, context) else { continue };
        if let Some(first) = tools.iter().find(|known| known.name == tool.name) {
            let help = format!("the other one is the endpoint `{}`; leave one of them out", first.endpoint_id);
            context.report.error(node.at, format!("there are two tools with the name `{}`", tool.name), Some(help));
        }
        tools.push(tool);
    }
    let resource = resource.map(|EndpointId(id)| id);
    if let Some(id) = &resource {
        let at = section.span_at(&[PathStep::Key("resource")]);
        check_resource(id, at, context);
        check_access(endpoints.get(id), at, context);
    }
    Some(ServedAgent { tools, api_key: api_key?, resource })
}

fn key(entry: SecretEntry, at: Span, context: &mut Context<'_, '_>) -> Option<SecretString> {
    let key = entry.resolve(at, "`apiKey` of `serveAsRemoteAgent`", context)?;
    if key.expose_secret().bytes().all(|byte| byte.is_ascii_graphic()) {
        return Some(key);
    }
    let help = "use letters, digits and signs of ASCII, without spaces and line breaks".to_owned();
    context.report.error(at, "this key has a character that the header `x-api-key` cannot have", Some(help));
    None
}

fn tool(
    entry: ServedEndpointEntry,
    node: &Node,
    endpoints: &IndexMap<String, Endpoint>,
    context: &mut Context<'_, '_>,
) -> Option<ServedTool> {
    let ServedEndpointProperties { endpoint_id: EndpointId(endpoint_id), confirm, visible_parameters } = match entry {
        ServedEndpointEntry::Long(properties) => properties,
        ServedEndpointEntry::Short(endpoint_id) => {
            ServedEndpointProperties { endpoint_id, confirm: false, visible_parameters: None }
        }
    };
    let at = node.span_at(&[PathStep::Key("endpointId")]);
    check_endpoint(&endpoint_id, at, confirm, context);
    check_access(endpoints.get(&endpoint_id), at, context);
    let name = endpoint_id.replace('/', "__");
    if let Some((problem, rule)) = pattern::violation(&name, pattern::TOOL_NAME) {
        context.report.error(at, problem, Some(format!("give the endpoint another `id`: {rule}")));
    }
    let schema = &context.endpoints.get(endpoint_id.as_str())?.get("payloadSchema")?.value;
    let parameters = remote_parameters::read(schema, &endpoint_id, context.report);
    let shown = visible_parameters.map(|names| names.into_iter().map(|Text(name)| name).collect::<Vec<_>>());
    for (i, name) in shown.iter().flatten().enumerate() {
        let properties = parameters["properties"].as_object();
        if properties.is_none_or(|properties| !properties.contains_key(name)) {
            let at = node.span_at(&[PathStep::Key("visibleParameters"), PathStep::Index(i)]);
            let help = suggest::help(name, properties.into_iter().flat_map(Map::keys).map(String::as_str));
            context.report.error(at, format!("the endpoint `{endpoint_id}` has no parameter `{name}`"), help);
        }
    }
    let description = endpoints.get(&endpoint_id)?.description.clone()?;
    Some(ServedTool { name, endpoint_id, description, parameters, confirm, visible_parameters: shown })
}

/// Checks that an endpoint can be called with the API key, which counts as a signed-in user without
/// roles.
fn check_access(endpoint: Option<&Endpoint>, at: Span, context: &mut Context<'_, '_>) {
    let Some(endpoint) = endpoint else { return };
    let (id, auth) = (&endpoint.id, &endpoint.auth);
    if endpoint.is_internal {
        let help = "only routines, hooks and agents may call it".to_owned();
        context.report.error(at, format!("the endpoint `{id}` is internal, so no platform can call it"), Some(help));
    } else if !auth.admits_all_of(&AccessRule::Protected) {
        let help = format!("it is {auth} ({})", endpoint.at);
        context.report.error(at, format!("no platform has a role, so none can call the endpoint `{id}`"), Some(help));
    }
}

/// Checks that the endpoint exists and accepts an empty payload.
fn check_resource(id: &str, at: Span, context: &mut Context<'_, '_>) {
    let Some(endpoint) = context.endpoint(id, at) else { return };
    let schema = endpoint.get("payloadSchema").map(|entry| entry.value.to_value());
    let refuses =
        |schema: &Value| Schema::new(schema).is_ok_and(|schema| schema.check_blocking(&json!({}), 1).is_err());
    if schema.as_ref().is_some_and(refuses) {
        let place = context.report.location(endpoint.at);
        let help = format!("let its `payloadSchema` require nothing, at {place}");
        context.report.error(at, format!("the endpoint `{id}` refuses the empty payload of a resource"), Some(help));
    }
}
