#![doc = include_str!("../README.md")]
#![allow(clippy::unwrap_used, reason = "a test fails where it cannot start a process")]

mod kill_test;

pub use kill_test::KillTest;

use std::ffi::OsStr;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Returns a command that runs one test of this test program, also an ignored one. `test` is its path, such
/// as `tests::kill::victim`. The variable tells the test that it is the other process.
pub fn command(test: &str, variable: &str, value: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--include-ignored", "--nocapture", "--test-threads=1"]).env(variable, value);
    command
}

/// Runs a command and returns how long it took. If it has not ended after `delay`, it is killed, and the
/// result is `None`.
///
/// # Panics
/// Panics if the command fails.
pub fn run(mut command: Command, delay: Option<Duration>) -> Option<Duration> {
    let began = Instant::now();
    let mut child = command.stdout(Stdio::null()).spawn().unwrap();
    while delay.is_none_or(|delay| began.elapsed() < delay) {
        if let Some(status) = child.try_wait().unwrap() {
            assert!(status.success(), "{status}");
            return Some(began.elapsed());
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    None
}
