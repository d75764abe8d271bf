//! The tables of servers.

use crate::definition::ServerDefinition;
use ::store::{CapabilityTables, Migration, Table};
use added_entries::{Entry, EntryKind, EntryTables, StoredEntries};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The tables. The users in them are administrators; a server stays when such a user is deleted.
pub(crate) const TABLES: CapabilityTables = CapabilityTables {
    capability: "mcp_servers",
    migrations: &[Migration {
        name: "mcp servers",
        sqlite: include_str!("../migrations/sqlite/0001_mcp_servers.sql"),
        postgres: include_str!("../migrations/postgres/0001_mcp_servers.sql"),
    }],
    tables: &[
        Table { name: "mcp_catalog", key: "id", owner: None },
        Table { name: "mcp_servers", key: "name", owner: None },
        Table { name: "mcp_switched_off", key: "server", owner: None },
    ],
    user_deletion: &[],
    sqlite_baseline: None,
};

/// Added servers as entries.
pub(crate) const SERVERS: EntryKind = EntryKind {
    section: "mcpServers",
    action: "mcp_server",
    noun: "server",
    nouns: "MCP servers",
    most: 50,
    tables: EntryTables {
        catalog: "mcp_catalog",
        entries: "mcp_servers",
        secret: "secrets",
        found: &[TESTED],
        switched_off: Some(("mcp_switched_off", "server")),
    },
};

/// The column with a [`TestResult`].
pub(crate) const TESTED: &str = "tested";

/// An added server.
pub(crate) type StoredServer = Entry<ServerDefinition>;
/// All servers and switches at a moment.
pub(crate) type StoredServers = StoredEntries<ServerDefinition>;

/// The result of a test of a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "McpServerTest")]
pub(crate) struct TestResult {
    /// When the test ended; Unix time in milliseconds.
    pub(crate) at: i64,
    /// The names of the tools that the server offers.
    pub(crate) tools: Vec<String>,
    /// Tools that agents cannot use, with the reasons.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) left_out: Vec<String>,
    /// Why the server cannot be used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<String>,
}
