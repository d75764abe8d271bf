//! Opens a database: connections with the promised settings, the right SQLite, the right schema.

use super::file::{self, Location};
use crate::StoreError;
use crate::database::{Database, Readers, Schema, cannot_open, check_schema, migration_error};
use crate::sql::Db;
use crate::writer::{Line, Writer};
use sqlx::migrate::Migrator;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{ConnectOptions, Connection, SqliteConnection};
use std::time::Duration;

static MIGRATOR: Migrator = sqlx::migrate!("migrations/sqlite");

/// Versions before it can damage a database in WAL mode.
const MIN_VERSION: [u32; 3] = [3, 51, 3];

/// How long a connection waits for a lock that another process holds.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Connections that read. SQLite reads from memory most of the time, so a few are enough.
const READERS: u32 = 4;

/// The WAL file is cut back to this size after a checkpoint, in bytes.
const WAL_LIMIT: &str = "67108864";

/// Opens the database that a URL names, and brings its schema up to date.
pub(crate) async fn open(url: &str) -> Result<Database, StoreError> {
    open_with(url, Schema::BroughtUpToDate).await
}

/// Opens a database that is there already, in the schema of this version.
pub(crate) async fn open_existing(url: &str) -> Result<Database, StoreError> {
    open_with(url, Schema::LeftAlone).await
}

async fn open_with(url: &str, schema: Schema) -> Result<Database, StoreError> {
    let (options, name) = match Location::parse(url)? {
        Location::Memory => (in_memory(), None),
        Location::File { path, create } => {
            file::prepare(&path, create && schema == Schema::BroughtUpToDate)?;
            (of_file().filename(&path), Some(path.display().to_string()))
        }
    };
    let shown = name.as_deref().unwrap_or("in memory");
    let mut connection = connect(&options).await.map_err(|error| cannot_open(shown, error.into()))?;
    prepare(&mut connection, shown, schema).await?;
    let readers = match name {
        Some(_) => Readers::Sqlite(readers(options).await.map_err(|error| cannot_open(shown, error.into()))?),
        None => Readers::Writer,
    };
    let writer = Writer::start(Line::Sqlite(Db::Sqlite(connection)));
    Ok(Database { writer, readers, shared: None, locks: None })
}

/// A connection to a file that is there, for something that takes its time, and the schema of this version.
pub(crate) async fn connect_alone(url: &str) -> Result<(Db, i64), StoreError> {
    let Location::File { path, .. } = Location::parse(url)? else {
        return Err(StoreError::Open("a database in memory is gone with its process".to_owned()));
    };
    file::prepare(&path, false)?;
    let connected = connect(&of_file().filename(&path)).await;
    let connected = connected.map_err(|error| cannot_open(&path.display().to_string(), error.into()))?;
    Ok((Db::Sqlite(connected), newest_migration()))
}

