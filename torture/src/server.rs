//! The product as a process: started, killed, frozen, looked at, never trusted.

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

/// How long a start may take. A debug build on a busy machine is slow.
const STARTS: Duration = Duration::from_secs(60);

/// How to start it, again and again on the same data.
#[derive(Clone)]
pub(crate) struct Setup {
    /// The binary.
    pub(crate) binary: PathBuf,
    /// Where its config, its database and its log are.
    pub(crate) folder: PathBuf,
    /// The base URL of its model.
    pub(crate) model: String,
    /// The origin of its tools' world.
    pub(crate) ledger: String,
    /// The database, unless it is the file in the folder.
    pub(crate) database: Option<String>,
    /// More variables.
    pub(crate) variables: Vec<(String, String)>,
    /// What starts it, such as `strace -f`; nothing of it without.
    pub(crate) launcher: Vec<String>,
    /// What the model is told of the tool that must be approved.
    pub(crate) gated: &'static str,
    /// More limits than the one on connections.
    pub(crate) limits: &'static str,
    /// How users are told apart.
    pub(crate) auth: &'static str,
    /// Whether the worker has an MCP server, which is a process of the server's.
    pub(crate) has_peer: bool,
}

/// A proxy names them.
pub(crate) const BY_PROXY: &str = "mode: proxy, publicUrls: ['https://torture.test'], trustedProxies: ['127.0.0.0/8']";

impl Setup {
    /// The same with one more variable.
    pub(crate) fn with(&self, name: &str, value: &str) -> Self {
        let mut setup = self.clone();
        setup.variables.push((name.to_owned(), value.to_owned()));
        setup
    }

    /// Its database's file.
    pub(crate) fn file(&self) -> PathBuf {
        self.folder.join("chat.db")
    }

    /// All that it has logged, and others whose folders are in its own.
    pub(crate) fn log(&self) -> String {
        let folders = fs::read_dir(&self.folder).into_iter().flatten().flatten().map(|entry| entry.path());
        let logs = folders.map(|folder| folder.join("log")).filter(|log| log.is_file());
        let logs = std::iter::once(self.folder.join("log")).chain(logs);
        logs.map(|log| String::from_utf8_lossy(&fs::read(log).unwrap_or_default()).into_owned()).collect()
    }

