//! Opens a PostgreSQL database: checks the server and the schema, and opens connections with the required settings.

use super::replica_link::ReplicaLink;
use super::{PostgresWriter, is_lost, locks};
use crate::database::{
    Database, ReadConnections, SchemaPolicy, cannot_open, capability_migration_error, check_schema, migration_error,
};
use crate::schema::Schema;
use crate::sql::Db;
use crate::writer::{self, Writer};
use crate::{StoreError, migrations};
use sqlx::migrate::Migrator;
use sqlx::postgres::{PgConnectOptions, PgPool, PgPoolOptions};
use sqlx::{ConnectOptions, Connection, PgConnection};
use std::str::FromStr;
use std::sync::{Arc, LazyLock};
use std::time::Duration;
use tokio::time::Instant;

static MIGRATOR: LazyLock<Migrator> = LazyLock::new(|| {
    let mut migrator = migrations::postgres();
    // sqlx would release its lock before the transaction around all migrations ends.
    migrator.set_locking(false);
    migrator
});

/// The first version with `pg_current_xact_id` and `normalize`, in the format of
/// `server_version_num`.
const MIN_VERSION: i32 = 130_000;

/// The number of read connections.
const READERS: u32 = 8;

/// How long a caller waits for a read connection, and how long opening waits for a server that is starting.
pub(super) const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(5);

/// A connection that was idle for this long is pinged before it is used.
const TRIED_AFTER: Duration = Duration::from_secs(5);

/// The time limit for a statement; the writer's own limit is a little longer.
const STATEMENT: (&str, &str) = ("statement_timeout", "15s");

/// A server that freezes within a transaction loses it, so that other writers can continue.
const IDLE: (&str, &str) = ("idle_in_transaction_session_timeout", "5s");

/// Longer than `IDLE`, so that nobody gets an error for a lock that is about to be released.
const LOCK: (&str, &str) = ("lock_timeout", "10s");

/// Returns whether a URL names a PostgreSQL database.
pub(crate) fn is_url(url: &str) -> bool {
    url.starts_with("postgres:") || url.starts_with("postgresql:")
}

/// Returns the schema version of this program.
fn newest_migration() -> i64 {
    MIGRATOR.iter().map(|migration| migration.version).max().unwrap_or_default()
}

/// Returns the name of the database for messages, without credentials.
fn name(options: &PgConnectOptions) -> String {
    let host = match options.get_socket() {
        Some(socket) => socket.display().to_string(),
        None => options.get_host().to_owned(),
    };
    format!("{} at {host}", options.get_database().unwrap_or(options.get_username()))
}

fn options(url: &str) -> Result<PgConnectOptions, StoreError> {
    let invalid =
        || StoreError::Open("the database URL is invalid; use `postgres://USER:PASSWORD@HOST/DATABASE`".to_owned());
    let options = PgConnectOptions::from_str(url).map_err(|_| invalid())?.disable_statement_logging();
    Ok(if options.get_application_name().is_none() { options.application_name("chatwright") } else { options })
}

/// Opens the database that a URL names, and migrates its schema.
pub(crate) async fn open(url: &str, schema: Schema) -> Result<Database, StoreError> {
    open_with(url, SchemaPolicy::Migrate, schema).await
}

/// Opens an existing database, which must have the schema of this version.
pub(crate) async fn open_existing(url: &str, schema: Schema) -> Result<Database, StoreError> {
    open_with(url, SchemaPolicy::RequireCurrent, schema).await
}

async fn open_with(url: &str, policy: SchemaPolicy, schema: Schema) -> Result<Database, StoreError> {
    let options = options(url)?;
    let shown = name(&options);
    let opened = async {
        let mut first = connect(&options).await?;
        let ground = ServerProperties::read(&mut first).await?;
        match policy {
            SchemaPolicy::Migrate => {
                let mut first = Db::from(first);
                if !schema.is_migrated(&MIGRATOR, &mut first).await?
                    && let Some(connection) = first.as_postgres_writer()
                {
                    migrate(connection, ground.lock_key, schema).await?;
                }
                first.close().await?;
            }
            SchemaPolicy::RequireCurrent => {
                let find = sqlx::query_scalar("SELECT max(version) FROM _sqlx_migrations").fetch_one(&mut first);
                check_schema(find.await.ok().flatten(), newest_migration())?;
                let mut first = Db::from(first);
                schema.check(&mut first, false).await?;
                first.close().await?;
            }
        }
        let writes = ground.writer_options(options.clone());
        let connection = writes.connect().await?;
        let readers = readers(options.clone()).await?;
        let line =
            writer::WriterConnection::Postgres(Box::new(PostgresWriter::new(writes, ground.lock_key, connection)));
        let shared = ReplicaLink::start(ground.replica, ground.lock_key, options.clone());
        let locks = locks::pool(options.options([STATEMENT, LOCK]).options(locks::ALIVE));
        let (readers, shared, locks) = (ReadConnections::Postgres(readers), Some(Arc::new(shared)), Some(locks));
        let serves = policy == SchemaPolicy::Migrate;
        Ok(Database { writer: Writer::start(line)?, readers, serves, claim: None, replica: shared, locks })
    };
    opened.await.map_err(|error| cannot_open(&shown, error))
}

/// Opens a single connection for a long operation; also returns the schema version of this program.
pub(crate) async fn connect_alone(url: &str) -> Result<(Db, i64), StoreError> {
    let options = options(url)?;
    let connected = connect(&options).await.map_err(|error| cannot_open(&name(&options), error.into()))?;
    Ok((connected.into(), newest_migration()))
}