/// Connects. Of several processes that switch a new file to WAL at once, SQLite turns all but one away without waiting, whatever
/// the busy timeout says; here they come again.
async fn connect(options: &SqliteConnectOptions) -> Result<SqliteConnection, sqlx::Error> {
    let patience = tokio::time::Instant::now() + BUSY_TIMEOUT;
    loop {
        match options.connect().await {
            Err(error) if is_busy(&error) && tokio::time::Instant::now() < patience => {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            connected => return connected,
        }
    }
}

/// `SQLITE_BUSY`, whichever of its extended codes.
fn is_busy(error: &sqlx::Error) -> bool {
    let code = error.as_database_error().and_then(|error| error.code());
    code.and_then(|code| code.parse::<i32>().ok()).is_some_and(|code| code & 0xff == 5)
}

/// Rows that a connection's thread reads ahead. With the driver's 50 it stops and is woken again some forty times for a long
/// conversation, which costs more than reading the rows.
const ROW_BUFFER: usize = 1_024;

pub(super) fn common() -> SqliteConnectOptions {
    // The driver logs whole statements; the writer has its own words for a slow one.
    SqliteConnectOptions::new()
        .disable_statement_logging()
        .busy_timeout(BUSY_TIMEOUT)
        .row_buffer_size(ROW_BUFFER)
        .foreign_keys(true)
        .synchronous(SqliteSynchronous::Full)
        .pragma("temp_store", "MEMORY")
}

fn in_memory() -> SqliteConnectOptions {
    common().in_memory(true)
}

fn of_file() -> SqliteConnectOptions {
    common().journal_mode(SqliteJournalMode::Wal).pragma("journal_size_limit", WAL_LIMIT)
}

async fn readers(options: SqliteConnectOptions) -> Result<SqlitePool, sqlx::Error> {
    SqlitePoolOptions::new()
        .max_connections(READERS)
        .acquire_timeout(BUSY_TIMEOUT)
        .test_before_acquire(false)
        .after_connect(|connection, _| {
            Box::pin(async move {
                assert_settings(connection, true).await.map_err(|error| sqlx::Error::Protocol(error.to_string()))
            })
        })
        .connect_with(options.pragma("query_only", "ON"))
        .await
}

async fn prepare(connection: &mut SqliteConnection, shown: &str, schema: Schema) -> Result<(), StoreError> {
    let check = async {
        assert_version(connection).await?;
        assert_settings(connection, false).await?;
        match schema {
            Schema::BroughtUpToDate => migrate(connection).await,
            Schema::LeftAlone => assert_schema(connection).await,
        }
    };
    check.await.map_err(|error| cannot_open(shown, error))
}

async fn assert_version(connection: &mut SqliteConnection) -> Result<(), StoreError> {
    let version: String = sqlx::query_scalar("SELECT sqlite_version()").fetch_one(connection).await?;
    let parts: Vec<u32> = version.split('.').map_while(|part| part.parse().ok()).collect();
    if parts[..] < MIN_VERSION[..] {
        return Err(StoreError::Open(format!("SQLite {version} can damage it; 3.51.3 or newer is needed")));
    }
    Ok(())
}

/// The schema of this version.
pub(super) fn newest_migration() -> i64 {
    MIGRATOR.iter().map(|migration| migration.version).max().unwrap_or_default()
}

/// What durability rests on is read back from every connection, not assumed.
async fn assert_settings(connection: &mut SqliteConnection, read_only: bool) -> Result<(), StoreError> {
    let journal: String = sqlx::query_scalar("PRAGMA journal_mode").fetch_one(&mut *connection).await?;
    if journal != "wal" && journal != "memory" {
        return Err(StoreError::Open(format!("its journal mode is `{journal}`; the file system does not support WAL")));
    }
    let expected = [
        ("PRAGMA synchronous", 2),
        ("PRAGMA foreign_keys", 1),
        ("PRAGMA busy_timeout", BUSY_TIMEOUT.as_millis() as i64),
        ("PRAGMA query_only", i64::from(read_only)),
    ];
    for (pragma, value) in expected {
        let found: i64 = sqlx::query_scalar(pragma).fetch_one(&mut *connection).await?;
        if found != value {
            return Err(StoreError::Open(format!("`{pragma}` is {found} instead of {value}")));
        }
    }
    Ok(())
}

/// All new migrations in one transaction that locks first: killed half-way it leaves nothing, and of two processes that
/// start together exactly one migrates.
async fn migrate(connection: &mut SqliteConnection) -> Result<(), StoreError> {
    let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
    MIGRATOR.run(&mut *transaction).await.map_err(migration_error)?;
    Ok(transaction.commit().await?)
}

/// Whoever only looks must not change a database that an older version may be serving.
async fn assert_schema(connection: &mut SqliteConnection) -> Result<(), StoreError> {
    let find = sqlx::query_scalar("SELECT max(version) FROM _sqlx_migrations").fetch_one(connection);
    check_schema(find.await?, newest_migration())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// F3: an acknowledged write survives a power failure only with these settings, on whatever connection.
    #[tokio::test]
    async fn every_connection_has_the_promised_settings() {
        let folder = tempfile::tempdir().unwrap();
        let database = open(&format!("sqlite://{}/chat.db", folder.path().display())).await.unwrap();
        let Readers::Sqlite(readers) = database.readers else { panic!("a file has readers") };
        let mut held = Vec::new();
        for _ in 0..READERS {
            let mut reader = readers.acquire().await.unwrap();
            assert_settings(&mut reader, true).await.unwrap();
            let refused = sqlx::query("DELETE FROM conversations").execute(&mut *reader).await.unwrap_err();
            assert!(refused.to_string().contains("readonly"), "{refused}");
            held.push(reader);
        }
        let settings = database.writer.run(|db| {
            Box::pin(async move {
                match db {
                    Db::Sqlite(db) => assert_settings(db, false).await,
                    _ => panic!("a file has a connection of its own"),
                }
            })
        });
        settings.await.unwrap();
    }

    #[tokio::test]
    async fn a_weaker_setting_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let check = async |options: SqliteConnectOptions, expected: &str| {
            let mut connection = options.create_if_missing(true).connect().await.unwrap();
            let refused = assert_settings(&mut connection, false).await.unwrap_err();
            assert_eq!(refused.to_string(), expected);
        };
        let file = |name: &str| of_file().filename(folder.path().join(name));
        check(file("a").synchronous(SqliteSynchronous::Normal), "`PRAGMA synchronous` is 1 instead of 2").await;
        check(file("b").foreign_keys(false), "`PRAGMA foreign_keys` is 0 instead of 1").await;
        check(file("c").busy_timeout(Duration::ZERO), "`PRAGMA busy_timeout` is 0 instead of 5000").await;
        let delete = file("d").journal_mode(SqliteJournalMode::Delete);
        check(delete, "its journal mode is `delete`; the file system does not support WAL").await;
    }
}
