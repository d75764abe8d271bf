//! PostgreSQL databases for the tests.

use endpoints::{SqlConnection, SqlSettings};
pub(crate) use test_postgres::{PASSWORD, database_url, new_database};

/// Opens a new PostgreSQL database; `None` if PostgreSQL is not installed.
pub(crate) async fn open(read_only: bool, init: Option<&str>) -> Option<SqlConnection> {
    let settings = SqlSettings { url: new_database().await?.into(), read_only, init: init.map(str::to_owned) };
    Some(SqlConnection::open(&settings).await.unwrap())
}
