//! The errors of the store.

use crate::postgres;
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
    /// Returns whether the store itself has already logged the error, once for all callers that get
    /// it.
    pub fn is_reported(&self) -> bool {
        matches!(self, Self::FileLost(_))
    }
}

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        use sqlx::error::ErrorKind;
        let sqlx::Error::Database(database) = &error else {
            return match error {
                sqlx::Error::PoolClosed => Self::Closed,
                sqlx::Error::PoolTimedOut => Self::Unavailable("no connection became free in time".to_owned()),
                error if postgres::is_lost(&error) => Self::Unavailable(error.to_string()),
                error => Self::Failed(error.to_string()),
            };
        };
        match database.kind() {
            ErrorKind::UniqueViolation => Self::Invalid("the id is already in use"),
            ErrorKind::ForeignKeyViolation => Self::Invalid("a message refers to one that is not in this conversation"),
            ErrorKind::CheckViolation => Self::Invalid("a value contradicts the schema"),
            _ if database.try_downcast_ref::<PgDatabaseError>().is_some() => postgres::store_error(&**database),
            _ => of_code(primary_code(&**database), database.message()),
        }
    }
}

/// Returns SQLite's primary result code; the upper bytes of the extended code only refine it.
pub(crate) fn primary_code(error: &dyn sqlx::error::DatabaseError) -> u32 {
    error.code().and_then(|code| code.parse::<u32>().ok()).unwrap_or_default() & 0xff
}

fn of_code(code: u32, message: &str) -> StoreError {
    match code {
        5 | 6 => StoreError::Locked,
        8 => StoreError::Failed("its file is read-only".to_owned()),
        10 => StoreError::Failed(format!("I/O error ({message})")),
        11 | 26 => StoreError::Failed("its file is damaged or is not a database".to_owned()),
        13 => StoreError::Full,
        14 => StoreError::Failed("its file cannot be opened".to_owned()),
        _ => StoreError::Failed(message.to_owned()),
    }
}
