//! Runs scripts in containers of Podman or Docker. A container is kept for the next script of its conversation.
//!
//! The client program of the engine starts a container, and its standard input is the container's: if it ends, so does the first
//! process of the container, and with it everything in it. So a container ends when the server closes the input or is killed.

mod archive;
mod engine;
mod pool;
mod probe;
#[cfg(test)]
mod tests;

pub(crate) use self::probe::probe as probe_containers;

use self::archive::{END, MAX_NEW_NODES, Unpacked, packed, unpack};
use self::engine::{RunAs, SCRIPT, execute, kill, new_name, start};
use self::pool::Pool;
use super::changes::After;
use super::{MAX_OUTPUT, ShellError, ShellOutput, took_longer};
use crate::path::UPLOADS;
use crate::section::{ContainerKey, ShellSettings, WorkspaceLimits};
use crate::tree::{FileEntry, Tree};
use crate::workspace::{Workspace, WorkspaceError};
use contract::CallReports;
use parking_lot::Mutex;
use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{ChildStdin, Command};
use tokio::time::timeout;

/// The time in which a container starts, and in which files are copied into it or out of it.
const COPY_TIME: Duration = Duration::from_secs(45);
/// The most bytes of what an engine says about a failure.
const MAX_ERROR: u64 = 2_000;
/// The bytes in an archive beside the contents of a file.
const ENTRY: u64 = 2_048;
/// The interval at which the user is shown the output so far, and its maximum size in bytes.
const PROGRESS: Duration = Duration::from_secs(1);
const MAX_PROGRESS: usize = 2_048;

/// Makes the folders of a script empty and unpacks its files. Nothing of the script before runs any more.
const UNPACK: &str = "for d in /workspace /outputs; do chmod -R u+rwX $d/* 2>/dev/null; rm -rf $d/* $d/.[!.]* $d/..?*; \
     [ -z \"$(ls -A $d)\" ] || exit 9; done; exec tar -x -o -f - -C /";
/// The same for what scripts only read.
const UNPACK_READ_ONLY: &str = "rm -rf /uploads/* /uploads/.[!.]* /uploads/..?*; exec tar -x -o -f - -C /";
/// Ends what still runs, and packs the files.
const PACK: &str = "kill -9 -1 2>/dev/null; cd / || exit 9; for d in workspace outputs; do \
     chmod -R u+rX $d/* $d/.[!.]* $d/..?* 2>/dev/null; done; exec tar -c -f - workspace outputs";
/// If memory is short, the kernel ends a process of the script. Otherwise it would choose by size only, and when the largest one has not
/// given its memory back yet, end the first process of the container.
const RUN: &str = "{ echo 1000 > /proc/self/oom_score_adj; } 2>/dev/null; [ -x /bin/bash ] && exec /bin/bash /script/run; exec /bin/sh /script/run";

/// The containers of a server.
#[derive(Default)]
pub(crate) struct Containers {
    pool: Arc<Mutex<Pool<Container>>>,
}

/// A container that runs. It ends when this is dropped.
pub(super) struct Container {
    key: Arc<ContainerKey>,
    name: String,
    _input: ChildStdin,
}

impl Drop for Container {
    fn drop(&mut self) {
        // The end of its input ends it, too, but only when its first process gets to run.
        kill(&self.key, &self.name);
    }
}

/// A script, and where it runs.
pub(super) struct ContainerScript<'s> {
    pub(super) key: Arc<ContainerKey>,
    pub(super) script: &'s str,
    pub(super) settings: ShellSettings,
    pub(super) workspace: &'s Workspace,
    pub(super) tree: &'s Tree,
    pub(super) reports: &'s CallReports,
}

impl Containers {
    /// Runs a script, and returns what it has done and the files after it. Dropping the future ends it.
    pub(super) async fn run(&self, of: &ContainerScript<'_>) -> Result<(ShellOutput, After), ShellError> {
        check_size(of.tree, &of.settings)?;
        let owner = &of.workspace.of;
        // A container has bounds of its own, which do not change.
        let pool_key =
            format!("{:?}", (&owner.owner, &owner.id, &of.key, of.settings.memory(), of.settings.most_processes()));
        let kept = self.pool.lock().take(&pool_key, Instant::now());
        let container = match kept {
            Some(container) => match within_copy_time(container.copy_in(of)).await {
                Ok(()) => container,
                // The kept container has ended in the meantime, or cannot be cleaned.
                Err(_) => Container::start_with(of).await?,
            },
            None => Container::start_with(of).await?,
        };
        let output = timeout(of.settings.timeout, container.execute(of)).await;
        let mut output = output.unwrap_or_else(|_| Err(ShellError::Ended(took_longer(&of.settings))))?;
        let Unpacked { files, left_out, refused } = within_copy_time(container.copy_out(of.workspace.limits)).await?;
        let uploads = of.tree.files().filter(|(path, _)| path.is_below(UPLOADS));
        let after = After { kept: uploads.map(|(path, _)| path.to_string()).collect(), written: files };
        (output.left_out, output.refused) = (left_out, refused);
        Pool::keep(&self.pool, pool_key, container);
        Ok((output, after))
    }
}

