//! The writer's connection to either kind of database.

use crate::sql::{self, Db};
use crate::{StoreError, postgres, sqlite};
use std::thread;
use std::time::Duration;

/// How long the SQLite writer waits for further writes after a group with several. They share an
/// fsync and the pages that all of them change, which saved two fifths of the writer's cost for
/// short turns. Compared to a model's latency the delay is not noticeable.
const GATHER: Duration = Duration::from_millis(2);

/// The writing connection.
pub(crate) enum WriterConnection {
    /// A SQLite file, which only this process writes to.
    Sqlite(Box<sqlite::SqliteWriter>),
    /// A PostgreSQL server, which other servers also write to, and whose connection may be lost.
    Postgres(Box<postgres::PostgresWriter>),
}

impl WriterConnection {
    /// Waits for more writes before the next transaction. A file's writer has its own thread, which
    /// may sleep; with a server, the latency of requests is long enough for writes to accumulate.
    pub(super) fn wait_for_more(&self) {
        match self {
            Self::Sqlite(_) => thread::sleep(GATHER),
            Self::Postgres(_) => {}
        }
    }

    /// Begins a transaction. Until it ends there is no other writer.
    pub(super) async fn begin(&mut self) -> Result<(), StoreError> {
        match self {
            Self::Sqlite(line) => line.begin().await,
            Self::Postgres(line) => line.begin().await,
        }
    }

    /// Returns the connection, within a transaction.
    pub(super) fn db(&mut self) -> Result<&mut Db, StoreError> {
        match self {
            Self::Sqlite(line) => Ok(line.db()),
            Self::Postgres(line) => line.db(),
        }
    }

    /// Returns the time limit for the jobs of a transaction; `None` for a file, which always answers.
    pub(super) fn patience(&self) -> Option<Duration> {
        match self {
            Self::Sqlite(_) => None,
            Self::Postgres(_) => Some(postgres::REQUEST_TIMEOUT),
        }
    }

    /// Commits the transaction. An error means that nothing was stored, unless it says that the
    /// outcome is unknown.
    pub(super) async fn commit(&mut self) -> Result<(), StoreError> {
        match self {
            Self::Sqlite(line) => line.commit().await,
            Self::Postgres(line) => line.commit().await,
        }
    }

    /// Rolls the transaction back.
    pub(super) async fn roll_back(&mut self) {
        match self {
            Self::Sqlite(line) => line.roll_back().await,
            Self::Postgres(line) => line.roll_back().await,
        }
    }

    /// Closes the connection, which checkpoints SQLite's log into the file.
    pub(super) async fn close(self) -> Result<(), sql::Error> {
        match self {
            Self::Sqlite(line) => line.close().await,
            Self::Postgres(line) => line.close().await,
        }
    }
}
