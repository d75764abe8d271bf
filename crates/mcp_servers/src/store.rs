//! The tables of servers. They belong to all administrators, so nothing here takes an owner.

use crate::definition::ServerDefinition;
use ::store::sql::{self, Db, Row};
use ::store::{AuditEntry, CapabilityTables, Migration, Store, StoreError, Table, append_audit};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

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
};

/// The most servers that administrators can add.
pub(crate) const MAX_SERVERS: usize = 50;
/// The most servers of the config that are switched off. More are not in any config.
const MAX_SWITCHED_OFF: usize = 1_000;

/// An added server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StoredServer {
    pub(crate) name: String,
    /// Grows with each change. A server that is deleted and added again continues above its earlier versions.
    pub(crate) version: i64,
    pub(crate) enabled: bool,
    /// `None` if it is damaged.
    pub(crate) definition: Option<ServerDefinition>,
    /// The encrypted secrets.
    pub(crate) secrets: String,
    pub(crate) created_by: String,
    pub(crate) changed_by: String,
    pub(crate) created_at: i64,
    pub(crate) changed_at: i64,
    pub(crate) tested: Option<TestResult>,
}

/// What a test of a server has found.
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

/// All servers and switches at a moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct StoredCatalog {
    /// Grows with each change; 0 at first.
    pub(crate) version: i64,
    /// The added servers by their names.
    pub(crate) servers: Vec<StoredServer>,
    /// The keys of the config's servers that are switched off.
    pub(crate) switched_off: Vec<String>,
}

/// A change.
#[derive(Clone, Debug)]
pub(crate) enum Change {
    /// Adds a server.
    Add(ServerWrite),
    /// Changes the server with this version.
    Update(ServerWrite, i64),
    /// Switches the server with this version on or off.
    Enable { name: String, version: i64, enabled: bool },
    /// Deletes a server, if it has this version.
    Delete { name: String, version: Option<i64> },
    /// Switches a server of the config on or off.
    Switch { server: String, off: bool },
}

/// What is written of a server.
#[derive(Clone, Debug)]
pub(crate) struct ServerWrite {
    pub(crate) name: String,
    pub(crate) enabled: bool,
    pub(crate) definition: ServerDefinition,
    pub(crate) secrets: String,
    /// For a change: whether the server is reached as before, so that its last test still holds.
    pub(crate) keeps_test: bool,
}

/// The outcome of a change. Only [`ChangeOutcome::Done`] writes anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChangeOutcome {
    /// It is stored.
    Done,
    /// There is no such server.
    Unknown,
    /// Another administrator has changed it meanwhile.
    Changed,
    /// There is a server with this name.
    Taken,
    /// There are too many servers.
    Full,
}

/// Who makes a change, and when.
#[derive(Clone, Debug)]
pub(crate) struct Author {
    pub(crate) user_id: String,
    /// Unix time, milliseconds.
    pub(crate) now: i64,
}

const VERSION: &str = "SELECT version FROM mcp_catalog WHERE id = 1";
const SERVERS: &str = "
    SELECT name, version, enabled, definition, secrets, created_by, changed_by, created_at, changed_at, tested
    FROM mcp_servers ORDER BY name LIMIT $1";
const SWITCHED_OFF: &str = "SELECT server FROM mcp_switched_off ORDER BY server LIMIT $1";
const BEGIN: &str = "INSERT INTO mcp_catalog (id, version) VALUES (1, 0) ON CONFLICT DO NOTHING";
/// Changes nothing, but makes other writers wait until the end of the transaction.
const LOCK: &str = "UPDATE mcp_catalog SET version = version WHERE id = 1";
const GROW: &str = "UPDATE mcp_catalog SET version = version + 1 WHERE id = 1";
const VERSIONS: &str = "SELECT name, version FROM mcp_servers";
/// No server ever has a higher version than the catalog, so no version of a deleted one comes back.
const INSERT: &str = "
    INSERT INTO mcp_servers (name, version, enabled, definition, secrets, created_by, changed_by, created_at, changed_at)
    VALUES ($1, (SELECT version + 1 FROM mcp_catalog WHERE id = 1), $2, $3, $4, $5, $5, $6, $6)";
