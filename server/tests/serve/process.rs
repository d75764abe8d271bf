//! The binary as a child process.

use reqwest::redirect::Policy;
use reqwest::{Client, Method, RequestBuilder};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use tempfile::TempDir;
use tokio::sync::Mutex;

/// A server with a database of its own; ends when dropped.
pub(crate) struct Server {
    child: Child,
    pub(crate) origin: String,
    /// Its database's URL.
    pub(crate) database: String,
    client: Client,
    /// What it says after that.
    said: Mutex<BufReader<ChildStdout>>,
    _folder: TempDir,
}

impl Server {
    /// With the embedded demo.
    pub(crate) fn start() -> Self {
        Self::start_with(&[])
    }

    /// With more arguments.
    pub(crate) fn start_with(arguments: &[&str]) -> Self {
        Self::spawn(arguments, |command| command)
    }

    /// With all that it can log, in a file.
    pub(crate) fn start_logging(arguments: &[&str], log: File) -> Self {
        Self::spawn(arguments, |command| command.env("CHATWRIGHT_LOG", "trace").stderr(log))
    }

    /// With all that it can log, for nobody: who read it is gone.
    pub(crate) fn start_unheard() -> Self {
        let mut server = Self::spawn(&[], |command| command.env("CHATWRIGHT_LOG", "trace").stderr(Stdio::piped()));
        drop(server.child.stderr.take());
        server
    }

    /// As [`Server::start_logging`], with more variables.
    pub(crate) fn start_logging_in(variables: &[(&str, &str)], arguments: &[&str], log: File) -> Self {
        Self::spawn(arguments, |command| {
            command.env("CHATWRIGHT_LOG", "trace").envs(variables.iter().copied()).stderr(log)
        })
    }

    /// With more variables.
    pub(crate) fn start_in(variables: &[(&str, &str)], arguments: &[&str]) -> Self {
        Self::spawn(arguments, |command| command.envs(variables.iter().copied()))
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
        let mut said = BufReader::new(child.stdout.take().unwrap());
        said.read_line(&mut line).unwrap();
        let origin = line.trim().strip_prefix("listening on ").unwrap().to_owned();
        let _ = rustls::crypto::ring::default_provider().install_default();
        // A redirect is an answer like others.
        let client = Client::builder().redirect(Policy::none()).build().unwrap();
        Self { child, origin, database, client, said: Mutex::new(said), _folder: folder }
    }

    /// The token for the first account, which it shows when it has begun to listen.
    pub(crate) async fn token(&self) -> String {
        let mut line = String::new();
        self.said.lock().await.read_line(&mut line).unwrap();
        line.trim().rsplit_once("with the token ").unwrap().1.to_owned()
    }

    /// Tells it to end, as an operator does.
    pub(crate) fn terminate(&self) {
        self.signal(rustix::process::Signal::TERM);
    }

    /// Sends it a signal.
    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        let process = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(process, signal).unwrap();
    }

    /// Ends it where it is, as a power failure does.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Ends it; what it kept is there as long as what this gives.
    pub(crate) fn stop(mut self) -> Self {
        self.kill();
        self
    }

    /// What it holds, in bytes.
    pub(crate) fn memory(&self) -> usize {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() * 1024
    }

    /// How it ended.
    pub(crate) fn wait(&mut self) -> ExitStatus {
        self.child.wait().unwrap()
    }

    /// With this database.
    pub(crate) fn start_on(database: &str) -> Self {
        Self::start_with(&["--database", database])
    }

    /// Its process.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// A request to it.
    pub(crate) fn ask(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, format!("{}{path}", self.origin))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
