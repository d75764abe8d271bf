#![doc = include_str!("../README.md")]
//!
//! The server runs in its own folder, as an unprivileged user, and is reached through a socket in
//! the folder. It ends when the test process ends, in whatever way, and deletes the folder.

use sqlx::{AssertSqlSafe, Connection, Executor};
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// The password of the databases' owner.
pub const PASSWORD: &str = "s3cret-of-the-tests";

/// Runs the server until the test process closes its end of the pipe. `initdb` refuses to run as
/// root, so root switches to `nobody`. The server is killed by the id in its own pid file,
/// repeatedly until it is gone, because it may not handle signals yet. An empty cluster is created
/// once and copied afterwards, which takes a tenth of the time.
const SCRIPT: &str = r#"
cd "$FOLDER" || exit 1
somebody=
if [ "$(id -u)" = 0 ]; then
    chown -R nobody "$FOLDER"
    somebody="setpriv --reuid nobody --clear-groups"
fi
new_cluster() {
    if [ -d "$TEMPLATE" ] && $somebody cp -a "$TEMPLATE" data; then return; fi
    $somebody "$BIN/initdb" --no-sync --auth scram-sha-256 --pwfile password --username ada --encoding UTF8 --locale C data || return
    # Of many at once the first one counts.
    $somebody cp -a data "$TEMPLATE.$$" && { $somebody mv -T "$TEMPLATE.$$" "$TEMPLATE" || rm -rf "$TEMPLATE.$$"; }
    true
}
if new_cluster; then
    $somebody "$BIN/postgres" -D data -k "$FOLDER" -c listen_addresses= -c fsync=off -c max_connections=200 </dev/null &
    server=$!
    cat >&2
    while kill -0 $server; do
        kill -QUIT "$(head -n 1 data/postmaster.pid)"
        sleep 0.1
    done
fi
cd / && rm -rf "$FOLDER"
"#;

/// The time limit for the start of the server.
const START_TIMEOUT: Duration = Duration::from_secs(60);

struct PostgresServer {
    folder: PathBuf,
    /// Dropping its pipe ends the server.
    _script: Child,
}

/// Returns the server of this process; `None` with a message if PostgreSQL is not installed.
fn server() -> Option<&'static PostgresServer> {
    static SERVER: OnceLock<Option<PostgresServer>> = OnceLock::new();
    let server = SERVER.get_or_init(|| find_programs().map(|programs| start_server(&programs)));
    if server.is_none() {
        eprintln!(
            "SKIPPED: no PostgreSQL is installed here, so nothing was tested with it; `cargo xtask test` installs one"
        );
    }
    server.as_ref()
}

/// Returns the folder with `initdb`: the newest version on Debian, otherwise from `PATH`.
fn find_programs() -> Option<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut versions: Vec<(u32, PathBuf)> = versions
        .filter_map(|version| Some((version.file_name().to_str()?.parse().ok()?, version.path().join("bin"))))
        .collect();
    versions.sort();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = versions.into_iter().rev().map(|(_, folder)| folder).chain(std::env::split_paths(&path));
    folders.into_iter().find(|folder| folder.join("initdb").is_file())
}

/// Returns the folder for the empty cluster of this version and this user.
fn template_folder(programs: &Path) -> PathBuf {
    let version = Command::new(programs.join("postgres")).arg("--version").output().unwrap().stdout;
    let digits: String =
        String::from_utf8_lossy(&version).chars().filter(|c| c.is_ascii_digit() || *c == '.').collect();
    let user = fs::metadata("/proc/self").map_or(0, |process| MetadataExt::uid(&process));
    std::env::temp_dir().join(format!("chatwright-test-postgres-{digits}-{user}"))
}

fn start_server(programs: &Path) -> PostgresServer {
    let folder = tempfile::Builder::new().prefix("pg").tempdir().unwrap().keep();
    // By default only its owner could access the folder.
    fs::set_permissions(&folder, Permissions::from_mode(0o755)).unwrap();
    fs::write(folder.join("password"), PASSWORD).unwrap();
    let log = fs::File::create(folder.join("log")).unwrap();
    let script = Command::new("sh")
        .args(["-c", SCRIPT])
        .env("BIN", programs)
        .env("FOLDER", &folder)
        .env("TEMPLATE", template_folder(programs))
        .stdin(Stdio::piped())
        .stdout(log.try_clone().unwrap())
        .stderr(log)
        .spawn()
        .unwrap();
    let began = Instant::now();
    let is_ready = || fs::read_to_string(folder.join("data/postmaster.pid")).is_ok_and(|state| state.contains("ready"));
    while !is_ready() {
        let log = || fs::read_to_string(folder.join("log")).unwrap_or_default();
        assert!(began.elapsed() < START_TIMEOUT, "PostgreSQL did not start in {START_TIMEOUT:?}: {}", log());
        std::thread::sleep(Duration::from_millis(20));
    }
    PostgresServer { folder, _script: script }
}

/// Returns the URL of one of the server's databases, for its owner with this password; `None` if
/// PostgreSQL is not installed.
pub fn database_url(database: &str, password: &str) -> Option<String> {
    let folder = server()?.folder.to_str().unwrap().replace('/', "%2F");
    Some(format!("postgres://ada:{password}@{folder}/{database}"))
}

/// Creates an empty database and returns its URL; `None` if PostgreSQL is not installed.
pub async fn new_database() -> Option<String> {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let name = format!("test_{}", NUMBER.fetch_add(1, Ordering::Relaxed));
    let mut owner = sqlx::PgConnection::connect(&database_url("postgres", PASSWORD)?).await.unwrap();
    owner.execute(AssertSqlSafe(format!("CREATE DATABASE {name}"))).await.unwrap();
    database_url(&name, PASSWORD)
}

/// Returns the URLs of an empty database of each kind: SQLite in memory and, if it is installed, PostgreSQL.
pub async fn databases_of_each_kind() -> Vec<String> {
    std::iter::once("sqlite::memory:".to_owned()).chain(new_database().await).collect()
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
