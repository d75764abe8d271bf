//! The key `notes` of an agent.

use crate::tools::{ADD, SEARCH};
use config::{Section, SectionPlace};
use schemars::JsonSchema;
use serde::Deserialize;

/// Lets the agent take notes for its user and search them.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AgentNotes {
    /// The most notes of one user.
    #[serde(default = "default_max_notes")]
    #[schemars(range(min = 1, max = 10_000))]
    pub(crate) max_notes: u32,
}

/// The most notes of one user, unless an agent says otherwise.
pub(crate) const DEFAULT_MAX_NOTES: u32 = 1_000;

fn default_max_notes() -> u32 {
    DEFAULT_MAX_NOTES
}

impl Section for AgentNotes {
    const KEY: &'static str = "notes";
    const PLACE: SectionPlace = SectionPlace::Agent;

    fn tool_names(&self) -> Vec<String> {
        vec![ADD.to_owned(), SEARCH.to_owned()]
    }
}
