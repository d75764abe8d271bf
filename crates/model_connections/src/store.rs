//! The tables of connections.

use crate::definition::ConnectionDefinition;
use ::store::{CapabilityTables, Migration, Table};
use added_entries::{Entry, EntryKind, EntryTables, StoredEntries};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The tables. The users in them are administrators; a connection stays when such a user is deleted.
pub(crate) const TABLES: CapabilityTables = CapabilityTables {
    capability: "model_connections",
    migrations: &[Migration {
        name: "model connections",
        sqlite: include_str!("../migrations/sqlite/0001_model_connections.sql"),
        postgres: include_str!("../migrations/postgres/0001_model_connections.sql"),
    }],
    tables: &[
        Table { name: "model_catalog", key: "id", owner: None },
        Table { name: "model_connections", key: "name", owner: None },
    ],
    user_deletion: &[],
    sqlite_baseline: None,
};

/// Added connections as entries.
pub(crate) const CONNECTIONS: EntryKind = EntryKind {
    section: "modelConnections",
    action: "model_connection",
    noun: "connection",
    nouns: "connections",
    most: 20,
    tables: EntryTables {
        catalog: "model_catalog",
        entries: "model_connections",
        secret: "secret",
        found: &[TESTED, LISTED],
        switched_off: None,
    },
};

/// The column with a [`TestResult`].
pub(crate) const TESTED: &str = "tested";
/// The column with a [`ListResult`].
pub(crate) const LISTED: &str = "listed";

/// An added connection.
pub(crate) type StoredConnection = Entry<ConnectionDefinition>;
/// All connections at a moment.
pub(crate) type StoredConnections = StoredEntries<ConnectionDefinition>;

/// The result of a test of a model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ModelConnectionTest")]
pub(crate) struct TestResult {
    /// When the test ended; Unix time in milliseconds.
    pub(crate) at: i64,
    /// The provider's name of the model.
    pub(crate) model: String,
    /// The beginning of what the model has answered.
    pub(crate) answer: String,
    /// The tokens of the question.
    pub(crate) input_tokens: u64,
    /// The tokens of the answer.
    pub(crate) output_tokens: u64,
    /// The cost of the test in millionths of a US dollar; absent if the price of the model is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) cost_micro_usd: Option<u64>,
    /// How long it took, in milliseconds.
    pub(crate) took_ms: u64,
    /// Why there is no answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<String>,
}

/// The models that a provider has named.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ProviderModels")]
pub(crate) struct ListResult {
    /// When it was asked; Unix time in milliseconds.
    pub(crate) at: i64,
    /// The provider's names of its models, sorted; at most 500.
    pub(crate) models: Vec<String>,
    /// Why there is no list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<String>,
}
