//! The tables of entries. They belong to all administrators, so nothing here takes an owner.

use crate::entry::{Author, Change, ChangeOutcome, Definition, Entry, EntryWrite, StoredEntries};
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;
use store::sql::{self, Db, Query, Row};
use store::{AuditEntry, Store, StoreError, append_audit};

/// The most entries of the config that are switched off. More are not in any config.
const MAX_SWITCHED_OFF: i64 = 1_000;

/// The tables of a kind of entries, whose migrations are its own; those of `mcp_servers` have all of them.
#[derive(Clone, Copy, Debug)]
pub struct EntryTables {
    /// The table with one row, whose version grows with each change.
    pub catalog: &'static str,
    /// The table of entries.
    pub entries: &'static str,
    /// Its column with the encrypted secrets.
    pub secret: &'static str,
    /// Its columns with what was found about an entry, as JSON.
    pub found: &'static [&'static str],
    /// The table with the keys of the config's entries that are switched off, and its column, if they can be.
    pub switched_off: Option<(&'static str, &'static str)>,
}

/// Returns a statement. Its text consists of constants.
fn query(text: String) -> Query {
    sql::query(Arc::<str>::from(text))
}

impl EntryTables {
    /// Returns everything; at most `most` entries.
    ///
    /// # Errors
    /// The database is not available.
    pub async fn read<D: Definition>(self, store: &Store, most: usize) -> Result<StoredEntries<D>, StoreError> {
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let read = store.read(move |db| {
            Box::pin(async move {
                // First, so that a change in between is noticed as one.
                let version = self.current_version(&mut *db).await?;
                let rows = self.select().bind(most).fetch_all(&mut *db).await?;
                let entries = rows.iter().map(|row| self.entry(row)).collect::<Result<_, _>>()?;
                Ok(StoredEntries { version, entries, switched_off: self.read_switched_off(db).await? })
            })
        });
        read.await
    }

    /// Returns a text that changes whenever an entry does.
    ///
    /// # Errors
    /// The database is not available.
    pub async fn version(self, store: &Store) -> Result<String, StoreError> {
        let read = store.read(move |db| Box::pin(async move { Ok(self.current_version(db).await?.to_string()) }));
        read.await
    }

    /// Makes changes with their audit entries, all or nothing. With `expected`, the catalog must have this version.
    ///
    /// # Errors
    /// The database is not available.
    pub async fn change<D: Definition>(
        self,
        store: &Store,
        most: usize,
        expected: Option<i64>,
        changes: Vec<(Change<D>, AuditEntry)>,
        author: Author,
    ) -> Result<ChangeOutcome, StoreError> {
        let (catalog, notifier) = (self.catalog, store.clone());
        let write = store.write(move |db| {
            Box::pin(async move {
                let begin = format!("INSERT INTO {catalog} (id, version) VALUES (1, 0) ON CONFLICT DO NOTHING");
                query(begin).execute(&mut *db).await?;
                // Changes nothing, but makes other writers wait until the end of the transaction.
                query(format!("UPDATE {catalog} SET version = version WHERE id = 1")).execute(&mut *db).await?;
                let current = self.current_version(&mut *db).await?;
                if expected.is_some_and(|expected| expected != current) {
                    return Ok(ChangeOutcome::Changed);
                }
                let known = self.versions(&mut *db).await?;
                let outcome = check(known, current + 1, changes.iter().map(|(change, _)| change), most);
                if outcome != ChangeOutcome::Done || changes.is_empty() {
                    return Ok(outcome);
                }
                let mut audit = Vec::new();
                for (change, entry) in changes {
                    self.statement(change, &author)?.execute(&mut *db).await?;
                    audit.push(entry);
                }
                query(format!("UPDATE {catalog} SET version = version + 1 WHERE id = 1")).execute(&mut *db).await?;
                append_audit(db, audit).await?;
                notifier.notify_config_changed(db).await?;
                Ok(ChangeOutcome::Done)
            })
        });
        write.await
    }

