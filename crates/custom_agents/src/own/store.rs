//! Tables `own_agents` and `own_agent_versions`: agents that users have made for themselves.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::sql::{self, Db, Row, Sql};
use store::{AuditEntry, Store, StoreError, append_audit};

/// The versions of an agent that are kept, the newest ones.
pub(crate) const MAX_VERSIONS: u32 = 50;

/// With whom an agent is shared, beside its maker.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct AgentSharing {
    /// Whether everybody who may use custom agents may use it.
    pub(crate) everybody: bool,
    /// The roles whose users may use it, if they may use custom agents.
    pub(crate) roles: Vec<String>,
}

/// An agent of a user.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct OwnAgentRow {
    pub(crate) id: String,
    /// The user who has made it.
    pub(crate) owner: String,
    pub(crate) name: String,
    pub(crate) version: i64,
    pub(crate) definition: Value,
    pub(crate) sharing: AgentSharing,
    pub(crate) created_at: i64,
    pub(crate) updated_at: i64,
    /// When an administrator switched it off.
    pub(crate) disabled_at: Option<i64>,
}

/// An earlier version of an agent.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OwnAgentVersion {
    /// The version; counts from 1.
    pub(crate) version: i64,
    /// The definition.
    pub(crate) definition: Value,
    /// Unix time, milliseconds.
    pub(crate) created_at: i64,
}

/// A new version of an agent that a user stores.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SaveOwnAgent {
    pub(crate) owner: String,
    /// The id of a new or of a known agent.
    pub(crate) id: String,
    /// The version that was changed; `None` for a new agent.
    pub(crate) after: Option<i64>,
    pub(crate) name: String,
    pub(crate) definition: Value,
    pub(crate) now: i64,
    /// The most agents of the user, and of all users.
    pub(crate) limits: (u32, u32),
}

/// The outcome of a change that is not of the definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChangeOutcome {
    /// It is stored.
    Changed,
    /// It was already like this.
    Unchanged,
    /// There is no such agent.
    Unknown,
}

/// The outcome of [`SaveOwnAgent`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SaveOwnOutcome {
    /// There is a new version.
    Saved,
    /// It was already like this.
    Unchanged,
    /// The user has no such agent.
    Unknown,
    /// It was changed in another tab in the meantime.
    Changed,
    /// The user has another agent with this name.
    NameTaken,
    /// The user has as many agents as they may have.
    Full,
    /// All users together have as many agents as they may have.
    ServerFull,
}

const LIST: &str = "
    SELECT id, owner, name, version, definition, sharing, created_at, updated_at, disabled_at FROM own_agents
    ORDER BY created_at, id";

const LIST_OF_OWNER: &str = "
    SELECT id, owner, name, version, definition, sharing, created_at, updated_at, disabled_at FROM own_agents
    WHERE owner = $1 ORDER BY created_at, id";

macro_rules! list_by_id {
    ($among:literal) => {
        concat!(
            "SELECT id, owner, name, version, definition, sharing, created_at, updated_at, disabled_at FROM own_agents
            WHERE owner <> $1 AND id ",
            $among,
            " ORDER BY created_at, id"
        )
    };
}

const LIST_OF_OTHERS: Sql = Sql::pair(list_by_id!("IN (SELECT value FROM json_each($2))"), list_by_id!("= ANY($2)"));

const FIND: &str = "
    SELECT id, owner, name, version, definition, sharing, created_at, updated_at, disabled_at FROM own_agents
    WHERE id = $1 AND owner = $2";

/// Each change alters one of these numbers: versions and times of changes only grow, also if the clocks of
/// servers differ, and an agent that was made in place of a deleted one has another time.
const STATE: &str = "
    SELECT count(*) AS agents, CAST(coalesce(sum(version), 0) AS BIGINT) AS versions,
        CAST(coalesce(sum(created_at), 0) AS BIGINT) AS created, CAST(coalesce(sum(updated_at), 0) AS BIGINT) AS updated,
        count(disabled_at) AS disabled
    FROM own_agents";

const COUNT: &str = "SELECT count(*) FROM own_agents WHERE owner = $1";

const COUNT_ALL: &str = "SELECT count(*) FROM own_agents";

const NAMESAKE: &str = "SELECT id FROM own_agents WHERE owner = $1 AND lower(name) = lower($2) AND id <> $3";

const INSERT: &str = "
    INSERT INTO own_agents (id, owner, name, version, definition, sharing, created_at, updated_at)
    VALUES ($1, $2, $3, 1, $4, $5, $6, $6) ON CONFLICT DO NOTHING";

const UPDATE: &str = "
    UPDATE own_agents SET name = $3, version = version + 1, definition = $4, updated_at = $5
    WHERE id = $1 AND owner = $2 AND version = $6";

const INSERT_VERSION: &str = "
    INSERT INTO own_agent_versions (agent_id, version, owner, definition, created_at) VALUES ($1, $2, $3, $4, $5)";

const PRUNE: &str = "DELETE FROM own_agent_versions WHERE agent_id = $1 AND version <= $2";

