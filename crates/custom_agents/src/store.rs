//! Tables `custom_agents` and `custom_agent_versions`. The agents belong to all administrators, so
//! nothing here takes an owner.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};
use store::sql::{self, Db, Row};
use store::{AuditEntry, CapabilityTables, Migration, Store, StoreError, Table, append_audit};

/// The tables of custom agents. `owner` is the administrator who created an agent; the agent stays
/// when that user is deleted.
pub const TABLES: CapabilityTables = CapabilityTables {
    capability: "custom_agents",
    migrations: &[
        Migration {
            name: "custom agents",
            sqlite: include_str!("../migrations/sqlite/0001_custom_agents.sql"),
            postgres: include_str!("../migrations/postgres/0001_custom_agents.sql"),
        },
        Migration {
            name: "definitions",
            sqlite: include_str!("../migrations/sqlite/0002_definitions.sql"),
            postgres: include_str!("../migrations/postgres/0002_definitions.sql"),
        },
        Migration {
            name: "agents of users",
            sqlite: include_str!("../migrations/sqlite/0003_own_agents.sql"),
            postgres: include_str!("../migrations/postgres/0003_own_agents.sql"),
        },
    ],
    tables: &[
        Table { name: "custom_agents", key: "id", owner: None },
        Table { name: "custom_agent_versions", key: "agent_id, version", owner: None },
        Table { name: "own_agents", key: "id", owner: Some("owner") },
        Table { name: "own_agent_versions", key: "agent_id, version", owner: Some("owner") },
    ],
    user_deletion: &[],
    sqlite_baseline: None,
};

/// The maximum number of custom agents.
pub const MAX_CUSTOM_AGENTS: u32 = 200;

/// The versions of an agent that are kept, the newest ones.
pub const MAX_VERSIONS: u32 = 50;

/// A custom agent in its current version.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CustomAgentRow {
    /// Its id.
    pub id: String,
    /// The name by which a program has stored it. Absent for one that was made in the console.
    #[serde(rename = "key", skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The version; counts from 1.
    pub version: i64,
    /// The definition.
    pub definition: Value,
    /// The administrator who created it.
    pub owner: String,
    /// Unix time, milliseconds.
    pub created_at: i64,
    /// Unix time, milliseconds.
    pub updated_at: i64,
}

/// A version of a custom agent.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CustomAgentVersion {
    /// The version; counts from 1.
    pub version: i64,
    /// The definition.
    pub definition: Value,
    /// The administrator who saved it.
    pub author: String,
    /// Unix time, milliseconds.
    pub created_at: i64,
}

/// A new or changed custom agent.
#[derive(Clone, Debug, PartialEq)]
pub struct SaveCustomAgent {
    /// Its id.
    pub id: String,
    /// The version that was changed; `None` for a new agent.
    pub after: Option<i64>,
    /// The new definition.
    pub definition: Value,
    /// The administrator who saves it.
    pub author: String,
    /// Unix time, milliseconds.
    pub now: i64,
}

/// A definition that a program stores under a name.
#[derive(Clone, Debug, PartialEq)]
pub struct StoreDefinition {
    /// The name; upper and lower case make no difference.
    pub name: String,
    /// The id if there is no agent with the name yet.
    pub new_id: String,
    /// The definition.
    pub definition: Value,
    /// The administrator who stores it.
    pub author: String,
    /// Unix time, milliseconds.
    pub now: i64,
}

/// The outcome of storing a definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DefinitionOutcome {
    /// There is a new agent.
    Created(SavedAgent),
    /// The agent has a new version.
    Updated(SavedAgent),
    /// The agent was already like this.
    Unchanged(SavedAgent),
    /// The maximum number of agents is reached.
    Full,
}

/// An agent after it was stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SavedAgent {
    /// Its id.
    pub id: String,
    /// Its version.
    pub version: i64,
}

/// The outcome of saving.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SaveAgentOutcome {
    /// Saved under this version.
    Done(i64),
    /// There is no such agent.
    Unknown,
    /// Another administrator saved a newer version meanwhile.
    Changed,
    /// The maximum number of agents is reached.
    Full,
}

const LIST: &str = "
    SELECT id, name, version, definition, owner, created_at, updated_at FROM custom_agents
    WHERE deleted_at IS NULL ORDER BY created_at, id LIMIT $1";

const VERSIONS: &str = "
    SELECT version, definition, author, created_at FROM custom_agent_versions
    WHERE agent_id = $1 ORDER BY version DESC LIMIT $2";

const COUNT: &str = "SELECT count(*) FROM custom_agents WHERE deleted_at IS NULL";

const FIND: &str = "SELECT version FROM custom_agents WHERE id = $1 AND deleted_at IS NULL";

const FIND_NAMED: &str = "
    SELECT id, version, definition FROM custom_agents WHERE lower(name) = lower($1) AND deleted_at IS NULL";

