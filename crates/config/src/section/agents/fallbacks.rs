//! An agent's `fallbackModels`: models to try if the one before fails before its reply begins.

use crate::agent::{AgentType, ModelRef};
use crate::section::value::Text;
use crate::section::{Context, type_of};
use config_source::{Node, PathStep, Span};
use schemars::JsonSchema;
use serde::Deserialize;

/// A fallback model.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum FallbackEntry {
    /// A model of the agent's own connection.
    Model(Text),
    /// A model of another connection.
    Elsewhere(ModelRef),
}

/// Reports connections that do not exist or have no models.
pub(crate) fn check(properties: &Node, context: &mut Context<'_, '_>) {
    let list = properties.get("fallbackModels").map(|entry| entry.value.items()).unwrap_or_default();
    for item in list {
        let Some(id) = item.get("connectionId").and_then(|entry| entry.value.text()) else { continue };
        let at = item.span_at(&[PathStep::Key("connectionId")]);
        check_model_connection(id, at, context);
    }
}

/// Reports a connection that does not exist or has no models.
pub(crate) fn check_model_connection(id: &str, at: Span, context: &mut Context<'_, '_>) {
    let found = context.connection(id, at).and_then(type_of);
    if let Some(found) = found.filter(|found| !context.vocabulary.has_models(found)) {
        let message = format!("the connection `{id}` is of the type {found}, which has no model");
        context.report.error(at, message, None);
    }
}

/// Splits the models into those that the server tries itself and those that the AI Gateway falls
/// back to by itself: the gateway's own.
pub(crate) fn split_fallbacks(
    entries: Vec<FallbackEntry>,
    agent_type: AgentType,
    connection_id: &str,
) -> (Vec<ModelRef>, Vec<Text>) {
    let (mut ours, mut gateways) = (Vec::new(), Vec::new());
    for entry in entries {
        match entry {
            FallbackEntry::Model(model) if agent_type == AgentType::AIGatewayAgent => gateways.push(model),
            FallbackEntry::Model(Text(model)) => {
                ours.push(ModelRef { connection_id: connection_id.to_owned(), model });
            }
            FallbackEntry::Elsewhere(model) => ours.push(model),
        }
    }
    (ours, gateways)
}
