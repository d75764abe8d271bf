//! An open database of either kind, and what opening the two has in common.

use crate::StoreError;
use crate::postgres::Shared;
use crate::sqlite::{Claim, Claimant};
use crate::writer::Writer;
use crate::{postgres, sqlite};
use sqlx::migrate::MigrateError;
use sqlx::postgres::PgPool;
use std::sync::{Arc, Weak};

/// An open database.
#[derive(Clone)]
pub(crate) struct Database {
    pub(crate) writer: Writer,
    pub(crate) readers: Readers,
    /// Whether it was opened to be served, not only to be looked at.
    pub(crate) serves: bool,
    /// The right to serve a file, as long as a connection to it is open.
    pub(crate) claim: Option<Weak<Claim>>,
    /// This server among others, where there may be others.
    pub(crate) shared: Option<Arc<Shared>>,
    /// What holds locks over all servers, where there may be others.
    pub(crate) locks: Option<PgPool>,
}

/// Connections that cannot write.
#[derive(Clone)]
pub(crate) enum Readers {
    /// A database in memory has one connection for everything.
    Writer,
    /// Of a file.
    Sqlite(sqlite::Readers),
    /// Of a server.
    Postgres(PgPool),
}

impl Readers {
    pub(crate) async fn close(&self) {
        match self {
            Self::Writer => {}
            Self::Sqlite(readers) => readers.close().await,
            Self::Postgres(pool) => pool.close().await,
        }
    }
}

/// What becomes of a database whose schema is older.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Schema {
    BroughtUpToDate,
    LeftAlone,
}

/// Opens the database that a URL names to serve it.
pub(crate) async fn open(url: &str, claimant: &Claimant) -> Result<Database, StoreError> {
    if postgres::is_url(url) { postgres::open(url).await } else { sqlite::open(url, claimant).await }
}

/// Opens a database beside whoever serves it.
pub(crate) async fn open_existing(url: &str) -> Result<Database, StoreError> {
    if postgres::is_url(url) { postgres::open_existing(url).await } else { sqlite::open_existing(url).await }
}

/// One line for the operator: which database, and why not.
pub(crate) fn cannot_open(shown: &str, error: StoreError) -> StoreError {
    let reason = match error {
        StoreError::Open(reason) | StoreError::Failed(reason) => reason,
        error => error.to_string(),
    };
    StoreError::Open(format!("cannot open the database {shown}: {reason}"))
}

/// Whoever only looks must not change a database that an older version may be serving.
pub(crate) fn check_schema(found: Option<i64>, newest: i64) -> Result<(), StoreError> {
    if found == Some(newest) {
        return Ok(());
    }
    let found = found.map_or_else(|| "none".to_owned(), |version| version.to_string());
    Err(StoreError::Open(format!(
        "its schema is {found}, and this version's is {newest}; use the version that serves it"
    )))
}

/// Why a schema cannot be brought up to date.
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
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    /// A migration that only one database has would be missed where the other one runs.
    #[test]
    fn both_databases_have_the_same_migrations() {
        let numbers = |folder: &str| -> BTreeSet<u32> {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations").join(folder);
            let names = folder.read_dir().unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
            names.map(|name| name.split('_').next().unwrap().parse().unwrap()).collect()
        };
        // PostgreSQL began with what SQLite had become by then.
        let sqlite: BTreeSet<_> = numbers("sqlite").into_iter().filter(|number| *number >= 11).collect();
        assert_eq!(sqlite, numbers("postgres"), "give each migration its number in both folders");
    }
}
