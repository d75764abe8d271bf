//! Databases of PostgreSQL for the tests.

use endpoints::{Sql, SqlSettings};
pub(crate) use test_postgres::{PASSWORD, address, new_database};

/// A new database of PostgreSQL, opened; none where there is no PostgreSQL.
pub(crate) async fn open(read_only: bool, init: Option<&str>) -> Option<Sql> {
    let settings = SqlSettings { url: new_database().await?.into(), read_only, init: init.map(str::to_owned) };
    Some(Sql::open(&settings).await.unwrap())
}
