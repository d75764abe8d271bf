//! The tables `skills`, `skill_files` and `skill_switches`. Installed skills belong to all administrators, so nothing here takes
//! an owner.

use crate::install::NewSkill;
use crate::scan::Finding;
use ::store::sql::{self, Db, Row};
use ::store::{AuditEntry, CapabilityTables, Migration, Store, StoreError, Table, append_audit};
use sha2::{Digest, Sha256};

/// The tables. The users in them are administrators; a skill stays when such a user is deleted.
pub(crate) const TABLES: CapabilityTables = CapabilityTables {
    capability: "skills",
    migrations: &[
        Migration {
            name: "skills",
            sqlite: include_str!("../migrations/sqlite/0001_skills.sql"),
            postgres: include_str!("../migrations/postgres/0001_skills.sql"),
        },
        Migration {
            name: "switches",
            sqlite: include_str!("../migrations/sqlite/0002_switches.sql"),
            postgres: include_str!("../migrations/postgres/0002_switches.sql"),
        },
    ],
    tables: &[
        Table { name: "skills", key: "name", owner: None },
        Table { name: "skill_files", key: "skill, path", owner: None },
        Table { name: "skill_switches", key: "name", owner: None },
    ],
    user_deletion: &[],
    sqlite_baseline: None,
};

/// The most installed skills.
pub(crate) const MAX_INSTALLED: i64 = 200;

/// The most skills of folders that are switched off: more than folders can have.
pub(crate) const MAX_SWITCHES: i64 = 4_000;

/// An installed skill, without its files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct InstalledSkill {
    pub(crate) name: String,
    pub(crate) description: String,
    /// The hash of all files.
    pub(crate) digest: String,
    /// The hash of the archive.
    pub(crate) archive_sha256: String,
    pub(crate) findings: Vec<Finding>,
    /// The size of all files.
    pub(crate) bytes: i64,
    pub(crate) enabled: bool,
    pub(crate) installed_by: String,
    pub(crate) changed_by: String,
    pub(crate) installed_at: i64,
    pub(crate) changed_at: i64,
}

/// A file of an installed skill, without its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct InstalledFile {
    pub(crate) path: String,
    pub(crate) sha256: String,
    pub(crate) bytes: i64,
}

/// The outcome of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChangeOutcome {
    /// It is stored.
    Done,
    /// There is no such skill.
    Unknown,
    /// There is a skill with this name, or it has other files than the administrator has seen.
    Conflict,
    /// There are too many skills.
    Full,
}

const LIST: &str = "
    SELECT name, description, digest, archive_sha256, findings, bytes, enabled, installed_by, changed_by, installed_at, changed_at
    FROM skills ORDER BY name LIMIT $1";
const STATE: &str = "SELECT name, digest FROM skills WHERE enabled = 1 ORDER BY name";
const SWITCHED_OFF: &str = "SELECT name FROM skill_switches ORDER BY name LIMIT $1";
const SWITCH_OFF: &str = "
    INSERT INTO skill_switches (name, changed_by, changed_at) VALUES ($1, $2, $3) ON CONFLICT (name) DO NOTHING";
const SWITCH_ON: &str = "DELETE FROM skill_switches WHERE name = $1";
const COUNT_SWITCHES: &str = "SELECT count(*) FROM skill_switches";
const FILES: &str =
    "SELECT path, sha256, CAST(length(bytes) AS BIGINT) AS size FROM skill_files WHERE skill = $1 ORDER BY path";
const READ: &str = "SELECT bytes FROM skill_files WHERE skill = $1 AND path = $2";
const COUNT: &str = "SELECT count(*) FROM skills";
const EXISTS: &str = "SELECT count(*) FROM skills WHERE name = $1";
const DELETE: &str = "DELETE FROM skills WHERE name = $1";
const INSERT: &str = "
    INSERT INTO skills (name, description, digest, archive_sha256, findings, bytes, enabled, installed_by, changed_by, installed_at, changed_at)
    VALUES ($1, $2, $3, $4, $5, $6, 0, $7, $7, $8, $8)";
