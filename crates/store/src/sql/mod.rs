//! SQL for both databases. A statement is written once if both databases understand it, otherwise
//! as a pair. Bound values are owned, so a statement can be created before it is known which
//! connection runs it.
//!
//! This replaces sqlx's `Any`, which copies each value of each row into its own type, cannot read
//! damaged text, and supports neither arrays nor the errors of a specific database.

mod builder;
mod db;
mod error;
mod local;
mod row;
mod value;

pub use builder::QueryBuilder;
pub use db::Db;
pub use error::Error;
pub(crate) use error::Violation;
pub(crate) use local::{LocalConnection, LogState};
pub use row::{ColumnKey, Get, Row};
pub use value::Value;
pub(crate) use value::without_nul;

use db::Handle;
use futures::stream::{self, BoxStream};
use futures::{StreamExt, TryStreamExt};
use sqlx::{SqlSafeStr, SqlStr};
use std::marker::PhantomData;
use std::sync::Arc;

/// The text of a statement.
#[derive(Clone)]
pub struct Sql {
    sqlite: SqlStr,
    postgres: SqlStr,
}

impl Sql {
    /// A statement in the syntax of each database, with the same parameters and columns.
    pub const fn pair(sqlite: &'static str, postgres: &'static str) -> Self {
        Self { sqlite: SqlStr::from_static(sqlite), postgres: SqlStr::from_static(postgres) }
    }
}

impl From<&'static str> for Sql {
    fn from(both: &'static str) -> Self {
        Self::pair(both, both)
    }
}

/// For text that this crate has assembled from constants, never from users' input.
impl From<Arc<str>> for Sql {
    fn from(both: Arc<str>) -> Self {
        let text = sqlx::AssertSqlSafe(both).into_sql_str();
        Self { sqlite: text.clone(), postgres: text }
    }
}

/// The result of a statement that returns no rows.
#[derive(Clone, Copy)]
pub struct Done(u64);

impl Done {
    /// Returns the number of rows that the statement changed.
    pub fn rows_affected(self) -> u64 {
        self.0
    }
}

/// A statement with its bound values.
pub struct Query {
    sql: Sql,
    values: Vec<Value>,
}

/// Creates a statement; its parameters are `$1`, `$2` and so on.
pub fn query(sql: impl Into<Sql>) -> Query {
    Query { sql: sql.into(), values: Vec::new() }
}

impl Query {
    /// Binds the next parameter.
    #[must_use]
    pub fn bind(mut self, value: impl Into<Value>) -> Self {
        self.values.push(value.into());
        self
    }

    /// Runs a statement that returns no rows.
    ///
    /// # Errors
    /// The statement failed.
    pub async fn execute(self, db: &mut Db) -> Result<Done, Error> {
        Ok(Done(match db.handle() {
            Handle::Local(db) => db.execute(self.sql.sqlite.as_str(), &self.values)?,
            Handle::Sqlite(db) => value::to_sqlite(self.sql.sqlite, self.values).execute(db).await?.rows_affected(),
            Handle::Postgres(db) => {
                value::to_postgres(self.sql.postgres, self.values).execute(db).await?.rows_affected()
            }
        }))
    }

    /// Returns all rows.
    ///
    /// # Errors
    /// The statement failed.
    pub async fn fetch_all(self, db: &mut Db) -> Result<Vec<Row>, Error> {
        Ok(match db.handle() {
            Handle::Local(db) => local_rows(db, &self, usize::MAX)?,
            Handle::Sqlite(db) => {
                let rows = value::to_sqlite(self.sql.sqlite, self.values).fetch_all(db).await?;
                rows.into_iter().map(Row::from).collect()
            }
            Handle::Postgres(db) => {
                let rows = value::to_postgres(self.sql.postgres, self.values).fetch_all(db).await?;
                rows.into_iter().map(Row::from).collect()
            }
        })
    }

