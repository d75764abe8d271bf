//! The process of a script at the level `process`: makes a sandbox, copies the files of the conversation into it, runs
//! the script with the programs of the machine, and sends what it has done. It is outside of the sandbox and ends it
//! when the server has gone.

use super::MAX_OUTPUT;
use super::protocol::{Answer, Done, Message, ReadOutcome, Start, receive_blocking, send_blocking};
use crate::path::{TREES, UPLOADS, WORKSPACE, WorkspacePath};
use crate::section::{ShellSettings, WorkspaceLimits};
use crate::tree::{FileEntry, Origin};
use crate::workspace::MAX_TEXT;
use child_process::sandbox::tree::{Stamp, TreeEntry, WalkError, walk, write};
use child_process::sandbox::{Bounds, Ended, MemoryFolder, Output, Sandbox, SandboxError, SandboxSettings, Written};
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::process::{ExitCode, exit};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

/// The folder of the script, which has nothing else.
const SCRIPT: &str = "/script";
/// The folder for temporary files, which are gone after the call.
const SCRATCH: &str = "/tmp";
/// The folders of a sandbox, in the order of [`TREES`] and then these two.
const FOLDERS: [&str; 5] = [TREES[0], TREES[1], TREES[2], SCRATCH, SCRIPT];
/// Files take whole pages of memory.
const PAGE: u64 = 4096;
/// The search path of programs.
const PATH: &str = "/usr/local/bin:/usr/local/sbin:/usr/bin:/usr/sbin:/bin:/sbin";
/// The files and folders that a call makes beside the files that the conversation may have.
const MAX_NEW_NODES: u64 = 20_000;
/// The most names of a path that are looked at; files may have fewer.
const MAX_WALK_DEPTH: usize = 40;
/// The CPU time of each process beyond the limit of the script, in seconds.
const EXTRA_SECONDS: u64 = 5;
/// The interval at which the user is shown the output so far, and its maximum size in bytes.
const PROGRESS: Duration = Duration::from_secs(1);
const MAX_PROGRESS: usize = 2048;
/// The most names of what cannot be stored.
const MAX_LEFT_OUT: usize = 20;
/// The longest answer of the server in bytes: a file that the user has attached.
const MAX_ANSWER: usize = 1 << 30;

/// The exit code of a process that the server did not start, or that it has left.
const NO_SERVER: u8 = 4;

/// Runs a script for the server, which is at the other end of the standard input. The program must call it for the
/// subcommand [`RUN_PROGRAMS`](super::RUN_PROGRAMS).
pub fn run_programs_process() -> ExitCode {
    let socket = || io::stdin().as_fd().try_clone_to_owned().map(UnixStream::from);
    let (Ok(mut input), Ok(mut output)) = (socket(), socket()) else { return ExitCode::from(NO_SERVER) };
    let Ok((start, _)) = receive_blocking::<Start>(&mut input, 0) else {
        eprintln!("this command is started by the server");
        return ExitCode::from(NO_SERVER);
    };
    match run(&start, input, &mut output) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Message(message)) => match send_blocking(&mut output, &message, &[]) {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => ExitCode::from(NO_SERVER),
        },
        Err(Failure::NoServer) => ExitCode::from(NO_SERVER),
    }
}

/// Why there is no result.
enum Failure {
    /// The message is sent to the server.
    Message(Message),
    /// The server has gone.
    NoServer,
}

impl From<SandboxError> for Failure {
    fn from(error: SandboxError) -> Self {
        Self::Message(Message::Unavailable(error.to_string()))
    }
}

fn ended(reason: impl Into<String>) -> Failure {
    Failure::Message(Message::Ended(reason.into()))
}

/// Runs the script, and sends what it has done.
fn run(start: &Start, mut input: UnixStream, output: &mut UnixStream) -> Result<(), Failure> {
    let Start { script, settings, limits, files, confined } = start;
    check_size(files, settings)?;
    let arguments: Vec<_> = confined.iter().map(Into::into).collect();
    let mut sandbox = Sandbox::prepare(&sandbox_settings(files, settings, limits), &arguments)?;
    let stamps = copy_in(&sandbox, files, &mut input, output)?;
    let file = write(sandbox.folder(FOLDERS.len() - 1), "run", script.as_bytes(), SystemTime::now());
    file.map_err(SandboxError::from)?;
    // The server sends nothing more from here on. Everything in the sandbox ends with this process.
    thread::Builder::new().spawn(move || end_with_server(input)).map_err(SandboxError::from)?;
    let bounds = Bounds {
        time: settings.timeout,
        memory_bytes: settings.memory(),
        nodes: limits.files.saturating_add(files.len() as u64).saturating_add(MAX_NEW_NODES),
        output_bytes: MAX_OUTPUT,
    };
    let mut progress = Progress { at: Instant::now(), length: 0 };
    let (exit_code, stdout, stderr) =
        match sandbox.run(bounds, |stdout, stderr| progress.send(output, stdout, stderr))? {
            Ended::Exited { code, stdout, stderr } => (code, stdout, stderr),
            Ended::TimedOut => return Err(ended(super::took_longer(settings))),
            Ended::OutOfMemory => return Err(ended("its processes used more memory than they may")),
            Ended::TooManyFiles => return Err(ended("it made too many files and folders")),
        };
    let mut after = CopyOut { output, limits, stamps: &stamps, bytes: 0, files: 0, done: Done::default() };
    after.done = Done { exit_code, is_truncated: stdout.is_truncated || stderr.is_truncated, ..Done::default() };
    after.copy(&sandbox)?;
    let done = Done { stdout_bytes: stdout.bytes.len(), ..after.done };
    send(output, &Message::Done(done), &joined(stdout, stderr))
}

