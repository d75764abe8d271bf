//! The errors of the store.

use crate::postgres;
use crate::sql::{Error, Violation};
use sqlx::postgres::PgDatabaseError;

/// An error of the store. Its text is for the log and the operator; `chat` decides what users read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// There is nothing with this id, or it belongs to another user: the caller cannot tell which.
    #[error("this owner has nothing with this id")]
    NotFound,
    /// A run is active in the conversation.
    #[error("a run is active in this conversation")]
    Busy,
    /// The run is over, or another process has taken it over: the writer must stop.
    #[error("the run is over or was taken over")]
    Fenced,
    /// The tool call is in the ledger already: running it again could repeat its effect.
    #[error("the tool call was started before")]
    AlreadyStarted,
    /// The ids in the request contradict what is stored.
    #[error("{0}")]
    Invalid(&'static str),
    /// The cursor in a request is not one of the list that is read.
    #[error("the cursor is not one of this list")]
    InvalidCursor,
    /// The database cannot be opened; one line for the operator.
    #[error("{0}")]
    Open(String),
    /// The database server cannot be reached, or the connection was lost. The write was not stored,
    /// unless the text says that this is unknown.
    #[error("the database cannot be reached: {0}")]
    Unavailable(String),
    /// Another process kept the database locked for longer than the store waits.
    #[error("the database is locked by another process")]
    Locked,
    /// The disk is full. Reading still works, and writing works again when there is space.
    #[error("there is no disk space left for the database")]
    Full,
    /// A file of the database was moved, deleted, replaced or truncated while it was open: a write
    /// would be missing after a restart. The store has logged this for the operator.
    #[error("{0}")]
    FileLost(String),
    /// The database failed in another way.
    #[error("the database failed: {0}")]
    Failed(String),
    /// The store was closed.
    #[error("the store is closed")]
    Closed,
}

impl StoreError {
    /// Returns whether the store itself has already logged the error, once for all callers that get it.
    pub fn is_reported(&self) -> bool {
        matches!(self, Self::FileLost(_))
    }
}

impl From<Error> for StoreError {
    fn from(error: Error) -> Self {
        match (error.violation(), error) {
            (Some(Violation::Unique), _) => Self::Invalid("the id is already in use"),
            (Some(Violation::ForeignKey), _) => {
                Self::Invalid("a message refers to one that is not in this conversation")
            }
            (Some(Violation::Check), _) => Self::Invalid("a value contradicts the schema"),
            (None, Error::Sqlite { code, message }) => sqlite_failure(code, &message),
            (None, Error::Sqlx(error)) => driver_failure(&error),
            (None, error) => Self::Failed(error.to_string()),
        }
    }
}

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        Error::from(error).into()
    }
}

fn driver_failure(error: &sqlx::Error) -> StoreError {
    match error {
        sqlx::Error::Database(database) if database.try_downcast_ref::<PgDatabaseError>().is_some() => {
            postgres::store_error(&**database)
        }
        sqlx::Error::Database(database) => {
            let code = database.code().and_then(|code| code.parse().ok()).unwrap_or_default();
            sqlite_failure(code, database.message())
        }
        sqlx::Error::PoolClosed => StoreError::Closed,
        sqlx::Error::PoolTimedOut => StoreError::Unavailable("no connection became free in time".to_owned()),
        error if postgres::is_lost(error) => StoreError::Unavailable(error.to_string()),
        error => StoreError::Failed(error.to_string()),
    }
}

/// Classifies SQLite's result codes; the upper bytes of an extended code only refine it.
fn sqlite_failure(code: i32, message: &str) -> StoreError {
    match code & 0xff {
        5 | 6 => StoreError::Locked,
        8 => StoreError::Failed("its file is read-only".to_owned()),
        10 => StoreError::Failed(format!("I/O error ({message})")),
        11 | 26 => StoreError::Failed("its file is damaged or is not a database".to_owned()),
        13 => StoreError::Full,
        14 => StoreError::Failed("its file cannot be opened".to_owned()),
        _ => StoreError::Failed(message.to_owned()),
    }
}
