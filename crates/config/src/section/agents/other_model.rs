//! A model that an agent uses for something else than its answers: `summaryModel`.

use crate::agent::ModelRef;
use crate::section::Context;
use crate::section::agents::fallbacks;
use crate::section::value::{Id, Text};
use config_source::{Node, PathStep};
use schemars::JsonSchema;
use serde::Deserialize;

/// Another model than that of the agent's answers.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OtherModelEntry {
    /// The provider's name for the model.
    model: Text,
    /// The connection to its provider. Default: the agent's.
    connection_id: Option<Id>,
}

impl OtherModelEntry {
    /// Returns the model of an agent with this connection.
    pub(crate) fn model(self, connection_id: &str) -> ModelRef {
        let Self { model: Text(model), connection_id: other } = self;
        let connection_id = other.map_or_else(|| connection_id.to_owned(), |Id(id)| id);
        ModelRef { connection_id, model }
    }
}

/// Reports a connection that does not exist or has no models. `key` is the key of the model:
/// `summaryModel` or `generateTitle`.
pub(crate) fn check(key: &str, properties: &Node, context: &mut Context<'_, '_>) {
    let Some(entry) = properties.get(key).and_then(|entry| entry.value.get("connectionId")) else { return };
    if let Some(id) = entry.value.text() {
        let at = properties.span_at(&[PathStep::Key(key), PathStep::Key("connectionId")]);
        fallbacks::check_model_connection(id, at, context);
    }
}
