//! A PostgreSQL server in a folder of its own, run as an unprivileged user and reached through a socket in the folder.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The password of the databases' owner.
pub const PASSWORD: &str = "s3cret-of-the-tests";

/// Runs the server until the process that started it closes its end of the pipe. `initdb` refuses to run as
/// root, so root switches to `nobody`. The server is killed by the id in its own pid file,
/// repeatedly until it is gone, because it may not handle signals yet. An empty cluster is created
/// once and copied afterwards, which takes a tenth of the time.
///
/// A password is checked with MD5: what SCRAM computes for each connection takes longer than most tests when it is
/// compiled without optimization.
///
/// Databases are named after the process that created them. Those of processes that have ended are deleted.
const SCRIPT: &str = r#"
cd "$FOLDER" || exit 1
somebody=
if [ "$(id -u)" = 0 ]; then
    chown -R nobody "$FOLDER"
    somebody="setpriv --reuid nobody --clear-groups"
fi
new_cluster() {
    if [ -d "$TEMPLATE" ] && $somebody cp -a "$TEMPLATE" data; then return; fi
    $somebody "$BIN/initdb" --no-sync --auth md5 --pwfile password --username ada --encoding UTF8 --locale C data || return
    # Of many at once the first one counts.
    $somebody cp -a data "$TEMPLATE.$$" && { $somebody mv -T "$TEMPLATE.$$" "$TEMPLATE" || rm -rf "$TEMPLATE.$$"; }
    true
}
sql() {
    PGPASSWORD=$(cat password) "$BIN/psql" --host "$FOLDER" --username ada --no-psqlrc --quiet --tuples-only --no-align --command "$1" postgres
}
delete_databases() {
    sql "SELECT datname FROM pg_database WHERE datname LIKE 'test\_%'" | while read -r name; do
        process=${name#test_}
        kill -0 "${process%_*}" 2>/dev/null || sql "DROP DATABASE IF EXISTS $name WITH (FORCE)"
    done
}
if new_cluster; then
    $somebody "$BIN/postgres" -D data -k "$FOLDER" -c listen_addresses= -c max_connections=400 -c autovacuum=off -c jit=off \
        -c fsync=off -c full_page_writes=off -c wal_level=minimal -c max_wal_senders=0 $SETTINGS </dev/null &
    server=$!
    while sleep 10 && kill -0 $server; do delete_databases; done </dev/null &
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

/// A running server. It ends when it is dropped or its process ends, in whatever way, and its folder is deleted then.
#[derive(Debug)]
pub struct Cluster {
    folder: PathBuf,
    /// Dropping its pipe ends the server.
    _script: Child,
}

impl Cluster {
    /// Starts a server; `None` if PostgreSQL is not installed.
    ///
    /// # Panics
    ///
    /// If the server does not start within a minute.
    #[must_use]
    pub fn start() -> Option<Self> {
        Self::start_with(&[])
    }

    /// Starts a server with settings that replace those for tests, each as `name=value` without spaces; `None` if
    /// PostgreSQL is not installed. Tests trade durability for speed, measurements do not.
    ///
    /// # Panics
    ///
    /// If the server does not start within a minute.
    #[must_use]
    pub fn start_with(settings: &[&str]) -> Option<Self> {
        find_programs().map(|programs| start(&programs, settings))
    }

    /// Returns the URL of one of the server's databases, for its owner. The first one is `postgres`.
    #[must_use]
    pub fn url(&self, database: &str) -> String {
        url(&self.folder, database, PASSWORD)
    }

    /// Returns the id of the server's first process, whose children are the others; `None` if it has ended.
    #[must_use]
    pub fn process(&self) -> Option<u32> {
        fs::read_to_string(self.folder.join("data/postmaster.pid")).ok()?.lines().next()?.parse().ok()
    }

    /// Returns the folder with the server's socket.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

/// Returns the URL of a database of the server in this folder.
pub(crate) fn url(folder: &Path, database: &str, password: &str) -> String {
    format!("postgres://ada:{password}@{}/{database}", folder.display().to_string().replace('/', "%2F"))
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
    // `postgres (PostgreSQL) 15.18 (Debian …)`
    let version = String::from_utf8_lossy(&version).split_whitespace().nth(2).unwrap_or_default().to_owned();
    let user = fs::metadata("/proc/self").map_or(0, |process| MetadataExt::uid(&process));
    std::env::temp_dir().join(format!("chatwright-test-postgres-md5-{version}-{user}"))
}

fn start(programs: &Path, settings: &[&str]) -> Cluster {
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
        .env("SETTINGS", settings.iter().map(|setting| format!("-c {setting} ")).collect::<String>())
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
    Cluster { folder, _script: script }
}