fn joined(stdout: Written, stderr: Written) -> Vec<u8> {
    [stdout.bytes, stderr.bytes].concat()
}

fn send(output: &mut UnixStream, message: &Message, bytes: &[u8]) -> Result<(), Failure> {
    send_blocking(output, message, bytes).map_err(|_| Failure::NoServer)
}

/// Checks that the files are not more than the memory of the call, because the copy is in memory.
fn check_size(files: &[(String, FileEntry)], settings: &ShellSettings) -> Result<(), Failure> {
    let (bytes, most) = (files.iter().map(|(_, entry)| entry.size).sum::<u64>(), settings.memory());
    if bytes > most {
        return Err(ended(format!(
            "the files of the conversation have {bytes} bytes, and a script may have {most} bytes of files: delete some \
             with the other tools first"
        )));
    }
    Ok(())
}

/// Returns the sandbox of a script.
fn sandbox_settings(
    files: &[(String, FileEntry)],
    settings: &ShellSettings,
    limits: &WorkspaceLimits,
) -> SandboxSettings {
    let size = |entry: &FileEntry| match entry.origin {
        // The size of a document's text is not known.
        Origin::TextOf => MAX_TEXT as u64,
        Origin::Stored(_) | Origin::Attached => entry.size,
    };
    let copied = |tree: &str| {
        let below = files.iter().filter(|(path, _)| is_in(path, tree));
        below.map(|(_, entry)| size(entry) + PAGE).sum::<u64>()
    };
    let folder = |path: &str| {
        let (bytes, is_writable) = match path {
            SCRIPT => (super::MAX_SCRIPT as u64 + PAGE, false),
            SCRATCH => (settings.memory() / 2, true),
            UPLOADS => (copied(UPLOADS), false),
            tree => (limits.bytes.saturating_add(limits.files * PAGE).max(copied(tree)), true),
        };
        MemoryFolder { path: path.to_owned(), bytes, is_writable }
    };
    let environment = [
        ("PATH", PATH),
        ("HOME", WORKSPACE),
        ("TMPDIR", SCRATCH),
        ("USER", "agent"),
        ("LOGNAME", "agent"),
        ("LANG", "C.UTF-8"),
        // Caches of programs are not among the files of the user.
        ("XDG_CACHE_HOME", "/tmp/.cache"),
        ("XDG_CONFIG_HOME", "/tmp/.config"),
        ("PYTHONDONTWRITEBYTECODE", "1"),
    ];
    SandboxSettings {
        folders: FOLDERS.map(folder).to_vec(),
        current_folder: WORKSPACE.to_owned(),
        programs: ["/bin/bash", "/usr/bin/bash", "/bin/sh"].map(str::to_owned).to_vec(),
        arguments: vec![format!("{SCRIPT}/run")],
        environment: environment.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec(),
        memory_bytes: settings.memory(),
        processes: settings.most_processes(),
        cpu_seconds: settings.timeout.as_secs().saturating_add(EXTRA_SECONDS),
    }
}

fn is_in(path: &str, tree: &str) -> bool {
    path.strip_prefix(tree).is_some_and(|rest| rest.starts_with('/'))
}

/// Copies the files of the conversation into the sandbox, and returns what each of them was then.
fn copy_in(
    sandbox: &Sandbox,
    files: &[(String, FileEntry)],
    input: &mut UnixStream,
    output: &mut UnixStream,
) -> Result<HashMap<String, Stamp>, Failure> {
    let mut stamps = HashMap::new();
    for (no, (path, entry)) in (1..).zip(files) {
        send(output, &Message::Read { no, path: path.clone() }, &[])?;
        let (Answer { outcome, .. }, content) = receive_blocking(input, MAX_ANSWER).map_err(|_| Failure::NoServer)?;
        match outcome {
            ReadOutcome::Content => {}
            // A document without a text, or a file that was deleted in this moment.
            ReadOutcome::Refused(_) => continue,
            ReadOutcome::Failed => return Err(ended("its files could not be read")),
        }
        let tree = TREES.iter().position(|tree| is_in(path, tree));
        let Some((index, relative)) = tree.and_then(|index| Some((index, path.get(TREES[index].len() + 1..)?))) else {
            continue;
        };
        let modified = SystemTime::UNIX_EPOCH + Duration::from_millis(entry.changed_at.max(0).unsigned_abs());
        let stamp = write(sandbox.folder(index), relative, &content, modified).map_err(SandboxError::from)?;
        stamps.insert(path.clone(), stamp);
    }
    Ok(stamps)
}

