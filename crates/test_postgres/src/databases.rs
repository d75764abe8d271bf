//! Databases in the server of the test.

use crate::{Cluster, PASSWORD, SHARED, cluster};
use sqlx::{AssertSqlSafe, Connection, Executor};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// Returns the folder of the shared server or of this process's own; `None` with a message if PostgreSQL is not
/// installed.
fn folder() -> Option<&'static Path> {
    static SHARED_FOLDER: OnceLock<Option<PathBuf>> = OnceLock::new();
    static OWN: OnceLock<Option<Cluster>> = OnceLock::new();
    if let Some(folder) = SHARED_FOLDER.get_or_init(|| std::env::var_os(SHARED).map(PathBuf::from)) {
        return Some(folder);
    }
    let own = OWN.get_or_init(Cluster::start);
    if own.is_none() {
        eprintln!(
            "SKIPPED: no PostgreSQL is installed here, so nothing was tested with it; `cargo xtask test` installs one"
        );
    }
    own.as_ref().map(Cluster::folder)
}

/// Returns the URL of one of the server's databases, for its owner with this password; `None` if
/// PostgreSQL is not installed.
pub fn database_url(database: &str, password: &str) -> Option<String> {
    Some(cluster::url(folder()?, database, password))
}

/// Creates an empty database and returns its URL; `None` if PostgreSQL is not installed.
pub async fn new_database() -> Option<String> {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let name = format!("test_{}_{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
    let mut owner = sqlx::PgConnection::connect(&database_url("postgres", PASSWORD)?).await.unwrap();
    owner.execute(AssertSqlSafe(format!("CREATE DATABASE {name}"))).await.unwrap();
    database_url(&name, PASSWORD)
}

/// Returns the URLs of an empty database of each kind: SQLite in memory and, if it is installed, PostgreSQL.
pub async fn databases_of_each_kind() -> Vec<String> {
    std::iter::once("sqlite::memory:".to_owned()).chain(new_database().await).collect()
}

/// Like [`databases_of_each_kind`], with SQLite in a file of this folder, which several servers can open one after the
/// other.
pub async fn database_files_of_each_kind(folder: &Path) -> Vec<String> {
    std::iter::once(format!("sqlite://{}", folder.join("test.db").display())).chain(new_database().await).collect()
}

/// Runs a statement on a separate connection.
pub async fn execute(url: &str, statement: &'static str) {
    sqlx::PgConnection::connect(url).await.unwrap().execute(statement).await.unwrap();
}

/// Returns the URL of the database for a test whose files are in this folder: a file in it, or with
/// `CHATWRIGHT_TEST_STORE=postgres` a PostgreSQL database. The same folder gives the same database;
/// the leases of all servers on it are expired first, as after a crash.
pub async fn database_for(folder: &Path) -> String {
    if std::env::var_os("CHATWRIGHT_TEST_STORE").is_none_or(|store| store != "postgres") {
        return format!("sqlite://{}/chat.db", folder.display());
    }
    let known = folder.join("database");
    if let Ok(url) = fs::read_to_string(&known) {
        execute(&url, "UPDATE replicas SET alive_until = 0").await;
        return url;
    }
    let url = new_database().await.expect("PostgreSQL is installed where the tests are to run with it");
    fs::write(known, &url).unwrap();
    url
}