const VERSIONS: &str = "
    SELECT version, definition, created_at FROM own_agent_versions WHERE agent_id = $1 AND owner = $2
    ORDER BY version DESC";

const SHARE: &str = "
    UPDATE own_agents SET sharing = $3, updated_at = CASE WHEN updated_at < $4 THEN $4 ELSE updated_at + 1 END
    WHERE id = $1 AND owner = $2";

const DISABLED_AT: &str = "SELECT disabled_at FROM own_agents WHERE id = $1";

const SWITCH: &str = "
    UPDATE own_agents SET disabled_at = $2, updated_at = CASE WHEN updated_at < $3 THEN $3 ELSE updated_at + 1 END
    WHERE id = $1";

const DELETE: &str = "DELETE FROM own_agents WHERE id = $1 AND owner = $2";

/// Returns the agents of all users, the oldest first. Only for the config and for administrators.
///
/// # Errors
/// The database failed, or a row is damaged.
pub(crate) async fn all(store: &Store) -> Result<Vec<OwnAgentRow>, StoreError> {
    let list = sql::query(LIST);
    store.rows(list, row).await
}

/// Returns the agents of a user, the oldest first.
///
/// # Errors
/// The errors of [`all`].
pub(crate) async fn of_owner(store: &Store, owner: &str) -> Result<Vec<OwnAgentRow>, StoreError> {
    let list = sql::query(LIST_OF_OWNER).bind(owner);
    store.rows(list, row).await
}

/// Returns those of these agents that are not the user's, the oldest first. `ids` are those that the user may use.
///
/// # Errors
/// The errors of [`all`].
pub(crate) async fn of_others(store: &Store, user: &str, ids: Vec<String>) -> Result<Vec<OwnAgentRow>, StoreError> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let list = sql::query(LIST_OF_OTHERS).bind(user).bind(ids);
    store.rows(list, row).await
}

/// Returns a text that changes whenever an agent of a user is made, changed, shared, switched or deleted.
///
/// # Errors
/// The database failed.
pub(crate) async fn version(store: &Store) -> Result<String, StoreError> {
    let state = sql::query(STATE);
    let row = store.read(move |db| Box::pin(async move { Ok(state.fetch_one(db).await?) })).await?;
    let numbers = ["agents", "versions", "created", "updated", "disabled"].map(|name| row.try_get::<i64>(name));
    let numbers = numbers.into_iter().collect::<Result<Vec<_>, _>>()?;
    Ok(numbers.iter().map(i64::to_string).collect::<Vec<_>>().join("-"))
}

/// Returns an agent of a user.
///
/// # Errors
/// The database failed, or the row is damaged.
pub(crate) async fn find(store: &Store, owner: &str, id: &str) -> Result<Option<OwnAgentRow>, StoreError> {
    let find = sql::query(FIND).bind(id).bind(owner);
    store.optional_row(find, row).await
}

/// Returns the kept versions of an agent of a user, the newest first.
///
/// # Errors
/// The errors of [`find`].
pub(crate) async fn versions(store: &Store, owner: &str, id: &str) -> Result<Vec<OwnAgentVersion>, StoreError> {
    let list = sql::query(VERSIONS).bind(id).bind(owner);
    let version = |row: &Row| {
        let definition = parse(row, "definition")?;
        Ok(OwnAgentVersion { version: row.try_get("version")?, definition, created_at: row.try_get("created_at")? })
    };
    store.rows(list, version).await
}

/// Stores an agent with its audit entry, both or neither.
///
/// # Errors
/// The database failed.
pub(crate) async fn save(store: &Store, save: SaveOwnAgent, audit: AuditEntry) -> Result<SaveOwnOutcome, StoreError> {
    let notifier = store.clone();
    store
        .write(move |db| {
            Box::pin(async move {
                let outcome = apply(db, &save).await?;
                if outcome == SaveOwnOutcome::Saved {
                    append_audit(db, vec![audit]).await?;
                    notifier.notify_config_changed(db).await?;
                }
                Ok(outcome)
            })
        })
        .await
}