const INSERT: &str = "
    INSERT INTO custom_agents (id, name, version, definition, owner, created_at, updated_at)
    VALUES ($1, $5, 1, $2, $3, $4, $4) ON CONFLICT DO NOTHING";

const UPDATE: &str = "UPDATE custom_agents SET version = $2, definition = $3, updated_at = $4 WHERE id = $1";

const INSERT_VERSION: &str = "
    INSERT INTO custom_agent_versions (agent_id, version, definition, author, created_at) VALUES ($1, $2, $3, $4, $5)";

const PRUNE: &str = "DELETE FROM custom_agent_versions WHERE agent_id = $1 AND version <= $2";

/// Versions only grow, and deleted agents stay deleted, so each change alters one of the two
/// numbers.
const STATE: &str = "
    SELECT CAST(coalesce(sum(version), 0) AS BIGINT) AS versions, count(deleted_at) AS deleted FROM custom_agents";

const DELETE: &str = "UPDATE custom_agents SET deleted_at = $2 WHERE id = $1 AND deleted_at IS NULL";

/// Returns all custom agents, oldest first, at most [`MAX_CUSTOM_AGENTS`].
///
/// # Errors
/// The database failed, or a definition is damaged.
pub async fn list(store: &Store) -> Result<Vec<CustomAgentRow>, StoreError> {
    let list = sql::query(LIST).bind(MAX_CUSTOM_AGENTS);
    store.rows(list, agent).await
}

/// Returns a text that changes whenever a server creates, changes or deletes a custom agent.
///
/// # Errors
/// The database failed.
pub async fn version(store: &Store) -> Result<String, StoreError> {
    store
        .read(move |db| {
            Box::pin(async move {
                let row = sql::query(STATE).fetch_one(db).await?;
                let (versions, deleted): (i64, i64) = (row.try_get("versions")?, row.try_get("deleted")?);
                Ok(format!("{versions}-{deleted}"))
            })
        })
        .await
}

/// Returns the versions of a custom agent, newest first, at most [`MAX_VERSIONS`]; also those of a
/// deleted one.
///
/// # Errors
/// The errors of [`list`].
pub async fn versions(store: &Store, id: &str) -> Result<Vec<CustomAgentVersion>, StoreError> {
    let list = sql::query(VERSIONS).bind(id.to_owned()).bind(MAX_VERSIONS);
    store.rows(list, version_row).await
}

/// Saves a custom agent and its audit entry, both or neither. If two administrators change the same
/// version, the second one gets [`SaveAgentOutcome::Changed`].
///
/// # Errors
/// The database failed.
pub async fn save(store: &Store, save: SaveCustomAgent, entry: AuditEntry) -> Result<SaveAgentOutcome, StoreError> {
    let notifier = store.clone();
    store
        .write(move |db| {
            Box::pin(async move {
                let saved = apply(db, save).await?;
                if matches!(saved, SaveAgentOutcome::Done(_)) {
                    append_audit(db, vec![entry]).await?;
                    notifier.notify_config_changed(db).await?;
                }
                Ok(saved)
            })
        })
        .await
}

/// Deletes a custom agent and writes its audit entry, both or neither; its versions stay. Returns
/// false when there is no such agent.
///
/// # Errors
/// The database failed.
pub async fn delete(store: &Store, id: &str, now: i64, entry: AuditEntry) -> Result<bool, StoreError> {
    let delete = sql::query(DELETE).bind(id.to_owned()).bind(now);
    let notifier = store.clone();
    store
        .write(move |db| {
            Box::pin(async move {
                let was_there = delete.execute(db).await?.rows_affected() > 0;
                if was_there {
                    append_audit(db, vec![entry]).await?;
                    notifier.notify_config_changed(db).await?;
                }
                Ok(was_there)
            })
        })
        .await
}

/// Stores a definition under its name, with its audit entry, if it is not stored like this already.
/// `entry` is completed with what was done.
///
/// # Errors
/// The database failed.
pub async fn store_definition(
    store: &Store,
    definition: StoreDefinition,
    entry: AuditEntry,
) -> Result<DefinitionOutcome, StoreError> {
    let notifier = store.clone();
    store
        .write(move |db| {
            Box::pin(async move {
                let outcome = apply_definition(db, &definition).await?;
                let (tool, saved) = match &outcome {
                    DefinitionOutcome::Created(saved) => ("admin:add_agent", saved),
                    DefinitionOutcome::Updated(saved) => ("admin:change_agent", saved),
                    DefinitionOutcome::Unchanged(_) | DefinitionOutcome::Full => return Ok(outcome),
                };
                let arguments = json!({ "agentId": saved.id, "version": saved.version, "name": definition.name });
                append_audit(db, vec![AuditEntry { tool: tool.to_owned(), arguments, ..entry }]).await?;
                notifier.notify_config_changed(db).await?;
                Ok(outcome)
            })
        })
        .await
}

