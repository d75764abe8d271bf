//! The first process in a sandbox.

use super::start::Failure;
use super::{SandboxError, SandboxSettings, channel, filter, folders};
use crate::{Resource, lower_precedence, set_limit};
use std::convert::Infallible;
use std::fs::{self, File};
use std::io::{self, PipeWriter, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

/// The files that a process may have open.
const OPEN_FILES: u64 = 256;
/// The stack of a first thread in bytes, and the most to which a program may raise it. `RLIMIT_DATA` does not count it.
const STACK: u64 = 8 << 20;
const MAX_STACK: u64 = 64 << 20;
/// The niceness of the session, for kernels that schedule each session as a group.
const SESSION_NICENESS: &str = "10";
/// The exit code of a process that was not started by a sandbox.
const NOT_IN_SANDBOX: u8 = 4;

/// Runs the first process in a sandbox, which becomes the command.
pub fn run_confined() -> ExitCode {
    let Ok(control) = io::stdin().as_fd().try_clone_to_owned().map(UnixStream::from) else {
        return ExitCode::from(NOT_IN_SANDBOX);
    };
    let Ok((described, files)) = channel::receive(&control) else {
        eprintln!("this command is started by the server");
        return ExitCode::from(NOT_IN_SANDBOX);
    };
    let Ok([stdout, stderr, failure]) = <[OwnedFd; 3]>::try_from(files) else {
        return ExitCode::from(NOT_IN_SANDBOX);
    };
    let mut failure = PipeWriter::from(failure);
    let Err(error) = become_command(&control, &described, [stdout, stderr], &failure);
    let _ = failure.write_all(&serde_json::to_vec(&Failure::from(error)).unwrap_or_default());
    ExitCode::FAILURE
}

fn become_command(
    control: &UnixStream,
    described: &[u8],
    [stdout, stderr]: [OwnedFd; 2],
    failure: &PipeWriter,
) -> Result<Infallible, SandboxError> {
    let settings: SandboxSettings = serde_json::from_slice(described).map_err(io::Error::from)?;
    let paths = settings.folders.iter().map(|folder| folder.path.as_str()).chain(["/proc"]);
    let folders = paths.map(File::open).collect::<io::Result<Vec<_>>>()?;
    channel::send(control, &[], &folders.iter().map(AsFd::as_fd).collect::<Vec<_>>())?;
    drop(folders);
    // Until the files are there.
    channel::receive(control)?;
    let Some(program) = settings.programs.iter().find(|program| Path::new(program).exists()) else {
        return Err(SandboxError::NoProgram(settings.programs.join(", ")));
    };
    let filter = filter::program().map_err(|error| SandboxError::Filter(error.to_string()))?;
    limit(&settings)?;
    close_inherited(&[control.as_fd(), stdout.as_fd(), stderr.as_fd(), failure.as_fd()].map(|file| file.as_raw_fd()))?;
    folders::restrict(&settings)?;
    seccompiler::apply_filter(&filter).map_err(|error| SandboxError::Filter(error.to_string()))?;
    let failed = Command::new(program)
        .args(&settings.arguments)
        .env_clear()
        .envs(settings.environment.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .stdout(stdout)
        .stderr(stderr)
        .exec();
    Err(failed.into())
}

/// Sets the limits of the command and of everything that it starts.
fn limit(settings: &SandboxSettings) -> io::Result<()> {
    // When the machine lacks memory, these processes are ended before others.
    let _ = fs::write("/proc/self/oom_score_adj", "1000");
    lower_precedence();
    // bubblewrap has made this session. The system may refuse it, and most servers have no such groups.
    let _ = fs::write("/proc/self/autogroup", SESSION_NICENESS);
    set_limit(Resource::Stack, STACK, MAX_STACK)?;
    for (resource, most) in [
        (Resource::Core, 0),
        (Resource::Memlock, 0),
        (Resource::Msgqueue, 0),
        (Resource::Nofile, OPEN_FILES),
        (Resource::Fsize, settings.memory_bytes),
        (Resource::Data, settings.memory_bytes),
        (Resource::Cpu, settings.cpu_seconds),
        // Counted in the user namespace; the first process of bubblewrap is one of them.
        (Resource::Nproc, settings.processes.saturating_add(1)),
    ] {
        set_limit(resource, most, most)?;
    }
    Ok(())
}

/// Closes files that were inherited. Rust opens all files so that a new program does not have them, but the server may
/// have been started with others.
fn close_inherited(own: &[RawFd]) -> io::Result<()> {
    let number = |entry: io::Result<fs::DirEntry>| Ok(entry?.file_name().to_str().and_then(|name| name.parse().ok()));
    let open: Vec<Option<RawFd>> = fs::read_dir("/proc/self/fd")?.map(number).collect::<io::Result<_>>()?;
    for file in open.into_iter().flatten().filter(|file| *file > 2 && !own.contains(file)) {
        // That of the list itself is closed already.
        let _ = nix::unistd::close(file);
    }
    Ok(())
}