    /// Returns a chain of rows, each of which names the one before it, with the newest row last.
    /// For SQLite the statement returns all rows, newest first, with the columns id, id of the
    /// previous row, and id of the newest row of the chain, followed by others; the chain is
    /// followed here, at a third of the cost of a recursive statement. For PostgreSQL the statement
    /// itself must be recursive, because every row would be sent.
    pub(crate) async fn fetch_chain(self, db: &mut Db) -> Result<Vec<Row>, Error> {
        match db.handle() {
            Handle::Local(local) => {
                let rows = local.fetch_chain(self.sql.sqlite.as_str(), &self.values)?;
                Ok(rows.into_iter().map(Row::from).collect())
            }
            _ => self.fetch_all(db).await,
        }
    }

    /// Returns the first row, if there is one.
    ///
    /// # Errors
    /// The statement failed.
    pub async fn fetch_optional(self, db: &mut Db) -> Result<Option<Row>, Error> {
        Ok(match db.handle() {
            Handle::Local(db) => local_rows(db, &self, 1)?.pop(),
            Handle::Sqlite(db) => {
                value::to_sqlite(self.sql.sqlite, self.values).fetch_optional(db).await?.map(Row::from)
            }
            Handle::Postgres(db) => {
                value::to_postgres(self.sql.postgres, self.values).fetch_optional(db).await?.map(Row::from)
            }
        })
    }

    /// Returns the first row.
    ///
    /// # Errors
    /// The statement failed or returned no row.
    pub async fn fetch_one(self, db: &mut Db) -> Result<Row, Error> {
        self.fetch_optional(db).await?.ok_or(Error::NoRow)
    }

    /// Streams the rows as they arrive; a `LocalConnection` connection returns them all at once.
    pub(crate) fn fetch(self, db: &mut Db) -> BoxStream<'_, Result<Row, Error>> {
        match db.handle() {
            Handle::Local(db) => match local_rows(db, &self, usize::MAX) {
                Ok(rows) => stream::iter(rows.into_iter().map(Ok)).boxed(),
                Err(error) => stream::iter([Err(error)]).boxed(),
            },
            Handle::Sqlite(db) => {
                value::to_sqlite(self.sql.sqlite, self.values).fetch(db).map_ok(Row::from).err_into().boxed()
            }
            Handle::Postgres(db) => {
                value::to_postgres(self.sql.postgres, self.values).fetch(db).map_ok(Row::from).err_into().boxed()
            }
        }
    }
}

fn local_rows(db: &LocalConnection, query: &Query, most: usize) -> Result<Vec<Row>, Error> {
    Ok(db.fetch(query.sql.sqlite.as_str(), &query.values, most)?.into_iter().map(Row::from).collect())
}

/// A statement whose first column is the result.
pub struct ScalarQuery<T> {
    query: Query,
    column: PhantomData<fn() -> T>,
}

/// Creates a statement whose first column is the result.
pub fn query_scalar<T>(sql: impl Into<Sql>) -> ScalarQuery<T> {
    ScalarQuery { query: query(sql), column: PhantomData }
}

impl<T: for<'r> Get<'r>> ScalarQuery<T> {
    /// Binds the next parameter.
    #[must_use]
    pub fn bind(mut self, value: impl Into<Value>) -> Self {
        self.query = self.query.bind(value);
        self
    }

    /// Returns the first column of all rows.
    ///
    /// # Errors
    /// The statement failed.
    pub async fn fetch_all(self, db: &mut Db) -> Result<Vec<T>, Error> {
        self.query.fetch_all(db).await?.iter().map(|row| row.try_get(0_usize)).collect()
    }

    /// Returns the first column of the first row, if there is one.
    ///
    /// # Errors
    /// The statement failed.
    pub async fn fetch_optional(self, db: &mut Db) -> Result<Option<T>, Error> {
        self.query.fetch_optional(db).await?.map(|row| row.try_get(0_usize)).transpose()
    }

    /// Returns the first column of the first row.
    ///
    /// # Errors
    /// The statement failed or returned no row.
    pub async fn fetch_one(self, db: &mut Db) -> Result<T, Error> {
        self.query.fetch_one(db).await?.try_get(0_usize)
    }
}