/// Ends the process when the server has gone.
#[expect(clippy::exit, reason = "the thread that waits for the script cannot be stopped in another way")]
fn end_with_server(mut input: UnixStream) {
    let mut byte = [0];
    while matches!(input.read(&mut byte), Ok(length) if length > 0) {}
    exit(i32::from(NO_SERVER));
}

/// The output that the user was shown last.
struct Progress {
    at: Instant,
    length: usize,
}

impl Progress {
    fn send(&mut self, output: &mut UnixStream, stdout: &Output, stderr: &Output) {
        let length = stdout.len() + stderr.len();
        if length > self.length && self.at.elapsed() >= PROGRESS {
            *self = Self { at: Instant::now(), length };
            let shown = [stdout.last(MAX_PROGRESS), stderr.last(MAX_PROGRESS / 2)].concat();
            // If the server has gone, the process ends at once.
            let _ = send_blocking(output, &Message::Progress, &shown);
        }
    }
}

/// Sends what a script has changed.
struct CopyOut<'s> {
    output: &'s mut UnixStream,
    limits: &'s WorkspaceLimits,
    /// The states of the files before the script.
    stamps: &'s HashMap<String, Stamp>,
    bytes: u64,
    files: u64,
    done: Done,
}

/// Why a walk is not finished.
enum Stop {
    /// Nothing can be stored, for this reason.
    Refused(String),
    Failed(Failure),
}

impl CopyOut<'_> {
    fn copy(&mut self, sandbox: &Sandbox) -> Result<(), Failure> {
        for (index, tree) in TREES.into_iter().enumerate() {
            let most = usize::try_from(self.limits.files.saturating_add(MAX_NEW_NODES)).unwrap_or(usize::MAX);
            if tree == UPLOADS {
                // Uploads are read-only, so they have not changed.
                let uploads = self.stamps.keys().filter(|path| is_in(path, UPLOADS));
                self.done.kept.extend(uploads.cloned());
                continue;
            }
            let visited =
                walk(sandbox.folder(index), most, MAX_WALK_DEPTH, |path, entry| self.visit(tree, path, entry));
            let refused = match visited {
                Ok(()) => continue,
                Err(WalkError::Visitor(Stop::Refused(reason))) => reason,
                Err(WalkError::TooMany) => {
                    "there are too many files and folders, or they are nested too deeply".to_owned()
                }
                Err(WalkError::Visitor(Stop::Failed(failure))) => return Err(failure),
                Err(WalkError::System(error)) => return Err(SandboxError::from(error).into()),
            };
            self.done.refused = Some(refused);
            return Ok(());
        }
        Ok(())
    }

    fn visit(&mut self, tree: &str, relative: &[u8], entry: TreeEntry) -> Result<(), Stop> {
        let Ok(relative) = std::str::from_utf8(relative) else {
            self.leave_out(&format!("{tree}/{}", String::from_utf8_lossy(relative)), "its name is not UTF-8");
            return Ok(());
        };
        let path = format!("{tree}/{relative}");
        let (stamp, file) = match entry {
            TreeEntry::File(stamp, file) => (stamp, file),
            TreeEntry::Other(what) => {
                self.leave_out(&path, &format!("it is {what}"));
                return Ok(());
            }
        };
        match WorkspacePath::parse_file(&path) {
            Ok(parsed) if parsed.as_str() == path => {}
            Ok(_) => {
                self.leave_out(&path, "a name must be in Unicode's composed form (NFC)");
                return Ok(());
            }
            Err(reason) => {
                self.leave_out(&path, &reason);
                return Ok(());
            }
        }
        self.files += 1;
        if self.files > self.limits.files {
            return Err(Stop::Refused(format!("a conversation may have {} files", self.limits.files)));
        }
        if self.stamps.get(&path) == Some(&stamp) {
            self.done.kept.push(path);
            return Ok(());
        }
        self.send_file(path, file)
    }

    fn send_file(&mut self, path: String, file: File) -> Result<(), Stop> {
        let WorkspaceLimits { file_bytes, bytes, .. } = *self.limits;
        let mut content = Vec::new();
        let read = file.take(file_bytes.saturating_add(1)).read_to_end(&mut content);
        read.map_err(|error| Stop::Failed(SandboxError::from(error).into()))?;
        if content.len() as u64 > file_bytes {
            return Err(Stop::Refused(format!("`{path}` is too large: a file may have {file_bytes} bytes")));
        }
        self.bytes += content.len() as u64;
        if self.bytes > bytes {
            return Err(Stop::Refused(format!("it wrote too much: all files may have {bytes} bytes")));
        }
        send(self.output, &Message::Written(path), &content).map_err(Stop::Failed)
    }

    fn leave_out(&mut self, path: &str, reason: &str) {
        if self.done.left_out.len() < MAX_LEFT_OUT {
            // The name may have any characters.
            self.done.left_out.push(format!("{path:?}: {reason}"));
        } else if self.done.left_out.len() == MAX_LEFT_OUT {
            self.done.left_out.push("and more".to_owned());
        }
    }
}
