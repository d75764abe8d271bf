//! The level `virtual`: an emulated shell, in a process of our own program for each script.

use super::changes::{After, changes};
use super::process::NO_MEMORY;
use super::protocol::{Answer, Message, ReadOutcome, Start, receive, send};
use super::turns::UserTurns;
use super::{MAX_OUTPUT, MAX_SCRIPT, RUN_SCRIPT, Shell, ShellError, ShellOutput, ShellRequest, took_longer};
use crate::path::WorkspacePath;
use crate::section::ShellSettings;
use crate::tree::Tree;
use crate::workspace::{Workspace, WorkspaceError};
use bytes::Bytes;
use futures::future::BoxFuture;
use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::net::UnixStream;
use tokio::process::{Child, Command};
use tokio::sync::Semaphore;
use tokio::time::timeout;

/// The scripts that run at once.
const MAX_RUNNING: usize = 8;
/// The scripts that run or wait.
const MAX_SCRIPTS: usize = 200;
/// How much longer than its own limit a script may take. The shell looks at the clock between commands; a command
/// that takes longer is ended with the process.
const EXTRA_TIME: Duration = Duration::from_secs(5);
/// The bytes of the paths of what a script writes.
const MAX_PATHS: usize = 1 << 20;
/// The most characters of the reason why a script was ended.
const MAX_REASON: usize = 1_000;
/// The bytes that are kept of what a process writes to standard error, which says why it ended.
const MAX_ERRORS: u64 = 4_096;

/// The signals that tell why a process was ended.
const SIGKILL: i32 = 9;
const SIGXCPU: i32 = 24;

/// Runs scripts in processes that have no file, network or environment of the machine.
pub(crate) struct VirtualShell {
    program: PathBuf,
    arguments: Vec<OsString>,
    scripts: Semaphore,
    running: Semaphore,
    turns: UserTurns,
}

impl VirtualShell {
    /// Creates the shell, whose processes are this program with the subcommand [`RUN_SCRIPT`].
    pub(crate) fn new() -> Self {
        // The link keeps its meaning when the file of the program is replaced by a new version.
        let program = if cfg!(target_os = "linux") {
            PathBuf::from("/proc/self/exe")
        } else {
            std::env::current_exe().unwrap_or_default()
        };
        Self::with_program(program, [RUN_SCRIPT.into()])
    }

    /// Creates the shell with another program, which calls [`run_script_process`](crate::run_script_process).
    pub(crate) fn with_program(program: PathBuf, arguments: impl IntoIterator<Item = OsString>) -> Self {
        Self {
            program,
            arguments: arguments.into_iter().collect(),
            scripts: Semaphore::new(MAX_SCRIPTS),
            running: Semaphore::new(MAX_RUNNING),
            turns: UserTurns::default(),
        }
    }

    async fn run_in_turn(&self, request: ShellRequest) -> Result<ShellOutput, ShellError> {
        if request.script.len() > MAX_SCRIPT {
            let reason = format!("a script has at most {MAX_SCRIPT} bytes: write it to a file in pieces");
            return Err(ShellError::Ended(reason));
        }
        // First the turn of the user, so that nobody's scripts take the places of all.
        let _turn = self.turns.wait(&request.workspace.of.owner).await;
        let Ok(_place) = self.scripts.try_acquire() else { return Err(ShellError::Busy) };
        let Ok(_running) = self.running.acquire().await else { return Err(ShellError::Busy) };
        let ShellRequest { script, workspace, settings } = request;
        // Not before its turn has come: until then others may change the files.
        let tree = workspace.tree().await.map_err(|_| unreadable())?;
        let (mut child, socket) = self.spawn().map_err(|error| {
            tracing::error!(%error, "the process of a script cannot be started");
            ShellError::Ended("the shell cannot be started".to_owned())
        })?;
        let files = tree.files().map(|(path, entry)| (path.as_str().to_owned(), entry.clone())).collect();
        let start = Start { script, settings, limits: workspace.limits, files };
        // Dropping the child ends it.
        let done =
            timeout(settings.timeout + EXTRA_TIME, converse(socket, &mut child, &start, &tree, &workspace)).await;
        // It has nothing more to do, and counts as running until it has gone.
        let _ = child.kill().await;
        let Done { mut output, after } = done.unwrap_or_else(|_| Err(ShellError::Ended(took_longer(&settings))))?;
        output.changes = match changes(&tree, &after, &workspace).await {
            Ok(changes) => changes,
            Err(WorkspaceError::Refused(reason)) => return Err(ShellError::Ended(reason)),
            Err(_) => return Err(unreadable()),
        };
        Ok(output)
    }

