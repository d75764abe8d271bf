//! Copies and inspects database files.

use super::claim::Claim;
use super::open::{base_options, newest_migration};
use super::place;
use crate::StoreError;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection, SqliteConnection};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// How long a command that replaces a database waits for other connections to close.
const CLAIM: Duration = Duration::from_secs(1);

async fn connect(options: SqliteConnectOptions, path: &Path) -> Result<SqliteConnection, StoreError> {
    options.filename(path).create_if_missing(false).connect().await.map_err(|error| cannot("open", path, &error))
}

fn cannot(verb: &str, path: &Path, error: &dyn std::fmt::Display) -> StoreError {
    StoreError::Open(format!("cannot {verb} the database {}: {error}", path.display()))
}

/// See [`crate::Store::copy`].
pub(crate) async fn copy(from: &Path, to: &Path) -> Result<(), StoreError> {
    place::check_names(from).map_err(|error| cannot("copy", from, &error))?;
    let Some(target) = to.to_str() else { return Err(cannot("copy", from, &"the target's path is not valid UTF-8")) };
    let mut connection = connect(base_options(), from).await?;
    // A single statement sees one state of the database, however long it takes.
    let copied = sqlx::query("VACUUM INTO $1").bind(target.to_owned()).execute(&mut connection).await;
    copied.map_err(|error| cannot("copy", from, &error))?;
    connection.close().await.map_err(|error| cannot("copy", from, &error))
}

/// See [`crate::Store::inspect`].
pub(crate) async fn inspect(path: &Path) -> Result<i64, StoreError> {
    let mut connection = connect(base_options().read_only(true), path).await?;
    let damaged = |error: sqlx::Error| cannot("read", path, &error);
    let found: Vec<String> =
        sqlx::query_scalar("PRAGMA integrity_check(3)").fetch_all(&mut connection).await.map_err(damaged)?;
    if found != ["ok"] {
        return Err(cannot("use", path, &format!("it is damaged: {}", found.join("; "))));
    }
    let schema: Result<Option<i64>, _> =
        sqlx::query_scalar("SELECT max(version) FROM _sqlx_migrations").fetch_one(&mut connection).await;
    let Ok(Some(schema)) = schema else { return Err(cannot("use", path, &"it is not a Chatwright database")) };
    if schema > newest_migration() {
        let newer = format!("a newer version of Chatwright wrote it (schema {schema}); use that version");
        return Err(cannot("use", path, &newer));
    }
    connection.close().await.map_err(damaged)?;
    Ok(schema)
}

/// Keeps other processes from serving a file. `None` on a network file system, where files cannot
/// be locked and servers refuse to run.
pub(crate) fn claim_unless_on_network(path: &Path) -> Result<Option<Arc<Claim>>, StoreError> {
    if place::is_on_network(path) { Ok(None) } else { Claim::try_acquire(path).map(Some) }
}

/// See [`crate::Store::claim`].
pub(crate) async fn claim(path: &Path) -> Result<Option<Arc<Claim>>, StoreError> {
    let claim = claim_unless_on_network(path).map_err(|error| cannot("replace", path, &error))?;
    let mut connection = connect(base_options().busy_timeout(CLAIM), path).await?;
    // Leaving WAL mode fails while any other process, such as an SQLite shell, has the database open.
    let mode = sqlx::query_scalar::<_, String>("PRAGMA journal_mode = DELETE").fetch_one(&mut connection).await;
    if mode.ok().as_deref() != Some("delete") {
        return Err(cannot("replace", path, &"a server has it open; stop it first"));
    }
    connection.close().await.map_err(|error| cannot("replace", path, &error))?;
    Ok(claim)
}
