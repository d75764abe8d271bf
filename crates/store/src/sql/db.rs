//! A connection to either database.

use super::local::Local;
use sqlx::pool::PoolConnection;
use sqlx::{Connection, PgConnection, Postgres, SqliteConnection};

/// A connection.
pub(crate) enum Db {
    /// To SQLite, on a thread of its own: the one that writes, or one that reads.
    Local(Local),
    /// To SQLite, for whoever moves all of it row by row.
    Sqlite(SqliteConnection),
    /// One that writes.
    Postgres(PgConnection),
    /// One that reads.
    PostgresReader(PoolConnection<Postgres>),
}

/// The driver's connection.
pub(super) enum Handle<'c> {
    Local(&'c Local),
    Sqlite(&'c mut SqliteConnection),
    Postgres(&'c mut PgConnection),
}

impl Db {
    pub(super) fn handle(&mut self) -> Handle<'_> {
        match self {
            Self::Local(db) => Handle::Local(db),
            Self::Sqlite(db) => Handle::Sqlite(db),
            Self::Postgres(db) => Handle::Postgres(db),
            Self::PostgresReader(db) => Handle::Postgres(db),
        }
    }

    /// For the few places where the databases differ in more than words.
    pub(crate) fn is_postgres(&self) -> bool {
        matches!(self, Self::Postgres(_) | Self::PostgresReader(_))
    }

    /// Runs a statement that returns nothing and has no parameters, in one request.
    pub(crate) async fn run(&mut self, statement: &'static str) -> Result<(), sqlx::Error> {
        match self.handle() {
            Handle::Local(db) => db.run(statement),
            Handle::Sqlite(db) => sqlx::raw_sql(statement).execute(db).await.map(drop),
            Handle::Postgres(db) => sqlx::raw_sql(statement).execute(db).await.map(drop),
        }
    }

    /// Closes it in order.
    pub(crate) async fn close(self) -> Result<(), sqlx::Error> {
        match self {
            Self::Local(db) => db.close(),
            Self::Sqlite(db) => db.close().await,
            Self::Postgres(db) => db.close().await,
            // Back to its pool.
            Self::PostgresReader(_) => Ok(()),
        }
    }
}
