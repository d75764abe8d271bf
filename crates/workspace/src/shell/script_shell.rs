//! The server's side of scripts: a process of our own program for each of them. At the level `virtual` it is the
//! emulated shell; at the level `process` it makes a sandbox for the programs of the machine.

use super::changes::{After, changes};
use super::emulated::NO_MEMORY;
use super::protocol::{Answer, Done, Message, ReadOutcome, Start, receive, send};
use super::turns::UserTurns;
use super::warm::{Started, WarmProcess, start};
use super::{
    MAX_OUTPUT, MAX_SCRIPT, RUN_CONFINED, RUN_PROGRAMS, RUN_SCRIPT, Shell, ShellError, ShellOutput, ShellRequest,
    took_longer,
};
use crate::path::WorkspacePath;
use crate::section::{ContainerKey, ShellLevel, ShellSettings, WorkspaceLimits};
use crate::tree::Tree;
use crate::workspace::{Change, Workspace, WorkspaceError};
use bytes::Bytes;
use child_process::drop_privileges;
use contract::CallReports;
use futures::future::{BoxFuture, Either, select};
use std::ffi::OsString;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::pin::pin;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::net::UnixStream;
use tokio::process::Child;
use tokio::sync::Semaphore;
use tokio::time::timeout;

/// The scripts that run at once.
const MAX_RUNNING: usize = 8;
/// The scripts that run or wait.
const MAX_SCRIPTS: usize = 200;
/// The time beyond its own limit after which a script is ended. The shell checks the clock between commands;
/// a command that takes longer is ended with the process.
const EXTRA_TIME: Duration = Duration::from_secs(5);
/// The time in which a sandbox is made, and files are copied into it and out of it. The sandbox looks at the clock.
const COPY_TIME: Duration = Duration::from_secs(45);
/// The most bytes of the paths of all files that a script writes.
const MAX_PATHS: usize = 1 << 20;
/// The most bytes of the output that are shown while a script runs.
const MAX_PROGRESS: usize = 4_096;
/// The most characters of the reason why a script was ended.
const MAX_REASON: usize = 1_000;
/// The bytes that are kept of what a process writes to standard error, which says why it ended.
const MAX_ERRORS: u64 = 4_096;

/// The most files that are named because they cannot be stored.
const MAX_LEFT_OUT: usize = 30;

/// The signals that show why a process was ended.
const SIGKILL: i32 = 9;
const SIGXCPU: i32 = 24;

/// The program and the arguments with which this program starts itself for scripts.
pub(crate) struct Helpers {
    pub(crate) program: PathBuf,
    /// The arguments for the emulated shell.
    pub(crate) emulated: Vec<OsString>,
    /// The arguments for the programs of the machine.
    pub(crate) programs: Vec<OsString>,
    /// The arguments for the first process of a sandbox.
    pub(crate) confined: Vec<String>,
}

impl Default for Helpers {
    fn default() -> Self {
        Self {
            program: child_process::own_program(),
            emulated: vec![RUN_SCRIPT.into()],
            programs: vec![RUN_PROGRAMS.into()],
            confined: vec![RUN_CONFINED.to_owned()],
        }
    }
}

/// Runs scripts in processes that have no environment, and reach no file and no network of the machine.
#[derive(Default)]
pub(crate) struct ScriptShell {
    pub(super) helpers: Helpers,
    #[cfg(target_os = "linux")]
    containers: super::container::Containers,
    places: Places,
    turns: UserTurns,
    /// The process for the next script at the level `virtual`.
    warm: WarmProcess,
}

/// Counts the running scripts, and the running and waiting ones.
struct Places {
    scripts: Arc<Semaphore>,
    running: Arc<Semaphore>,
}

impl Default for Places {
    fn default() -> Self {
        let places = |most| Arc::new(Semaphore::new(most));
        Self { scripts: places(MAX_SCRIPTS), running: places(MAX_RUNNING) }
    }
}

