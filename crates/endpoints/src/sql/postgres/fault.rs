//! Errors of statements, for the caller, and whether the connection can still be used.

use crate::sql::{BUSY, FAILED};
use sqlx::postgres::PgDatabaseError;

/// A failed statement.
pub(super) struct StatementFault {
    /// The message for the caller.
    pub(super) message: String,
    pub(super) connection: ConnectionAction,
}

/// The action that the connection needs after an error.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ConnectionAction {
    /// It can be used for the next statement.
    Keep,
    /// It can be used again once its prepared statements are cleared. Nothing was run.
    ClearStatements,
    /// It has to be closed.
    Close,
}

impl StatementFault {
    /// Creates an error that was found before the statement was sent.
    pub(super) fn before_execution(message: String) -> Self {
        Self { message, connection: ConnectionAction::Keep }
    }

    /// Creates an error that was found while rows were received.
    pub(super) fn during_fetch(message: String) -> Self {
        Self { message, connection: ConnectionAction::Close }
    }

    /// Converts an error of `COMMIT`. Without a response, the outcome is unknown.
    pub(super) fn from_commit(error: sqlx::Error) -> Self {
        match error {
            sqlx::Error::Database(_) => Self::from(error),
            error => {
                tracing::warn!(%error, "the outcome of a transaction is unknown");
                Self::during_fetch(
                    "the connection to the database broke; the change may or may not have been saved".to_owned(),
                )
            }
        }
    }
}

impl From<sqlx::Error> for StatementFault {
    /// Keeps PostgreSQL's message if it concerns the statement or the caller's values; other
    /// messages are only logged.
    fn from(error: sqlx::Error) -> Self {
        tracing::warn!(%error, "a statement failed");
        match &error {
            sqlx::Error::Database(database) => from_database_error(database.downcast_ref::<PgDatabaseError>()),
            _ => Self::during_fetch(FAILED.to_owned()),
        }
    }
}

/// Classifies an error by its code:
/// <https://www.postgresql.org/docs/current/errcodes-appendix.html>
fn from_database_error(error: &PgDatabaseError) -> StatementFault {
    let message = match error.code() {
        // feature_not_supported: a table has changed since the statement was prepared.
        "0A000" if error.message().starts_with("cached plan") => {
            return StatementFault {
                message: "the tables have changed; try again".to_owned(),
                connection: ConnectionAction::ClearStatements,
            };
        }
        // query_canceled: by the statement timeout, or by an administrator.
        "57014" => {
            "the statement was cancelled by the database: it took too long, or an administrator cancelled it".to_owned()
        }
        // serialization_failure, deadlock_detected, lock_not_available.
        "40001" | "40P01" | "55P03" => BUSY.to_owned(),
        code => match code.get(..2).unwrap_or_default() {
            // The hint says what to do about an unknown function or type.
            "42" => with_hint(error),
            // Features, cardinality, data, constraints, read-only transactions, schemas, `WITH
            // CHECK OPTION`, and errors raised by functions.
            "0A" | "21" | "22" | "23" | "25" | "3F" | "44" | "P0" => error.message().to_owned(),
            "53" => BUSY.to_owned(),
            _ => FAILED.to_owned(),
        },
    };
    StatementFault::before_execution(message)
}

fn with_hint(error: &PgDatabaseError) -> String {
    match error.hint() {
        Some(hint) => format!("{} ({hint})", error.message()),
        None => error.message().to_owned(),
    }
}