const INSERT_FILE: &str = "INSERT INTO skill_files (skill, path, sha256, bytes) VALUES ($1, $2, $3, $4)";
const ENABLE: &str = "UPDATE skills SET enabled = $3, changed_by = $4, changed_at = $5 WHERE name = $1 AND digest = $2";

/// Returns the hash of files: of the lines `SHA256  PATH`, in the order of the paths.
pub(crate) fn digest<'f>(files: impl Iterator<Item = (&'f str, &'f str)>) -> String {
    let mut hash = Sha256::new();
    files.for_each(|(path, sha256)| hash.update(format!("{sha256}  {path}\n")));
    hex::encode(hash.finalize())
}

/// Returns all skills by their names.
pub(crate) async fn list(store: &Store) -> Result<Vec<InstalledSkill>, StoreError> {
    let list = sql::query(LIST).bind(MAX_INSTALLED);
    store.rows(list, skill).await
}

/// Returns the names of the skills of folders that are switched off.
pub(crate) async fn switched_off(store: &Store) -> Result<Vec<String>, StoreError> {
    let list = sql::query_scalar::<String>(SWITCHED_OFF).bind(MAX_SWITCHES);
    store.read(move |db| Box::pin(async move { Ok(list.fetch_all(db).await?) })).await
}

/// Switches a skill of a folder off or on, with the audit entry. A skill that is in this state already is not changed.
pub(crate) async fn switch(
    store: &Store,
    name: String,
    enabled: bool,
    (by, now): (String, i64),
    entry: AuditEntry,
) -> Result<ChangeOutcome, StoreError> {
    let notifier = store.clone();
    let write = store.write(move |db| {
        Box::pin(async move {
            if enabled {
                sql::query(SWITCH_ON).bind(name).execute(&mut *db).await?;
            } else {
                let count: i64 = sql::query_scalar(COUNT_SWITCHES).fetch_one(&mut *db).await?;
                if count >= MAX_SWITCHES {
                    return Ok(ChangeOutcome::Full);
                }
                sql::query(SWITCH_OFF).bind(name).bind(by).bind(now).execute(&mut *db).await?;
            }
            append_audit(db, vec![entry]).await?;
            notifier.notify_config_changed(db).await?;
            Ok(ChangeOutcome::Done)
        })
    });
    write.await
}

/// Returns a text that changes whenever the skills that agents can have change.
pub(crate) async fn version(store: &Store) -> Result<String, StoreError> {
    let off = switched_off(store).await?;
    let read = store.read(move |db| {
        Box::pin(async move {
            let mut hash = Sha256::new();
            off.iter().for_each(|name| hash.update(format!("off {name}\n")));
            for row in sql::query(STATE).fetch_all(db).await? {
                hash.update(format!("{} {}\n", row.try_get::<String>("name")?, row.try_get::<String>("digest")?));
            }
            Ok(hex::encode(hash.finalize()))
        })
    });
    read.await
}

/// Returns the files of a skill by their paths.
pub(crate) async fn files(store: &Store, name: &str) -> Result<Vec<InstalledFile>, StoreError> {
    let list = sql::query(FILES).bind(name.to_owned());
    store.rows(list, file).await
}

/// Returns a file of a skill; `None` if there is none with this hash.
pub(crate) async fn read_file(
    store: &Store,
    name: &str,
    path: &str,
    sha256: &str,
) -> Result<Option<Vec<u8>>, StoreError> {
    let read = sql::query_scalar::<Vec<u8>>(READ).bind(name.to_owned()).bind(path.to_owned());
    let bytes = store.read(move |db| Box::pin(async move { Ok(read.fetch_optional(db).await?) })).await?;
    Ok(bytes.filter(|bytes| hex::encode(Sha256::digest(bytes)) == sha256))
}

