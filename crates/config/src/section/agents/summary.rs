//! An agent's `summaryModel`: the model that summarises the older messages of a long conversation.

use crate::agent::ModelRef;
use crate::section::Context;
use crate::section::agents::fallbacks;
use crate::section::value::{Id, Text};
use crate::source::{Node, PathStep};
use schemars::JsonSchema;
use serde::Deserialize;

/// The model that summarises older messages.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SummaryModelEntry {
    /// The provider's name for the model.
    model: Text,
    /// The connection to its provider. Default: the agent's.
    connection_id: Option<Id>,
}

/// Reports a connection that does not exist or has no models.
pub(crate) fn check(properties: &Node, context: &mut Context<'_, '_>) {
    let Some(entry) = properties.get("summaryModel").and_then(|entry| entry.value.get("connectionId")) else { return };
    if let Some(id) = entry.value.text() {
        let at = properties.span_at(&[PathStep::Key("summaryModel"), PathStep::Key("connectionId")]);
        fallbacks::check_model_connection(id, at, context);
    }
}

/// Returns the model; `None` if it is the agent's own.
pub(crate) fn summary_model(entry: Option<SummaryModelEntry>, connection_id: &str) -> Option<ModelRef> {
    let SummaryModelEntry { model: Text(model), connection_id: other } = entry?;
    let connection_id = other.map_or_else(|| connection_id.to_owned(), |Id(id)| id);
    Some(ModelRef { connection_id, model })
}
