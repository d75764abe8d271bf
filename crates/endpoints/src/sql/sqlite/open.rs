//! Opens SQLite databases.

use super::Sqlite;
use crate::sql::SqlSettings;
use secrecy::ExposeSecret;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqlitePoolOptions};
use sqlx::{AssertSqlSafe, ConnectOptions, Executor, SqlSafeStr};
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Mutex;

/// The time limit of a statement's wait for a writer in another process.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// The maximum number of connections to a file. Each uses a thread.
const MAX_CONNECTIONS: u32 = 4;

impl Sqlite {
    /// Opens a database. A file that does not exist is created only if there is SQL to initialize
    /// it.
    ///
    /// # Errors
    /// A message for the operator.
    pub(in crate::sql) async fn open(settings: &SqlSettings) -> Result<Self, String> {
        open(settings).await.map_err(|error| match error {
            // The error's own text adds a number.
            sqlx::Error::Database(error) => error.message().to_owned(),
            error => error.to_string(),
        })
    }
}

async fn open(settings: &SqlSettings) -> Result<Sqlite, sqlx::Error> {
    let url = settings.url.expose_secret();
    let options = SqliteConnectOptions::from_str(url)?.busy_timeout(BUSY_TIMEOUT);
    let in_memory = url.contains(":memory:") || url.contains("mode=memory");
    let first = initialize(settings, &options, in_memory).await?;
    // An in-memory database has one connection, so its statements run one after the other.
    let pool = SqlitePoolOptions::new().max_connections(if in_memory { 1 } else { MAX_CONNECTIONS }).min_connections(1);
    let pool = pool.idle_timeout(None).max_lifetime(None);
    let pool = pool.connect_with(options.read_only(settings.read_only && !in_memory)).await?;
    let keeper = first.filter(|_| in_memory).map(|first| Arc::new(Mutex::new(first)));
    Ok(Sqlite { pool, _keeper: keeper })
}

/// Initializes a new database and returns the connection that was used.
async fn initialize(
    settings: &SqlSettings,
    options: &SqliteConnectOptions,
    in_memory: bool,
) -> Result<Option<SqliteConnection>, sqlx::Error> {
    let exists = !in_memory && options.get_filename().exists();
    // A read-only file may be on a read-only file system.
    if !in_memory && (settings.init.is_none() || (exists && settings.read_only)) {
        return Ok(None);
    }
    let mut connection = options.clone().create_if_missing(true).connect().await?;
    if let Some(init) = &settings.init {
        if !exists && !in_memory {
            // With a write-ahead log, readers and a writer do not block each other.
            connection.execute("PRAGMA journal_mode = WAL").await?;
        }
        // The write lock makes sure that of several servers only one runs the SQL.
        connection.execute("BEGIN IMMEDIATE").await?;
        let filled = run_init(&mut connection, init).await;
        connection.execute(if filled.is_ok() { "COMMIT" } else { "ROLLBACK" }).await?;
        filled?;
    }
    Ok(Some(connection))
}

async fn run_init(connection: &mut SqliteConnection, init: &str) -> Result<(), sqlx::Error> {
    let tables: i64 = sqlx::query_scalar("SELECT count(*) FROM sqlite_schema").fetch_one(&mut *connection).await?;
    if tables == 0 {
        // The SQL is from the config.
        connection.execute(AssertSqlSafe(init.to_owned()).into_sql_str()).await?;
    }
    Ok(())
}
