//! Backup and restore of databases. A server may serve the source database meanwhile.

use crate::store::CLAIM_TIMEOUT;
use crate::{Schema, ServerInfo, Store, StoreError, TransferredTable, postgres, sqlite};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The result of inspecting a database file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InspectedDatabase {
    /// The number of its newest migration.
    pub schema: i64,
}

/// A claim on a database file: while this value lives, no other process can serve the file.
#[must_use = "dropping it lets others serve the file"]
pub struct ClaimedDatabase {
    _claim: Option<Arc<sqlite::Claim>>,
}

impl Store {
    /// Returns the file of the database that a URL names; `None` for a database in memory or on a server.
    ///
    /// # Errors
    /// As [`Schema::open`], for what the URL says.
    pub fn database_file(url: &str) -> Result<Option<PathBuf>, StoreError> {
        if postgres::is_url(url) { Ok(None) } else { sqlite::path(url) }
    }

    /// Copies a consistent snapshot of the database at `from` into the new or empty file `to`. Does not block writers.
    ///
    /// # Errors
    /// [`StoreError::Open`] with one line for the operator.
    pub async fn copy(from: &Path, to: &Path) -> Result<(), StoreError> {
        sqlite::copy(from, to).await
    }

    /// Returns whether a URL names a database on a server.
    pub fn is_on_server(url: &str) -> bool {
        postgres::is_url(url)
    }

    /// Returns facts about a database on a server that an operator needs.
    ///
    /// # Errors
    /// [`StoreError::Open`] with one line for the operator: the server cannot be reached, or the store cannot use it.
    pub async fn server_info(url: &str) -> Result<ServerInfo, StoreError> {
        postgres::server_info(url).await
    }

    /// Checks that a database file can be served from its location.
    ///
    /// # Errors
    /// [`StoreError::Open`]: the file has several names (hard links), is itself a mount, or is on a network file system.
    pub fn check_location(path: &Path) -> Result<(), StoreError> {
        sqlite::check_location(path)
    }

    /// Reads a database file that no process serves from end to end, and checks its integrity.
    ///
    /// # Errors
    /// [`StoreError::Open`] with one line for the operator: it is damaged, is not a Chatwright
    /// database, or was written by a newer version.
    pub async fn inspect(path: &Path) -> Result<InspectedDatabase, StoreError> {
        Ok(InspectedDatabase { schema: sqlite::inspect(path).await? })
    }

    /// Keeps other processes from serving a database file that is to be replaced. Checkpoints its
    /// log into the file and removes the log.
    ///
    /// # Errors
    /// [`StoreError::Open`]: another process has it open. The text names that process if it serves the file.
    pub async fn claim(path: &Path) -> Result<ClaimedDatabase, StoreError> {
        Ok(ClaimedDatabase { _claim: sqlite::claim(path).await? })
    }
}

impl Schema {
    /// Copies the database that a URL names, in a file or on a server, into the SQLite file `to`.
    ///
    /// # Errors
    /// As [`Store::copy`]; a database on a server must have the schema of this version.
    pub async fn copy_from_url(self, url: &str, to: &Path) -> Result<(), StoreError> {
        match Store::database_file(url)? {
            Some(file) => Store::copy(&file, to).await,
            None if postgres::is_url(url) => {
                let name =
                    to.to_str().ok_or_else(|| StoreError::Open("the target's path is not valid UTF-8".to_owned()))?;
                self.transfer(url, &file_url(name), false).await?;
                // Checkpoints the log into the file.
                Store::claim(to).await.map(drop)
            }
            None => Err(StoreError::Open("a database in memory cannot be copied".to_owned())),
        }
    }

    /// Restores a database on a server from a SQLite file that no process serves. The database must
    /// be empty unless `replace`. The file is migrated to the current schema first.
    ///
    /// # Errors
    /// As [`Schema::transfer`].
    pub async fn restore(self, from: &Path, url: &str, replace: bool) -> Result<Vec<TransferredTable>, StoreError> {
        let name = from.to_str().ok_or_else(|| StoreError::Open("the file's path is not valid UTF-8".to_owned()))?;
        let file = file_url(name);
        self.open(&file, "", CLAIM_TIMEOUT).await?.close().await;
        self.transfer(&file, url, replace).await
    }
}

/// Returns the URL of a file. Escapes `%`, which the driver decodes, and `?` and `#`, which would end the path.
fn file_url(path: &str) -> String {
    let path = path.replace('%', "%25").replace('?', "%3F").replace('#', "%23");
    format!("sqlite://{path}")
}
