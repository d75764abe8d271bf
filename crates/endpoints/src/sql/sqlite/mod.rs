//! SQLite databases.

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
    /// Keeps an in-memory database alive: it is deleted with its last connection, and the pool may
    /// close its own connections after an error.
    _keeper: Option<Arc<Mutex<SqliteConnection>>>,
}
