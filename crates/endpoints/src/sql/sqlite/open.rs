//! Opening a database.

use super::Sqlite;
use crate::sql::SqlSettings;
use secrecy::ExposeSecret;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqlitePoolOptions};
use sqlx::{AssertSqlSafe, ConnectOptions, Executor, SqlSafeStr};
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Mutex;

/// How long a statement waits for another process that writes.
const BUSY: Duration = Duration::from_secs(5);
/// Connections to a file. Each is a thread.
const CONNECTIONS: u32 = 4;

impl Sqlite {
    /// Opens a database; one that does not exist is made only if there is SQL to fill it.
    ///
    /// # Errors
    /// One line for the operator.
    pub(in crate::sql) async fn open(settings: &SqlSettings) -> Result<Self, String> {
        open(settings).await.map_err(|error| match error {
            // Its own text adds a number.
            sqlx::Error::Database(error) => error.message().to_owned(),
            error => error.to_string(),
        })
    }
}

async fn open(settings: &SqlSettings) -> Result<Sqlite, sqlx::Error> {
    let url = settings.url.expose_secret();
    let options = SqliteConnectOptions::from_str(url)?.busy_timeout(BUSY);
    let in_memory = url.contains(":memory:") || url.contains("mode=memory");
    let first = set_up(settings, &options, in_memory).await?;
    // A database in memory has one connection, so that its statements simply take turns.
    let pool = SqlitePoolOptions::new().max_connections(if in_memory { 1 } else { CONNECTIONS }).min_connections(1);
    let pool = pool.idle_timeout(None).max_lifetime(None);
    let pool = pool.connect_with(options.read_only(settings.read_only && !in_memory)).await?;
    let keeper = first.filter(|_| in_memory).map(|first| Arc::new(Mutex::new(first)));
    Ok(Sqlite { pool, _keeper: keeper })
}

/// Fills a new database; answers with the connection that did.
async fn set_up(
    settings: &SqlSettings,
    options: &SqliteConnectOptions,
    in_memory: bool,
) -> Result<Option<SqliteConnection>, sqlx::Error> {
    let exists = !in_memory && options.get_filename().exists();
    // A file that is only read may be on a disk that is.
    if !in_memory && (settings.init.is_none() || (exists && settings.read_only)) {
        return Ok(None);
    }
    let mut connection = options.clone().create_if_missing(true).connect().await?;
    if let Some(init) = &settings.init {
        if !exists && !in_memory {
            // So that readers and a writer do not wait for each other.
            connection.execute("PRAGMA journal_mode = WAL").await?;
        }
        // Two servers that start at once fill it once.
        connection.execute("BEGIN IMMEDIATE").await?;
        let filled = fill(&mut connection, init).await;
        connection.execute(if filled.is_ok() { "COMMIT" } else { "ROLLBACK" }).await?;
        filled?;
    }
    Ok(Some(connection))
}

async fn fill(connection: &mut SqliteConnection, init: &str) -> Result<(), sqlx::Error> {
    let tables: i64 = sqlx::query_scalar("SELECT count(*) FROM sqlite_schema").fetch_one(&mut *connection).await?;
    if tables == 0 {
        // The config's own text.
        connection.execute(AssertSqlSafe(init.to_owned()).into_sql_str()).await?;
    }
    Ok(())
}
