//! A copy of a database, and what a copy is worth. The server that serves the database may run meanwhile.

use crate::{Moved, ServerFacts, Store, StoreError, postgres, sqlite};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A database file that was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copied {
    /// The newest migration that it has.
    pub schema: i64,
}

/// A database file that no other process serves while this lives.
#[must_use = "dropping it lets others serve the file"]
pub struct Claimed {
    _claim: Option<Arc<sqlite::Claim>>,
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

    /// The same for the database that a URL names, also one on a server; the file is one of SQLite in either case.
    ///
    /// # Errors
    /// As [`Store::copy`]; a database on a server must have the schema of this version.
    pub async fn copy_of(url: &str, to: &Path) -> Result<(), StoreError> {
        match Self::database_file(url)? {
            Some(file) => Self::copy(&file, to).await,
            None if postgres::is_url(url) => {
                let name = to.to_str().ok_or_else(|| StoreError::Open("the target's name is no text".to_owned()))?;
                Self::transfer(url, &file_url(name), false).await?;
                // Folds the log into it.
                Self::claim(to).await.map(drop)
            }
            None => Err(StoreError::Open("a database in memory cannot be copied".to_owned())),
        }
    }

    /// Whether a URL names a database on a server.
    pub fn is_on_server(url: &str) -> bool {
        postgres::is_url(url)
    }

    /// What an operator wants to know of a database on a server.
    ///
    /// # Errors
    /// [`StoreError::Open`] with one line for the operator: it cannot be reached, or is not one that the store can use.
    pub async fn on_server(url: &str) -> Result<ServerFacts, StoreError> {
        postgres::facts(url).await
    }

    /// Puts what is in a file that nobody serves in the place of all that a database on a server holds, which must be empty unless
    /// `replace`. The file is brought up to date.
    ///
    /// # Errors
    /// As [`Store::transfer`].
    pub async fn put_back(from: &Path, url: &str, replace: bool) -> Result<Vec<Moved>, StoreError> {
        let name = from.to_str().ok_or_else(|| StoreError::Open("the file's name is no text".to_owned()))?;
        let file = file_url(name);
        Self::open(&file).await?.close().await;
        Self::transfer(&file, url, replace).await
    }

    /// Whether a file can be served from where it is.
    ///
    /// # Errors
    /// [`StoreError::Open`]: it has several names, is a mount of its own or is on a network's file system.
    pub fn check_place(path: &Path) -> Result<(), StoreError> {
        sqlite::check_place(path)
    }

    /// Reads a database that nobody serves from end to end.
    ///
    /// # Errors
    /// [`StoreError::Open`] with one line for the operator: it is damaged, not one of ours, or a newer version's.
    pub async fn inspect(path: &Path) -> Result<Copied, StoreError> {
        Ok(Copied { schema: sqlite::inspect(path).await? })
    }

    /// Keeps others from serving a database that is to be replaced. What its log still held is in the file then, and its log is gone.
    ///
    /// # Errors
    /// [`StoreError::Open`]: another process has it open; which one, if it serves it.
    pub async fn claim(path: &Path) -> Result<Claimed, StoreError> {
        Ok(Claimed { _claim: sqlite::claim(path).await? })
    }
}

/// The URL of a file. The driver decodes what stands after a `%`, and ends a path at `?`.
fn file_url(path: &str) -> String {
    let path = path.replace('%', "%25").replace('?', "%3F").replace('#', "%23");
    format!("sqlite://{path}")
}
