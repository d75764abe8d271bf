//! SQLite.

mod open;
mod run;
mod value;

use sqlx::sqlite::{SqliteConnection, SqlitePool};
use std::sync::Arc;
use tokio::sync::Mutex;

/// An open database; a cheap handle.
#[derive(Clone)]
pub(super) struct Sqlite {
    pool: SqlitePool,
    /// A database in memory is gone with its last connection, and the pool may close its own after an error.
    _keeper: Option<Arc<Mutex<SqliteConnection>>>,
}
