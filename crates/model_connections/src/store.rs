//! The tables of connections. They belong to all administrators, so nothing here takes an owner.

use crate::definition::ConnectionDefinition;
use ::store::sql::{self, Db, Row};
use ::store::{AuditEntry, CapabilityTables, Migration, Store, StoreError, Table, append_audit};
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
};

/// The most connections that administrators can add.
pub(crate) const MAX_CONNECTIONS: usize = 20;

/// An added connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StoredConnection {
    pub(crate) name: String,
    /// Grows with each change. A connection that is deleted and added again continues above its earlier versions.
    pub(crate) version: i64,
    pub(crate) enabled: bool,
    /// `None` if it is damaged.
    pub(crate) definition: Option<ConnectionDefinition>,
    /// The encrypted API key; empty if there is none.
    pub(crate) secret: String,
    pub(crate) created_by: String,
    pub(crate) changed_by: String,
    pub(crate) created_at: i64,
    pub(crate) changed_at: i64,
    pub(crate) tested: Option<TestResult>,
    pub(crate) listed: Option<ListResult>,
}

/// What a test of a model has found.
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
    /// What the test has cost, in millionths of a US dollar; absent if the price of the model is not known.
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

/// All connections at a moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct StoredCatalog {
    /// The added connections by their names.
    pub(crate) connections: Vec<StoredConnection>,
}

/// A change.
#[derive(Clone, Debug)]
pub(crate) enum Change {
    /// Adds a connection.
    Add(ConnectionWrite),
    /// Changes the connection with this version.
    Update(ConnectionWrite, i64),
    /// Switches the connection with this version on or off.
    Enable { name: String, version: i64, enabled: bool },
    /// Deletes a connection, if it has this version.
    Delete { name: String, version: Option<i64> },
}

/// What is written of a connection.
#[derive(Clone, Debug)]
pub(crate) struct ConnectionWrite {
    pub(crate) name: String,
    pub(crate) enabled: bool,
    pub(crate) definition: ConnectionDefinition,
    pub(crate) secret: String,
    /// For a change: whether the provider is reached as before, so that what was found still holds.
    pub(crate) keeps_found: bool,
}

/// The outcome of a change. Only [`ChangeOutcome::Done`] writes anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChangeOutcome {
    /// It is stored.
    Done,
    /// There is no such connection.
    Unknown,
    /// Another administrator has changed it meanwhile.
    Changed,
    /// There is a connection with this name.
    Taken,
    /// There are too many connections.
    Full,
}

/// Who makes a change, and when.
#[derive(Clone, Debug)]
pub(crate) struct Author {
    pub(crate) user_id: String,
    /// Unix time, milliseconds.
    pub(crate) now: i64,
}

/// What was found about a connection.
#[derive(Clone, Debug)]
pub(crate) enum Found {
    Test(TestResult),
    List(ListResult),
}

const VERSION: &str = "SELECT version FROM model_catalog WHERE id = 1";
const CONNECTIONS: &str = "
    SELECT name, version, enabled, definition, secret, created_by, changed_by, created_at, changed_at, tested, listed
    FROM model_connections ORDER BY name LIMIT $1";
const BEGIN: &str = "INSERT INTO model_catalog (id, version) VALUES (1, 0) ON CONFLICT DO NOTHING";
/// Changes nothing, but makes other writers wait until the end of the transaction.
const LOCK: &str = "UPDATE model_catalog SET version = version WHERE id = 1";
const GROW: &str = "UPDATE model_catalog SET version = version + 1 WHERE id = 1";
const VERSION_OF: &str = "SELECT version FROM model_connections WHERE name = $1";
const COUNT: &str = "SELECT count(*) FROM model_connections";
/// No connection ever has a higher version than the catalog, so no version of a deleted one comes back.
const INSERT: &str = "
    INSERT INTO model_connections (name, version, enabled, definition, secret, created_by, changed_by, created_at, changed_at)
    VALUES ($1, (SELECT version + 1 FROM model_catalog WHERE id = 1), $2, $3, $4, $5, $5, $6, $6)";
/// What was found about a provider that is reached in another way says nothing any more.
const UPDATE: &str = "
    UPDATE model_connections SET version = version + 1, enabled = $2, definition = $3, secret = $4, changed_by = $5,
        changed_at = $6, tested = CASE WHEN CAST($7 AS BIGINT) = 1 THEN tested END,
        listed = CASE WHEN CAST($7 AS BIGINT) = 1 THEN listed END
    WHERE name = $1";
const ENABLE: &str = "UPDATE model_connections SET version = version + 1, enabled = $2, changed_by = $3, changed_at = $4 WHERE name = $1";
const DELETE: &str = "DELETE FROM model_connections WHERE name = $1";
const TESTED: &str = "UPDATE model_connections SET tested = $3 WHERE name = $1 AND version = $2";
const LISTED: &str = "UPDATE model_connections SET listed = $3 WHERE name = $1 AND version = $2";

