//! The writer's line to its database: how a transaction begins and ends.

use crate::sql::Db;
use crate::{StoreError, postgres, sqlite};
use std::thread;
use std::time::Duration;

/// What a file waits for company, once writes come close together. Those that come meanwhile share an fsync and the pages that all of them
/// change, two fifths of what short turns cost the writer; nobody notices so little in front of a model.
const GATHER: Duration = Duration::from_millis(2);

/// The connection that writes.
pub(crate) enum Line {
    /// The process has the file for itself.
    Sqlite(Box<sqlite::Line>),
    /// Others write too, and the connection may be lost.
    Postgres(Box<postgres::Line>),
}

impl Line {
    /// Lets more writes come before the next transaction. A file's writer has a thread of its own and may sleep on it; the way to a server is
    /// long enough for more to come.
    pub(super) fn gather(&self) {
        match self {
            Self::Sqlite(_) => thread::sleep(GATHER),
            Self::Postgres(_) => {}
        }
    }

    /// Begins a transaction. From then on nobody else writes.
    pub(super) async fn begin(&mut self) -> Result<(), StoreError> {
        match self {
            Self::Sqlite(line) => line.begin().await,
            Self::Postgres(line) => line.begin().await,
        }
    }

    /// The connection, within a transaction.
    pub(super) fn db(&mut self) -> Result<&mut Db, StoreError> {
        match self {
            Self::Sqlite(line) => Ok(line.db()),
            Self::Postgres(line) => line.db(),
        }
    }

    /// How long the jobs of a transaction may take; a file answers always.
    pub(super) fn patience(&self) -> Option<Duration> {
        match self {
            Self::Sqlite(_) => None,
            Self::Postgres(_) => Some(postgres::PATIENCE),
        }
    }

    /// Ends the transaction: what was written is there, or the error says that it is not.
    pub(super) async fn commit(&mut self) -> Result<(), StoreError> {
        match self {
            Self::Sqlite(line) => line.commit().await,
            Self::Postgres(line) => line.commit().await,
        }
    }

    /// Ends the transaction: nothing was written.
    pub(super) async fn roll_back(&mut self) {
        match self {
            Self::Sqlite(line) => line.roll_back().await,
            Self::Postgres(line) => line.roll_back().await,
        }
    }

    /// Closes the connection, which folds SQLite's WAL into the file.
    pub(super) async fn close(self) -> Result<(), sqlx::Error> {
        match self {
            Self::Sqlite(line) => line.close().await,
            Self::Postgres(line) => line.close().await,
        }
    }
}
