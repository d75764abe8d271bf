//! Opens a SQLite database: checks SQLite's version and the schema, and opens connections with the required settings.

use super::claim::{Claim, Claimant};
use super::file::{self, SqliteLocation};
use super::place;
use super::watch::FileWatch;
use super::writer_connection::SqliteWriter;
use crate::database::{
    Database, ReadConnections, SchemaPolicy, cannot_open, capability_migration_error, check_schema, migration_error,
};
use crate::schema::{Schema, SqliteBaseline};
use crate::sql::{self, Db, LocalConnection};
use crate::writer::{self, Writer};
use crate::{StoreError, migrations, sqlite};
use rusqlite::{Connection, OpenFlags};
use sqlx::migrate::{MigrateError, Migrator};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous};
use sqlx::{ConnectOptions, Connection as _, SqliteConnection};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

static MIGRATOR: LazyLock<Migrator> = LazyLock::new(migrations::sqlite);

/// Earlier versions can damage a database in WAL mode.
const MIN_VERSION: [u32; 3] = [3, 51, 3];

/// How long a connection waits for a lock that another process holds.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// The value of `PRAGMA synchronous` with which a commit waits until it is on the disk.
const SYNCHRONOUS_FULL: i64 = 2;

/// The number of read connections. SQLite mostly reads from memory, so a few are enough.
const READERS: usize = 4;

/// Opens the database that a URL names in order to serve it, and migrates its schema.
pub(crate) async fn open(url: &str, claimant: &Claimant, schema: Schema) -> Result<Database, StoreError> {
    open_with(url, Some(claimant), schema).await
}

/// Opens an existing database, which must have the schema of this version, while another process
/// may serve it.
pub(crate) async fn open_existing(url: &str, schema: Schema) -> Result<Database, StoreError> {
    open_with(url, None, schema).await
}

async fn open_with(url: &str, claimant: Option<&Claimant>, schema: Schema) -> Result<Database, StoreError> {
    let policy = if claimant.is_some() { SchemaPolicy::Migrate } else { SchemaPolicy::RequireCurrent };
    let (place, options) = match SqliteLocation::parse(url)? {
        SqliteLocation::Memory => {
            let place = OpenTarget::in_memory();
            let options = base_options().journal_mode(SqliteJournalMode::Memory).vfs(IN_MEMORY).create_if_missing(true);
            (place, options)
        }
        SqliteLocation::File { path, create } => {
            file::prepare(&path, create && policy == SchemaPolicy::Migrate)?;
            (OpenTarget::from_file(path, claimant).await?, file_options())
        }
    };
    let shown = place.display_name();
    let claim = place.claim.as_ref().map(Arc::downgrade);
    let database = async {
        let first = connect(&options.filename(&place.path)).await?;
        let first = prepare(first, policy, schema).await?;
        let connection = place.open(false)?;
        let watch = place.claim.as_ref().map(|claim| FileWatch::start(claim.clone(), &place.path, &connection));
        let line = SqliteWriter::new(connection.into(), watch.transpose()?);
        let writer = Writer::start(writer::WriterConnection::Sqlite(Box::new(line)))?;
        let readers = if place.is_file {
            let readers = (0..READERS).map(|_| place.open(true)).collect::<Result<_, _>>()?;
            ReadConnections::Sqlite(sqlite::SqliteReaders::start(readers)?)
        } else {
            ReadConnections::Writer
        };
        // Not earlier, because a database in memory is lost with its last connection.
        first.close().await?;
        Ok(Database { writer, readers, serves: policy == SchemaPolicy::Migrate, claim, replica: None, locks: None })
    };
    database.await.map_err(|error| cannot_open(&shown, error))
}

/// The VFS for files in memory; those whose names begin with `/` are shared within the process.
const IN_MEMORY: &str = "memdb";

/// The database to open.
struct OpenTarget {
    path: PathBuf,
    is_file: bool,
    /// The claim on the file, for a process that serves it.
    claim: Option<Arc<Claim>>,
}

