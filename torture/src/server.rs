//! The server binary as a child process.

mod sockets;

use crate::history::{History, Op};
use crate::peer;
use anyhow::{Context, Result, ensure};
use rustix::process::{Pid, Signal, kill_process};
use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

/// The maximum time of a start. A debug build on a busy machine is slow.
const START_TIMEOUT: Duration = Duration::from_secs(60);

/// How to start the server, repeatedly with the same data.
#[derive(Clone)]
pub(crate) struct Setup {
    /// The server binary.
    pub(crate) binary: PathBuf,
    /// The folder of its config, database and log.
    pub(crate) folder: PathBuf,
    /// The base URL of its model.
    pub(crate) model: String,
    /// The origin of the ledger, which its tools call.
    pub(crate) ledger: String,
    /// How long a tool waits for the ledger, in milliseconds.
    pub(crate) ledger_timeout: u32,
    /// The database URL, if it is not the file in the folder.
    pub(crate) database: Option<String>,
    /// Additional environment variables.
    pub(crate) variables: Vec<(String, String)>,
    /// The command that starts it, such as `strace -f`; empty to start it directly.
    pub(crate) launcher: Vec<String>,
    /// The description of the tool that needs approval.
    pub(crate) gated: &'static str,
    /// Additional limits, appended to those in the config.
    pub(crate) limits: &'static str,
    /// The settings of `auth`.
    pub(crate) auth: &'static str,
    /// Whether a job names new conversations with the agent's model.
    pub(crate) has_titles: bool,
    /// Whether the agent has an MCP server, which runs as a child process of the server.
    pub(crate) has_peer: bool,
    /// Further keys of the agent, as lines of YAML, or nothing.
    pub(crate) agent_keys: &'static str,
    /// The section `workflows` of the config, or other ones, or nothing.
    pub(crate) workflows: &'static str,
}

/// Authentication by a header of a trusted proxy.
pub(crate) const PROXY_AUTH: &str =
    "mode: proxy, publicUrls: ['https://torture.test'], trustedProxies: ['127.0.0.0/8']";

impl Setup {
    /// Returns the setup with an additional environment variable.
    pub(crate) fn with_variable(&self, name: &str, value: &str) -> Self {
        let mut setup = self.clone();
        setup.variables.push((name.to_owned(), value.to_owned()));
        setup
    }

    /// The path of its database file.
    pub(crate) fn database_file(&self) -> PathBuf {
        self.folder.join("chat.db")
    }

    /// Returns its log and those of servers whose folders are inside its own.
    pub(crate) fn log(&self) -> String {
        let folders = fs::read_dir(&self.folder).into_iter().flatten().flatten().map(|entry| entry.path());
        let logs = folders.map(|folder| folder.join("log")).filter(|log| log.is_file());
        let logs = std::iter::once(self.folder.join("log")).chain(logs);
        logs.map(|log| String::from_utf8_lossy(&fs::read(log).unwrap_or_default()).into_owned()).collect()
    }