impl ScriptShell {
    /// Creates the shell with other processes than those of the product.
    #[cfg(test)]
    pub(crate) fn with_helpers(helpers: Helpers) -> Self {
        Self { helpers, ..Self::default() }
    }

    async fn run_in_turn(&self, request: ShellRequest) -> Result<ShellOutput, ShellError> {
        if request.script.len() > MAX_SCRIPT {
            let reason = format!("a script has at most {MAX_SCRIPT} bytes: write it to a file in pieces");
            return Err(ShellError::Ended(reason));
        }
        // First the turn of the user, so that nobody's scripts take the places of all.
        let turn = self.turns.wait(&request.workspace.of.owner).await;
        let Places { scripts, running } = &self.places;
        let Ok(place) = scripts.clone().try_acquire_owned() else { return Err(ShellError::Busy) };
        let Ok(running) = running.clone().acquire_owned().await else { return Err(ShellError::Busy) };
        let ShellRequest { script, workspace, settings, container, reports } = request;
        // The files are read after the wait, because other scripts may have changed them meanwhile.
        let tree = workspace.tree().await.map_err(|_| unreadable())?;
        if settings.level == ShellLevel::Container {
            let of = (script.as_str(), settings, container);
            return self.run_in_container(of, &workspace, &tree, &reports).await;
        }
        let Started { mut child, socket } = self.process(settings.level).map_err(|error| {
            tracing::error!(%error, "the process of a script cannot be started");
            ShellError::Ended("the shell cannot be started".to_owned())
        })?;
        let files = tree.files().map(|(path, entry)| (path.as_str().to_owned(), entry.clone())).collect();
        let confined = self.helpers.confined.clone();
        let start = Start { script, settings, limits: workspace.limits, files, confined };
        let conversation = Conversation { start: &start, tree: &tree, workspace: &workspace, reports: &reports };
        // Dropping the child ends it, and with it everything that it has started.
        let done = timeout(settings.timeout + extra_time(settings.level), conversation.hold(socket, &mut child)).await;
        // The process has nothing more to do. It takes some milliseconds to end. The answer does not wait for that, but the
        // script counts as running until then.
        tokio::spawn(async move {
            let _ = child.kill().await;
            drop((turn, place, running));
        });
        if settings.level == ShellLevel::Virtual {
            self.warm.refill(self.command(settings.level));
        }
        let Outcome { mut output, after } = done.unwrap_or_else(|_| Err(ShellError::Ended(took_longer(&settings))))?;
        if output.refused.is_none() {
            output.changes = changes_to_store(&tree, &after, &workspace).await?;
        }
        Ok(output)
    }

    /// Runs a script in a container. There is no other level instead.
    #[cfg(target_os = "linux")]
    async fn run_in_container(
        &self,
        (script, settings, container): (&str, ShellSettings, Option<Arc<ContainerKey>>),
        workspace: &Workspace,
        tree: &Tree,
        reports: &CallReports,
    ) -> Result<ShellOutput, ShellError> {
        let Some(key) = container else {
            return Err(ShellError::Unavailable("the agent has no container".to_owned()));
        };
        let of = super::container::ContainerScript { key, script, settings, workspace, tree, reports };
        let (mut output, after) = self.containers.run(&of).await?;
        if output.refused.is_none() {
            output.changes = changes_to_store(tree, &after, workspace).await?;
        }
        Ok(output)
    }

    #[cfg(not(target_os = "linux"))]
    async fn run_in_container(
        &self,
        _: (&str, ShellSettings, Option<Arc<ContainerKey>>),
        _: &Workspace,
        _: &Tree,
        _: &CallReports,
    ) -> Result<ShellOutput, ShellError> {
        Err(ShellError::Unavailable("containers are used on Linux only".to_owned()))
    }

    /// Returns a process that has run nothing: the one that waits, or a new one.
    fn process(&self, level: ShellLevel) -> std::io::Result<Started> {
        let waiting = if level == ShellLevel::Virtual { self.warm.take() } else { None };
        waiting.map_or_else(|| start(self.command(level)), Ok)
    }

