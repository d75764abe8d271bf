//! Named locks across servers, for operations that read first and write later.

use super::open::ACQUIRE_TIMEOUT;
use crate::StoreError;
use crate::sql::{self, Db};
use sqlx::postgres::{PgConnectOptions, PgPool, PgPoolOptions};

/// The maximum number of locks that are held at once; further callers wait. Locks have their own
/// connections, so that their holders can still read.
const MOST: u32 = 8;

/// The lock's key is a hash of the name, seeded with a hash of the schema.
const LOCK: &str = "SELECT pg_advisory_lock(hashtextextended($1, hashtextextended(current_schema(), 1)))";

/// With these settings, a server whose machine crashed loses its locks about when it loses its runs.
pub(super) const ALIVE: [(&str, &str); 3] =
    [("tcp_keepalives_idle", "5"), ("tcp_keepalives_interval", "5"), ("tcp_keepalives_count", "2")];

const UNLOCK: &str = "SELECT pg_advisory_unlock_all()";

/// A held lock, until it is dropped or its server is gone.
pub struct Lock {
    _connection: Db,
}

/// Creates the pool of connections that hold locks; they are opened on demand.
pub(super) fn pool(options: PgConnectOptions) -> PgPool {
    PgPoolOptions::new()
        .max_connections(MOST)
        .acquire_timeout(ACQUIRE_TIMEOUT)
        .after_release(|connection, _| {
            Box::pin(async move {
                let given_back = tokio::time::timeout(ACQUIRE_TIMEOUT, sqlx::query(UNLOCK).execute(connection)).await;
                given_back.unwrap_or(Err(sqlx::Error::PoolTimedOut)).map(|_| true)
            })
        })
        .connect_lazy_with(options)
}

/// Acquires the lock with this name.
pub(crate) async fn lock(pool: &PgPool, name: &str) -> Result<Lock, StoreError> {
    let mut connection = Db::from(pool.acquire().await?);
    sql::query(LOCK).bind(name).execute(&mut connection).await?;
    Ok(Lock { _connection: connection })
}
