//! The schema of a database: the tables of this crate and those that capabilities bring.
//!
//! Each capability has migrations of its own, numbered from 1, which are recorded in a table of its
//! own. So a program that lacks a capability leaves its tables as they are.

use crate::sql::{self, Db};
use crate::sqlite::Claimant;
use crate::transfer::CORE_TABLES;
use crate::{Store, StoreError, database};
use sqlx::SqlSafeStr;
use sqlx::migrate::{MigrationType, Migrator};
use std::iter;
use std::sync::Arc;
use std::time::Duration;

/// A migration of a capability, for each kind of database.
#[derive(Clone, Copy, Debug)]
pub struct Migration {
    /// The change, in a few words.
    pub name: &'static str,
    /// Its statements for SQLite.
    pub sqlite: &'static str,
    /// Its statements for PostgreSQL. They create the same tables and columns.
    pub postgres: &'static str,
}

/// Tables as the first migrations for SQLite leave them. A new database begins with them, because `ALTER TABLE` makes
/// SQLite parse the whole schema again, so that one migration after another takes ten times as long.
#[derive(Clone, Copy, Debug)]
pub struct SqliteBaseline {
    /// The number of the last migration that it replaces. Later ones follow, so a new migration does not change it.
    pub version: i64,
    /// The statements that create the tables.
    pub statements: &'static str,
}

/// A table.
#[derive(Clone, Copy, Debug)]
pub struct Table {
    /// Its name.
    pub name: &'static str,
    /// The columns of its primary key, separated by commas. Transfers go through the rows in this order.
    pub key: &'static str,
    /// The column with the id of the user who owns a row. The rows are deleted with the user.
    ///
    /// `None` if the rows belong to no user, or to a conversation: then the column refers to
    /// `conversations (id)` with `ON DELETE CASCADE`.
    pub owner: Option<&'static str>,
}

/// The tables of a capability.
#[derive(Clone, Copy, Debug)]
pub struct CapabilityTables {
    /// The name of the capability, in snake case.
    pub capability: &'static str,
    /// All migrations, the oldest first. Published migrations never change.
    pub migrations: &'static [Migration],
    /// The tables, ordered so that rows follow those that they refer to.
    pub tables: &'static [Table],
    /// Statements that run in the transaction that deletes a user, before their rows are deleted, for rows
    /// that refer to the user and stay. `$1` is the user's id.
    pub user_deletion: &'static [&'static str],
    /// What a new SQLite database begins with, if there are many migrations.
    pub sqlite_baseline: Option<SqliteBaseline>,
}

impl CapabilityTables {
    /// Returns the name of the table that records which migrations were applied.
    fn migrations_table(&self) -> String {
        format!("_{}{MIGRATIONS_SUFFIX}", self.capability)
    }

    fn migrator(&self, is_postgres: bool) -> Migrator {
        let migrations = (1..).zip(self.migrations).map(|(version, migration)| {
            let sql = if is_postgres { migration.postgres } else { migration.sqlite };
            let kind = MigrationType::Simple;
            sqlx::migrate::Migration::new(version, migration.name.into(), kind, sql.into_sql_str(), false)
        });
        let mut migrator = Migrator::with_migrations(migrations.collect());
        migrator.dangerous_set_table_name(self.migrations_table());
        // The transaction around all migrations already excludes other writers.
        migrator.set_locking(false);
        migrator
    }
}

const MIGRATIONS_SUFFIX: &str = "_migrations";

/// The table that records migrations of this crate, as sqlx names it.
const CORE_MIGRATIONS_TABLE: &str = "_sqlx_migrations";

/// The tables that record migrations.
const RECORDED: sql::Sql = sql::Sql::pair(
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE '\\_%\\_migrations' ESCAPE '\\' ORDER BY name",
    "SELECT tablename::text FROM pg_tables WHERE schemaname = current_schema() AND tablename LIKE '\\_%\\_migrations'
     ORDER BY tablename",
);

/// Returns the rows of a table of migrations once all were applied: the number of the table, versions and checksums.
fn rows_of(table: i64, migrator: &Migrator) -> impl Iterator<Item = (i64, i64, Vec<u8>)> {
    migrator.iter().map(move |it| (table, it.version, it.checksum.to_vec()))
}

/// All tables that a program uses. Opens and copies databases that have them.
#[derive(Clone, Copy, Debug)]
pub struct Schema {
    capabilities: &'static [CapabilityTables],
}

impl Schema {
    /// The tables of this crate and those of capabilities.
    pub const fn new(capabilities: &'static [CapabilityTables]) -> Self {
        Self { capabilities }
    }

    /// Opens a database and migrates its schema: `sqlite://PATH` (created with its folder when
    /// missing, unless `?mode=rw`), `sqlite::memory:` or `postgres://USER:PASSWORD@HOST/DATABASE`.
    ///
    /// A file belongs to one process at a time, which may open it more than once. Waits up to
    /// `patience` while another process serves the file, because that one may be shutting down.
    /// `about` is shown to a process that tries to open the file later, with this process's number and host.
    ///
    /// # Errors
    /// [`StoreError::Open`] with one line for the operator, also when a newer version wrote the
    /// schema or another process serves the file.
    pub async fn open(self, url: &str, about: &str, patience: Duration) -> Result<Store, StoreError> {
        let claimant = Claimant { about: about.to_owned(), timeout: patience };
        Ok(Store { database: database::open(url, &claimant, self).await?, schema: self })
    }

