//! Starts the processes that run scripts, and keeps one ready for the next script.

use parking_lot::Mutex;
use std::io;
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::UnixStream;
use tokio::process::Child;
use tokio::task::AbortHandle;
use tokio::time::sleep;

/// The time after which an unused process is ended.
const MAX_IDLE: Duration = Duration::from_secs(60);

/// A process that waits for its first message, and the socket to it. Dropping it ends the process.
pub(super) struct Started {
    pub(super) child: Child,
    pub(super) socket: UnixStream,
}

/// Starts a process.
///
/// # Errors
/// The system cannot start it.
pub(super) fn start(command: Command) -> io::Result<Started> {
    let (ours, theirs) = UnixStream::pair()?;
    let theirs = theirs.into_std()?;
    theirs.set_nonblocking(false)?;
    let mut command = tokio::process::Command::from(command);
    command.stdin(OwnedFd::from(theirs)).stderr(Stdio::piped()).kill_on_drop(true);
    Ok(Started { child: command.spawn()?, socket: ours })
}

/// Holds at most one process that is started in advance, so that the next script does not wait until the program is loaded. The
/// process is dropped with this value.
#[derive(Default)]
pub(super) struct WarmProcess(Arc<Mutex<Option<Kept>>>);

struct Kept {
    process: Started,
    /// The task that ends the process when it is idle for too long.
    timer: AbortHandle,
}

impl WarmProcess {
    /// Takes the process, so that no other script gets it; `None` if there is none, or it has ended.
    pub(super) fn take(&self) -> Option<Started> {
        let Kept { mut process, timer } = self.0.lock().take()?;
        timer.abort();
        // The system may have ended it, for example because the machine lacks memory.
        matches!(process.child.try_wait(), Ok(None)).then_some(process)
    }

    /// Starts a process for the next script, unless one waits. This is done in another task, because starting a process blocks the
    /// thread for a moment.
    pub(super) fn refill(&self, command: Command) {
        // The shell may be dropped before the process is started.
        let kept = Arc::downgrade(&self.0);
        tokio::spawn(async move {
            if let Some(kept) = kept.upgrade() {
                fill(&kept, command);
            }
        });
    }
}

fn fill(place: &Arc<Mutex<Option<Kept>>>, command: Command) {
    let mut kept = place.lock();
    if kept.is_some() {
        return;
    }
    // The next script starts its own process, and reports the error if that fails, too.
    let Ok(process) = start(command) else { return };
    let idle = Arc::downgrade(place);
    let timer = tokio::spawn(async move {
        sleep(MAX_IDLE).await;
        if let Some(place) = idle.upgrade() {
            *place.lock() = None;
        }
    });
    *kept = Some(Kept { process, timer: timer.abort_handle() });
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    /// A program that waits for its input to end.
    fn waiting_program() -> Command {
        let mut command = Command::new("cat");
        command.stdout(Stdio::null());
        command
    }

    /// Starts a process; returns its id.
    async fn refilled(warm: &WarmProcess, command: Command) -> u32 {
        warm.refill(command);
        for _ in 0..100 {
            tokio::task::yield_now().await;
            let id = warm.0.lock().as_ref().and_then(|kept| kept.process.child.id());
            if let Some(id) = id {
                return id;
            }
        }
        panic!("no process waits");
    }

    /// Waits until a process has ended: it is gone, or a zombie that can be waited for.
    fn wait_for_end(id: u32) {
        for _ in 0..3_000 {
            let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
            // The state follows the name, which is in parentheses.
            if stat.rsplit_once(") ").is_none_or(|(_, rest)| rest.starts_with(['Z', 'X'])) {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        panic!("the process {id} still runs");
    }

    #[tokio::test]
    async fn a_process_waits_after_the_first_use_and_is_taken_once() {
        let warm = WarmProcess::default();
        assert!(warm.take().is_none());
        let waiting = refilled(&warm, waiting_program()).await;
        assert_eq!(refilled(&warm, waiting_program()).await, waiting, "one is enough");
        assert_eq!(warm.take().and_then(|process| process.child.id()), Some(waiting));
        assert!(warm.take().is_none());
        assert_ne!(refilled(&warm, waiting_program()).await, waiting);
    }

    #[tokio::test]
    async fn a_process_that_has_ended_is_not_taken() {
        let warm = WarmProcess::default();
        let waiting = refilled(&warm, Command::new("true")).await;
        wait_for_end(waiting);
        assert!(warm.take().is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn a_process_ends_when_it_is_idle_and_with_the_shell() {
        let warm = WarmProcess::default();
        // The timer of a process that was taken must not end the next one.
        refilled(&warm, waiting_program()).await;
        sleep(MAX_IDLE / 2).await;
        drop(warm.take());
        let waiting = refilled(&warm, waiting_program()).await;
        sleep(MAX_IDLE * 3 / 4).await;
        assert_eq!(refilled(&warm, waiting_program()).await, waiting);
        sleep(MAX_IDLE / 2).await;
        assert!(warm.0.lock().is_none());
        wait_for_end(waiting);
        let waiting = refilled(&warm, waiting_program()).await;
        drop(warm);
        wait_for_end(waiting);
    }
}
