//! The writer's connection to PostgreSQL. An advisory lock serializes the writers of several
//! servers, so that a transaction sees everything that was written before it, as with SQLite. The
//! audit log's head, the epochs and the limits on numbers of rows rely on that.
//!
//! A lost connection is reopened. If it was lost during a commit, the server is asked for the
//! outcome of the transaction (`pg_xact_status`), so a write is reported as failed only if it did fail.

use super::is_lost;
use crate::StoreError;
use crate::sql::{self, Db};
use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, Error, PgConnection, Row};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, timeout};

/// The time limit for the jobs of one transaction, and for beginning one.
pub(crate) const REQUEST_TIMEOUT: Duration = Duration::from_secs(20);

/// How long to try to reopen a lost connection before the waiting writes fail.
const REOPEN: Duration = Duration::from_secs(5);

/// The pause before the second attempt; it doubles with each further one.
const PAUSE: Duration = Duration::from_millis(50);

/// The longest pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// If a statement failed and its error was ignored, the transaction is aborted; `SELECT 1` then
/// fails, whereas `COMMIT` would silently roll back.
const COMMIT: &str = "SELECT 1; COMMIT";

const OUTCOME: &str = "SELECT pg_xact_status($1::text::xid8)";

/// The writing connection, and how to reopen it.
pub(crate) struct PostgresWriter {
    options: PgConnectOptions,
    /// Begins a transaction, waits for the lock, and returns the transaction's id, in one request.
    begin_statement: Arc<str>,
    db: Option<Db>,
    /// The id of the current transaction.
    transaction: String,
}

impl PostgresWriter {
    /// Wraps an open connection. `turn` is the key of the advisory lock. It depends on the schema,
    /// so that stores in different schemas of one database do not wait for each other.
    pub(super) fn new(options: PgConnectOptions, turn: i64, connection: PgConnection) -> Self {
        let take_turn = format!("BEGIN; SELECT pg_current_xact_id()::text FROM pg_advisory_xact_lock({turn})").into();
        Self { options, begin_statement: take_turn, db: Some(connection.into()), transaction: String::new() }
    }

    pub(crate) fn db(&mut self) -> Result<&mut Db, StoreError> {
        self.db.as_mut().ok_or_else(|| StoreError::Unavailable("the connection was lost".to_owned()))
    }

    /// Begins a transaction and acquires the writers' lock. Nothing has been written yet, so a lost
    /// connection causes no error if it can be reopened within [`REOPEN`].
    pub(crate) async fn begin(&mut self) -> Result<(), StoreError> {
        let (until, mut pause) = (Instant::now() + REOPEN, PAUSE);
        loop {
            let error = match timeout(REQUEST_TIMEOUT, self.lock_and_begin()).await {
                Ok(Ok(transaction)) => {
                    self.transaction = transaction;
                    return Ok(());
                }
                Ok(Err(error)) => error,
                Err(_) => {
                    self.db = None;
                    return Err(StoreError::Unavailable(format!(
                        "it did not answer for {} s",
                        REQUEST_TIMEOUT.as_secs()
                    )));
                }
            };
            if !is_lost(&error) {
                self.roll_back().await;
                return Err(error.into());
            }
            self.db = None;
            if Instant::now() + pause > until {
                tracing::error!(%error, "the database cannot be reached");
                return Err(StoreError::from(error));
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    async fn lock_and_begin(&mut self) -> Result<String, Error> {
        if self.db.is_none() {
            self.db = Some(self.options.connect().await?.into());
            tracing::info!("reconnected to the database");
        }
        let Some(db) = self.db.as_mut().and_then(Db::as_postgres_writer) else { return Err(Error::PoolClosed) };
        sqlx::raw_sql(AssertSqlSafe(self.begin_statement.clone())).fetch_one(db).await?.try_get(0)
    }

    pub(crate) async fn commit(&mut self) -> Result<(), StoreError> {
        let Some(db) = &mut self.db else { return Err(StoreError::Unavailable("the connection was lost".to_owned())) };
        let error = match timeout(REQUEST_TIMEOUT, db.run(COMMIT)).await {
            Ok(Ok(())) => return Ok(()),
            Ok(Err(error)) if !error.is_connection_lost() => {
                self.roll_back().await;
                return Err(error.into());
            }
            Ok(Err(error)) => StoreError::from(error),
            Err(_) => StoreError::Unavailable(format!("it did not answer for {} s", REQUEST_TIMEOUT.as_secs())),
        };
        self.db = None;
        tracing::warn!(%error, "the connection was lost during a commit; checking whether it succeeded");
        self.outcome().await
    }

    /// Finds the outcome of a transaction whose commit was not acknowledged. The transaction has
    /// ended once the lock is free.
    async fn outcome(&mut self) -> Result<(), StoreError> {
        let transaction = std::mem::take(&mut self.transaction);
        let unknown = |_| StoreError::Unavailable("it is unknown whether the last write was stored".to_owned());
        self.begin().await.map_err(unknown)?;
        let find = sql::query_scalar::<Option<String>>(OUTCOME).bind(transaction);
        let found = find.fetch_one(self.db()?).await;
        self.roll_back().await;
        match found.map_err(|error| unknown(StoreError::from(error)))?.as_deref() {
            Some("committed") => Ok(()),
            Some("aborted") => Err(StoreError::Unavailable("the connection was lost; nothing was written".to_owned())),
            _ => Err(unknown(StoreError::Closed)),
        }
    }

    /// Rolls back the transaction. If the connection does not respond, it is dropped, and the
    /// server rolls back by itself.
    pub(crate) async fn roll_back(&mut self) {
        let Some(db) = &mut self.db else { return };
        let is_over = matches!(timeout(LONGEST_PAUSE, db.run("ROLLBACK")).await, Ok(Ok(())));
        if !is_over {
            self.db = None;
        }
    }

    pub(crate) async fn close(self) -> Result<(), sql::Error> {
        match self.db {
            Some(db) => db.close().await,
            None => Ok(()),
        }
    }
}