async fn apply(db: &mut Db, save: &SaveOwnAgent) -> Result<SaveOwnOutcome, StoreError> {
    let SaveOwnAgent { owner, id, after, name, definition, now, limits } = save;
    let namesake = sql::query_scalar::<String>(NAMESAKE).bind(owner).bind(name).bind(id);
    if namesake.fetch_optional(&mut *db).await?.is_some() {
        return Ok(SaveOwnOutcome::NameTaken);
    }
    let text = definition.to_string();
    let version = match after {
        None => {
            let own: i64 = sql::query_scalar(COUNT).bind(owner).fetch_one(&mut *db).await?;
            let all: i64 = sql::query_scalar(COUNT_ALL).fetch_one(&mut *db).await?;
            if own >= i64::from(limits.0) {
                return Ok(SaveOwnOutcome::Full);
            }
            if all >= i64::from(limits.1) {
                return Ok(SaveOwnOutcome::ServerFull);
            }
            let insert = sql::query(INSERT).bind(id).bind(owner).bind(name).bind(&text);
            let sharing = encode(&AgentSharing::default())?;
            // Another server may have stored the name since it was looked for.
            if insert.bind(sharing).bind(*now).execute(&mut *db).await?.rows_affected() == 0 {
                return Ok(SaveOwnOutcome::NameTaken);
            }
            1
        }
        Some(after) => {
            let found = sql::query(FIND).bind(id).bind(owner).fetch_optional(&mut *db).await?;
            let Some(found) = found.as_ref().map(row).transpose()? else { return Ok(SaveOwnOutcome::Unknown) };
            if found.version != *after {
                return Ok(SaveOwnOutcome::Changed);
            }
            if found.definition == *definition && found.name == *name {
                return Ok(SaveOwnOutcome::Unchanged);
            }
            let update = sql::query(UPDATE).bind(id).bind(owner).bind(name).bind(&text).bind(*now).bind(*after);
            if update.execute(&mut *db).await?.rows_affected() == 0 {
                return Ok(SaveOwnOutcome::Changed);
            }
            after + 1
        }
    };
    let insert = sql::query(INSERT_VERSION).bind(id).bind(version).bind(owner).bind(&text).bind(*now);
    insert.execute(&mut *db).await?;
    sql::query(PRUNE).bind(id).bind(version - i64::from(MAX_VERSIONS)).execute(db).await?;
    Ok(SaveOwnOutcome::Saved)
}

/// Stores with whom an agent of a user is shared.
///
/// # Errors
/// The database failed.
pub(crate) async fn share(
    store: &Store,
    (owner, id): (&str, &str),
    sharing: &AgentSharing,
    now: i64,
    audit: AuditEntry,
) -> Result<ChangeOutcome, StoreError> {
    let find = sql::query(FIND).bind(id).bind(owner);
    let share = sql::query(SHARE).bind(id).bind(owner).bind(encode(sharing)?).bind(now);
    let sharing = sharing.clone();
    let is_new = move |found: &Row| Ok(parse::<AgentSharing>(found, "sharing")? != sharing);
    change(store, find, is_new, share, audit).await
}

/// Switches an agent off or on again, for an administrator.
///
/// # Errors
/// The database failed.
pub(crate) async fn switch(
    store: &Store,
    id: &str,
    is_on: bool,
    now: i64,
    audit: AuditEntry,
) -> Result<ChangeOutcome, StoreError> {
    let find = sql::query(DISABLED_AT).bind(id);
    let switch = sql::query(SWITCH).bind(id).bind((!is_on).then_some(now)).bind(now);
    let is_new = move |found: &Row| Ok(found.try_get::<Option<i64>>("disabled_at")?.is_none() != is_on);
    change(store, find, is_new, switch, audit).await
}

/// Deletes an agent of a user with its versions.
///
/// # Errors
/// The database failed.
pub(crate) async fn delete(
    store: &Store,
    owner: &str,
    id: &str,
    audit: AuditEntry,
) -> Result<ChangeOutcome, StoreError> {
    let find = sql::query(FIND).bind(id).bind(owner);
    change(store, find, |_| Ok(true), sql::query(DELETE).bind(id).bind(owner), audit).await
}

/// Executes a statement if `is_new` says of the row that is found that it changes something.
async fn change(
    store: &Store,
    find: sql::Query,
    is_new: impl Fn(&Row) -> Result<bool, StoreError> + Send + Sync + 'static,
    statement: sql::Query,
    audit: AuditEntry,
) -> Result<ChangeOutcome, StoreError> {
    let notifier = store.clone();
    store
        .write(move |db| {
            Box::pin(async move {
                let Some(found) = find.fetch_optional(&mut *db).await? else { return Ok(ChangeOutcome::Unknown) };
                if !is_new(&found)? {
                    return Ok(ChangeOutcome::Unchanged);
                }
                // Another server may have deleted it since it was looked for.
                if statement.execute(&mut *db).await?.rows_affected() == 0 {
                    return Ok(ChangeOutcome::Unknown);
                }
                append_audit(db, vec![audit]).await?;
                notifier.notify_config_changed(db).await?;
                Ok(ChangeOutcome::Changed)
            })
        })
        .await
}

fn encode(sharing: &AgentSharing) -> Result<String, StoreError> {
    serde_json::to_string(sharing).map_err(|error| StoreError::Failed(error.to_string()))
}

fn parse<T: for<'d> Deserialize<'d>>(row: &Row, column: &str) -> Result<T, StoreError> {
    let text: String = row.try_get(column)?;
    serde_json::from_str(&text).map_err(|error| StoreError::Failed(format!("an agent cannot be read: {error}")))
}

fn row(row: &Row) -> Result<OwnAgentRow, StoreError> {
    Ok(OwnAgentRow {
        id: row.try_get("id")?,
        owner: row.try_get("owner")?,
        name: row.try_get("name")?,
        version: row.try_get("version")?,
        definition: parse(row, "definition")?,
        sharing: parse(row, "sharing")?,
        created_at: row.try_get("created_at")?,
        updated_at: row.try_get("updated_at")?,
        disabled_at: row.try_get("disabled_at")?,
    })
}
