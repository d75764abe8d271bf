//! Finds out whether this machine can run scripts in containers, by running one.

use super::engine::{RunAs, engine, execute, is_installed, is_left_behind, kill, new_name, start};
use crate::section::{ContainerKey, ShellSettings, WorkspaceLimits};
use std::io::{self, Read};
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

/// The most time for a command of an engine.
const MAX_TIME: Duration = Duration::from_secs(40);
/// The most bytes of what an engine answers.
const MAX_ANSWER: u64 = 64 << 10;
/// Checks the requirements of a container: a shell, `tar`, and that nothing of the image can be changed. It
/// has no capability, and no network but itself.
const SCRIPT: &str = "command -v tar > /dev/null || { echo 'the image has no tar'; exit 1; }
command -v kill > /dev/null || { echo 'the shell of the image has no kill'; exit 1; }
[ \"$(id -u)\" = 65534 ] || { echo 'it runs as another user'; exit 1; }
grep -q '^CapEff:[[:space:]]*0*$' /proc/self/status || { echo 'it has capabilities'; exit 1; }
! touch /x 2> /dev/null || { echo 'its files can be changed'; exit 1; }
! touch /uploads/x 2> /dev/null || { echo 'its /uploads can be changed'; exit 1; }
[ \"$(ls /sys/class/net 2> /dev/null | grep -v '^lo$')\" = '' ] || { echo 'it has a network'; exit 1; }
touch /workspace/x /outputs/x /tmp/x && echo works";

/// Runs a script in a container like those of agents, after removing those that servers of this machine left behind which were
/// killed. It blocks the thread for a second or so.
///
/// # Errors
/// This machine cannot run such containers: what is missing, and what to do, for the operator.
pub(crate) fn probe(key: &ContainerKey, settings: &ShellSettings) -> Result<(), String> {
    let program = key.engine.program();
    if !is_installed(key) {
        return Err(format!("`{program}` was not found: install it, or write `level: virtual`"));
    }
    sweep(key).map_err(|reason| format!("`{program}` does not work: {reason}"))?;
    if ask(engine(key).args(["image", "inspect", "--format", "{{.Id}}", &key.image])).is_err() {
        let image = &key.image;
        return Err(format!("the image `{image}` is not on this machine: run `{program} pull {image}`"));
    }
    let name = new_name();
    let started = start(key, settings, &WorkspaceLimits::default(), &name);
    let worked = hold(started, MAX_TIME, || ask(&mut execute(key, &name, RunAs::Script, &["/bin/sh", "-c", SCRIPT])));
    kill(key, &name);
    match worked {
        Ok(output) if output == "works" => Ok(()),
        Ok(output) => Err(format!("a script in a container says {output:?}")),
        Err(reason) => Err(format!("a script cannot run in a container: {reason}")),
    }
}

/// Starts a container and does something while it runs.
fn hold(mut start: Command, most: Duration, during: impl FnOnce() -> Result<String, String>) -> Result<String, String> {
    let started = start.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = started.map_err(|error| error.to_string())?;
    let ready = wait_until_ready(child.stdout.take(), most);
    let is_ready = ready.is_ok();
    let done = match ready {
        Ok(output) => {
            child.stdout = Some(output);
            during()
        }
        Err(RecvTimeoutError::Timeout) => {
            let _ = child.kill();
            Err("it does not start in time".to_owned())
        }
        // The client ends if the container does not start.
        Err(RecvTimeoutError::Disconnected) => Err("it does not start".to_owned()),
    };
    // The end of its input ends the container.
    drop(child.stdin.take());
    match (done, wait(child)) {
        (Err(reason), Ok(output)) if !is_ready && !output.stderr.is_empty() => {
            Err(format!("{reason}: {}", String::from_utf8_lossy(&output.stderr).trim()))
        }
        (done, _) => done,
    }
}

/// Waits until a container says that it has started. The client of Docker hangs if the runtime ends while it starts.
fn wait_until_ready(output: Option<ChildStdout>, most: Duration) -> Result<ChildStdout, RecvTimeoutError> {
    let (sender, receiver) = mpsc::channel();
    let reads = move || {
        let mut ready = [0; 6];
        if let Some(mut output) = output
            && output.read_exact(&mut ready).is_ok()
            && ready == *b"ready\n"
        {
            let _ = sender.send(output);
        }
    };
    // The thread ends with the client.
    let thread = std::thread::Builder::new().name("container-start".to_owned()).spawn(reads);
    thread.map_err(|_| RecvTimeoutError::Disconnected)?;
    receiver.recv_timeout(most)
}

/// Removes the containers of servers of this machine that were killed. Each ends with its server; this is for those of which the
/// client was killed, too.
fn sweep(key: &ContainerKey) -> Result<(), String> {
    let list = ["ps", "--all", "--filter", "label=chatwright=shell", "--format", "{{.Names}}"];
    for name in ask(engine(key).args(list))?.lines().filter(|name| is_left_behind(name)) {
        tracing::info!(name, "removing a container of a server that is no more");
        let _ = ask(engine(key).args(["rm", "--force", name]));
    }
    Ok(())
}

/// Runs a command of an engine and returns what it prints.
fn ask(command: &mut Command) -> Result<String, String> {
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().map_err(|error| error.to_string())?;
    let output = wait(child).map_err(|error| error.to_string())?;
    let printed = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    if output.status.success() {
        Ok(printed(&output.stdout))
    } else {
        Err([printed(&output.stdout), printed(&output.stderr)].join(" ").trim().to_owned())
    }
}

/// Waits for a process that prints little, and ends it if it takes too long.
fn wait(mut child: Child) -> io::Result<Output> {
    let since = Instant::now();
    let status = loop {
        match child.try_wait()? {
            Some(status) => break status,
            None if since.elapsed() > MAX_TIME => {
                child.kill()?;
                child.wait()?;
                return Err(io::Error::new(io::ErrorKind::TimedOut, "it does not answer in time"));
            }
            None => std::thread::sleep(Duration::from_millis(20)),
        }
    };
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    if let Some(output) = child.stdout.take() {
        output.take(MAX_ANSWER).read_to_end(&mut stdout)?;
    }
    if let Some(errors) = child.stderr.take() {
        errors.take(MAX_ANSWER).read_to_end(&mut stderr)?;
    }
    Ok(Output { status, stdout, stderr })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_that_does_not_answer_is_ended() {
        let check = |script: &str, expected: Result<&str, &str>| {
            let mut client = Command::new("sh");
            client.args(["-c", script]);
            let held = hold(client, Duration::from_secs(5), || Ok("works".to_owned()));
            assert_eq!(held.as_deref().map_err(String::as_str), expected, "{script}");
        };
        check("echo ready; exec cat", Ok("works"));
        check("exec sleep 60", Err("it does not start in time"));
        check("echo no such image >&2; exit 125", Err("it does not start: no such image"));
        check("exit 1", Err("it does not start"));
    }
}
