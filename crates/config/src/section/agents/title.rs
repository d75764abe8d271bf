//! An agent's `generateTitle`: whether and with which model new conversations are named.

use crate::agent::TitleModel;
use crate::section::agents::other_model::OtherModelEntry;
use schemars::JsonSchema;
use serde::Deserialize;

/// Whether new conversations are named.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum TitleEntry {
    /// With the agent's own model, or not at all.
    Switch(bool),
    /// With another model.
    Model(OtherModelEntry),
}

/// Returns the model; `None` if conversations are not named.
pub(crate) fn title_model(entry: Option<TitleEntry>, connection_id: &str) -> Option<TitleModel> {
    match entry? {
        TitleEntry::Switch(false) => None,
        TitleEntry::Switch(true) => Some(TitleModel::Own),
        TitleEntry::Model(entry) => Some(TitleModel::Other(entry.model(connection_id))),
    }
}
