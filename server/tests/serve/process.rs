//! The server binary as a child process.

use reqwest::redirect::Policy;
use reqwest::{Client, Method, RequestBuilder};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::time::Duration;
use tempfile::TempDir;
use tokio::sync::Mutex;

/// The time after which the client closes an idle connection. The server does so after ten seconds; a request that the client
/// sends on such a connection at that moment would fail.
const MAX_IDLE: Duration = Duration::from_secs(5);

/// Returns a client for tests. They check redirects themselves; a server that sends nothing for a minute fails the
/// request, so that a test that hangs says at which one.
pub(crate) fn client() -> Client {
    let client = Client::builder().redirect(Policy::none()).read_timeout(Duration::from_secs(60));
    client.pool_idle_timeout(MAX_IDLE).build().unwrap()
}

/// A running server with its own database; it is killed when dropped.
pub(crate) struct Server {
    child: Child,
    pub(crate) origin: String,
    /// The URL of its database.
    pub(crate) database: String,
    client: Client,
    /// The output after the line with the origin.
    stdout: Mutex<BufReader<ChildStdout>>,
    _folder: TempDir,
}

impl Server {
    /// Starts the embedded demo.
    pub(crate) fn start() -> Self {
        Self::start_with(&[])
    }

    /// Starts it with more arguments.
    pub(crate) fn start_with(arguments: &[&str]) -> Self {
        Self::spawn(arguments, |command| command)
    }

    /// Starts it with the log level `trace`, logging to a file.
    pub(crate) fn start_logging(arguments: &[&str], log: File) -> Self {
        Self::spawn(arguments, |command| command.env("CHATWRIGHT_LOG", "trace").stderr(log))
    }

    /// Starts it with the log level `trace` and a closed pipe for the log.
    pub(crate) fn start_with_closed_stderr() -> Self {
        let mut server = Self::spawn(&[], |command| command.env("CHATWRIGHT_LOG", "trace").stderr(Stdio::piped()));
        drop(server.child.stderr.take());
        server
    }

    /// Like [`Server::start_logging`], with environment variables.
    pub(crate) fn start_logging_with_env(variables: &[(&str, &str)], arguments: &[&str], log: File) -> Self {
        Self::spawn(arguments, |command| {
            command.env("CHATWRIGHT_LOG", "trace").envs(variables.iter().copied()).stderr(log)
        })
    }

    /// Starts it with environment variables.
    pub(crate) fn start_with_env(variables: &[(&str, &str)], arguments: &[&str]) -> Self {
        Self::spawn(arguments, |command| command.envs(variables.iter().copied()))
    }

    /// Starts it in a folder, with environment variables.
    pub(crate) fn start_in(folder: &Path, variables: &[(&str, &str)], arguments: &[&str]) -> Self {
        Self::spawn(arguments, |command| command.current_dir(folder).envs(variables.iter().copied()))
    }

    fn spawn(arguments: &[&str], with: impl FnOnce(&mut Command) -> &mut Command) -> Self {
        let folder = TempDir::new().unwrap();
        let database = format!("sqlite://{}/chat.db", folder.path().display());
        let mut command = Command::new(env!("CARGO_BIN_EXE_chatwright"));
        let given = arguments.iter().position(|argument| *argument == "--database");
        let database = given.map_or(database, |at| arguments[at + 1].to_owned());
        if given.is_none() {
            command.args(["serve", "--database", &database]);
        } else {
            command.arg("serve");
        }
        command.args(["--addr", "127.0.0.1:0"]).args(arguments).stdout(Stdio::piped());
        let mut child = with(&mut command).spawn().unwrap();
        let mut line = String::new();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        stdout.read_line(&mut line).unwrap();
        let origin = line.trim().strip_prefix("listening on ").unwrap().to_owned();
        let _ = rustls::crypto::ring::default_provider().install_default();
        Self { child, origin, database, client: client(), stdout: Mutex::new(stdout), _folder: folder }
    }

    /// Returns the token for the first account, which is printed after the start.
    pub(crate) async fn first_account_token(&self) -> String {
        let mut line = String::new();
        self.stdout.lock().await.read_line(&mut line).unwrap();
        line.trim().rsplit_once("with the token ").unwrap().1.to_owned()
    }

    /// Sends SIGTERM, as an operator does.
    pub(crate) fn terminate(&self) {
        self.signal(rustix::process::Signal::TERM);
    }

    /// Sends a signal.
    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        let process = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(process, signal).unwrap();
    }

    /// Kills it, as a power failure does.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Kills it; its database stays as long as the returned value.
    pub(crate) fn stop(mut self) -> Self {
        self.kill();
        self
    }

    /// Returns its resident memory in bytes.
    pub(crate) fn memory_bytes(&self) -> usize {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() * 1024
    }

    /// Waits for its end; returns the exit status.
    pub(crate) fn wait(&mut self) -> ExitStatus {
        self.child.wait().unwrap()
    }

    /// Starts it with this database.
    pub(crate) fn start_on(database: &str) -> Self {
        Self::start_with(&["--database", database])
    }

    /// Returns its process id.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Returns a request to it.
    pub(crate) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, format!("{}{path}", self.origin))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
