//! Classifies PostgreSQL's errors
//! (<https://www.postgresql.org/docs/current/errcodes-appendix.html>).

use crate::StoreError;
use sqlx::Error;
use sqlx::error::DatabaseError;

/// Returns whether the connection is unusable: it was lost, the server closed it, or the server is
/// read-only now, as after a failover.
pub(crate) fn is_lost(error: &Error) -> bool {
    match error {
        Error::Io(_) | Error::Tls(_) | Error::Protocol(_) | Error::PoolTimedOut => true,
        Error::Database(error) => error.code().is_some_and(|code| {
            // Class 08: connection errors; 57P: the server shuts down or starts; 25P03, 25P04: the
            // transaction of a frozen client timed out; 25006: the server is read-only; 53300: too many connections.
            code.starts_with("08") || code.starts_with("57P") || matches!(&*code, "25P03" | "25P04" | "25006" | "53300")
        }),
        _ => false,
    }
}

/// Converts a server's error to a store error.
pub(crate) fn store_error(error: &dyn DatabaseError) -> StoreError {
    let code = error.code().unwrap_or_default();
    match &*code {
        "55P03" => StoreError::Locked,
        "53100" => StoreError::Full,
        "57014" => StoreError::Failed("a statement took too long".to_owned()),
        "25006" => StoreError::Unavailable("it is read-only".to_owned()),
        "53300" => StoreError::Unavailable("it has too many connections".to_owned()),
        code if code.starts_with("08") || code.starts_with("57P") || code.starts_with("25P0") => {
            StoreError::Unavailable(error.message().to_owned())
        }
        _ => StoreError::Failed(error.message().to_owned()),
    }
}
