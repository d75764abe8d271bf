//! SQL connections: SQLite, in a file or in memory.

mod open;
mod run;
mod statement;
mod value;

pub(crate) use statement::Statement;

use sqlx::sqlite::{SqliteConnection, SqlitePool};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Mutex;

/// Which database, and how it may be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SqlSettings {
    /// `sqlite://PATH` or `sqlite::memory:`.
    pub url: String,
    /// Refuse every statement that writes.
    pub read_only: bool,
    /// SQL that is run once, when the database is new: when it has no tables yet. All of it or, if it fails, none.
    pub init: Option<String>,
}

/// What one statement may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SqlLimits {
    /// Rows of its answer.
    pub rows: usize,
    /// Bytes of its answer, counted roughly.
    pub bytes: usize,
    /// How long it may run, and how long it may wait for its turn.
    pub time: Duration,
}

impl Default for SqlLimits {
    fn default() -> Self {
        Self { rows: 1_000, bytes: 4 << 20, time: Duration::from_secs(30) }
    }
}

/// What a statement may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// `SqlQuery`: writing is refused by the database itself.
    Read,
    /// `SqlExecute`
    Write,
}

/// An open database; a cheap handle.
#[derive(Clone)]
pub struct Sql {
    pool: SqlitePool,
    read_only: bool,
    limits: SqlLimits,
    /// A database in memory is gone with its last connection, and the pool may close its own after an error.
    _keeper: Option<Arc<Mutex<SqliteConnection>>>,
}

impl Sql {
    /// The same database with other limits.
    pub fn with_limits(self, limits: SqlLimits) -> Self {
        Self { limits, ..self }
    }
}
