//! Finds out whether this machine can run scripts at the level `process`, by running one.

use super::ScriptShell;
use super::protocol::{Done, Message, Start, receive_blocking, send_blocking};
use crate::section::{ShellLevel, ShellSettings, WorkspaceLimits};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::Stdio;
use std::time::Duration;

/// The most time of a probe.
const MAX_TIME: Duration = Duration::from_secs(30);
/// The longest answer in bytes.
const MAX_ANSWER: usize = 64 << 10;
/// Needs programs and processes, and sees no file of the machine beside them.
const SCRIPT: &str = "[ ! -e /etc/passwd ] && echo works | cat > /tmp/probe && cat /tmp/probe";

impl ScriptShell {
    /// Runs a script with the programs of this machine. It blocks the thread for some hundredths of a second.
    ///
    /// # Errors
    /// This machine cannot run scripts at the level `process`: what is missing, and what to do, for the operator.
    pub(crate) fn probe_programs(&self) -> Result<(), String> {
        let settings = ShellSettings { level: ShellLevel::Process, ..ShellSettings::default() };
        match self.ask(settings) {
            Ok((Message::Done(Done { exit_code: 0, .. }), output)) if output == b"works\n" => Ok(()),
            Ok((Message::Unavailable(reason) | Message::Ended(reason), _)) => Err(reason),
            Ok((Message::Done(Done { exit_code, .. }), output)) => {
                let output = String::from_utf8_lossy(&output);
                Err(format!("a script in the sandbox fails with exit code {exit_code}: {}", output.trim()))
            }
            Ok(_) => Err("the process of the script breaks the protocol".to_owned()),
            Err(error) => Err(format!("the process of a script cannot be started, or ended early: {error}")),
        }
    }

    fn ask(&self, settings: ShellSettings) -> io::Result<(Message, Vec<u8>)> {
        let (mut ours, theirs) = UnixStream::pair()?;
        ours.set_read_timeout(Some(MAX_TIME))?;
        let mut command = self.command(settings.level);
        let mut child = command.stdin(OwnedFd::from(theirs)).stderr(Stdio::null()).spawn()?;
        // It holds the other end of the socket, too.
        drop(command);
        let start = Start {
            script: SCRIPT.to_owned(),
            settings,
            limits: WorkspaceLimits::default(),
            files: Vec::new(),
            confined: self.helpers.confined.clone(),
        };
        let answer = send_blocking(&mut ours, &start, &[]).and_then(|()| receive_blocking(&mut ours, MAX_ANSWER));
        let _ = child.kill();
        child.wait()?;
        answer
    }
}
