//! SQL connections: SQLite (a file or in memory) and PostgreSQL.

mod postgres;
mod run;
mod settings;
mod shared;
mod sqlite;
mod statement_result;

pub use settings::{SqlLimits, SqlSettings};
pub use shared::{OpenDatabases, SqlFailure};

use dialect::Dialect;
use postgres::Postgres;
use sqlite::Sqlite;

/// The messages for callers about a database that does not answer.
const UNREACHABLE: &str = "the database cannot be reached; try again later";
const BUSY: &str = "the database is busy; try again";
const FAILED: &str = "the database failed";

/// The access mode of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SqlAccess {
    /// `SqlQuery`: the database itself rejects writes.
    Read,
    /// `SqlExecute`
    Write,
}

/// An SQL connection; a cheap handle.
#[derive(Clone)]
pub struct SqlConnection {
    backend: SqlBackend,
    read_only: bool,
    limits: SqlLimits,
}

#[derive(Clone)]
enum SqlBackend {
    Sqlite(Sqlite),
    Postgres(Postgres),
}

impl SqlConnection {
    /// Opens a database. A SQLite file that does not exist is created only if there is SQL to
    /// initialize it. PostgreSQL is connected to by the first statement, and may be down until
    /// then.
    ///
    /// # Errors
    /// A message for the operator, without the URL.
    pub async fn open(settings: &SqlSettings) -> Result<Self, String> {
        let backend = match settings.dialect()? {
            Dialect::Sqlite => SqlBackend::Sqlite(Sqlite::open(settings).await?),
            Dialect::Postgres => SqlBackend::Postgres(Postgres::open(settings)?),
        };
        Ok(Self { backend, read_only: settings.read_only, limits: SqlLimits::default() })
    }

    /// Sets other limits.
    pub fn with_limits(self, limits: SqlLimits) -> Self {
        Self { limits, ..self }
    }

    /// Returns the SQL dialect.
    pub fn dialect(&self) -> Dialect {
        match self.backend {
            SqlBackend::Sqlite(_) => Dialect::Sqlite,
            SqlBackend::Postgres(_) => Dialect::Postgres,
        }
    }
}
