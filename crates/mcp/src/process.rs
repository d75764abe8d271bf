//! The process of a stdio server: started in a clean environment, and ended with its owner.

use crate::StdioSettings;
use parking_lot::Mutex;
use rustix::process::{Pid, Signal, kill_process_group};
use secrecy::ExposeSecret;
use std::collections::VecDeque;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};

/// The environment variables that every process inherits. Keys and passwords are not among them.
const INHERITED: [&str; 11] =
    ["PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "LANG", "LC_ALL", "TZ", "TMPDIR", "SYSTEMROOT"];
/// The number of bytes that are kept of the end of the error output.
const MAX_LAST_WORDS: usize = 64 << 10;
/// The time that the process has to exit once its input is closed.
const EXIT_TIME: Duration = Duration::from_secs(2);

/// A running process. When this is dropped, the process and everything that it started are ended.
pub(crate) struct ServerProcess {
    child: Option<Child>,
    last_words: StderrTail,
}

/// The end of a process's error output.
#[derive(Clone, Default)]
pub(crate) struct StderrTail(Arc<Mutex<VecDeque<u8>>>);

impl ServerProcess {
    /// Starts the process.
    pub(crate) fn start(settings: &StdioSettings) -> Result<(Self, ChildStdout, ChildStdin), std::io::Error> {
        let mut command = Command::new(&settings.command);
        command.args(&settings.args).env_clear();
        command.envs(INHERITED.iter().filter_map(|&name| Some((name, std::env::var_os(name)?))));
        command.envs(settings.env.iter().map(|(name, value)| (name, value.expose_secret())));
        if let Some(folder) = &settings.folder {
            command.current_dir(folder);
        }
        // It has its own process group, so that the processes that it starts end with it.
        command.process_group(0).kill_on_drop(true);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let missing = || std::io::Error::other("the program has no pipes");
        let (input, output) = (child.stdin.take().ok_or_else(missing)?, child.stdout.take().ok_or_else(missing)?);
        let last_words = StderrTail::default();
        if let Some(errors) = child.stderr.take() {
            // This task ends when the last descendant closes its error output.
            tokio::spawn(last_words.clone().listen(errors));
        }
        Ok((Self { child: Some(child), last_words }, output, input))
    }

    /// Returns the end of the error output.
    pub(crate) fn last_words(&self) -> StderrTail {
        self.last_words.clone()
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        let Some(mut child) = self.child.take() else { return };
        // The group is killed when this is dropped, even by a runtime that shuts down, and even if
        // the process has exited: its children may still run.
        let group = ProcessGroup(child.id().and_then(|id| Pid::from_raw(id.cast_signed())));
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        runtime.spawn(async move {
            let _ = tokio::time::timeout(EXIT_TIME, child.wait()).await;
            drop(group);
            let _ = child.wait().await;
        });
    }
}

/// A process group.
struct ProcessGroup(Option<Pid>);

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        if let Some(group) = self.0 {
            // The group may not exist any more.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

impl StderrTail {
    async fn listen(self, mut errors: ChildStderr) {
        let mut piece = [0; 4096];
        while let Ok(read @ 1..) = errors.read(&mut piece).await {
            let mut kept = self.0.lock();
            kept.extend(&piece[..read]);
            let over = kept.len().saturating_sub(MAX_LAST_WORDS);
            kept.drain(..over);
        }
    }

    /// Returns the last lines, for the log.
    pub(crate) fn text(&self) -> String {
        let kept: Vec<u8> = self.0.lock().iter().copied().collect();
        let text = String::from_utf8_lossy(&kept);
        let lines: Vec<_> = text.lines().rev().take(10).collect();
        lines.into_iter().rev().collect::<Vec<_>>().join("\n")
    }
}
