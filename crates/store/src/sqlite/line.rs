//! The line of the writer to a SQLite file.

use super::watch::Watch;
use crate::StoreError;
use crate::sql::{self, Db};

/// The connection that writes, and the files that it writes to.
pub(crate) struct Line {
    db: Db,
    /// None for a database in memory, and for whoever only looks.
    watch: Option<Watch>,
}

impl Line {
    pub(super) fn new(db: Db, watch: Option<Watch>) -> Self {
        Self { db, watch }
    }

    /// Begins a transaction.
    pub(crate) async fn begin(&mut self) -> Result<(), StoreError> {
        self.check_files()?;
        Ok(sql::query("BEGIN IMMEDIATE").execute(&mut self.db).await.map(drop)?)
    }

    /// The connection, within a transaction.
    pub(crate) fn db(&mut self) -> &mut Db {
        &mut self.db
    }

    /// Ends the transaction: what was written is in the files that a restart will find.
    pub(crate) async fn commit(&mut self) -> Result<(), StoreError> {
        let committed = sql::query("COMMIT").execute(&mut self.db).await;
        if committed.is_err() {
            self.roll_back().await;
        }
        committed?;
        // They may have been taken away since the transaction began.
        self.check_files()
    }

    /// Ends the transaction: nothing was written.
    pub(crate) async fn roll_back(&mut self) {
        // Fails when SQLite has rolled back by itself, which a full disk can make it do.
        let _ = sql::query("ROLLBACK").execute(&mut self.db).await;
    }

    /// Closes the connection, which folds the log into the file.
    pub(crate) async fn close(mut self) -> Result<(), sqlx::Error> {
        // Saves what can be saved.
        let _ = self.check_files();
        if let (Some(watch), Db::Local(db)) = (&self.watch, &self.db)
            && watch.must_keep_log()
        {
            db.keep_log()?;
        }
        self.db.close().await
    }

    fn check_files(&mut self) -> Result<(), StoreError> {
        match (&mut self.watch, &self.db) {
            (Some(watch), Db::Local(db)) => watch.check(db),
            _ => Ok(()),
        }
    }
}
