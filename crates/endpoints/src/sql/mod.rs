//! SQL connections: SQLite, in a file or in memory, and PostgreSQL.

mod answer;
mod postgres;
mod run;
mod settings;
mod sqlite;

pub use settings::{SqlLimits, SqlSettings};

use dialect::Dialect;
use postgres::Postgres;
use sqlite::Sqlite;

/// What a statement may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// `SqlQuery`: writing is refused by the database itself.
    Read,
    /// `SqlExecute`
    Write,
}

/// A database; a cheap handle.
#[derive(Clone)]
pub struct Sql {
    database: Database,
    read_only: bool,
    limits: SqlLimits,
}

#[derive(Clone)]
enum Database {
    Sqlite(Sqlite),
    Postgres(Postgres),
}

impl Sql {
    /// Opens a database. One of SQLite that does not exist is made only if there is SQL to fill it. PostgreSQL is connected to
    /// when the first statement needs it, so that it may be down until then.
    ///
    /// # Errors
    /// One line for the operator, without the address.
    pub async fn open(settings: &SqlSettings) -> Result<Self, String> {
        let database = match settings.dialect()? {
            Dialect::Sqlite => Database::Sqlite(Sqlite::open(settings).await?),
            Dialect::Postgres => Database::Postgres(Postgres::open(settings)?),
        };
        Ok(Self { database, read_only: settings.read_only, limits: SqlLimits::default() })
    }

    /// The same database with other limits.
    pub fn with_limits(self, limits: SqlLimits) -> Self {
        Self { limits, ..self }
    }

    /// How its statements are written.
    pub(crate) fn dialect(&self) -> Dialect {
        match self.database {
            Database::Sqlite(_) => Dialect::Sqlite,
            Database::Postgres(_) => Dialect::Postgres,
        }
    }
}
