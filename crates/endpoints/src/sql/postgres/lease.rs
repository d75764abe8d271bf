//! A pooled connection for one statement, which runs in its own transaction.
//!
//! The transaction sets the access mode, and makes sure that a failed statement changes nothing and
//! that the next one finds no open transaction. A connection whose statement did not finish is
//! closed, because the driver would wait for the remaining rows.

use super::fault::{ConnectionAction, StatementFault};
use super::{ACQUIRE_TIMEOUT, MAX_CONNECTIONS, Postgres};
use crate::sql::{BUSY, SqlAccess, UNREACHABLE};
use sqlx::pool::PoolConnection;
use sqlx::postgres::PgConnection;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, Executor};
use std::time::Duration;
use tokio::sync::OwnedSemaphorePermit;

/// The time limit of the additional connection attempt that determines the reason.
const PROBE_TIMEOUT: Duration = Duration::from_secs(1);

/// A connection that is closed when dropped, unless it is idle again.
pub(super) struct LeasedConnection {
    connection: PoolConnection<sqlx::Postgres>,
    is_idle: bool,
    /// Released when the connection is back in the pool or closed.
    _permit: OwnedSemaphorePermit,
}

impl Drop for LeasedConnection {
    fn drop(&mut self) {
        if !self.is_idle {
            self.connection.close_on_drop();
        }
    }
}

/// How much later the database ends a statement than we do, whose message says the limit. It matters if the connection
/// is lost.
const BACKSTOP: Duration = Duration::from_secs(1);

impl LeasedConnection {
    /// Begins a transaction with this time limit for each statement.
    pub(super) async fn begin(&mut self, access: SqlAccess, time: Duration) -> Result<(), StatementFault> {
        let access = match access {
            SqlAccess::Read => "READ ONLY",
            SqlAccess::Write => "READ WRITE",
        };
        let time = (time + BACKSTOP).as_millis().min(i32::MAX as u128);
        let begin = format!("BEGIN {access}; SET LOCAL statement_timeout = {time}");
        self.is_idle = false;
        self.connection.execute(AssertSqlSafe(begin)).await?;
        Ok(())
    }

    pub(super) fn connection(&mut self) -> &mut PgConnection {
        &mut self.connection
    }

    /// Commits, or rolls back after an error. Marks the connection as idle if it can still be used.
    pub(super) async fn end<T>(&mut self, done: Result<T, StatementFault>) -> Result<T, StatementFault> {
        match done {
            Ok(value) => {
                self.connection.execute("COMMIT").await.map_err(StatementFault::from_commit)?;
                self.is_idle = true;
                Ok(value)
            }
            Err(fault) => {
                self.is_idle = self.roll_back(fault.connection).await;
                Err(fault)
            }
        }
    }

    /// Rolls back and returns whether the connection can still be used.
    async fn roll_back(&mut self, action: ConnectionAction) -> bool {
        match action {
            ConnectionAction::Close => false,
            ConnectionAction::Keep => self.connection.execute("ROLLBACK").await.is_ok(),
            ConnectionAction::ClearStatements => {
                let undone = self.connection.execute("ROLLBACK").await.is_ok();
                undone && self.connection.clear_cached_statements().await.is_ok()
            }
        }
    }
}

impl Postgres {
    /// Waits for a free connection.
    ///
    /// # Errors
    /// A message for the caller: the database is busy or unreachable.
    pub(super) async fn lease_connection(&self) -> Result<LeasedConnection, String> {
        let Ok(Ok(permit)) = tokio::time::timeout(ACQUIRE_TIMEOUT, self.permits.clone().acquire_owned()).await else {
            tracing::warn!(connections = MAX_CONNECTIONS, waited = ?ACQUIRE_TIMEOUT, "every connection to the database is busy");
            return Err(BUSY.to_owned());
        };
        match self.pool.acquire().await {
            Ok(connection) => Ok(LeasedConnection { connection, is_idle: false, _permit: permit }),
            Err(error) => Err(self.log_unreachable(error).await),
        }
    }

    /// Logs why there is no connection. The pool retries refused connections and reports only a
    /// timeout, so one more attempt determines the reason.
    async fn log_unreachable(&self, error: sqlx::Error) -> String {
        let reason = match error {
            sqlx::Error::PoolTimedOut => {
                let options = self.pool.connect_options();
                match tokio::time::timeout(PROBE_TIMEOUT, options.connect()).await {
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
