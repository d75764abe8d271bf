//! The handle on the store.

use crate::database::{Database, ReadConnections};
use crate::sql::{self, Db, Query, Row};
use crate::{Schema, StoreError, postgres, sqlite};
use futures::future::BoxFuture;
use std::path::PathBuf;
use std::time::Duration;

/// How long a command waits for another process that serves the file.
pub(crate) const CLAIM_TIMEOUT: Duration = Duration::from_secs(5);

/// A handle on the database; cheap to clone. The functions for a table are in that table's file.
#[derive(Clone)]
pub struct Store {
    pub(crate) database: Database,
    pub(crate) schema: Schema,
}

impl Store {
    /// Opens a database as [`Schema::open`] does, without tables of capabilities.
    ///
    /// # Errors
    /// As [`Schema::open`].
    pub async fn open(url: &str) -> Result<Self, StoreError> {
        Schema::default().open(url, "", CLAIM_TIMEOUT).await
    }

    /// Changes the text that is shown to another process that tries to serve the same file.
    pub fn announce(&self, about: &str) {
        if let Some(claim) = self.database.claim.as_ref().and_then(std::sync::Weak::upgrade) {
            claim.announce(about);
        }
    }

    /// Returns the folder of the database that a URL names, for files beside it; `None` for a
    /// database in memory or on a server.
    ///
    /// # Errors
    /// As [`Schema::open`], for what the URL says.
    pub fn folder(url: &str) -> Result<Option<PathBuf>, StoreError> {
        if postgres::is_url(url) { Ok(None) } else { sqlite::folder(url) }
    }

    /// Opens an existing database as [`Schema::open_existing`] does, without tables of capabilities.
    ///
    /// # Errors
    /// As [`Schema::open_existing`].
    pub async fn open_existing(url: &str) -> Result<Self, StoreError> {
        Schema::default().open_existing(url).await
    }

    /// Checks that the store can read and write.
    ///
    /// # Errors
    /// The read or the write failed.
    pub async fn ping(&self) -> Result<(), StoreError> {
        let read = self.read(|db| Box::pin(select_one(db))).await;
        // A reader only sees that a file is damaged; the writer knows that it was cut off.
        if matches!(read, Ok(()) | Err(StoreError::Failed(_))) {
            self.write(|db| Box::pin(write_one(db))).await?;
        }
        read
    }

    /// Returns the number of writes that wait for the database.
    pub fn queued_writes(&self) -> usize {
        self.database.writer.queued_writes()
    }

    /// Finishes queued writes and closes all connections; a database file is then complete without
    /// its `-wal` file. Later calls of any handle fail with [`StoreError::Closed`].
    pub async fn close(&self) {
        if let Some(shared) = &self.database.replica {
            shared.close();
        }
        if let Some(locks) = &self.database.locks {
            locks.close().await;
        }
        self.database.readers.close().await;
        self.database.writer.close().await;
    }