    /// Stores a finding on an entry, if it still has this version.
    ///
    /// # Errors
    /// The database is not available.
    pub async fn keep<T: Serialize>(
        self,
        store: &Store,
        name: &str,
        version: i64,
        (column, found): (&'static str, &T),
    ) -> Result<(), StoreError> {
        let text = serde_json::to_string(found)
            .map_err(|_| StoreError::Invalid("what was found cannot be written as JSON"))?;
        let keep = format!("UPDATE {} SET {column} = $3 WHERE name = $1 AND version = $2", self.entries);
        let keep = query(keep).bind(name.to_owned()).bind(version).bind(text);
        store.write(move |db| Box::pin(async move { Ok(keep.execute(db).await.map(drop)?) })).await
    }

    async fn current_version(self, db: &mut Db) -> Result<i64, StoreError> {
        let select = format!("SELECT version FROM {} WHERE id = 1", self.catalog);
        let version: Option<i64> = sql::query_scalar(Arc::<str>::from(select)).fetch_optional(db).await?;
        Ok(version.unwrap_or_default())
    }

    async fn versions(self, db: &mut Db) -> Result<BTreeMap<String, i64>, StoreError> {
        let rows = query(format!("SELECT name, version FROM {}", self.entries)).fetch_all(db).await?;
        rows.iter().map(|row| Ok((row.try_get("name")?, row.try_get("version")?))).collect()
    }

    async fn read_switched_off(self, db: &mut Db) -> Result<Vec<String>, StoreError> {
        let Some((table, key)) = self.switched_off else { return Ok(Vec::new()) };
        let keys = sql::query_scalar(Arc::<str>::from(format!("SELECT {key} FROM {table} ORDER BY {key} LIMIT $1")));
        Ok(keys.bind(MAX_SWITCHED_OFF).fetch_all(db).await?)
    }

    fn select(self) -> Query {
        let found: String = self.found.iter().map(|column| format!(", {column}")).collect();
        query(format!(
            "SELECT name, version, enabled, definition, {}, created_by, changed_by, created_at, changed_at{found}
             FROM {} ORDER BY name LIMIT $1",
            self.secret, self.entries
        ))
    }

    fn entry<D: Definition>(self, row: &Row) -> Result<Entry<D>, StoreError> {
        let definition: String = row.try_get("definition")?;
        let mut found = BTreeMap::new();
        for column in self.found {
            if let Some(text) = row.try_get::<Option<String>>(*column)? {
                found.insert(*column, text);
            }
        }
        Ok(Entry {
            name: row.try_get("name")?,
            version: row.try_get("version")?,
            enabled: row.try_get::<i64>("enabled")? != 0,
            definition: serde_json::from_str(&definition).ok(),
            secret: row.try_get(self.secret)?,
            created_by: row.try_get("created_by")?,
            changed_by: row.try_get("changed_by")?,
            created_at: row.try_get("created_at")?,
            changed_at: row.try_get("changed_at")?,
            found,
        })
    }

    /// Returns the statement that makes a change.
    fn statement<D: Definition>(self, change: Change<D>, author: &Author) -> Result<Query, StoreError> {
        let Author { user_id, now } = author.clone();
        let entries = self.entries;
        Ok(match change {
            Change::Add(write) => bind(self.insert(), write, user_id, now)?,
            Change::Update(write, _) => {
                let keeps_found = i64::from(write.keeps_found);
                bind(self.update(), write, user_id, now)?.bind(keeps_found)
            }
            Change::Enable { name, enabled, .. } => query(format!(
                "UPDATE {entries} SET version = version + 1, enabled = $2, changed_by = $3, changed_at = $4 WHERE name = $1"
            ))
            .bind(name)
            .bind(i64::from(enabled))
            .bind(user_id)
            .bind(now),
            Change::Delete { name, .. } => query(format!("DELETE FROM {entries} WHERE name = $1")).bind(name),
            Change::Switch { key, off } => {
                let problem = StoreError::Invalid("these entries of the config cannot be switched off");
                let (table, column) = self.switched_off.ok_or(problem)?;
                let statement = if off {
                    format!("INSERT INTO {table} ({column}) VALUES ($1) ON CONFLICT DO NOTHING")
                } else {
                    format!("DELETE FROM {table} WHERE {column} = $1")
                };
                query(statement).bind(key)
            }
        })
    }

    /// No entry ever has a higher version than the catalog, so no version of a deleted one comes back.
    fn insert(self) -> Query {
        let Self { catalog, entries, secret, .. } = self;
        query(format!(
            "INSERT INTO {entries} (name, version, enabled, definition, {secret}, created_by, changed_by, created_at, changed_at)
             VALUES ($1, (SELECT version + 1 FROM {catalog} WHERE id = 1), $2, $3, $4, $5, $5, $6, $6)"
        ))
    }

    /// Deletes the findings on an entry whose address has changed: they do not hold any more.
    fn update(self) -> Query {
        let Self { entries, secret, .. } = self;
        let kept = |column: &&str| format!(", {column} = CASE WHEN CAST($7 AS BIGINT) = 1 THEN {column} END");
        let found: String = self.found.iter().map(kept).collect();
        query(format!(
            "UPDATE {entries} SET version = version + 1, enabled = $2, definition = $3, {secret} = $4, changed_by = $5,
                 changed_at = $6{found}
             WHERE name = $1"
        ))
    }
}

fn bind<D: Definition>(query: Query, write: EntryWrite<D>, user_id: String, now: i64) -> Result<Query, StoreError> {
    let EntryWrite { name, enabled, definition, secret, .. } = write;
    let definition =
        serde_json::to_string(&definition).map_err(|_| StoreError::Invalid("an entry cannot be written as JSON"))?;
    Ok(query.bind(name).bind(i64::from(enabled)).bind(definition).bind(secret).bind(user_id).bind(now))
}

/// Checks that all changes can be made, before the first one is. New entries get the version `new`.
fn check<'c, D: Definition>(
    mut versions: BTreeMap<String, i64>,
    new: i64,
    changes: impl Iterator<Item = &'c Change<D>>,
    most: usize,
) -> ChangeOutcome {
    for change in changes {
        match change {
            Change::Add(write) => {
                if versions.insert(write.name.clone(), new).is_some() {
                    return ChangeOutcome::Taken;
                }
            }
            Change::Update(EntryWrite { name, .. }, version) | Change::Enable { name, version, .. } => {
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
    if versions.len() > most { ChangeOutcome::Full } else { ChangeOutcome::Done }
}
