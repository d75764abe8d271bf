//! The writer's connection to a SQLite file.

use super::watch::FileWatch;
use crate::StoreError;
use crate::sql::{self, Db};

/// The writing connection, and the watch on the files that it writes to.
pub(crate) struct SqliteWriter {
    db: Db,
    /// `None` for a database in memory, and for a process that only reads.
    watch: Option<FileWatch>,
}

impl SqliteWriter {
    pub(super) fn new(db: Db, watch: Option<FileWatch>) -> Self {
        Self { db, watch }
    }

    /// Begins a transaction.
    pub(crate) async fn begin(&mut self) -> Result<(), StoreError> {
        self.check_files(false)?;
        Ok(sql::query("BEGIN IMMEDIATE").execute(&mut self.db).await.map(drop)?)
    }

    /// Returns the connection, within a transaction.
    pub(crate) fn db(&mut self) -> &mut Db {
        &mut self.db
    }

    /// Commits the transaction, and checks that its changes are in the files that a restart will find.
    pub(crate) async fn commit(&mut self) -> Result<(), StoreError> {
        let committed = sql::query("COMMIT").execute(&mut self.db).await;
        if committed.is_err() {
            self.roll_back().await;
        }
        committed?;
        // The files may have been moved or deleted since the transaction began.
        self.check_files(true)
    }

    /// Rolls the transaction back.
    pub(crate) async fn roll_back(&mut self) {
        // Fails if SQLite has rolled back by itself, as it does when the disk is full.
        let _ = sql::query("ROLLBACK").execute(&mut self.db).await;
    }

    /// Closes the connection, which checkpoints the log into the file.
    pub(crate) async fn close(mut self) -> Result<(), sql::Error> {
        // If files are missing, this saves what it can.
        let _ = self.check_files(false);
        if let (Some(watch), Some(db)) = (&self.watch, self.db.as_local())
            && watch.must_keep_log()
        {
            db.keep_log()?;
        }
        self.db.close().await
    }

    fn check_files(&mut self, has_committed: bool) -> Result<(), StoreError> {
        match (&mut self.watch, self.db.as_local()) {
            (Some(watch), Some(db)) => watch.check(db, has_committed),
            _ => Ok(()),
        }
    }
}