    /// Returns the command of a process, without its input.
    pub(super) fn command(&self, level: ShellLevel) -> std::process::Command {
        let Helpers { program, emulated, programs, .. } = &self.helpers;
        let mut command = std::process::Command::new(program);
        match level {
            ShellLevel::Process => {
                command.args(programs);
                // The sandbox is that of a user without privileges, also if the server runs as root.
                drop_privileges(&mut command);
            }
            // Scripts in containers are not run by a process of this program.
            ShellLevel::Virtual | ShellLevel::None | ShellLevel::Container => {
                command.args(emulated);
            }
        }
        // Ctrl-C in the terminal of the server is for the server, which drains first.
        command.env_clear().current_dir("/").stdout(Stdio::null()).process_group(0);
        command
    }
}

/// Returns the time beyond its own limit after which a script is ended.
fn extra_time(level: ShellLevel) -> Duration {
    match level {
        ShellLevel::Process | ShellLevel::Container => COPY_TIME,
        ShellLevel::Virtual | ShellLevel::None => EXTRA_TIME,
    }
}

impl Shell for ScriptShell {
    fn run(&self, request: ShellRequest) -> BoxFuture<'_, Result<ShellOutput, ShellError>> {
        Box::pin(self.run_in_turn(request))
    }
}

/// The result of a script, as its process reports it.
#[derive(Debug)]
pub(super) struct Outcome {
    output: ShellOutput,
    after: After,
}

/// The exchange with the process of a script. The process is not trusted: its script may have taken it over.
pub(super) struct Conversation<'s> {
    pub(super) start: &'s Start,
    pub(super) tree: &'s Tree,
    pub(super) workspace: &'s Workspace,
    pub(super) reports: &'s CallReports,
}

impl Conversation<'_> {
    /// Runs a script in its process.
    async fn hold(&self, mut socket: UnixStream, child: &mut Child) -> Result<Outcome, ShellError> {
        let errors = child.stderr.take();
        let talk = async {
            let talked = match send(&mut socket, self.start, &[]).await {
                Ok(()) => self.answer(&mut socket).await,
                Err(error) => Err(error),
            };
            // A process that has closed the socket is ending and keeps its status; one that broke the protocol waits.
            if talked.is_err() {
                let _ = child.start_kill();
            }
            talked
        };
        // The process does not wait for somebody who reads its errors.
        let read_errors = async {
            let mut read = Vec::new();
            if let Some(errors) = errors {
                let _ = errors.take(MAX_ERRORS).read_to_end(&mut read).await;
            }
            read
        };
        let (talked, errors) = match select(pin!(talk), pin!(read_errors)).await {
            Either::Left((Ok(done), _)) => return done,
            Either::Left((Err(error), read_errors)) => (Err(error), read_errors.await),
            Either::Right((errors, talk)) => (talk.await, errors),
        };
        let error = match talked {
            Ok(done) => return done,
            Err(error) => error,
        };
        let status = child.wait().await.ok();
        let errors = String::from_utf8_lossy(&errors);
        tracing::warn!(%error, ?status, %errors, "the process of a script ended early");
        Err(ShellError::Ended(cause(status, &errors, || took_longer(&self.start.settings))))
    }

    /// Answers what the process asks, until the script has ended.
    pub(super) async fn answer(&self, socket: &mut UnixStream) -> std::io::Result<Result<Outcome, ShellError>> {
        let Start { settings, limits, .. } = self.start;
        let most = most_written(settings, limits);
        let (mut after, mut written) = (After::default(), 0);
        loop {
            match receive(socket, most.max(2 * MAX_OUTPUT)).await? {
                (Message::Read { no, path }, _) => {
                    let (outcome, content) = content(&path, self.tree, self.workspace).await;
                    send(socket, &Answer { no, outcome }, &content).await?;
                }
                (Message::Written(path), content) => {
                    written += path.len() + content.len();
                    if written > most.saturating_add(MAX_PATHS) {
                        return Err(std::io::Error::other("more was written than a script may"));
                    }
                    after.written.insert(path, content.into());
                }
                (Message::Progress, mut shown) => {
                    shown.truncate(MAX_PROGRESS);
                    self.reports.progress(String::from_utf8_lossy(&shown).into());
                }
                (Message::Done(done), output) => return Ok(Ok(outcome(done, output, after))),
                (Message::Ended(reason), _) => return Ok(Err(ShellError::Ended(bounded(&reason)))),
                (Message::Unavailable(reason), _) => {
                    let reason = bounded(&reason);
                    tracing::error!(reason, "scripts cannot run");
                    return Ok(Err(ShellError::Unavailable(reason)));
                }
            }
        }
    }
}

