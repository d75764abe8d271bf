//! The handle.

use crate::database::{self, Database, Readers};
use crate::sql::{self, Db};
use crate::sqlite::Claimant;
use crate::{StoreError, postgres, sqlite};
use futures::future::BoxFuture;
use std::path::PathBuf;
use std::time::Duration;

/// How long a command waits for another process that serves the file.
const PATIENCE: Duration = Duration::from_secs(5);

/// A handle on the database; cheap to clone. The functions that concern a table are in that table's file.
#[derive(Clone)]
pub struct Store {
    pub(crate) database: Database,
}

impl Store {
    /// Opens a database and brings its schema up to date: `sqlite://PATH` (made with its folder when missing, unless
    /// `?mode=rw`), `sqlite::memory:` or `postgres://USER:PASSWORD@HOST/DATABASE`.
    ///
    /// A file belongs to one process at a time, which may open it more than once.
    ///
    /// # Errors
    /// [`StoreError::Open`] with one line for the operator, also when a newer version wrote the schema or another process serves the
    /// file.
    pub async fn open(url: &str) -> Result<Self, StoreError> {
        Self::open_to_serve(url, "", PATIENCE).await
    }

    /// As [`Store::open`]; waits for so long while another process serves the file. That one may be about to end. `about` is what the
    /// next one reads of this process, besides its number and its host.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub async fn open_to_serve(url: &str, about: &str, patience: Duration) -> Result<Self, StoreError> {
        let claimant = Claimant { about: about.to_owned(), patience };
        Ok(Self { database: database::open(url, &claimant).await? })
    }

    /// Changes what another process reads that tries to serve the same file.
    pub fn announce(&self, about: &str) {
        if let Some(claim) = self.database.claim.as_ref().and_then(std::sync::Weak::upgrade) {
            claim.announce(about);
        }
    }

    /// The folder of the database that a URL names, for what is kept beside it; none for one in memory or on a server.
    ///
    /// # Errors
    /// As [`Store::open`], for what the URL says.
    pub fn folder(url: &str) -> Result<Option<PathBuf>, StoreError> {
        if postgres::is_url(url) { Ok(None) } else { sqlite::folder(url) }
    }

    /// Opens a database that is there already and leaves its schema alone: for whoever only looks, beside a server that
    /// runs.
    ///
    /// # Errors
    /// [`StoreError::Open`] with one line for the operator, also when the schema is not the one of this version.
    pub async fn open_existing(url: &str) -> Result<Self, StoreError> {
        Ok(Self { database: database::open_existing(url).await? })
    }

    /// Whether the store reads and writes.
    ///
    /// # Errors
    /// Why it does not.
    pub async fn ping(&self) -> Result<(), StoreError> {
        self.read(|db| Box::pin(select_one(db))).await?;
        self.write(|db| Box::pin(write_one(db))).await
    }

    /// How many writes wait for the database.
    pub fn queued(&self) -> usize {
        self.database.writer.queued()
    }

    /// Finishes what is queued and closes all connections; a database file is whole without its `-wal` file then. Later
    /// calls of any handle fail with [`StoreError::Closed`].
    pub async fn close(&self) {
        if let Some(shared) = &self.database.shared {
            shared.close();
        }
        if let Some(locks) = &self.database.locks {
            locks.close().await;
        }
        self.database.readers.close().await;
        self.database.writer.close().await;
    }

    /// Runs `work` in a transaction of the writer; all or nothing, durable when this answers.
    pub(crate) fn write<T, F>(&self, work: F) -> impl Future<Output = Result<T, StoreError>> + Send + use<T, F>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut Db) -> BoxFuture<'c, Result<T, StoreError>> + Send + 'static,
    {
        self.database.writer.run(work)
    }

    /// As [`Store::write`], for what writes much: see [`crate::writer::Writer::run_bulk`].
    pub(crate) fn write_bulk<T, F>(&self, work: F) -> impl Future<Output = Result<T, StoreError>> + Send + use<T, F>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut Db) -> BoxFuture<'c, Result<T, StoreError>> + Send + 'static,
    {
        self.database.writer.run_bulk(work)
    }

    /// Runs a single `SELECT` on a connection that cannot write. A single statement sees one state of the database, so
    /// no transaction is opened that a dropped caller could leave behind.
    ///
    /// Boxed, because waiting for a connection takes kilobytes, which every task that reads now and then would hold for as long as it lives.
    pub(crate) fn read<T, F>(&self, work: F) -> BoxFuture<'_, Result<T, StoreError>>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut Db) -> BoxFuture<'c, Result<T, StoreError>> + Send + 'static,
    {
        match &self.database.readers {
            Readers::Writer => Box::pin(self.write(work)),
            Readers::Sqlite(readers) => Box::pin(readers.run(work)),
            Readers::Postgres(pool) => Box::pin(async move {
                let mut reader = Db::PostgresReader(pool.acquire().await?);
                // A file answers always; whoever asks a server must not wait for one that is out of reach.
                let done = tokio::time::timeout(postgres::PATIENCE, work(&mut reader)).await;
                done.unwrap_or_else(|_| Err(StoreError::Unavailable("it did not answer in time".to_owned())))
            }),
        }
    }
}

async fn select_one(db: &mut Db) -> Result<(), StoreError> {
    sql::query("SELECT 1").execute(db).await?;
    Ok(())
}

/// Writes something that nobody reads: a transaction without a write succeeds on a disk that is full or read-only, too. In SQLite that is a
/// number in the header that belongs to the application. In PostgreSQL the transaction has got a number, which only a server that writes
/// gives.
async fn write_one(db: &mut Db) -> Result<(), StoreError> {
    if db.is_postgres() { select_one(db).await } else { Ok(db.run("PRAGMA user_version = 0").await?) }
}
