//! What went wrong, for the caller, and whether the connection can go on.

use sqlx::postgres::PgDatabaseError;

/// A statement that failed.
pub(super) struct Fault {
    /// For the caller.
    pub(super) text: String,
    pub(super) then: Then,
}

/// What becomes of the connection.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Then {
    /// It is ready for the next command.
    GoOn,
    /// It is, when it has forgotten the statements that it prepared; nothing has run yet.
    Forget,
    /// It is not.
    Close,
}

impl Fault {
    /// Something that was found before the statement was sent.
    pub(super) fn before(text: String) -> Self {
        Self { text, then: Then::GoOn }
    }

    /// Something that was found while rows came.
    pub(super) fn amid(text: String) -> Self {
        Self { text, then: Then::Close }
    }

    /// A `COMMIT` that failed. Without an answer nobody knows whether it was heard.
    pub(super) fn of_commit(error: sqlx::Error) -> Self {
        match error {
            sqlx::Error::Database(_) => Self::from(error),
            error => {
                tracing::warn!(%error, "a transaction may or may not have been kept");
                Self::amid("the connection to the database broke; whether the change was kept is not known".to_owned())
            }
        }
    }
}

impl From<sqlx::Error> for Fault {
    /// What PostgreSQL says about a statement is about the config's text and the caller's values; the rest is for the log.
    fn from(error: sqlx::Error) -> Self {
        tracing::warn!(%error, "a statement failed");
        match &error {
            sqlx::Error::Database(database) => of_database(database.downcast_ref::<PgDatabaseError>()),
            _ => Self::amid("the database failed".to_owned()),
        }
    }
}

/// By the code: <https://www.postgresql.org/docs/current/errcodes-appendix.html>
fn of_database(error: &PgDatabaseError) -> Fault {
    let told = match error.code() {
        // Feature_not_supported: a statement was prepared for a table that has changed since.
        "0A000" if error.message().starts_with("cached plan") => {
            return Fault { text: "the tables have changed; try again".to_owned(), then: Then::Forget };
        }
        // query_canceled: by its time, or by an administrator.
        "57014" => "the statement was cancelled by the database: it took too long, or was ended there".to_owned(),
        // Serialization, deadlock, lock_not_available, resources.
        "40001" | "40P01" | "55P03" => "the database is busy; try again".to_owned(),
        code => match code.get(..2).unwrap_or_default() {
            // Unknown functions and types are told with what to do about it.
            "42" => with_hint(error),
            // Features, cardinality, data, constraints, transactions that only read, schemas, `WITH CHECK OPTION`, what a function
            // raises.
            "0A" | "21" | "22" | "23" | "25" | "3F" | "44" | "P0" => error.message().to_owned(),
            "53" => "the database is busy; try again".to_owned(),
            _ => "the database failed".to_owned(),
        },
    };
    Fault::before(told)
}

fn with_hint(error: &PgDatabaseError) -> String {
    match error.hint() {
        Some(hint) => format!("{} ({hint})", error.message()),
        None => error.message().to_owned(),
    }
}