async fn within_copy_time<T>(work: impl Future<Output = Result<T, ShellError>>) -> Result<T, ShellError> {
    timeout(COPY_TIME, work).await.unwrap_or_else(|_| Err(unavailable("the container does not answer in time")))
}

fn unavailable(reason: impl Into<String>) -> ShellError {
    let reason = reason.into();
    tracing::error!(reason, "scripts cannot run in containers");
    ShellError::Unavailable(reason)
}

/// Checks that the files are not more than the memory of the container, because the copy is in memory.
fn check_size(tree: &Tree, settings: &ShellSettings) -> Result<(), ShellError> {
    let (bytes, most) = (tree.files().map(|(_, entry)| entry.size).sum::<u64>(), settings.memory());
    if bytes <= most {
        return Ok(());
    }
    Err(ShellError::Ended(format!(
        "the files of the conversation have {bytes} bytes, and a script may have {most} bytes of files: delete some with the other \
         tools first"
    )))
}

impl Container {
    /// Starts a container and copies the files into it.
    async fn start_with(of: &ContainerScript<'_>) -> Result<Self, ShellError> {
        let container = within_copy_time(Self::start(&of.key, &of.settings, &of.workspace.limits)).await?;
        within_copy_time(container.copy_in(of)).await?;
        Ok(container)
    }

    async fn start(
        key: &Arc<ContainerKey>,
        settings: &ShellSettings,
        limits: &WorkspaceLimits,
    ) -> Result<Self, ShellError> {
        let name = new_name();
        let mut command = Command::from(start(key, settings, limits, &name));
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let Ok(child) = &mut child else {
            return Err(unavailable(format!("`{}` cannot be started", key.engine.program())));
        };
        let (Some(input), Some(mut output), Some(errors)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(unavailable("the client of the engine has no pipes"));
        };
        // From here on, leaving this function ends the container.
        let container = Self { key: key.clone(), name, _input: input };
        let mut ready = [0; 6];
        let read = output.read_exact(&mut ready).await;
        match read {
            Ok(_) if ready == *b"ready\n" => Ok(container),
            _ => Err(unavailable(format!("the container does not start: {}", read_error(errors).await))),
        }
    }

    /// Replaces the files in the container by those of the conversation, and the script.
    async fn copy_in(&self, of: &ContainerScript<'_>) -> Result<(), ShellError> {
        let script = packed(&format!("{SCRIPT}/run"), of.script.as_bytes(), 0).map_err(unpackable)?;
        for (as_user, program) in [(RunAs::First, UNPACK_READ_ONLY), (RunAs::Script, UNPACK)] {
            let mut child = self.command(as_user, program).stdin(Stdio::piped()).stderr(Stdio::piped()).spawn();
            let child = child.as_mut().map_err(|error| unavailable(error.to_string()))?;
            let (Some(mut input), Some(errors)) = (child.stdin.take(), child.stderr.take()) else {
                return Err(unavailable("the client of the engine has no pipes"));
            };
            let send = async {
                if as_user == RunAs::First {
                    input.write_all(&script).await.map_err(|error| unavailable(error.to_string()))?;
                }
                for (path, entry) in of.tree.files() {
                    if path.is_below(UPLOADS) == (as_user == RunAs::First) {
                        let part = part(of.workspace, path, entry).await?;
                        input.write_all(&part).await.map_err(|error| unavailable(error.to_string()))?;
                    }
                }
                input.write_all(&END).await.map_err(|error| unavailable(error.to_string()))?;
                drop(input);
                Ok::<_, ShellError>(())
            };
            let (sent, errors) = tokio::join!(send, read_error(errors));
            sent?;
            let status = child.wait().await.map_err(|error| unavailable(error.to_string()))?;
            if !status.success() {
                return Err(unavailable(format!("files cannot be copied into the container: {errors}")));
            }
        }
        Ok(())
    }

