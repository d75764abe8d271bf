//! The writer's line to PostgreSQL. Writers of several servers take turns by an advisory lock, so that a transaction sees all that was
//! written before it, as with SQLite: the audit log's head, the epochs and the bounds on numbers of rows rest on that.
//!
//! A connection that is lost is opened again. Where it is lost while a transaction is committed, the server is asked afterwards what
//! became of the transaction (`pg_xact_status`), so a write is told to have failed only if it has.

use super::is_lost;
use crate::StoreError;
use crate::sql::{self, Db};
use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, Error, PgConnection, Row};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, timeout};

/// How long the jobs of one transaction may take, and how long it may take to begin one.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// How long a lost connection is looked for before those who wait are told.
const REOPEN: Duration = Duration::from_secs(5);

/// The first pause before another attempt, which doubles.
const PAUSE: Duration = Duration::from_millis(50);

/// The longest pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// A statement that failed and whose error went unnoticed has ended the transaction; the first one finds that out.
const COMMIT: &str = "SELECT 1; COMMIT";

const OUTCOME: &str = "SELECT pg_xact_status($1::text::xid8)";

/// The connection that writes, while there is one.
pub(crate) struct Line {
    options: PgConnectOptions,
    /// Begins, waits for the other writers, and numbers the transaction, in one request.
    take_turn: Arc<str>,
    db: Option<Db>,
    /// The number of the transaction that runs.
    transaction: String,
}

impl Line {
    /// A line on an open connection, and how to open it again. `turn` is the advisory lock's number: that of the schema, so that stores
    /// in one database do not wait for each other.
    pub(super) fn new(options: PgConnectOptions, turn: i64, connection: PgConnection) -> Self {
        let take_turn = format!("BEGIN; SELECT pg_current_xact_id()::text FROM pg_advisory_xact_lock({turn})").into();
        Self { options, take_turn, db: Some(Db::Postgres(connection)), transaction: String::new() }
    }

    pub(crate) fn db(&mut self) -> Result<&mut Db, StoreError> {
        self.db.as_mut().ok_or_else(|| StoreError::Unavailable("the connection was lost".to_owned()))
    }

    /// Begins a transaction when no other writer is in one. Nothing was written yet, so a lost connection goes unnoticed as long as
    /// another one can be had within [`REOPEN`].
    pub(crate) async fn begin(&mut self) -> Result<(), StoreError> {
        let (until, mut pause) = (Instant::now() + REOPEN, PAUSE);
        loop {
            let error = match timeout(PATIENCE, self.take_turn()).await {
                Ok(Ok(transaction)) => {
                    self.transaction = transaction;
                    return Ok(());
                }
                Ok(Err(error)) => error,
                Err(_) => {
                    self.db = None;
                    return Err(StoreError::Unavailable(format!("it did not answer for {} s", PATIENCE.as_secs())));
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

    async fn take_turn(&mut self) -> Result<String, Error> {
        if self.db.is_none() {
            self.db = Some(Db::Postgres(self.options.connect().await?));
            tracing::info!("the database is connected again");
        }
        let Some(Db::Postgres(db)) = &mut self.db else { return Err(Error::PoolClosed) };
        sqlx::raw_sql(AssertSqlSafe(self.take_turn.clone())).fetch_one(db).await?.try_get(0)
    }

    pub(crate) async fn commit(&mut self) -> Result<(), StoreError> {
        let Some(db) = &mut self.db else { return Err(StoreError::Unavailable("the connection was lost".to_owned())) };
        let error = match timeout(PATIENCE, db.run(COMMIT)).await {
            Ok(Ok(())) => return Ok(()),
            Ok(Err(error)) if !is_lost(&error) => {
                self.roll_back().await;
                return Err(error.into());
            }
            Ok(Err(error)) => StoreError::from(error),
            Err(_) => StoreError::Unavailable(format!("it did not answer for {} s", PATIENCE.as_secs())),
        };
        self.db = None;
        tracing::warn!(%error, "the connection was lost in a commit; asking what became of it");
        self.outcome().await
    }

    /// What became of a transaction whose commit was not answered. It is over when the lock can be had.
    async fn outcome(&mut self) -> Result<(), StoreError> {
        let transaction = std::mem::take(&mut self.transaction);
        let unknown = |_| StoreError::Unavailable("it is not known whether the last write was kept".to_owned());
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

    /// Gives up the transaction. A connection that does not answer to that is dropped, and the server ends the transaction by itself.
    pub(crate) async fn roll_back(&mut self) {
        let Some(db) = &mut self.db else { return };
        let is_over = matches!(timeout(LONGEST_PAUSE, db.run("ROLLBACK")).await, Ok(Ok(())));
        if !is_over {
            self.db = None;
        }
    }

    pub(crate) async fn close(self) -> Result<(), Error> {
        match self.db {
            Some(db) => db.close().await,
            None => Ok(()),
        }
    }
}
