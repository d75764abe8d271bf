//! One thing at a time over all servers, for what reads first and writes later.

use super::open::WAIT;
use crate::StoreError;
use crate::sql::{self, Db};
use sqlx::postgres::{PgConnectOptions, PgPool, PgPoolOptions};

/// Locks that are held at once; more wait. They have connections of their own, so that whoever holds one can read.
const MOST: u32 = 8;

/// Of the name and the schema, which its own name makes another number.
const LOCK: &str = "SELECT pg_advisory_lock(hashtextextended($1, hashtextextended(current_schema(), 1)))";

/// A server whose machine is gone loses its locks about when it loses its runs.
pub(super) const ALIVE: [(&str, &str); 3] =
    [("tcp_keepalives_idle", "5"), ("tcp_keepalives_interval", "5"), ("tcp_keepalives_count", "2")];

const UNLOCK: &str = "SELECT pg_advisory_unlock_all()";

/// Held until it is dropped, or its server is gone.
pub struct Lock {
    _connection: Db,
}

/// The connections that hold locks; made when one is taken.
pub(super) fn pool(options: PgConnectOptions) -> PgPool {
    PgPoolOptions::new()
        .max_connections(MOST)
        .acquire_timeout(WAIT)
        .after_release(|connection, _| {
            Box::pin(async move {
                let given_back = tokio::time::timeout(WAIT, sqlx::query(UNLOCK).execute(connection)).await;
                given_back.unwrap_or(Err(sqlx::Error::PoolTimedOut)).map(|_| true)
            })
        })
        .connect_lazy_with(options)
}

/// Takes the lock with this name.
pub(crate) async fn lock(pool: &PgPool, name: &str) -> Result<Lock, StoreError> {
    let mut connection = Db::PostgresReader(pool.acquire().await?);
    sql::query(LOCK).bind(name).execute(&mut connection).await?;
    Ok(Lock { _connection: connection })
}
