//! An agent's `generateTitle`: whether and with which model new conversations are named.

use crate::agent::{ModelRef, TitleModel};
use crate::section::Context;
use crate::section::agents::fallbacks;
use crate::section::value::{Id, Text};
use crate::source::{Node, PathStep};
use schemars::JsonSchema;
use serde::Deserialize;

/// Whether new conversations are named.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum TitleEntry {
    /// With the agent's own model, or not at all.
    Switch(bool),
    /// With another model.
    Model(TitleModelEntry),
}

/// The model that names new conversations.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TitleModelEntry {
    /// The provider's name for the model.
    model: Text,
    /// The connection to its provider. Default: the agent's.
    connection_id: Option<Id>,
}

/// Reports a connection that does not exist or has no models.
pub(crate) fn check(properties: &Node, context: &mut Context<'_, '_>) {
    let Some(entry) = properties.get("generateTitle").and_then(|entry| entry.value.get("connectionId")) else { return };
    if let Some(id) = entry.value.text() {
        let at = properties.span_at(&[PathStep::Key("generateTitle"), PathStep::Key("connectionId")]);
        fallbacks::check_model_connection(id, at, context);
    }
}

/// Returns the model; `None` if conversations are not named.
pub(crate) fn title_model(entry: Option<TitleEntry>, connection_id: &str) -> Option<TitleModel> {
    match entry? {
        TitleEntry::Switch(false) => None,
        TitleEntry::Switch(true) => Some(TitleModel::Own),
        TitleEntry::Model(TitleModelEntry { model: Text(model), connection_id: other }) => {
            let connection_id = other.map_or_else(|| connection_id.to_owned(), |Id(id)| id);
            Some(TitleModel::Other(ModelRef { connection_id, model }))
        }
    }
}
