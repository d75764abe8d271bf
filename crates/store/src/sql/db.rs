//! A connection to either kind of database.

use super::local::Local;
use sqlx::pool::PoolConnection;
use sqlx::{Connection, PgConnection, Postgres, SqliteConnection};

/// A connection.
pub(crate) enum Db {
    /// A SQLite connection on its own thread, for the writer or a reader.
    Local(Local),
    /// A SQLite connection of sqlx, for transferring a whole database row by row.
    Sqlite(SqliteConnection),
    /// The writer's PostgreSQL connection.
    Postgres(PgConnection),
    /// A PostgreSQL connection from the pool of readers.
    PostgresReader(PoolConnection<Postgres>),
}

/// A reference to the driver's connection.
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

    /// For the few places where the databases differ in more than syntax.
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

    /// Closes the connection cleanly.
    pub(crate) async fn close(self) -> Result<(), sqlx::Error> {
        match self {
            Self::Local(db) => db.close(),
            Self::Sqlite(db) => db.close().await,
            Self::Postgres(db) => db.close().await,
            // It returns to its pool.
            Self::PostgresReader(_) => Ok(()),
        }
    }
}
