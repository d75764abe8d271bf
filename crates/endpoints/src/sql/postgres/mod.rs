//! PostgreSQL.

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
use init::Init;
use secrecy::ExposeSecret;
use sqlx::Executor;
use sqlx::postgres::{PgConnectOptions, PgPool, PgPoolOptions};
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;

/// Connections to a database. The next statement waits for one that is free.
const CONNECTIONS: u32 = 8;
/// How long a statement waits for a free connection, and then for a new one to stand.
const WAIT: Duration = Duration::from_secs(5);
/// How soon the database notices that a connection whose statement runs is closed. Since version 14; before it, and on systems
/// that cannot tell, the statement ends with its time.
const NOTICES_ITS_END: &str = "SET client_connection_check_interval = 250";

/// A database, connected to when a statement needs it; a cheap handle.
#[derive(Clone)]
pub(super) struct Postgres {
    pool: PgPool,
    /// One permit for each connection: who waits here waits for a statement, who waits for the pool waits for the database.
    turns: Arc<Semaphore>,
    init: Arc<Init>,
}

impl Postgres {
    /// Reads the address; nothing is connected to yet.
    ///
    /// # Errors
    /// One line for the operator, without the address.
    pub(super) fn open(settings: &SqlSettings) -> Result<Self, String> {
        // The driver's own text may quote a part of the address.
        let options = PgConnectOptions::from_str(settings.url.expose_secret())
            .map_err(|_| "the address of the database cannot be read".to_owned())?;
        let pool = PgPoolOptions::new().max_connections(CONNECTIONS).acquire_timeout(WAIT);
        let pool = pool.after_connect(|connection, _| {
            Box::pin(async move {
                if let Err(error) = connection.execute(NOTICES_ITS_END).await {
                    tracing::debug!(%error, "a statement whose caller has gone runs on until its time is over");
                }
                Ok(())
            })
        });
        Ok(Self {
            pool: pool.connect_lazy_with(options),
            turns: Arc::new(Semaphore::new(CONNECTIONS as usize)),
            init: Arc::new(Init::new(settings.init.clone())),
        })
    }
}