    /// Opens an existing database and leaves its schema alone: for commands that read while a server runs.
    ///
    /// # Errors
    /// [`StoreError::Open`] with one line for the operator, also when the schema is not the one of this version.
    pub async fn open_existing(self, url: &str) -> Result<Store, StoreError> {
        Ok(Store { database: database::open_existing(url, self).await?, schema: self })
    }

    /// All tables to transfer, in the order of their references.
    pub(crate) fn tables(self) -> impl DoubleEndedIterator<Item = &'static Table> {
        CORE_TABLES.iter().chain(self.capability_tables())
    }

    /// The tables of capabilities.
    pub(crate) fn capability_tables(self) -> impl DoubleEndedIterator<Item = &'static Table> {
        self.capabilities.iter().flat_map(|capability| capability.tables)
    }

    /// Returns the capabilities with their migrators. These must run in one transaction that excludes other writers.
    pub(crate) fn migrators(self, is_postgres: bool) -> impl Iterator<Item = (&'static CapabilityTables, Migrator)> {
        self.capabilities.iter().map(move |capability| (capability, capability.migrator(is_postgres)))
    }

    /// Whether the database records exactly the migrations of this version: `core`, and those of capabilities.
    ///
    /// A migrator finds that out by itself, but with three statements for each of the many capabilities, which took
    /// a quarter of the start.
    pub(crate) async fn is_migrated(self, core: &Migrator, db: &mut Db) -> Result<bool, StoreError> {
        let recorded: Vec<String> = sql::query_scalar(RECORDED).fetch_all(&mut *db).await?;
        let of_capabilities = self.capabilities.iter().map(CapabilityTables::migrations_table);
        let tables: Vec<_> = iter::once(CORE_MIGRATIONS_TABLE.to_owned()).chain(of_capabilities).collect();
        if !tables.iter().all(|table| recorded.contains(table)) {
            return Ok(false);
        }
        let select = |(no, table)| format!("SELECT CAST({no} AS BIGINT), version, checksum FROM {table} WHERE success");
        let select: Arc<str> = (0..).zip(&tables).map(select).collect::<Vec<_>>().join(" UNION ALL ").into();
        let rows = sql::query(select).fetch_all(&mut *db).await?;
        let rows = rows.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?, row.try_get(2)?)));
        let mut found: Vec<(i64, i64, Vec<u8>)> = rows.collect::<Result<_, sql::Error>>()?;
        found.sort();
        let mut expected: Vec<_> = rows_of(0, core).collect();
        for (table, (_, migrator)) in (1..).zip(self.migrators(db.is_postgres())) {
            expected.extend(rows_of(table, &migrator));
        }
        Ok(found == expected)
    }

    /// Checks that the tables of capabilities are those of this version: none is older or newer,
    /// and, if `all`, there is none of a capability that this program lacks.
    pub(crate) async fn check(self, db: &mut Db, all: bool) -> Result<(), StoreError> {
        let recorded: Vec<String> = sql::query_scalar(RECORDED).fetch_all(&mut *db).await?;
        if let Some(unknown) = recorded
            .iter()
            .filter(|name| *name != CORE_MIGRATIONS_TABLE)
            .find(|name| !self.capabilities.iter().any(|it| it.migrations_table() == **name))
            .filter(|_| all)
        {
            let name = unknown.trim_start_matches('_').trim_end_matches(MIGRATIONS_SUFFIX);
            return Err(StoreError::Open(format!("it has data of `{name}`, which this program was built without")));
        }
        for capability in self.capabilities {
            let table = capability.migrations_table();
            let found = if recorded.contains(&table) {
                let newest: Arc<str> = format!("SELECT coalesce(max(version), 0) FROM {table}").into();
                sql::query_scalar::<i64>(newest).fetch_one(&mut *db).await?
            } else {
                0
            };
            let newest = i64::try_from(capability.migrations.len()).unwrap_or(i64::MAX);
            if found != newest {
                let name = capability.capability;
                return Err(StoreError::Open(format!(
                    "its schema of `{name}` is {found}, and this version's is {newest}; use the version that serves it"
                )));
            }
        }
        Ok(())
    }

    /// Deletes the rows that a user owns in the tables of capabilities, after the statements for rows that stay.
    pub(crate) async fn delete_user(self, db: &mut Db, user_id: &str) -> Result<(), StoreError> {
        for capability in self.capabilities {
            for statement in capability.user_deletion {
                sql::query(*statement).bind(user_id.to_owned()).execute(&mut *db).await?;
            }
        }
        for table in self.capability_tables().rev() {
            let Some(owner) = table.owner else { continue };
            let delete: Arc<str> = format!("DELETE FROM {} WHERE {owner} = $1", table.name).into();
            sql::query(delete).bind(user_id.to_owned()).execute(&mut *db).await?;
        }
        Ok(())
    }
}

/// The tables of this crate.
impl Default for Schema {
    fn default() -> Self {
        Self::new(&[])
    }
}

#[cfg(test)]
mod tests;