    fn config(&self) -> Result<String> {
        let Self { model, ledger, ledger_timeout, gated, limits, auth, agent_keys, workflows, .. } = self;
        let (peer, mcp) = if self.has_peer {
            (peer::connection_yaml(&self.folder)?, "    mcp: [peer]\n")
        } else {
            (String::new(), "")
        };
        let titles = if self.has_titles { ", generateTitle: true" } else { "" };
        let entered = |key: &str| {
            format!(
                "[{{ id: entered, type: Http, connectionId: ledger, properties: {{ method: POST, path: effects, body: {{ key: {key} }} }} }}, \
                 {{ \":return\": {{ entered: {{ _step: entered }} }} }}]"
            )
        };
        let schema = "{ type: object, properties: { key: { type: string } }, required: [key] }";
        let key = entered("{ _payload: key }");
        Ok(format!(
            "connections:\n\
             \x20 - {{ id: model, type: Anthropic, properties: {{ apiKey: {{ _secret: TORTURE_KEY }}, baseURL: \"{model}\" }} }}\n\
             \x20 - {{ id: demo, type: Demo, properties: {{ delayMs: 0 }} }}\n\
             \x20 - {{ id: ledger, type: Http, properties: {{ baseURL: \"{ledger}\", allowPrivate: true, timeoutMs: {ledger_timeout} }} }}\n\
             {peer}\
             agents:\n\
             \x20 - id: worker\n    type: ClaudeAgent\n    connectionId: model\n\
             \x20   properties: {{ model: scripted, maxSteps: 20, fileSystem: {{ basePath: files }}{titles} }}\n\
             \x20   tools: [effect, {{ endpointId: gated_effect, confirm: true }}]\n\
             {mcp}{agent_keys}\
             api:\n\
             \x20 - {{ id: effect, description: Records a line., payloadSchema: {schema}, routine: {key} }}\n\
             \x20 - {{ id: gated_effect, description: \"{gated}\", payloadSchema: {schema}, routine: {key} }}\n\
             \x20 - {{ id: me, routine: [{{ \":return\": {{ _user: true }} }}] }}\n\
             pages:\n  - {{ id: page, blocks: [] }}\n\
             auth: {{ {auth} }}\n\
             limits: {{ connectionsPerAddress: 7000, runsPerUser: 2000{limits} }}\n\
             {workflows}"
        ))
    }

    /// Starts it and waits until it listens.
    pub(crate) async fn start(&self, history: &History) -> Result<Server> {
        let mut server = self.spawn().await?;
        let listening = tokio::time::timeout(START_TIMEOUT, server.wait_until_listening()).await;
        ensure!(
            listening.context("the server does not start to listen")??,
            "the server ended during its start: {}",
            self.log_tail()
        );
        history.add(Op::Started);
        Ok(Server { history: Some(history.clone()), ..server })
    }

    /// Starts it without waiting.
    pub(crate) async fn spawn(&self) -> Result<Server> {
        fs::create_dir_all(self.folder.join("files"))?;
        fs::write(self.folder.join("chatwright.yaml"), self.config()?)?;
        let database = self.database.clone().unwrap_or_else(|| format!("sqlite://{}", self.database_file().display()));
        let mut words: Vec<String> = self.launcher.clone();
        words.push(self.binary.display().to_string());
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).args(["serve", "--addr", "127.0.0.1:0", "--database", &database, "--config"]);
        command.arg(self.folder.join("chatwright.yaml")).env("TORTURE_KEY", "secret-of-the-torture");
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        let log = OpenOptions::new().create(true).append(true).open(self.folder.join("log"))?;
        let child = command.stdout(Stdio::piped()).stderr(log).kill_on_drop(true).spawn();
        let child = child.with_context(|| format!("{} cannot be started", words[0]))?;
        Ok(Server { child, origin: String::new(), stdout_lines: Arc::default(), history: None })
    }

    /// Returns the last lines of its log.
    pub(crate) fn log_tail(&self) -> String {
        let log = self.log();
        log.lines().rev().take(3).collect::<Vec<_>>().into_iter().rev().collect::<Vec<_>>().join(" | ")
    }
}

/// A running server; it is killed when dropped.
pub(crate) struct Server {
    child: Child,
    /// The origin of its URL.
    pub(crate) origin: String,
    /// The output after the line with the origin.
    stdout_lines: Arc<Mutex<Vec<String>>>,
    /// The history in which its remote addresses are recorded.
    history: Option<History>,
}

