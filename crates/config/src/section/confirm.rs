//! `confirm`: how the user approves the calls of a tool.

use super::Context;
use super::value::Text;
use config_source::{Node, NodeKind, PathStep, suggest};
use contract::Confirm;
use schemars::JsonSchema;
use serde::Deserialize;

/// Lets the user approve each call.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum ConfirmEntry {
    /// Whether approval is required.
    Plain(bool),
    /// Approval is required, with these settings.
    Terms(Confirm),
}

impl ConfirmEntry {
    /// Returns how the user approves calls. `None`: no approval is required.
    pub(super) fn read(entry: Option<Self>) -> Option<Confirm> {
        match entry? {
            Self::Plain(false) => None,
            Self::Plain(true) => Some(Confirm::default()),
            Self::Terms(terms) => Some(terms),
        }
    }
}

/// Checks that the `visibleParameters` of the tool at `node` are parameters of its endpoint.
pub(super) fn visible_parameters(
    names: Option<Vec<Text>>,
    endpoint_id: &str,
    node: &Node,
    context: &mut Context<'_, '_>,
) -> Option<Vec<String>> {
    let names: Vec<_> = names?.into_iter().map(|Text(name)| name).collect();
    let schema = context.endpoints.get(endpoint_id).and_then(|endpoint| endpoint.get("payloadSchema"));
    let properties = schema.and_then(|schema| schema.value.get("properties"));
    // A schema without properties accepts every parameter.
    let Some(properties) = properties.filter(|entry| matches!(entry.value.kind, NodeKind::Map(_))) else {
        return Some(names);
    };
    let known: Vec<_> = properties.value.entries().iter().map(|entry| entry.key.as_str()).collect();
    for (number, name) in names.iter().enumerate().filter(|(_, name)| !known.contains(&name.as_str())) {
        let at = node.span_at(&[PathStep::Key("visibleParameters"), PathStep::Index(number)]);
        let help = suggest::help(name, known.iter().copied());
        context.report.error(at, format!("the endpoint `{endpoint_id}` has no parameter `{name}`"), help);
    }
    Some(names)
}