/// Installs a skill with its audit entry, all or nothing. It is disabled. With `replace`, it takes the place of
/// the one with its name.
pub(crate) async fn install(
    store: &Store,
    new: NewSkill,
    replace: bool,
    by: (String, i64),
    entry: AuditEntry,
) -> Result<ChangeOutcome, StoreError> {
    let notifier = store.clone();
    let write = store.write(move |db| {
        Box::pin(async move {
            let is_there: i64 = sql::query_scalar(EXISTS).bind(new.skill.name.clone()).fetch_one(&mut *db).await?;
            if is_there > 0 && !replace {
                return Ok(ChangeOutcome::Conflict);
            }
            sql::query(DELETE).bind(new.skill.name.clone()).execute(&mut *db).await?;
            let count: i64 = sql::query_scalar(COUNT).fetch_one(&mut *db).await?;
            if count >= MAX_INSTALLED {
                return Ok(ChangeOutcome::Full);
            }
            insert(db, new, by).await?;
            append_audit(db, vec![entry]).await?;
            notifier.notify_config_changed(db).await?;
            Ok(ChangeOutcome::Done)
        })
    });
    write.await
}

async fn insert(db: &mut Db, new: NewSkill, (by, now): (String, i64)) -> Result<(), StoreError> {
    let NewSkill { skill, files, digest, archive_sha256, findings } = new;
    let bytes: usize = files.iter().map(|file| file.bytes.len()).sum();
    let findings =
        serde_json::to_string(&findings).map_err(|_| StoreError::Invalid("findings cannot be written as JSON"))?;
    let insert = sql::query(INSERT).bind(skill.name.clone()).bind(skill.description).bind(digest).bind(archive_sha256);
    let insert = insert.bind(findings).bind(i64::try_from(bytes).unwrap_or(i64::MAX)).bind(by).bind(now);
    insert.execute(&mut *db).await?;
    for file in files {
        let insert = sql::query(INSERT_FILE).bind(skill.name.clone()).bind(file.path.to_string());
        insert.bind(file.sha256).bind(file.bytes).execute(&mut *db).await?;
    }
    Ok(())
}

/// Enables or disables a skill whose files have this hash, with its audit entry.
pub(crate) async fn set_enabled(
    store: &Store,
    (name, digest): (String, String),
    enabled: bool,
    (by, now): (String, i64),
    entry: AuditEntry,
) -> Result<ChangeOutcome, StoreError> {
    let notifier = store.clone();
    let write = store.write(move |db| {
        Box::pin(async move {
            let is_there: i64 = sql::query_scalar(EXISTS).bind(name.clone()).fetch_one(&mut *db).await?;
            if is_there == 0 {
                return Ok(ChangeOutcome::Unknown);
            }
            let change = sql::query(ENABLE).bind(name).bind(digest).bind(i64::from(enabled)).bind(by).bind(now);
            if change.execute(&mut *db).await?.rows_affected() == 0 {
                return Ok(ChangeOutcome::Conflict);
            }
            append_audit(db, vec![entry]).await?;
            notifier.notify_config_changed(db).await?;
            Ok(ChangeOutcome::Done)
        })
    });
    write.await
}

/// Deletes a skill with its files, and stores the audit entry.
pub(crate) async fn delete(store: &Store, name: String, entry: AuditEntry) -> Result<ChangeOutcome, StoreError> {
    let notifier = store.clone();
    let write = store.write(move |db| {
        Box::pin(async move {
            if sql::query(DELETE).bind(name).execute(&mut *db).await?.rows_affected() == 0 {
                return Ok(ChangeOutcome::Unknown);
            }
            append_audit(db, vec![entry]).await?;
            notifier.notify_config_changed(db).await?;
            Ok(ChangeOutcome::Done)
        })
    });
    write.await
}

fn skill(row: &Row) -> Result<InstalledSkill, StoreError> {
    let findings: String = row.try_get("findings")?;
    Ok(InstalledSkill {
        name: row.try_get("name")?,
        description: row.try_get("description")?,
        digest: row.try_get("digest")?,
        archive_sha256: row.try_get("archive_sha256")?,
        findings: serde_json::from_str(&findings).unwrap_or_default(),
        bytes: row.try_get("bytes")?,
        enabled: row.try_get::<i64>("enabled")? != 0,
        installed_by: row.try_get("installed_by")?,
        changed_by: row.try_get("changed_by")?,
        installed_at: row.try_get("installed_at")?,
        changed_at: row.try_get("changed_at")?,
    })
}

fn file(row: &Row) -> Result<InstalledFile, StoreError> {
    Ok(InstalledFile { path: row.try_get("path")?, sha256: row.try_get("sha256")?, bytes: row.try_get("size")? })
}
