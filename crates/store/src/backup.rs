//! A copy of a database, and what a copy is worth. The server that serves the database may run meanwhile.

use crate::{Store, StoreError, postgres, sqlite};
use std::path::{Path, PathBuf};

/// A database file that was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copied {
    /// The newest migration that it has.
    pub schema: i64,
}

impl Store {
    /// The file of the database that a URL names; none for one in memory or on a server.
    ///
    /// # Errors
    /// As [`Store::open`], for what the URL says.
    pub fn database_file(url: &str) -> Result<Option<PathBuf>, StoreError> {
        if postgres::is_url(url) { Ok(None) } else { sqlite::path(url) }
    }

    /// Copies the database at `from`, as it is at one moment, into the new or empty file `to`. Writers are not held up.
    ///
    /// # Errors
    /// [`StoreError::Open`] with one line for the operator.
    pub async fn copy(from: &Path, to: &Path) -> Result<(), StoreError> {
        sqlite::copy(from, to).await
    }

    /// Reads a database that nobody serves from end to end.
    ///
    /// # Errors
    /// [`StoreError::Open`] with one line for the operator: it is damaged, not one of ours, or a newer version's.
    pub async fn inspect(path: &Path) -> Result<Copied, StoreError> {
        Ok(Copied { schema: sqlite::inspect(path).await? })
    }

    /// Whether nobody has the database open. What its log still held is in the file then, and its log is gone.
    ///
    /// # Errors
    /// [`StoreError::Open`]: a server has it open.
    pub async fn claim(path: &Path) -> Result<(), StoreError> {
        sqlite::claim(path).await
    }
}