/// A test of a server that is reached in another way says nothing any more.
const UPDATE: &str = "
    UPDATE mcp_servers SET version = version + 1, enabled = $2, definition = $3, secrets = $4, changed_by = $5,
        changed_at = $6, tested = CASE WHEN CAST($7 AS BIGINT) = 1 THEN tested END
    WHERE name = $1";
const ENABLE: &str =
    "UPDATE mcp_servers SET version = version + 1, enabled = $2, changed_by = $3, changed_at = $4 WHERE name = $1";
const DELETE: &str = "DELETE FROM mcp_servers WHERE name = $1";
const SWITCH_OFF: &str = "INSERT INTO mcp_switched_off (server) VALUES ($1) ON CONFLICT DO NOTHING";
const SWITCH_ON: &str = "DELETE FROM mcp_switched_off WHERE server = $1";
const TESTED: &str = "UPDATE mcp_servers SET tested = $3 WHERE name = $1 AND version = $2";

/// Returns everything.
pub(crate) async fn read(store: &Store) -> Result<StoredCatalog, StoreError> {
    let limit = |most: usize| i64::try_from(most).unwrap_or(i64::MAX);
    let read = store.read(move |db| {
        Box::pin(async move {
            // First, so that a change in between is noticed as one.
            let version = sql::query_scalar(VERSION).fetch_optional(&mut *db).await?;
            let servers = sql::query(SERVERS).bind(limit(MAX_SERVERS)).fetch_all(&mut *db).await?;
            let off = sql::query_scalar(SWITCHED_OFF).bind(limit(MAX_SWITCHED_OFF)).fetch_all(db).await?;
            let servers = servers.iter().map(server).collect::<Result<_, _>>()?;
            Ok(StoredCatalog { version: version.unwrap_or_default(), servers, switched_off: off })
        })
    });
    read.await
}

/// Returns a text that changes whenever the catalog changes.
pub(crate) async fn version(store: &Store) -> Result<String, StoreError> {
    let read = store.read(move |db| {
        Box::pin(async move {
            let version: Option<i64> = sql::query_scalar(VERSION).fetch_optional(db).await?;
            Ok(version.unwrap_or_default().to_string())
        })
    });
    read.await
}

/// Makes changes with their audit entries, all or nothing. With `expected`, the catalog must have this
/// version.
pub(crate) async fn change(
    store: &Store,
    expected: Option<i64>,
    changes: Vec<(Change, AuditEntry)>,
    author: Author,
) -> Result<ChangeOutcome, StoreError> {
    let notifier = store.clone();
    let write = store.write(move |db| {
        Box::pin(async move {
            sql::query(BEGIN).execute(&mut *db).await?;
            sql::query(LOCK).execute(&mut *db).await?;
            let current: i64 = sql::query_scalar(VERSION).fetch_one(&mut *db).await?;
            if expected.is_some_and(|expected| expected != current) {
                return Ok(ChangeOutcome::Changed);
            }
            let outcome = check(versions(db).await?, current + 1, &changes);
            if outcome != ChangeOutcome::Done || changes.is_empty() {
                return Ok(outcome);
            }
            let mut entries = Vec::new();
            for (change, entry) in changes {
                apply(db, change, &author).await?;
                entries.push(entry);
            }
            sql::query(GROW).execute(&mut *db).await?;
            append_audit(db, entries).await?;
            notifier.notify_config_changed(db).await?;
            Ok(ChangeOutcome::Done)
        })
    });
    write.await
}