impl OpenTarget {
    /// Creates a new database in memory.
    fn in_memory() -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        Self { path: format!("/chatwright-{number}").into(), is_file: false, claim: None }
    }

    /// Checks the location of an existing file, and claims it for `claimant`.
    async fn from_file(path: PathBuf, claimant: Option<&Claimant>) -> Result<Self, StoreError> {
        let taken = async {
            match claimant {
                Some(claimant) => {
                    place::check_location(&path)?;
                    Claim::acquire(&path, claimant).await.map(Some)
                }
                None => place::check_names(&path).map(|()| None),
            }
        };
        let claim = taken.await.map_err(|error| cannot_open(&path.display().to_string(), error))?;
        Ok(Self { path, is_file: true, claim })
    }

    fn display_name(&self) -> String {
        if self.is_file { self.path.display().to_string() } else { "in memory".to_owned() }
    }

    /// Opens another connection with the required settings.
    fn open(&self, read_only: bool) -> Result<LocalConnection, StoreError> {
        let opened = self.open_with(SETTINGS, read_only)?;
        assert_settings(&opened, read_only)?;
        Ok(opened)
    }

    fn open_with(&self, settings: &str, read_only: bool) -> Result<LocalConnection, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let opened = if self.is_file {
            Connection::open_with_flags(&self.path, flags)
        } else {
            Connection::open_with_flags_and_vfs(&self.path, flags, IN_MEMORY)
        };
        let opened = opened.map_err(sql::Error::from)?;
        opened.busy_timeout(BUSY_TIMEOUT).map_err(sql::Error::from)?;
        let opened = LocalConnection::new(opened, self.claim.clone());
        if read_only {
            opened.run_all(&format!("{settings}; PRAGMA query_only = ON"))?;
        } else {
            opened.run_all(&format!("PRAGMA synchronous = {SYNCHRONOUS_FULL}; {settings}"))?;
        }
        if !self.is_file {
            opened.run_all("PRAGMA journal_mode = MEMORY")?;
        }
        // Opens the log; from then on, another process that closes the database does not delete it.
        opened.number("PRAGMA schema_version")?;
        Ok(opened)
    }
}

/// The settings of every connection. After a checkpoint the log is truncated to
/// `journal_size_limit` bytes.
const SETTINGS: &str = "PRAGMA foreign_keys = ON; PRAGMA temp_store = MEMORY;
    PRAGMA journal_size_limit = 67108864";

/// Opens a single connection to an existing file, for a long operation; also returns the schema
/// version of this program.
pub(crate) async fn connect_alone(url: &str) -> Result<(Db, i64), StoreError> {
    let SqliteLocation::File { path, .. } = SqliteLocation::parse(url)? else {
        return Err(StoreError::Open("a database in memory cannot be transferred".to_owned()));
    };
    file::prepare(&path, false)?;
    place::check_names(&path).map_err(|error| cannot_open(&path.display().to_string(), error))?;
    let connected = connect(&file_options().filename(&path)).await;
    let connected = connected.map_err(|error| cannot_open(&path.display().to_string(), error.into()))?;
    Ok((connected.into(), newest_migration()))
}

/// Connects. If several processes switch a new file to WAL at once, SQLite rejects all but one
/// without waiting, whatever the busy timeout; therefore this retries.
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

/// Returns whether the error is `SQLITE_BUSY`, with any extended code.
fn is_busy(error: &sqlx::Error) -> bool {
    let code = error.as_database_error().and_then(|error| error.code());
    code.and_then(|code| code.parse::<i32>().ok()).is_some_and(|code| code & 0xff == 5)
}

pub(super) fn base_options() -> SqliteConnectOptions {
    // sqlx would log whole statements; the writer has its own log line for slow writes.
    SqliteConnectOptions::new()
        .disable_statement_logging()
        .busy_timeout(BUSY_TIMEOUT)
        .foreign_keys(true)
        .synchronous(SqliteSynchronous::Full)
        .pragma("temp_store", "MEMORY")
}

fn file_options() -> SqliteConnectOptions {
    base_options().journal_mode(SqliteJournalMode::Wal)
}

