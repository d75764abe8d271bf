//! The error of a statement.

use rusqlite::ffi;

/// Why a statement failed, or why a column could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The statement returned no row.
    #[error("the statement returned no row")]
    NoRow,
    /// A column is missing, or its value has another type.
    #[error("{0}")]
    Column(String),
    /// SQLite reported an error on a connection of this crate; the code is the extended one.
    #[error("(code: {code}) {message}")]
    Sqlite {
        /// The extended result code.
        code: i32,
        /// SQLite's text.
        message: String,
    },
    /// sqlx or its driver reported an error.
    #[error(transparent)]
    Sqlx(#[from] sqlx::Error),
}

/// A constraint of the schema that a write violates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Violation {
    Unique,
    ForeignKey,
    Check,
}

impl Error {
    /// Returns whether the connection to a server was lost, so that the outcome of a commit is unknown.
    pub(crate) fn is_connection_lost(&self) -> bool {
        matches!(self, Self::Sqlx(error) if crate::postgres::is_lost(error))
    }

    /// Returns the constraint that the statement violated, if that is the error.
    pub(crate) fn violation(&self) -> Option<Violation> {
        match self {
            Self::Sqlite { code, .. } => match *code {
                ffi::SQLITE_CONSTRAINT_UNIQUE | ffi::SQLITE_CONSTRAINT_PRIMARYKEY => Some(Violation::Unique),
                ffi::SQLITE_CONSTRAINT_FOREIGNKEY => Some(Violation::ForeignKey),
                ffi::SQLITE_CONSTRAINT_CHECK => Some(Violation::Check),
                _ => None,
            },
            Self::Sqlx(error) => match error.as_database_error()?.kind() {
                sqlx::error::ErrorKind::UniqueViolation => Some(Violation::Unique),
                sqlx::error::ErrorKind::ForeignKeyViolation => Some(Violation::ForeignKey),
                sqlx::error::ErrorKind::CheckViolation => Some(Violation::Check),
                _ => None,
            },
            Self::NoRow | Self::Column(_) => None,
        }
    }
}

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Self {
        match error {
            rusqlite::Error::SqliteFailure(failure, message) => {
                let message = message.unwrap_or_else(|| failure.to_string());
                Self::Sqlite { code: failure.extended_code, message }
            }
            error => Self::Column(error.to_string()),
        }
    }
}
