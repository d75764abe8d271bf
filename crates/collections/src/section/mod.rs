//! The section `data` of the config and of an agent.

mod check;

use crate::operation::operations;
use config::{Config, PathStep, Section, SectionPlace, SectionProblems, Sections};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use settings::{Id, Text};
use std::collections::BTreeMap;

/// Collections of records, which agents query and change with tools.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(crate) struct Collections(pub(crate) Vec<Collection>);

/// A collection of records.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Collection {
    /// The name by which agents and the API refer to it.
    pub(crate) id: Id,
    /// The description of the records, for the model.
    #[schemars(length(max = 1_000))]
    pub(crate) description: Option<String>,
    /// The JSON Schema of a record, which is an object.
    pub(crate) schema: Map<String, Value>,
    /// The records that a user sees and changes: their own, or those of all.
    #[serde(default)]
    pub(crate) records: Sharing,
    /// The most records: of each user, or of the collection if they are shared. Default: 10,000. Not for
    /// a `source`.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub(crate) max_records: Option<u32>,
    /// The roles whose users may read it. Default: whoever uses an agent that names it; over the API, each
    /// user their own records.
    #[serde(default)]
    pub(crate) readers: Vec<Text>,
    /// The roles whose users may read and change it. Default: whoever uses an agent that names it and has
    /// `write`; nobody over the API.
    #[serde(default)]
    pub(crate) writers: Vec<Text>,
    /// The table of a database that has the records. Default: the server's own database.
    pub(crate) source: Option<Source>,
}

impl Collection {
    /// Returns the most records.
    pub(crate) fn max_records(&self) -> u32 {
        self.max_records.unwrap_or(10_000)
    }

    /// Returns whether anybody may change records.
    pub(crate) fn is_writable(&self) -> bool {
        self.source.as_ref().is_none_or(|source| source.write)
    }
}

/// A table of a database. Each property of the schema is a column with a text, a number or a boolean.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Source {
    /// A connection of the type `Sql`.
    pub(crate) connection_id: Id,
    /// The table or view; `schema.table` for one that is not in the default schema.
    pub(crate) table: Text,
    /// The column that identifies a record. Default: `id`.
    #[serde(default = "default_key")]
    pub(crate) key: Text,
    /// The column with the id of the user, if the records are not shared.
    pub(crate) owner_column: Option<Text>,
    /// The columns of properties with another name than theirs.
    #[serde(default)]
    pub(crate) columns: BTreeMap<String, Text>,
    /// Whether records may be inserted, updated and deleted.
    #[serde(default)]
    pub(crate) write: bool,
}

fn default_key() -> Text {
    Text("id".to_owned())
}

/// The visibility of records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Sharing {
    /// Each user has records of their own, which are deleted with them, except those of a `source`.
    #[default]
    Own,
    /// All users have the same records.
    Shared,
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
    /// Whether the agent takes all values that it inserts from documents of its `knowledge`, and quotes the words
    /// that say them. The server looks each quote up in its document, and stores it with the value, the document
    /// and the page; a record with a value that is not quoted is not stored. The agent then has no
    /// `update_records`. Default: `false`.
    #[serde(default)]
    pub(crate) sources: bool,
}

fn yes() -> bool {
    true
}

impl Section for Collections {
    const KEY: &'static str = "data";

    fn check(&self, problems: &mut SectionProblems<'_, '_, '_>) {
        check::collections(&self.0, problems);
    }

    fn check_with_config(&self, config: &Config, problems: &mut SectionProblems<'_, '_, '_>) {
        check::with_config(&self.0, config, problems);
    }

    fn roles(&self) -> Vec<&str> {
        self.0.iter().flat_map(|all| all.readers.iter().chain(&all.writers)).map(|role| role.0.as_str()).collect()
    }
}

impl Section for AgentData {
    const KEY: &'static str = "data";
    const PLACE: SectionPlace = SectionPlace::Agent;

    fn check(&self, problems: &mut SectionProblems<'_, '_, '_>) {
        check::agent(self, problems);
    }

    fn check_with_agent(&self, agent: &Sections, problems: &mut SectionProblems<'_, '_, '_>) {
        if self.sources && !agent.has("knowledge") {
            let help = Some("name libraries: `knowledge: [invoices]`".to_owned());
            problems.error(&[PathStep::Key("sources")], "this agent has no documents to quote", help);
        }
    }

    fn tool_names(&self) -> Vec<String> {
        operations(self).map(|operation| operation.name().to_owned()).collect()
    }
}