    /// Runs `work` in a transaction of the writer: all or nothing, durable when the future resolves.
    ///
    /// # Errors
    /// Those of `work`, and of the database.
    pub fn write<T, F>(&self, work: F) -> impl Future<Output = Result<T, StoreError>> + Send + use<T, F>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut Db) -> BoxFuture<'c, Result<T, StoreError>> + Send + 'static,
    {
        self.database.writer.run(work)
    }

    /// As [`Store::write`], for the frequent writes of every turn. They may run more than once, so nothing but their
    /// changes of the database may be an effect of `work`.
    pub(crate) fn write_repeatable<T, F>(
        &self,
        work: F,
    ) -> impl Future<Output = Result<T, StoreError>> + Send + use<T, F>
    where
        T: Send + 'static,
        F: for<'c> Fn(&'c mut Db) -> BoxFuture<'c, Result<T, StoreError>> + Send + 'static,
    {
        self.database.writer.run_repeatable(work)
    }

    /// Tells the other servers of this database, if there are any, that stored data that is part of
    /// the config has changed; they hear of it when the transaction of `db` commits. A notification
    /// can be lost, so the others also look from time to time.
    ///
    /// # Errors
    /// The database failed.
    pub async fn notify_config_changed(&self, db: &mut Db) -> Result<(), StoreError> {
        match &self.database.replica {
            Some(replica) => replica.notify_config(db).await,
            None => Ok(()),
        }
    }

    /// Tells the other servers of this database, if there are any, that jobs of the queue were enqueued or
    /// changed; they hear of it when the transaction of `db` commits. A notification can be lost.
    ///
    /// # Errors
    /// The database failed.
    pub async fn notify_jobs_changed(&self, db: &mut Db) -> Result<(), StoreError> {
        match &self.database.replica {
            Some(replica) => replica.notify_jobs(db).await,
            None => Ok(()),
        }
    }

    /// As [`Store::write`], for large writes, which wait behind others.
    ///
    /// # Errors
    /// Those of `work`, and of the database.
    pub fn write_bulk<T, F>(&self, work: F) -> impl Future<Output = Result<T, StoreError>> + Send + use<T, F>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut Db) -> BoxFuture<'c, Result<T, StoreError>> + Send + 'static,
    {
        self.database.writer.run_bulk(work)
    }

    /// Runs a single `SELECT` on a read-only connection. A single statement sees one state of the
    /// database, so no transaction is needed, which a dropped caller could leave open.
    ///
    /// Boxed, because the state of waiting for a connection takes kilobytes, which every task that
    /// reads would keep in its future.
    ///
    /// # Errors
    /// Those of `work`, and of the database.
    pub fn read<T, F>(&self, work: F) -> BoxFuture<'_, Result<T, StoreError>>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut Db) -> BoxFuture<'c, Result<T, StoreError>> + Send + 'static,
    {
        match &self.database.readers {
            ReadConnections::Writer => Box::pin(self.write(work)),
            ReadConnections::Sqlite(readers) => Box::pin(readers.run(work)),
            ReadConnections::Postgres(pool) => Box::pin(async move {
                let mut reader = Db::from(pool.acquire().await?);
                // A file always answers; a server may be unreachable, and callers must not wait for it forever.
                let done = tokio::time::timeout(postgres::REQUEST_TIMEOUT, work(&mut reader)).await;
                done.unwrap_or_else(|_| Err(StoreError::Unavailable("it did not answer in time".to_owned())))
            }),
        }
    }

    /// Runs a single `SELECT`, as [`Store::read`] does, and reads each of its rows with `row`.
    ///
    /// # Errors
    /// Those of `row`, and of the database.
    pub fn rows<T, R>(&self, query: Query, row: R) -> BoxFuture<'_, Result<Vec<T>, StoreError>>
    where
        T: Send + 'static,
        R: Fn(&Row) -> Result<T, StoreError> + Send + 'static,
    {
        self.read(move |db| {
            Box::pin(async move {
                let rows = query.fetch_all(db).await?;
                rows.iter().map(row).collect()
            })
        })
    }

    /// Runs a single `SELECT`, as [`Store::read`] does, and reads its first row, if there is one, with `row`.
    ///
    /// # Errors
    /// Those of `row`, and of the database.
    pub fn optional_row<T, R>(&self, query: Query, row: R) -> BoxFuture<'_, Result<Option<T>, StoreError>>
    where
        T: Send + 'static,
        R: Fn(&Row) -> Result<T, StoreError> + Send + 'static,
    {
        self.read(move |db| Box::pin(async move { query.fetch_optional(db).await?.as_ref().map(row).transpose() }))
    }

    /// Runs a statement in a transaction of its own. Returns the number of rows that it changed.
    pub(crate) async fn execute(&self, statement: Query) -> Result<u64, StoreError> {
        self.write(move |db| Box::pin(async move { Ok(statement.execute(db).await?.rows_affected()) })).await
    }
}

async fn select_one(db: &mut Db) -> Result<(), StoreError> {
    sql::query("SELECT 1").execute(db).await?;
    Ok(())
}

/// Writes something that nothing reads: a transaction without a write would succeed even on a full or read-only disk.
/// For SQLite this is a number in the file header that is reserved for applications. For PostgreSQL the transaction's
/// id is enough, which only a writable server assigns.
async fn write_one(db: &mut Db) -> Result<(), StoreError> {
    if db.is_postgres() { select_one(db).await } else { Ok(db.run("PRAGMA user_version = 0").await?) }
}