    /// Runs the script.
    async fn execute(&self, of: &ContainerScript<'_>) -> Result<ShellOutput, ShellError> {
        let mut child = self.command(RunAs::Script, RUN).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let child = child.as_mut().map_err(|error| unavailable(error.to_string()))?;
        let (Some(stdout), Some(stderr)) = (child.stdout.take(), child.stderr.take()) else {
            return Err(unavailable("the client of the engine has no pipes"));
        };
        let mut progress = Progress { reports: of.reports, at: Instant::now() };
        let ((stdout, more_stdout), (stderr, more_stderr)) =
            tokio::try_join!(read_bounded(stdout, |read| progress.show(read)), read_bounded(stderr, |_| ()))
                .map_err(|error| unavailable(error.to_string()))?;
        let status = child.wait().await.map_err(|error| unavailable(error.to_string()))?;
        let exit_code = status.code().unwrap_or(-1);
        Ok(ShellOutput {
            exit_code,
            stdout,
            stderr,
            is_truncated: more_stdout || more_stderr,
            ..ShellOutput::default()
        })
    }

    /// Ends what the script has left, and returns the files.
    async fn copy_out(&self, limits: WorkspaceLimits) -> Result<Unpacked, ShellError> {
        let mut child = self.command(RunAs::Script, PACK).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let child = child.as_mut().map_err(|error| unavailable(error.to_string()))?;
        let (Some(output), Some(errors)) = (child.stdout.take(), child.stderr.take()) else {
            return Err(unavailable("the client of the engine has no pipes"));
        };
        // A folder in memory holds this much.
        let most = (2 * limits.bytes).saturating_add(ENTRY * (limits.files + MAX_NEW_NODES));
        let read = async {
            let mut archive = Vec::new();
            output.take(most + 1).read_to_end(&mut archive).await.map(|_| archive)
        };
        let (archive, errors) = tokio::join!(read, read_error(errors));
        let archive = archive.map_err(|error| unavailable(error.to_string()))?;
        if archive.len() as u64 > most {
            return Err(ShellError::Ended("it left too many files and folders".to_owned()));
        }
        let status = child.wait().await.map_err(|error| unavailable(error.to_string()))?;
        if !status.success() {
            tracing::debug!(errors, "the files of a container cannot be read");
            let reason =
                "its files cannot be read, for example because it used too much memory or started too many processes";
            return Err(ShellError::Ended(reason.to_owned()));
        }
        let unpacked = tokio::task::spawn_blocking(move || unpack(&archive, &limits)).await;
        unpacked.map_err(|error| unavailable(error.to_string()))
    }

    fn command(&self, as_user: RunAs, program: &str) -> Command {
        let mut command = Command::from(execute(&self.key, &self.name, as_user, &["/bin/sh", "-c", program]));
        // This ends the client of the engine. Its processes in the container end with the container.
        command.kill_on_drop(true);
        command
    }
}

/// Returns a file of the conversation as a part of an archive; nothing for a document that has no text.
async fn part(
    workspace: &Workspace,
    path: &crate::path::WorkspacePath,
    entry: &FileEntry,
) -> Result<Vec<u8>, ShellError> {
    match workspace.read(path, entry).await {
        Ok(content) => packed(path.as_str(), &content, entry.changed_at).map_err(unpackable),
        Err(WorkspaceError::Refused(_)) => Ok(Vec::new()),
        Err(_) => Err(ShellError::Ended("its files could not be read".to_owned())),
    }
}

fn unpackable(error: std::io::Error) -> ShellError {
    unavailable(format!("a file cannot be packed: {error}"))
}

/// Reads what an engine says about a failure.
async fn read_error(mut errors: impl AsyncRead + Unpin) -> String {
    let mut read = Vec::new();
    let _ = (&mut errors).take(MAX_ERROR).read_to_end(&mut read).await;
    // The process does not wait for somebody who reads the rest.
    let _ = tokio::io::copy(&mut errors, &mut tokio::io::sink()).await;
    String::from_utf8_lossy(&read).trim().to_owned()
}

/// Reads output, of which the beginning is kept; returns whether there was more.
async fn read_bounded(
    mut output: impl AsyncRead + Unpin,
    mut shows: impl FnMut(&[u8]),
) -> std::io::Result<(Vec<u8>, bool)> {
    let (mut kept, mut piece, mut more) = (Vec::new(), vec![0; 32 << 10], false);
    loop {
        let length = output.read(&mut piece).await?;
        if length == 0 {
            return Ok((kept, more));
        }
        let fits = length.min(MAX_OUTPUT - kept.len());
        kept.extend_from_slice(&piece[..fits]);
        more |= fits < length;
        shows(&kept);
    }
}

/// Shows the user the end of the output so far.
struct Progress<'s> {
    reports: &'s CallReports,
    at: Instant,
}

impl Progress<'_> {
    fn show(&mut self, read: &[u8]) {
        if self.at.elapsed() >= PROGRESS {
            self.at = Instant::now();
            let end = &read[read.len().saturating_sub(MAX_PROGRESS)..];
            self.reports.progress(String::from_utf8_lossy(end).into());
        }
    }
}
