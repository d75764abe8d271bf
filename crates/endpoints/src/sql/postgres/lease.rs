//! A connection for one statement, in a transaction of its own.
//!
//! The transaction makes a statement that is refused leave nothing behind, says what it may do, and ends with it, so that the next
//! one finds nothing open. A connection whose statement did not come to its end is closed: the driver would wait for the rest.

use super::fault::{Fault, Then};
use super::{CONNECTIONS, Postgres, WAIT};
use crate::sql::Access;
use sqlx::pool::PoolConnection;
use sqlx::postgres::PgConnection;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, Executor};
use std::time::Duration;
use tokio::sync::OwnedSemaphorePermit;

/// What the caller learns when there is no connection; the log learns why.
const UNREACHABLE: &str = "the database cannot be reached; try again later";
const BUSY: &str = "the database is busy; try again";

/// How long to ask once more, for the reason.
const ASK: Duration = Duration::from_secs(1);

/// A connection that is closed unless it is given back.
pub(super) struct Lease {
    connection: PoolConnection<sqlx::Postgres>,
    is_idle: bool,
    /// Free when the connection is back, or on its way.
    _turn: OwnedSemaphorePermit,
}

impl Drop for Lease {
    fn drop(&mut self) {
        if !self.is_idle {
            self.connection.close_on_drop();
        }
    }
}

impl Lease {
    /// Begins a transaction whose statements may run for `time` each.
    pub(super) async fn begin(&mut self, access: Access, time: Duration) -> Result<(), Fault> {
        let access = match access {
            Access::Read => "READ ONLY",
            Access::Write => "READ WRITE",
        };
        // Zero would be no limit.
        let time = time.as_millis().clamp(1, i32::MAX as u128);
        let begin = format!("BEGIN {access}; SET LOCAL statement_timeout = {time}");
        self.is_idle = false;
        self.connection.execute(AssertSqlSafe(begin)).await?;
        Ok(())
    }

    pub(super) fn connection(&mut self) -> &mut PgConnection {
        &mut self.connection
    }

    /// Keeps what was done, or undoes it if something failed. The connection can go back if it can still be used.
    pub(super) async fn end<T>(&mut self, done: Result<T, Fault>) -> Result<T, Fault> {
        match done {
            Ok(value) => {
                self.connection.execute("COMMIT").await.map_err(Fault::of_commit)?;
                self.is_idle = true;
                Ok(value)
            }
            Err(fault) => {
                self.is_idle = self.roll_back(fault.then).await;
                Err(fault)
            }
        }
    }

    /// Whether the connection can still be used.
    async fn roll_back(&mut self, then: Then) -> bool {
        match then {
            Then::Close => false,
            Then::GoOn => self.connection.execute("ROLLBACK").await.is_ok(),
            Then::Forget => {
                let undone = self.connection.execute("ROLLBACK").await.is_ok();
                undone && self.connection.clear_cached_statements().await.is_ok()
            }
        }
    }
}

impl Postgres {
    /// A connection, when it is one's turn.
    ///
    /// # Errors
    /// For the caller: that the database is busy, or cannot be reached.
    pub(super) async fn lease(&self) -> Result<Lease, String> {
        let Ok(Ok(turn)) = tokio::time::timeout(WAIT, self.turns.clone().acquire_owned()).await else {
            tracing::warn!(connections = CONNECTIONS, waited = ?WAIT, "every connection to the database is busy");
            return Err(BUSY.to_owned());
        };
        match self.pool.acquire().await {
            Ok(connection) => Ok(Lease { connection, is_idle: false, _turn: turn }),
            Err(error) => Err(self.unreachable(error).await),
        }
    }

    /// Tells the log why there is no connection. The pool asks again while it is refused, and says only that it took too long.
    async fn unreachable(&self, error: sqlx::Error) -> String {
        let reason = match error {
            sqlx::Error::PoolTimedOut => {
                let options = self.pool.connect_options();
                match tokio::time::timeout(ASK, options.connect()).await {
                    Ok(Err(reason)) => reason,
                    Ok(Ok(_)) | Err(_) => error,
                }
            }
            error => error,
        };
        tracing::warn!(error = %reason, "no connection to the database");
        UNREACHABLE.to_owned()
    }
}
