//! What PostgreSQL's errors mean (<https://www.postgresql.org/docs/current/errcodes-appendix.html>).

use crate::StoreError;
use sqlx::Error;
use sqlx::error::DatabaseError;

/// Whether the connection is of no use any more: it is gone, the server ended it, or it leads to a server that only reads, as after a
/// failover.
pub(crate) fn is_lost(error: &Error) -> bool {
    match error {
        Error::Io(_) | Error::Tls(_) | Error::Protocol(_) | Error::PoolTimedOut => true,
        Error::Database(error) => error.code().is_some_and(|code| {
            // Class 08: connections; 57P: the server goes or comes; 25P03, 25P04: a frozen client's transaction was ended.
            code.starts_with("08") || code.starts_with("57P") || matches!(&*code, "25P03" | "25P04" | "25006" | "53300")
        }),
        _ => false,
    }
}

/// An error of the server in the store's words.
pub(crate) fn store_error(error: &dyn DatabaseError) -> StoreError {
    let code = error.code().unwrap_or_default();
    match &*code {
        "55P03" => StoreError::Locked,
        "53100" => StoreError::Full,
        "57014" => StoreError::Failed("a statement took too long".to_owned()),
        "25006" => StoreError::Unavailable("it is read-only".to_owned()),
        "53300" => StoreError::Unavailable("it has no connection left".to_owned()),
        code if code.starts_with("08") || code.starts_with("57P") || code.starts_with("25P0") => {
            StoreError::Unavailable(error.message().to_owned())
        }
        _ => StoreError::Failed(error.message().to_owned()),
    }
}