    /// Starts a process and returns the socket to it.
    fn spawn(&self) -> std::io::Result<(Child, UnixStream)> {
        let (ours, theirs) = UnixStream::pair()?;
        let theirs = theirs.into_std()?;
        theirs.set_nonblocking(false)?;
        let child = Command::new(&self.program)
            .args(&self.arguments)
            .env_clear()
            .current_dir("/")
            .stdin(OwnedFd::from(theirs))
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            // Ctrl-C in the terminal of the server is for the server, which drains first.
            .process_group(0)
            .spawn()?;
        Ok((child, ours))
    }
}

impl Shell for VirtualShell {
    fn run(&self, request: ShellRequest) -> BoxFuture<'_, Result<ShellOutput, ShellError>> {
        Box::pin(self.run_in_turn(request))
    }
}

/// What a script has done, as its process says.
#[derive(Debug)]
pub(super) struct Done {
    output: ShellOutput,
    after: After,
}

/// Runs a script in its process.
async fn converse(
    mut socket: UnixStream,
    child: &mut Child,
    start: &Start,
    tree: &Tree,
    workspace: &Workspace,
) -> Result<Done, ShellError> {
    let errors = child.stderr.take();
    let talk = async {
        let talked = match send(&mut socket, start, &[]).await {
            Ok(()) => answer(&mut socket, tree, workspace, &start.settings).await,
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
    let (done, errors) = tokio::join!(talk, read_errors);
    match done {
        Ok(done) => done,
        Err(error) => {
            let status = child.wait().await.ok();
            let errors = String::from_utf8_lossy(&errors);
            tracing::warn!(%error, ?status, %errors, "the process of a script ended early");
            Err(ShellError::Ended(cause(status, &errors, || took_longer(&start.settings))))
        }
    }
}

/// Answers what the process asks, until the script has ended. The process is not trusted: it may have been taken
/// over by its script.
pub(super) async fn answer(
    socket: &mut UnixStream,
    tree: &Tree,
    workspace: &Workspace,
    settings: &ShellSettings,
) -> std::io::Result<Result<Done, ShellError>> {
    let memory = usize::try_from(settings.memory_bytes).unwrap_or(usize::MAX);
    let (mut after, mut written) = (After::default(), 0);
    loop {
        match receive(socket, memory.max(2 * MAX_OUTPUT)).await? {
            (Message::Read { no, path }, _) => {
                let (outcome, content) = content(&path, tree, workspace).await;
                send(socket, &Answer { no, outcome }, &content).await?;
            }
            (Message::Written(path), content) => {
                written += path.len() + content.len();
                if written > memory.saturating_add(MAX_PATHS) {
                    return Err(std::io::Error::other("more was written than a script may"));
                }
                after.written.insert(path, content.into());
            }
            (Message::Done { exit_code, stdout_bytes, is_truncated, kept }, mut stdout) => {
                let stderr = stdout.split_off(stdout_bytes.min(stdout.len()));
                after.kept = kept.into_iter().collect();
                let output = ShellOutput { exit_code, stdout, stderr, is_truncated, changes: Vec::new() };
                return Ok(Ok(Done { output, after }));
            }
            (Message::Ended(reason), _) => {
                return Ok(Err(ShellError::Ended(reason.chars().take(MAX_REASON).collect())));
            }
        }
    }
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