async fn apply_definition(db: &mut Db, store: &StoreDefinition) -> Result<DefinitionOutcome, StoreError> {
    let StoreDefinition { name, new_id, definition, author, now } = store;
    let text = definition.to_string();
    if find_named(db, name).await?.is_none() {
        if is_full(db).await? {
            return Ok(DefinitionOutcome::Full);
        }
        let insert = sql::query(INSERT).bind(new_id).bind(&text).bind(author).bind(*now).bind(Some(name.clone()));
        // Another server may have stored the name since it was looked for.
        if insert.execute(db).await?.rows_affected() > 0 {
            let saved = SavedAgent { id: new_id.clone(), version: 1 };
            insert_version(db, &saved, &text, author, *now).await?;
            return Ok(DefinitionOutcome::Created(saved));
        }
    }
    let Some((saved, stored)) = find_named(db, name).await? else {
        return Err(StoreError::Busy);
    };
    if stored == *definition {
        return Ok(DefinitionOutcome::Unchanged(saved));
    }
    let saved = SavedAgent { version: saved.version + 1, ..saved };
    let update = sql::query(UPDATE).bind(&saved.id).bind(saved.version).bind(&text).bind(*now);
    update.execute(db).await?;
    insert_version(db, &saved, &text, author, *now).await?;
    Ok(DefinitionOutcome::Updated(saved))
}

async fn find_named(db: &mut Db, name: &str) -> Result<Option<(SavedAgent, Value)>, StoreError> {
    let Some(row) = sql::query(FIND_NAMED).bind(name).fetch_optional(db).await? else { return Ok(None) };
    Ok(Some((SavedAgent { id: row.try_get("id")?, version: row.try_get("version")? }, definition(&row)?)))
}

async fn is_full(db: &mut Db) -> Result<bool, StoreError> {
    let count: i64 = sql::query_scalar(COUNT).fetch_one(db).await?;
    Ok(count >= i64::from(MAX_CUSTOM_AGENTS))
}

async fn insert_version(
    db: &mut Db,
    saved: &SavedAgent,
    definition: &str,
    author: &str,
    now: i64,
) -> Result<(), StoreError> {
    let insert = sql::query(INSERT_VERSION).bind(&saved.id).bind(saved.version).bind(definition).bind(author).bind(now);
    insert.execute(&mut *db).await?;
    let oldest = saved.version - i64::from(MAX_VERSIONS);
    sql::query(PRUNE).bind(&saved.id).bind(oldest).execute(db).await?;
    Ok(())
}

async fn apply(db: &mut Db, save: SaveCustomAgent) -> Result<SaveAgentOutcome, StoreError> {
    let SaveCustomAgent { id, after, definition, author, now } = save;
    let definition = definition.to_string();
    let version = match after {
        None => {
            if is_full(db).await? {
                return Ok(SaveAgentOutcome::Full);
            }
            let insert = sql::query(INSERT).bind(id.clone()).bind(definition.clone()).bind(author.clone()).bind(now);
            insert.bind(None::<String>).execute(db).await?;
            1
        }
        Some(after) => {
            let found: Option<i64> = sql::query_scalar(FIND).bind(id.clone()).fetch_optional(db).await?;
            match found {
                None => return Ok(SaveAgentOutcome::Unknown),
                Some(version) if version != after => return Ok(SaveAgentOutcome::Changed),
                Some(_) => {}
            }
            let update = sql::query(UPDATE).bind(id.clone()).bind(after + 1).bind(definition.clone()).bind(now);
            update.execute(db).await?;
            after + 1
        }
    };
    insert_version(db, &SavedAgent { id, version }, &definition, &author, now).await?;
    Ok(SaveAgentOutcome::Done(version))
}

fn agent(row: &Row) -> Result<CustomAgentRow, StoreError> {
    Ok(CustomAgentRow {
        id: row.try_get("id")?,
        name: row.try_get("name")?,
        version: row.try_get("version")?,
        definition: definition(row)?,
        owner: row.try_get("owner")?,
        created_at: row.try_get("created_at")?,
        updated_at: row.try_get("updated_at")?,
    })
}

fn version_row(row: &Row) -> Result<CustomAgentVersion, StoreError> {
    Ok(CustomAgentVersion {
        version: row.try_get("version")?,
        definition: definition(row)?,
        author: row.try_get("author")?,
        created_at: row.try_get("created_at")?,
    })
}

fn definition(row: &Row) -> Result<Value, StoreError> {
    let text: String = row.try_get("definition")?;
    serde_json::from_str(&text).map_err(|error| StoreError::Failed(format!("a custom agent cannot be read: {error}")))
}