/// Facts about a database on a server that an operator needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerInfo {
    /// The name of the database, without credentials.
    pub name: String,
    /// The server's version.
    pub version: String,
    /// The newest migration of the database; `None` if it has no tables yet.
    pub schema: Option<i64>,
    /// The newest migration that this version knows.
    pub newest: i64,
    /// Whether the server flushes writes to disk (`fsync`).
    pub is_durable: bool,
}

/// Reads the facts without changing anything.
pub(crate) async fn server_info(url: &str) -> Result<ServerInfo, StoreError> {
    let options = options(url)?;
    let name = name(&options);
    let look = async {
        let mut connection = connect(&options).await?;
        ServerProperties::read(&mut connection).await?;
        let about = "SELECT current_setting('server_version'), current_setting('fsync') = 'on'";
        let (version, is_durable): (String, bool) = sqlx::query_as(about).fetch_one(&mut connection).await?;
        let schema = sqlx::query_scalar("SELECT max(version) FROM _sqlx_migrations").fetch_one(&mut connection).await;
        let (name, newest) = (name.clone(), newest_migration());
        Ok(ServerInfo { name, version, schema: schema.ok().flatten(), newest, is_durable })
    };
    look.await.map_err(|error| cannot_open(&name, error))
}

/// Connects, and waits for a server that is just starting.
async fn connect(options: &PgConnectOptions) -> Result<PgConnection, sqlx::Error> {
    let until = Instant::now() + ACQUIRE_TIMEOUT;
    loop {
        match options.connect().await {
            Err(error) if is_lost(&error) && Instant::now() < until => {
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
            connected => return connected,
        }
    }
}

/// The properties of the server and the schema that the store depends on.
struct ServerProperties {
    lock_key: i64,
    /// A new id for this server.
    replica: String,
    synchronous_commit: String,
}

const LOOK: &str = "
    SELECT current_setting('server_version_num')::int AS version, current_setting('server_version') AS named,
        current_setting('server_encoding') AS encoding, current_schema() IS NOT NULL AS has_schema,
        current_setting('synchronous_commit') AS synchronous_commit,
        hashtextextended('chatwright ' || coalesce(current_schema(), ''), 0) AS turn, gen_random_uuid()::text AS replica";

impl ServerProperties {
    /// Reads and checks the properties instead of assuming them.
    async fn read(connection: &mut PgConnection) -> Result<Self, StoreError> {
        use sqlx::Row;
        let found = sqlx::query(LOOK).fetch_one(connection).await?;
        if found.try_get::<i32, _>("version")? < MIN_VERSION {
            let named: &str = found.try_get("named")?;
            return Err(StoreError::Open(format!("it is PostgreSQL {named}; 13 or newer is needed")));
        }
        let encoding: &str = found.try_get("encoding")?;
        if encoding != "UTF8" {
            return Err(StoreError::Open(format!("its encoding is {encoding}; UTF8 is needed")));
        }
        if !found.try_get::<bool, _>("has_schema")? {
            return Err(StoreError::Open("its search_path names no existing schema".to_owned()));
        }
        Ok(Self {
            lock_key: found.try_get("turn")?,
            replica: found.try_get("replica")?,
            synchronous_commit: found.try_get("synchronous_commit")?,
        })
    }

    /// Returns the options for the writer. With `synchronous_commit = off` an acknowledged write
    /// could be lost; stricter settings are kept.
    fn writer_options(&self, options: PgConnectOptions) -> PgConnectOptions {
        let options = options.options([STATEMENT, IDLE, LOCK]);
        if self.synchronous_commit == "off" { options.options([("synchronous_commit", "on")]) } else { options }
    }
}

async fn readers(options: PgConnectOptions) -> Result<PgPool, sqlx::Error> {
    PgPoolOptions::new()
        .max_connections(READERS)
        .acquire_timeout(ACQUIRE_TIMEOUT)
        .test_before_acquire(false)
        // The pool's own test has no timeout.
        .after_release(|connection, _| {
            Box::pin(async move {
                let tried = tokio::time::timeout(ACQUIRE_TIMEOUT, connection.ping()).await;
                tried.unwrap_or(Err(sqlx::Error::PoolTimedOut)).map(|()| true)
            })
        })
        .before_acquire(|connection, about| {
            Box::pin(async move { Ok(about.idle_for < TRIED_AFTER || connection.ping().await.is_ok()) })
        })
        .connect_with(options.options([STATEMENT, IDLE, ("default_transaction_read_only", "on")]))
        .await
}

/// Applies all new migrations in one transaction that acquires the writers' lock first: if it is
/// interrupted nothing changes, and of several servers that start together exactly one migrates.
async fn migrate(connection: &mut PgConnection, turn: i64, schema: Schema) -> Result<(), StoreError> {
    let mut transaction = connection.begin().await?;
    sqlx::query("SELECT pg_advisory_xact_lock($1)").bind(turn).execute(&mut *transaction).await?;
    MIGRATOR.run(&mut *transaction).await.map_err(migration_error)?;
    for (tables, migrator) in schema.migrators(true) {
        let migrated = migrator.run(&mut *transaction).await;
        migrated.map_err(|error| capability_migration_error(tables.capability, error))?;
    }
    Ok(transaction.commit().await?)
}
