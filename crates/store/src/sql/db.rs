//! A connection to either kind of database.

use super::Error;
use super::local::LocalConnection;
use sqlx::pool::PoolConnection;
use sqlx::{Connection as _, PgConnection, Postgres, SqliteConnection};
use std::sync::Arc;
use tokio::sync::Notify;

/// A connection within a transaction, or a read-only one.
pub struct Db {
    connection: Connection,
    /// The tasks to wake after the commit.
    wakes: Vec<Arc<Notify>>,
}

enum Connection {
    /// A SQLite connection on its own thread, for the writer or a reader.
    Local(LocalConnection),
    /// A SQLite connection of sqlx, for transferring a whole database row by row.
    Sqlite(SqliteConnection),
    /// The writer's PostgreSQL connection.
    Postgres(PgConnection),
    /// A PostgreSQL connection from the pool of readers.
    PostgresReader(PoolConnection<Postgres>),
}

/// A reference to the driver's connection.
pub(super) enum Handle<'c> {
    Local(&'c LocalConnection),
    Sqlite(&'c mut SqliteConnection),
    Postgres(&'c mut PgConnection),
}

impl Db {
    /// Returns SQLite's own connection, if this is one that runs on the calling thread.
    pub(crate) fn as_local(&self) -> Option<&LocalConnection> {
        if let Connection::Local(db) = &self.connection { Some(db) } else { None }
    }

    /// Returns sqlx's SQLite connection.
    pub(crate) fn as_sqlite(&mut self) -> Option<&mut SqliteConnection> {
        if let Connection::Sqlite(db) = &mut self.connection { Some(db) } else { None }
    }

    /// Returns the writer's PostgreSQL connection.
    pub(crate) fn as_postgres_writer(&mut self) -> Option<&mut PgConnection> {
        if let Connection::Postgres(db) = &mut self.connection { Some(db) } else { None }
    }

    pub(super) fn handle(&mut self) -> Handle<'_> {
        match &mut self.connection {
            Connection::Local(db) => Handle::Local(db),
            Connection::Sqlite(db) => Handle::Sqlite(db),
            Connection::Postgres(db) => Handle::Postgres(db),
            Connection::PostgresReader(db) => Handle::Postgres(db),
        }
    }

    /// Whether this is a PostgreSQL database; for the few places where the databases differ in more than syntax.
    pub fn is_postgres(&self) -> bool {
        matches!(self.connection, Connection::Postgres(_) | Connection::PostgresReader(_))
    }

    /// Wakes a task of this process after the transaction has committed: something that it waits for is
    /// stored. It may also be woken if the write is undone, so it must look.
    pub fn wake_after_commit(&mut self, wake: &Arc<Notify>) {
        if !self.wakes.iter().any(|other| Arc::ptr_eq(other, wake)) {
            self.wakes.push(wake.clone());
        }
    }

    /// Returns the tasks to wake once the transaction has ended.
    pub(crate) fn take_wakes(&mut self) -> Vec<Arc<Notify>> {
        std::mem::take(&mut self.wakes)
    }

    /// Runs a statement that returns nothing and has no parameters, in one request.
    pub(crate) async fn run(&mut self, statement: &'static str) -> Result<(), Error> {
        match self.handle() {
            Handle::Local(db) => db.run(statement),
            Handle::Sqlite(db) => Ok(sqlx::raw_sql(statement).execute(db).await.map(drop)?),
            Handle::Postgres(db) => Ok(sqlx::raw_sql(statement).execute(db).await.map(drop)?),
        }
    }

    /// Closes the connection cleanly.
    pub(crate) async fn close(self) -> Result<(), Error> {
        match self.connection {
            Connection::Local(db) => db.close(),
            Connection::Sqlite(db) => Ok(db.close().await?),
            Connection::Postgres(db) => Ok(db.close().await?),
            // It returns to its pool.
            Connection::PostgresReader(_) => Ok(()),
        }
    }
}

macro_rules! from_connection {
    ($($variant:ident($type:ty);)*) => {
        $(impl From<$type> for Db {
            fn from(connection: $type) -> Self {
                Self { connection: Connection::$variant(connection), wakes: Vec::new() }
            }
        })*
    };
}

from_connection! {
    Local(LocalConnection);
    Sqlite(SqliteConnection);
    Postgres(PgConnection);
    PostgresReader(PoolConnection<Postgres>);
}
