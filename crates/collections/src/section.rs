//! The section `data` of the config and of an agent.

use crate::tools::names;
use config::{PathStep, Section, SectionPlace, SectionProblems};
use schemars::JsonSchema;
use schemas::Schema;
use serde::Deserialize;
use serde_json::{Map, Value};
use settings::Id;
use std::collections::HashSet;

/// Collections of records, which agents query and change with tools.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(crate) struct Collections(pub(crate) Vec<Collection>);

/// A collection of records.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Collection {
    /// The name by which agents refer to it.
    pub(crate) id: Id,
    /// What the records are, for the model.
    #[schemars(length(max = 1_000))]
    pub(crate) description: Option<String>,
    /// The JSON Schema of a record, which is an object.
    pub(crate) schema: Map<String, Value>,
    /// Whose records an agent sees and changes.
    #[serde(default)]
    pub(crate) records: Sharing,
    /// The most records: of each user, or of the collection if they are shared.
    #[serde(default = "default_max_records")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub(crate) max_records: u32,
}

/// Whose records are seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Sharing {
    /// Each user has records of their own, which are deleted with them.
    #[default]
    Own,
    /// All users of the agents that name the collection have the same records.
    Shared,
}

fn default_max_records() -> u32 {
    10_000
}

/// Lets the agent query collections, with the tools `query_data`, `aggregate_data` and `get_facets`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AgentData {
    /// The collections.
    #[schemars(length(min = 1, max = 20))]
    pub(crate) collections: Vec<String>,
    /// Whether the agent may change records, with `insert_records`, `update_records` and
    /// `delete_records`.
    #[serde(default)]
    pub(crate) write: bool,
    /// Whether the user approves each call that inserts or updates records.
    #[serde(default)]
    pub(crate) confirm_changes: bool,
    /// Whether the user approves each call that deletes records.
    #[serde(default = "yes")]
    pub(crate) confirm_deletes: bool,
}

fn yes() -> bool {
    true
}

impl Section for Collections {
    const KEY: &'static str = "data";

    fn check(&self, problems: &mut SectionProblems<'_, '_, '_>) {
        let mut seen = HashSet::new();
        for (index, collection) in self.0.iter().enumerate() {
            let at = |key| [PathStep::Index(index), PathStep::Key(key)];
            if !seen.insert(&collection.id.0) {
                problems.error(&at("id"), format!("there are two collections with the id `{}`", collection.id.0), None);
            }
            if collection.schema.get("type").and_then(Value::as_str) != Some("object") {
                problems.error(&at("schema"), "a record is an object", Some("write `type: object`".to_owned()));
            } else if let Err(error) = Schema::new(&Value::Object(collection.schema.clone())) {
                problems.error(&at("schema"), format!("this is not a usable JSON Schema: {error}"), None);
            }
        }
    }
}

impl Section for AgentData {
    const KEY: &'static str = "data";
    const PLACE: SectionPlace = SectionPlace::Agent;

    fn check(&self, problems: &mut SectionProblems<'_, '_, '_>) {
        for (index, id) in self.collections.iter().enumerate() {
            let at = [PathStep::Key("collections"), PathStep::Index(index)];
            problems.check_entry::<Collections>(&at, "collection", id);
        }
    }

    fn tool_names(&self) -> Vec<String> {
        names(self.write).map(str::to_owned).collect()
    }
}