fn outcome(done: Done, mut stdout: Vec<u8>, mut after: After) -> Outcome {
    let Done { exit_code, stdout_bytes, is_truncated, kept, left_out, refused } = done;
    let stderr = stdout.split_off(stdout_bytes.min(stdout.len()));
    after.kept = kept.into_iter().collect();
    let output = ShellOutput {
        exit_code,
        stdout,
        stderr,
        is_truncated,
        changes: Vec::new(),
        left_out: left_out.iter().take(MAX_LEFT_OUT).map(|reason| bounded(reason)).collect(),
        refused: refused.as_deref().map(bounded),
    };
    Outcome { output, after }
}

/// Returns the most bytes that a script writes.
fn most_written(settings: &ShellSettings, limits: &WorkspaceLimits) -> usize {
    let most = match settings.level {
        ShellLevel::Process | ShellLevel::Container => limits.bytes,
        ShellLevel::Virtual | ShellLevel::None => settings.memory(),
    };
    usize::try_from(most).unwrap_or(usize::MAX)
}

/// Returns the beginning of a reason that a process has given, which may have any length.
fn bounded(reason: &str) -> String {
    reason.chars().take(MAX_REASON).collect()
}

/// Reads a file for a script.
async fn content(path: &str, tree: &Tree, workspace: &Workspace) -> (ReadOutcome, Bytes) {
    let parsed = WorkspacePath::parse_file(path).ok();
    let Some((path, entry)) = parsed.and_then(|path| tree.get(&path).map(|entry| (path, entry))) else {
        return (ReadOutcome::Failed, Bytes::new());
    };
    match workspace.read(&path, entry).await {
        Ok(content) => (ReadOutcome::Content, content),
        Err(WorkspaceError::Refused(reason)) => (ReadOutcome::Refused(reason), Bytes::new()),
        Err(_) => (ReadOutcome::Failed, Bytes::new()),
    }
}

/// Returns what a script has changed.
async fn changes_to_store(tree: &Tree, after: &After, workspace: &Workspace) -> Result<Vec<Change>, ShellError> {
    changes(tree, after, workspace).await.map_err(|error| match error {
        WorkspaceError::Refused(reason) => ShellError::Ended(reason),
        _ => unreadable(),
    })
}

fn unreadable() -> ShellError {
    ShellError::Ended("its files could not be read".to_owned())
}

/// Returns why a process ended without a result, for the model.
fn cause(status: Option<ExitStatus>, errors: &str, took_longer: impl Fn() -> String) -> String {
    let no_memory = "it used more memory than it may";
    match status.and_then(|status| status.signal()) {
        // Rust's own messages, before it aborts the process.
        _ if errors.contains("memory allocation of") => no_memory.to_owned(),
        _ if errors.contains("overflowed its stack") => "its commands are nested too deeply".to_owned(),
        // The system's answer to a lack of memory.
        Some(SIGKILL) => no_memory.to_owned(),
        Some(SIGXCPU) => took_longer(),
        None if status.and_then(|status| status.code()) == Some(i32::from(NO_MEMORY)) => no_memory.to_owned(),
        _ => "the shell failed".to_owned(),
    }
}
