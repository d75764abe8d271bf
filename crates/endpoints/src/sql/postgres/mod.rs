//! PostgreSQL databases.

mod array;
mod bind;
mod fault;
mod init;
mod lease;
mod numeric;
mod run;
mod time;
mod value;

use super::SqlSettings;
use init::DatabaseInit;
use secrecy::ExposeSecret;
use sqlx::Executor;
use sqlx::postgres::{PgConnectOptions, PgPool, PgPoolOptions};
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;

/// The maximum number of connections to a database. Further statements wait.
const MAX_CONNECTIONS: u32 = 8;
/// The time limit of a statement's wait for a free connection, and then for a new connection.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(5);
/// Makes the database check every 250 ms whether the client of an active statement is still
/// connected. Before version 14, and on systems without support for the check, an abandoned
/// statement ends with its timeout.
const CHECK_CLIENT_CONNECTION: &str = "SET client_connection_check_interval = 250";

/// A database that is connected to when a statement needs it; a cheap handle.
#[derive(Clone)]
pub(super) struct Postgres {
    pool: PgPool,
    /// One permit for each connection. So a wait for a permit means that all connections are in
    /// use, and a wait for the pool means that the database is slow to connect.
    permits: Arc<Semaphore>,
    init: Arc<DatabaseInit>,
}

impl Postgres {
    /// Parses the URL. Nothing is connected yet.
    ///
    /// # Errors
    /// A message for the operator, without the URL.
    pub(super) fn open(settings: &SqlSettings) -> Result<Self, String> {
        // The driver's error may quote a part of the URL.
        let options = PgConnectOptions::from_str(settings.url.expose_secret())
            .map_err(|_| "the address of the database cannot be read".to_owned())?;
        let pool = PgPoolOptions::new().max_connections(MAX_CONNECTIONS).acquire_timeout(ACQUIRE_TIMEOUT);
        let pool = pool.after_connect(|connection, _| {
            Box::pin(async move {
                if let Err(error) = connection.execute(CHECK_CLIENT_CONNECTION).await {
                    tracing::debug!(%error, "a statement whose caller has gone runs on until its time is over");
                }
                Ok(())
            })
        });
        Ok(Self {
            pool: pool.connect_lazy_with(options),
            permits: Arc::new(Semaphore::new(MAX_CONNECTIONS as usize)),
            init: Arc::new(DatabaseInit::new(settings.init.clone())),
        })
    }
}