    fn config(&self) -> Result<String> {
        let Self { model, ledger, gated, limits, auth, .. } = self;
        let (peer, mcp) = match self.has_peer {
            true => (peer::connection(&self.folder)?, "    mcp: [peer]\n"),
            false => (String::new(), ""),
        };
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
             \x20 - {{ id: ledger, type: Http, properties: {{ baseURL: \"{ledger}\", allowPrivate: true, timeoutMs: 5000 }} }}\n\
             {peer}\
             agents:\n\
             \x20 - id: worker\n    type: ClaudeAgent\n    connectionId: model\n\
             \x20   properties: {{ model: scripted, maxSteps: 20, fileSystem: {{ basePath: files }} }}\n\
             \x20   tools: [effect, {{ endpointId: gated_effect, confirm: true }}]\n\
             {mcp}\
             api:\n\
             \x20 - {{ id: effect, description: Enters a line., payloadSchema: {schema}, routine: {key} }}\n\
             \x20 - {{ id: gated_effect, description: \"{gated}\", payloadSchema: {schema}, routine: {key} }}\n\
             \x20 - {{ id: me, routine: [{{ \":return\": {{ _user: true }} }}] }}\n\
             pages:\n  - {{ id: page, blocks: [] }}\n\
             auth: {{ {auth} }}\n\
             limits: {{ connectionsPerAddress: 7000, runsPerUser: 2000{limits} }}\n"
        ))
    }

    /// Starts it and waits until it listens.
    pub(crate) async fn start(&self, history: &History) -> Result<Server> {
        let mut server = self.spawn().await?;
        let listening = tokio::time::timeout(STARTS, server.listening()).await;
        ensure!(
            listening.context("the server does not begin to listen")??,
            "the server ended at its start: {}",
            self.last_words()
        );
        history.add(Op::Started);
        Ok(Server { history: Some(history.clone()), ..server })
    }

    /// Starts it, whatever becomes of it.
    pub(crate) async fn spawn(&self) -> Result<Server> {
        fs::create_dir_all(self.folder.join("files"))?;
        fs::write(self.folder.join("chatwright.yaml"), self.config()?)?;
        let database = self.database.clone().unwrap_or_else(|| format!("sqlite://{}", self.file().display()));
        let mut words: Vec<String> = self.launcher.clone();
        words.push(self.binary.display().to_string());
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).args(["serve", "--addr", "127.0.0.1:0", "--database", &database, "--config"]);
        command.arg(self.folder.join("chatwright.yaml")).env("TORTURE_KEY", "secret-of-the-torture");
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        let log = OpenOptions::new().create(true).append(true).open(self.folder.join("log"))?;
        let child = command.stdout(Stdio::piped()).stderr(log).kill_on_drop(true).spawn();
        let child = child.with_context(|| format!("{} cannot be started", words[0]))?;
        Ok(Server { child, origin: String::new(), said: Arc::default(), history: None })
    }

    /// The end of its log.
    pub(crate) fn last_words(&self) -> String {
        let log = self.log();
        log.lines().rev().take(3).collect::<Vec<_>>().into_iter().rev().collect::<Vec<_>>().join(" | ")
    }
}

/// A running server; dies when dropped.
pub(crate) struct Server {
    child: Child,
    /// Its origin.
    pub(crate) origin: String,
    /// What it said after that.
    said: Arc<Mutex<Vec<String>>>,
    /// Where its connections go into.
    history: Option<History>,
}

impl Server {
    /// Waits until it listens; false when it ends before that.
    async fn listening(&mut self) -> Result<bool> {
        let output = self.child.stdout.take().context("no output")?;
        let mut lines = BufReader::new(output).lines();
        while let Some(line) = lines.next_line().await? {
            if let Some(origin) = line.strip_prefix("listening on ") {
                self.origin = origin.to_owned();
                // What it says later must find somebody who reads it.
                let said = self.said.clone();
                tokio::spawn(async move {
                    while let Ok(Some(line)) = lines.next_line().await {
                        said.lock().unwrap_or_else(PoisonError::into_inner).push(line);
                    }
                });
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The token with which the first account is made.
    pub(crate) async fn token(&self) -> Result<String> {
        for _ in 0..100 {
            let said = self.said.lock().unwrap_or_else(PoisonError::into_inner).join(" ");
            if let Some((_, token)) = said.split_once("with the token ") {
                return Ok(token.trim().to_owned());
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        anyhow::bail!("no token was shown")
    }

    /// Notes where it has connections to.
    fn note_reached(&self) {
        if let (Some(history), Ok(id), Ok(own)) = (&self.history, self.id(), self.port()) {
            history.add(Op::Reached { addresses: sockets::reached(id, own) });
        }
    }

    fn port(&self) -> Result<u16> {
        Ok(self.origin.rsplit(':').next().unwrap_or_default().parse()?)
    }

    /// Its process.
    pub(crate) fn id(&self) -> Result<u32> {
        self.child.id().context("the server has ended")
    }

    /// Whether it has ended.
    pub(crate) fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }

    /// Waits until it has ended by itself; none when it does not.
    pub(crate) async fn ended(&mut self, patience: Duration) -> Option<std::process::ExitStatus> {
        tokio::time::timeout(patience, self.child.wait()).await.ok()?.ok()
    }

    /// Kills it, as the loss of power does.
    pub(crate) async fn kill(mut self, history: &History) -> Result<()> {
        self.note_reached();
        // It may have died already, as it was told to.
        let _ = self.child.start_kill();
        self.child.wait().await?;
        history.add(Op::Killed);
        Ok(())
    }

    /// Ends it in order.
    pub(crate) async fn stop(mut self) -> Result<()> {
        self.note_reached();
        if let Some(id) = self.child.id().and_then(|id| Pid::from_raw(id.cast_signed())) {
            kill_process(id, Signal::TERM)?;
        }
        let ended = self.ended(Duration::from_secs(40)).await;
        ensure!(ended.is_some_and(|status| status.success()), "the server did not end in order: {ended:?}");
        Ok(())
    }

    /// Resident memory, in MB.
    pub(crate) fn memory_mb(&self) -> Result<f64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.id()?))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("no VmRSS")?;
        Ok(line.trim().trim_end_matches(" kB").parse::<f64>()? / 1024.0)
    }

    /// CPU time so far, in hundredths of a second.
    pub(crate) fn cpu_ticks(&self) -> Result<u64> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.id()?))?;
        let fields: Vec<_> = stat.rsplit(") ").next().unwrap_or_default().split(' ').collect();
        Ok(fields.get(11..13).context("short stat")?.iter().filter_map(|field| field.parse::<u64>().ok()).sum())
    }

    /// Connections of clients.
    pub(crate) fn connections(&self) -> Result<usize> {
        sockets::of_port(self.port()?)
    }

    /// Files and sockets that it has open.
    pub(crate) fn files(&self) -> Result<usize> {
        Ok(fs::read_dir(format!("/proc/{}/fd", self.id()?))?.count())
    }
}

/// Empties a log, so that what comes next is seen.
pub(crate) fn forget_log(folder: &Path) -> Result<()> {
    File::create(folder.join("log"))?;
    Ok(())
}
