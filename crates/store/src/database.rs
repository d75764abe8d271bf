//! An open database of either kind, and what opening the two has in common.

use crate::postgres::ReplicaLink;
use crate::schema::Schema;
use crate::sqlite::{Claim, Claimant};
use crate::writer::Writer;
use crate::{StoreError, postgres, sqlite};
use sqlx::migrate::MigrateError;
use sqlx::postgres::PgPool;
use std::sync::{Arc, Weak};

/// An open database.
#[derive(Clone)]
pub(crate) struct Database {
    pub(crate) writer: Writer,
    pub(crate) readers: ReadConnections,
    /// Whether this process serves the database, rather than only reading it.
    pub(crate) serves: bool,
    /// The claim on a file, which lives as long as a connection to the file is open.
    pub(crate) claim: Option<Weak<Claim>>,
    /// This server's link to the other servers; `None` for SQLite.
    pub(crate) replica: Option<Arc<ReplicaLink>>,
    /// The connections for locks across servers; `None` for SQLite.
    pub(crate) locks: Option<PgPool>,
}

/// The read-only connections.
#[derive(Clone)]
pub(crate) enum ReadConnections {
    /// None: a database in memory has a single connection for everything.
    Writer,
    /// To a SQLite file.
    Sqlite(sqlite::SqliteReaders),
    /// To a PostgreSQL server.
    Postgres(PgPool),
}

impl ReadConnections {
    pub(crate) async fn close(&self) {
        match self {
            Self::Writer => {}
            Self::Sqlite(readers) => readers.close().await,
            Self::Postgres(pool) => pool.close().await,
        }
    }
}

/// How an outdated schema is handled when a database is opened.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum SchemaPolicy {
    Migrate,
    RequireCurrent,
}

/// Opens the database that a URL names in order to serve it.
pub(crate) async fn open(url: &str, claimant: &Claimant, schema: Schema) -> Result<Database, StoreError> {
    if postgres::is_url(url) { postgres::open(url, schema).await } else { sqlite::open(url, claimant, schema).await }
}

/// Opens a database that another process may be serving.
pub(crate) async fn open_existing(url: &str, schema: Schema) -> Result<Database, StoreError> {
    if postgres::is_url(url) {
        postgres::open_existing(url, schema).await
    } else {
        sqlite::open_existing(url, schema).await
    }
}

/// Turns an error into one line for the operator: which database cannot be opened, and why.
pub(crate) fn cannot_open(shown: &str, error: StoreError) -> StoreError {
    let reason = match error {
        StoreError::Open(reason) | StoreError::Failed(reason) => reason,
        error => error.to_string(),
    };
    StoreError::Open(format!("cannot open the database {shown}: {reason}"))
}

/// Checks that the schema is this version's. A command that only reads must not migrate a database
/// that an older version may be serving.
pub(crate) fn check_schema(found: Option<i64>, newest: i64) -> Result<(), StoreError> {
    if found == Some(newest) {
        return Ok(());
    }
    let found = found.map_or_else(|| "none".to_owned(), |version| version.to_string());
    Err(StoreError::Open(format!(
        "its schema is {found}, and this version's is {newest}; use the version that serves it"
    )))
}

/// Explains why the tables of a capability cannot be migrated.
pub(crate) fn capability_migration_error(capability: &str, error: MigrateError) -> StoreError {
    match migration_error(error) {
        StoreError::Open(reason) => StoreError::Open(format!("{capability}: {reason}")),
        error => error,
    }
}

/// Explains why a schema cannot be migrated.
pub(crate) fn migration_error(error: MigrateError) -> StoreError {
    match error {
        MigrateError::VersionMissing(version) => {
            StoreError::Open(format!("a newer version of Chatwright wrote it (schema {version}); start that version"))
        }
        MigrateError::VersionMismatch(version) => StoreError::Open(format!(
            "its schema {version} is not the one of this version; start the version that wrote it"
        )),
        MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _) => error.into(),
        error => StoreError::Failed(error.to_string()),
    }
}

#[cfg(test)]
mod tests;
