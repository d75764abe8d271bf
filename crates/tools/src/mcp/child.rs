//! A server that is a program: started in a clean environment, ended with its owner.

use super::settings::StdioTransport;
use parking_lot::Mutex;
use rustix::process::{Pid, Signal, kill_process_group};
use secrecy::ExposeSecret;
use std::collections::VecDeque;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};

/// What every program may know of this one's environment; keys and passwords are not among it.
const INHERITED: [&str; 11] =
    ["PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "LANG", "LC_ALL", "TZ", "TMPDIR", "SYSTEMROOT"];
/// Bytes of what it last said on its error output.
const MAX_LAST_WORDS: usize = 64 << 10;
/// To end by itself once its input is closed.
const PATIENCE: Duration = Duration::from_secs(2);

/// A running program. It is ended when this is dropped, with everything that it started itself.
pub(super) struct Program {
    child: Option<Child>,
    last_words: LastWords,
}

/// The end of what a program said on its error output.
#[derive(Clone, Default)]
pub(super) struct LastWords(Arc<Mutex<VecDeque<u8>>>);

impl Program {
    /// Starts it.
    pub(super) fn start(settings: &StdioTransport) -> Result<(Self, ChildStdout, ChildStdin), std::io::Error> {
        let mut command = Command::new(&settings.command);
        command.args(&settings.args).env_clear();
        command.envs(INHERITED.iter().filter_map(|&name| Some((name, std::env::var_os(name)?))));
        command.envs(settings.env.iter().map(|(name, value)| (name, value.expose_secret())));
        if let Some(folder) = &settings.folder {
            command.current_dir(folder);
        }
        // A group of its own, so that what it starts ends with it.
        command.process_group(0).kill_on_drop(true);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let missing = || std::io::Error::other("the program has no pipes");
        let (input, output) = (child.stdin.take().ok_or_else(missing)?, child.stdout.take().ok_or_else(missing)?);
        let last_words = LastWords::default();
        if let Some(errors) = child.stderr.take() {
            // Ends when the program's last descendant closes its end.
            tokio::spawn(last_words.clone().listen(errors));
        }
        Ok((Self { child: Some(child), last_words }, output, input))
    }

    /// What it said last.
    pub(super) fn last_words(&self) -> LastWords {
        self.last_words.clone()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let Some(mut child) = self.child.take() else { return };
        // Ended when this is dropped, also by a runtime that ends itself; and also when the program has ended: what it started may
        // not have.
        let group = Group(child.id().and_then(|id| Pid::from_raw(id.cast_signed())));
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        runtime.spawn(async move {
            let _ = tokio::time::timeout(PATIENCE, child.wait()).await;
            drop(group);
            let _ = child.wait().await;
        });
    }
}

/// A program with all that it started.
struct Group(Option<Pid>);

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(group) = self.0 {
            // It may be gone already.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

impl LastWords {
    async fn listen(self, mut errors: ChildStderr) {
        let mut piece = [0; 4096];
        while let Ok(read @ 1..) = errors.read(&mut piece).await {
            let mut kept = self.0.lock();
            kept.extend(&piece[..read]);
            let over = kept.len().saturating_sub(MAX_LAST_WORDS);
            kept.drain(..over);
        }
    }

    /// The last lines, for the log.
    pub(super) fn text(&self) -> String {
        let kept: Vec<u8> = self.0.lock().iter().copied().collect();
        let text = String::from_utf8_lossy(&kept);
        let lines: Vec<_> = text.lines().rev().take(10).collect();
        lines.into_iter().rev().collect::<Vec<_>>().join("\n")
    }
}