async fn prepare(mut connection: SqliteConnection, policy: SchemaPolicy, schema: Schema) -> Result<Db, StoreError> {
    assert_version(&mut connection).await?;
    assert_journal(&mut connection).await?;
    match policy {
        SchemaPolicy::Migrate => {
            let mut connection = Db::from(connection);
            if !schema.is_migrated(&MIGRATOR, &mut connection).await?
                && let Some(connection) = connection.as_sqlite()
            {
                migrate(connection, schema).await?;
            }
            Ok(connection)
        }
        SchemaPolicy::RequireCurrent => {
            assert_schema(&mut connection).await?;
            let mut connection = connection.into();
            schema.check(&mut connection, false).await?;
            Ok(connection)
        }
    }
}

async fn assert_version(connection: &mut SqliteConnection) -> Result<(), StoreError> {
    let version: String = sqlx::query_scalar("SELECT sqlite_version()").fetch_one(connection).await?;
    let parts: Vec<u32> = version.split('.').map_while(|part| part.parse().ok()).collect();
    if parts[..] < MIN_VERSION[..] {
        return Err(StoreError::Open(format!("SQLite {version} can damage it; 3.51.3 or newer is needed")));
    }
    Ok(())
}

/// Returns the schema version of this program.
pub(super) fn newest_migration() -> i64 {
    MIGRATOR.iter().map(|migration| migration.version).max().unwrap_or_default()
}

async fn assert_journal(connection: &mut SqliteConnection) -> Result<(), StoreError> {
    let journal: String = sqlx::query_scalar("PRAGMA journal_mode").fetch_one(connection).await?;
    if journal != "wal" && journal != "memory" {
        return Err(StoreError::Open(format!("its journal mode is `{journal}`; the file system does not support WAL")));
    }
    Ok(())
}

/// Reads the settings that durability depends on back from the connection.
fn assert_settings(connection: &LocalConnection, read_only: bool) -> Result<(), StoreError> {
    let expected = [
        ("PRAGMA foreign_keys", 1),
        ("PRAGMA busy_timeout", BUSY_TIMEOUT.as_millis() as i64),
        ("PRAGMA query_only", i64::from(read_only)),
    ];
    // Readers have SQLite's default, which is the same. This pragma makes SQLite parse the whole schema, which takes most
    // of the time of opening, and half a megabyte; readers do that for their first query.
    let of_writer = (!read_only).then_some(("PRAGMA synchronous", SYNCHRONOUS_FULL));
    for (pragma, value) in of_writer.into_iter().chain(expected) {
        let found = connection.number(pragma)?;
        if found != value {
            return Err(StoreError::Open(format!("`{pragma}` is {found} instead of {value}")));
        }
    }
    Ok(())
}

/// Applies all new migrations in one transaction that locks first: if it is interrupted nothing
/// changes, and of two processes that start together exactly one migrates.
async fn migrate(connection: &mut SqliteConnection, schema: Schema) -> Result<(), StoreError> {
    let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
    let objects: i64 = sqlx::query_scalar("SELECT count(*) FROM sqlite_master").fetch_one(&mut *transaction).await?;
    let is_new = objects == 0;
    let core = is_new.then_some(migrations::SQLITE_BASELINE);
    run_migrations(&mut transaction, &MIGRATOR, core).await.map_err(migration_error)?;
    for (tables, migrator) in schema.migrators(false) {
        let baseline = tables.sqlite_baseline.filter(|_| is_new);
        let migrated = run_migrations(&mut transaction, &migrator, baseline).await;
        migrated.map_err(|error| capability_migration_error(tables.capability, error))?;
    }
    Ok(transaction.commit().await?)
}

/// Applies the migrations that were not applied yet. With a baseline, it replaces the first ones.
async fn run_migrations(
    connection: &mut SqliteConnection,
    migrator: &Migrator,
    baseline: Option<SqliteBaseline>,
) -> Result<(), MigrateError> {
    if let Some(SqliteBaseline { version, statements }) = baseline {
        sqlx::raw_sql(statements).execute(&mut *connection).await?;
        migrator.skip(&mut *connection, Some(version)).await?;
    }
    migrator.run(connection).await
}

/// Checks that the schema is this version's. A command that only reads must not migrate a database
/// that an older version may be serving.
async fn assert_schema(connection: &mut SqliteConnection) -> Result<(), StoreError> {
    let find = sqlx::query_scalar("SELECT max(version) FROM _sqlx_migrations").fetch_one(connection);
    check_schema(find.await?, newest_migration())
}

#[cfg(test)]
mod tests;