impl Server {
    /// Waits until it listens; returns false if it ends before.
    async fn wait_until_listening(&mut self) -> Result<bool> {
        let output = self.child.stdout.take().context("no output")?;
        let mut lines = BufReader::new(output).lines();
        while let Some(line) = lines.next_line().await? {
            if let Some(origin) = line.strip_prefix("listening on ") {
                self.origin = origin.to_owned();
                // The pipe must be read, or the server would block or fail when it prints.
                let stdout_lines = self.stdout_lines.clone();
                tokio::spawn(async move {
                    while let Ok(Some(line)) = lines.next_line().await {
                        stdout_lines.lock().unwrap_or_else(PoisonError::into_inner).push(line);
                    }
                });
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Waits for the token for the first account.
    pub(crate) async fn first_account_token(&self) -> Result<String> {
        for _ in 0..100 {
            let printed = self.stdout_lines.lock().unwrap_or_else(PoisonError::into_inner).join(" ");
            if let Some((_, token)) = printed.split_once("with the token ") {
                return Ok(token.trim().to_owned());
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        anyhow::bail!("no token was shown")
    }

    /// Records the remote addresses of its connections.
    fn record_remote_addresses(&self) {
        if let (Some(history), Ok(id), Ok(own)) = (&self.history, self.id(), self.port()) {
            history.add(Op::Reached { addresses: sockets::remote_addresses(id, own) });
        }
    }

    fn port(&self) -> Result<u16> {
        Ok(self.origin.rsplit(':').next().unwrap_or_default().parse()?)
    }

    /// Returns its process id.
    pub(crate) fn id(&self) -> Result<u32> {
        self.child.id().context("the server has ended")
    }

    /// Returns whether it has ended.
    pub(crate) fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }

    /// Waits for its end; returns none after the timeout.
    pub(crate) async fn wait_for_exit(&mut self, patience: Duration) -> Option<std::process::ExitStatus> {
        tokio::time::timeout(patience, self.child.wait()).await.ok()?.ok()
    }

    /// Kills it, as a power failure does.
    pub(crate) async fn kill(mut self, history: &History) -> Result<()> {
        self.record_remote_addresses();
        // An injected fault may have ended it already.
        let _ = self.child.start_kill();
        self.child.wait().await?;
        history.add(Op::Killed);
        Ok(())
    }

    /// Sends it a signal.
    pub(crate) fn signal(&self, signal: Signal) -> Result<()> {
        let id = Pid::from_raw(self.id()?.cast_signed()).context("the server has an id")?;
        Ok(kill_process(id, signal)?)
    }

    /// Stops it with SIGTERM and checks its exit status.
    pub(crate) async fn stop(mut self) -> Result<()> {
        self.record_remote_addresses();
        if let Some(id) = self.child.id().and_then(|id| Pid::from_raw(id.cast_signed())) {
            kill_process(id, Signal::TERM)?;
        }
        let ended = self.wait_for_exit(Duration::from_secs(40)).await;
        ensure!(ended.is_some_and(|status| status.success()), "the server did not stop cleanly: {ended:?}");
        Ok(())
    }

    /// Returns its resident memory in MB.
    pub(crate) fn memory_mb(&self) -> Result<f64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.id()?))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("no VmRSS")?;
        Ok(line.trim().trim_end_matches(" kB").parse::<f64>()? / 1024.0)
    }

    /// Returns its CPU time so far in hundredths of a second.
    pub(crate) fn cpu_ticks(&self) -> Result<u64> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.id()?))?;
        let fields: Vec<_> = stat.rsplit(") ").next().unwrap_or_default().split(' ').collect();
        Ok(fields.get(11..13).context("short stat")?.iter().filter_map(|field| field.parse::<u64>().ok()).sum())
    }

    /// Returns the number of connections of clients.
    pub(crate) fn connections(&self) -> Result<usize> {
        sockets::established_connections(self.port()?)
    }

    /// Returns the number of open files and sockets.
    pub(crate) fn open_files(&self) -> Result<usize> {
        Ok(fs::read_dir(format!("/proc/{}/fd", self.id()?))?.count())
    }
}

/// Empties the log in a folder, so that it contains only later lines.
pub(crate) fn clear_log(folder: &Path) -> Result<()> {
    File::create(folder.join("log"))?;
    Ok(())
}