/// Keeps what a test has found, if the server still has this version.
pub(crate) async fn keep_test(store: &Store, name: &str, version: i64, found: &TestResult) -> Result<(), StoreError> {
    let text = serde_json::to_string(found).map_err(|_| StoreError::Invalid("a test cannot be written as JSON"))?;
    let keep = sql::query(TESTED).bind(name.to_owned()).bind(version).bind(text);
    store.write(move |db| Box::pin(async move { Ok(keep.execute(db).await.map(drop)?) })).await
}

async fn versions(db: &mut Db) -> Result<BTreeMap<String, i64>, StoreError> {
    let mut versions = BTreeMap::new();
    for row in sql::query(VERSIONS).fetch_all(db).await? {
        versions.insert(row.try_get("name")?, row.try_get("version")?);
    }
    Ok(versions)
}

/// Checks that all changes can be made, before the first one is. New servers get the version `new`.
fn check(mut versions: BTreeMap<String, i64>, new: i64, changes: &[(Change, AuditEntry)]) -> ChangeOutcome {
    for (change, _) in changes {
        match change {
            Change::Add(server) => {
                if versions.insert(server.name.clone(), new).is_some() {
                    return ChangeOutcome::Taken;
                }
            }
            Change::Update(ServerWrite { name, .. }, version) | Change::Enable { name, version, .. } => {
                match versions.get(name) {
                    None => return ChangeOutcome::Unknown,
                    Some(current) if current != version => return ChangeOutcome::Changed,
                    Some(_) => {}
                }
            }
            Change::Delete { name, version } => match versions.remove(name) {
                None => return ChangeOutcome::Unknown,
                Some(current) if version.is_some_and(|version| version != current) => return ChangeOutcome::Changed,
                Some(_) => {}
            },
            Change::Switch { .. } => {}
        }
    }
    if versions.len() > MAX_SERVERS { ChangeOutcome::Full } else { ChangeOutcome::Done }
}

async fn apply(db: &mut Db, change: Change, author: &Author) -> Result<(), StoreError> {
    let Author { user_id, now } = author.clone();
    let query = match change {
        Change::Add(server) => write(INSERT, server, user_id, now)?,
        Change::Update(server, _) => {
            let keeps_test = i64::from(server.keeps_test);
            write(UPDATE, server, user_id, now)?.bind(keeps_test)
        }
        Change::Enable { name, enabled, .. } => {
            sql::query(ENABLE).bind(name).bind(i64::from(enabled)).bind(user_id).bind(now)
        }
        Change::Delete { name, .. } => sql::query(DELETE).bind(name),
        Change::Switch { server, off: true } => sql::query(SWITCH_OFF).bind(server),
        Change::Switch { server, off: false } => sql::query(SWITCH_ON).bind(server),
    };
    query.execute(db).await?;
    Ok(())
}

fn write(text: &'static str, server: ServerWrite, user_id: String, now: i64) -> Result<sql::Query, StoreError> {
    let ServerWrite { name, enabled, definition, secrets, .. } = server;
    let definition =
        serde_json::to_string(&definition).map_err(|_| StoreError::Invalid("a server cannot be written as JSON"))?;
    Ok(sql::query(text).bind(name).bind(i64::from(enabled)).bind(definition).bind(secrets).bind(user_id).bind(now))
}

fn server(row: &Row) -> Result<StoredServer, StoreError> {
    let definition: String = row.try_get("definition")?;
    let tested: Option<String> = row.try_get("tested")?;
    Ok(StoredServer {
        name: row.try_get("name")?,
        version: row.try_get("version")?,
        enabled: row.try_get::<i64>("enabled")? != 0,
        definition: serde_json::from_str(&definition).ok(),
        secrets: row.try_get("secrets")?,
        created_by: row.try_get("created_by")?,
        changed_by: row.try_get("changed_by")?,
        created_at: row.try_get("created_at")?,
        changed_at: row.try_get("changed_at")?,
        tested: tested.and_then(|text| serde_json::from_str(&text).ok()),
    })
}