/// Returns everything.
pub(crate) async fn read(store: &Store) -> Result<StoredCatalog, StoreError> {
    let most = i64::try_from(MAX_CONNECTIONS).unwrap_or(i64::MAX);
    let read = store.read(move |db| {
        Box::pin(async move {
            let rows = sql::query(CONNECTIONS).bind(most).fetch_all(db).await?;
            Ok(StoredCatalog { connections: rows.iter().map(connection).collect::<Result<_, _>>()? })
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

/// Makes a change with its audit entry, or neither.
pub(crate) async fn change(
    store: &Store,
    change: Change,
    entry: AuditEntry,
    author: Author,
) -> Result<ChangeOutcome, StoreError> {
    let notifier = store.clone();
    let write = store.write(move |db| {
        Box::pin(async move {
            sql::query(BEGIN).execute(&mut *db).await?;
            sql::query(LOCK).execute(&mut *db).await?;
            let outcome = check(db, &change).await?;
            if outcome != ChangeOutcome::Done {
                return Ok(outcome);
            }
            apply(db, change, &author).await?;
            sql::query(GROW).execute(&mut *db).await?;
            append_audit(db, vec![entry]).await?;
            notifier.notify_config_changed(db).await?;
            Ok(ChangeOutcome::Done)
        })
    });
    write.await
}

/// Keeps what was found about a connection, if it still has this version.
pub(crate) async fn keep(store: &Store, name: &str, version: i64, found: Found) -> Result<(), StoreError> {
    let (statement, text) = match &found {
        Found::Test(test) => (TESTED, serde_json::to_string(test)),
        Found::List(list) => (LISTED, serde_json::to_string(list)),
    };
    let text = text.map_err(|_| StoreError::Invalid("what was found cannot be written as JSON"))?;
    let keep = sql::query(statement).bind(name.to_owned()).bind(version).bind(text);
    store.write(move |db| Box::pin(async move { Ok(keep.execute(db).await.map(drop)?) })).await
}

/// Checks that a change can be made.
async fn check(db: &mut Db, change: &Change) -> Result<ChangeOutcome, StoreError> {
    let (Change::Add(ConnectionWrite { name, .. })
    | Change::Update(ConnectionWrite { name, .. }, _)
    | Change::Enable { name, .. }
    | Change::Delete { name, .. }) = change;
    let current: Option<i64> = sql::query_scalar(VERSION_OF).bind(name.clone()).fetch_optional(&mut *db).await?;
    let expected = match change {
        Change::Add(_) if current.is_some() => return Ok(ChangeOutcome::Taken),
        Change::Add(_) => {
            let count: i64 = sql::query_scalar(COUNT).fetch_one(db).await?;
            let is_full = usize::try_from(count).is_ok_and(|count| count >= MAX_CONNECTIONS);
            return Ok(if is_full { ChangeOutcome::Full } else { ChangeOutcome::Done });
        }
        Change::Update(_, version) | Change::Enable { version, .. } => Some(*version),
        Change::Delete { version, .. } => *version,
    };
    Ok(match current {
        None => ChangeOutcome::Unknown,
        Some(current) if expected.is_some_and(|expected| expected != current) => ChangeOutcome::Changed,
        Some(_) => ChangeOutcome::Done,
    })
}

async fn apply(db: &mut Db, change: Change, author: &Author) -> Result<(), StoreError> {
    let Author { user_id, now } = author.clone();
    let query = match change {
        Change::Add(connection) => write(INSERT, connection, user_id, now)?,
        Change::Update(connection, _) => {
            let keeps_found = i64::from(connection.keeps_found);
            write(UPDATE, connection, user_id, now)?.bind(keeps_found)
        }
        Change::Enable { name, enabled, .. } => {
            sql::query(ENABLE).bind(name).bind(i64::from(enabled)).bind(user_id).bind(now)
        }
        Change::Delete { name, .. } => sql::query(DELETE).bind(name),
    };
    query.execute(db).await?;
    Ok(())
}

fn write(text: &'static str, connection: ConnectionWrite, user_id: String, now: i64) -> Result<sql::Query, StoreError> {
    let ConnectionWrite { name, enabled, definition, secret, .. } = connection;
    let definition = serde_json::to_string(&definition)
        .map_err(|_| StoreError::Invalid("a connection cannot be written as JSON"))?;
    Ok(sql::query(text).bind(name).bind(i64::from(enabled)).bind(definition).bind(secret).bind(user_id).bind(now))
}

fn connection(row: &Row) -> Result<StoredConnection, StoreError> {
    let definition: String = row.try_get("definition")?;
    let tested: Option<String> = row.try_get("tested")?;
    let listed: Option<String> = row.try_get("listed")?;
    Ok(StoredConnection {
        name: row.try_get("name")?,
        version: row.try_get("version")?,
        enabled: row.try_get::<i64>("enabled")? != 0,
        definition: serde_json::from_str(&definition).ok(),
        secret: row.try_get("secret")?,
        created_by: row.try_get("created_by")?,
        changed_by: row.try_get("changed_by")?,
        created_at: row.try_get("created_at")?,
        changed_at: row.try_get("changed_at")?,
        tested: tested.and_then(|text| serde_json::from_str(&text).ok()),
        listed: listed.and_then(|text| serde_json::from_str(&text).ok()),
    })
}
