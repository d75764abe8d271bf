//! The process of a script at the level `virtual`: sets its own limits, runs the script in the emulated shell, and sends what it has done.

use super::files::{ContentSource, Node, ReadError, WorkspaceFiles};
use super::protocol::{Answer, Done, Message, ReadOutcome, Start, receive_blocking, send_blocking};
use crate::path::TREES;
use crate::section::ShellSettings;
use bashkit::{Bash, Error, ExecResult, ExecutionLimits, MemoryLimits, PosixFs, SessionLimits, async_trait};
use bytes::Bytes;
use child_process::{Resource, lower_precedence, set_limit};
use parking_lot::Mutex;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::process::{ExitCode, exit};
use std::sync::Arc;
use std::thread;
use std::{fs, panic};
use tokio::runtime::Builder;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// The stack in bytes of the threads that parse and run the script. The interpreter is recursive.
const STACK: usize = 32 << 20;
/// The memory in bytes that the process may use above that of the script: the program, its threads, and what the
/// interpreter needs.
const OWN_MEMORY: u64 = 512 << 20;
/// The memory limit of the process, as a multiple of the limit of the script: contents are copied on their
/// way.
const COPIES: u64 = 6;
/// The addresses in bytes that may be reserved above the memory: programs and libraries are mapped.
const MAPPED: u64 = 2 << 30;
/// The threads that may compute at once: that of the script, and that which parses.
const COMPUTING: u64 = 2;
/// The processor time that the process may use above the time of the script, in seconds.
const EXTRA_SECONDS: u64 = 5;
/// The most commands, and the most rounds of loops.
const MAX_COMMANDS: usize = 1_000_000;
/// The most work in units of the shell.
const MAX_WORK: u64 = 1_000_000_000;

/// The most files that are open: the standard ones and the two handles of the socket. So none can be opened.
const OPEN_FILES: u64 = 5;

/// The exit code of a process that the server did not start, or that it has left.
const NO_SERVER: u8 = 4;
/// The exit code of a process that lacks memory.
pub(super) const NO_MEMORY: u8 = 5;

/// Runs a script for the server, which is at the other end of the standard input. The program must call it for the
/// subcommand [`RUN_SCRIPT`](super::RUN_SCRIPT).
pub fn run_script_process() -> ExitCode {
    let socket = || io::stdin().as_fd().try_clone_to_owned().map(UnixStream::from);
    let (Ok(mut input), Ok(output)) = (socket(), socket()) else { return ExitCode::from(NO_SERVER) };
    let Ok((start, _)) = receive_blocking::<Start>(&mut input, 0) else {
        eprintln!("this command is started by the server");
        return ExitCode::from(NO_SERVER);
    };
    // The message of a panic may have what the script works on, and the server writes it to its log.
    panic::set_hook(Box::new(|panic| match panic.location() {
        Some(location) => eprintln!("panic at {location}"),
        None => eprintln!("panic"),
    }));
    if let Err(error) = confine(&start.settings) {
        eprintln!("the limits cannot be set: {error}");
        return ExitCode::FAILURE;
    }
    let (answers, received) = unbounded_channel();
    let most = usize::try_from(start.settings.memory()).unwrap_or(usize::MAX);
    let running = thread::Builder::new().stack_size(STACK).spawn(move || run(&start, output, received));
    let listening = thread::Builder::new().spawn(move || listen(input, most, &answers));
    // Threads need nothing but memory for their stacks.
    let (Ok(running), Ok(_)) = (running, listening) else { return ExitCode::from(NO_MEMORY) };
    match running.join() {
        Ok(Ok(())) => ExitCode::SUCCESS,
        Ok(Err(_)) | Err(_) => ExitCode::FAILURE,
    }
}

/// Sets the limits of this process. They cannot be raised again.
fn confine(settings: &ShellSettings) -> io::Result<()> {
    // When the machine lacks memory, this process is ended before the server. Other systems have no such file.
    let _ = fs::write("/proc/self/oom_score_adj", "1000");
    set_limit(Resource::Core, 0, 0)?;
    set_limit(Resource::Fsize, 0, 0)?;
    set_limit(Resource::Nofile, OPEN_FILES, OPEN_FILES)?;
    let seconds = COMPUTING.saturating_mul(settings.timeout.as_secs()).saturating_add(EXTRA_SECONDS);
    // The soft limit ends the process with a signal of its own.
    set_limit(Resource::Cpu, seconds, seconds.saturating_add(EXTRA_SECONDS))?;
    // Other systems do not count memory in this way.
    if cfg!(target_os = "linux") {
        let memory = settings.memory().saturating_mul(COPIES).saturating_add(OWN_MEMORY);
        set_limit(Resource::Data, memory, memory)?;
        set_limit(Resource::As, memory.saturating_add(MAPPED), memory.saturating_add(MAPPED))?;
    }
    lower_precedence();
    Ok(())
}

/// Receives the answers of the server, and ends the process when it has gone: a script that computes cannot be
/// ended in another way.
#[expect(clippy::exit, reason = "the thread of the script cannot be stopped in another way")]
fn listen(mut input: UnixStream, most: usize, answers: &UnboundedSender<(Answer, Vec<u8>)>) {
    let error = loop {
        match receive_blocking(&mut input, most) {
            // The script has ended, and so does the process.
            Ok(answer) => match answers.send(answer) {
                Ok(()) => {}
                Err(_) => return,
            },
            Err(error) => break error,
        }
    };
    exit(i32::from(if error.kind() == io::ErrorKind::OutOfMemory { NO_MEMORY } else { NO_SERVER }));
}

/// Runs the script to its end, on this thread, and sends what it has done.
fn run(start: &Start, output: UnixStream, answers: UnboundedReceiver<(Answer, Vec<u8>)>) -> io::Result<()> {
    let runtime =
        Builder::new_current_thread().enable_time().max_blocking_threads(1).thread_stack_size(STACK).build()?;
    let output = Arc::new(Mutex::new(output));
    let source = ServerFiles::new(output.clone(), answers);
    let files = WorkspaceFiles::new(&start.files, start.limits, start.settings.memory(), Arc::new(source));
    let result = runtime.block_on(async {
        let mut bash = shell(files.clone(), &start.settings);
        bash.exec(&start.script).await
    });
    runtime.shutdown_background();
    let mut output = output.lock();
    match result {
        Ok(result) => send_result(&mut output, &result, files),
        Err(error) => send_blocking(&mut *output, &Message::Ended(ended(&error, &start.settings)), &[]),
    }
}

/// Sends what was written, and then the output.
fn send_result(output: &mut UnixStream, result: &ExecResult, files: WorkspaceFiles) -> io::Result<()> {
    let is_in_tree =
        |path: &str| TREES.iter().any(|tree| path.strip_prefix(tree).is_some_and(|rest| rest.starts_with('/')));
    let mut kept = Vec::new();
    for (path, node) in files.into_nodes().into_iter().filter(|(path, _)| is_in_tree(path)) {
        match node {
            Node::Folder => {}
            Node::Stored(_) | Node::Loaded { stored: Some(_), .. } => kept.push(path),
            Node::Loaded { content, stored: None, .. } => send_blocking(output, &Message::Written(path), &content)?,
        }
    }
    let done = Done {
        exit_code: result.exit_code,
        stdout_bytes: result.stdout.len(),
        is_truncated: result.stdout_truncated || result.stderr_truncated,
        kept,
        ..Done::default()
    };
    send_blocking(output, &Message::Done(done), &[result.stdout.as_bytes(), result.stderr.as_bytes()].concat())
}

/// The files of the store, which the server reads.
pub(super) struct ServerFiles {
    output: Arc<Mutex<UnixStream>>,
    /// Locked until the answer has come, or the command that asked was ended.
    questions: tokio::sync::Mutex<Questions>,
}

struct Questions {
    /// How many were asked: the number of the last one.
    asked: u64,
    answers: UnboundedReceiver<(Answer, Vec<u8>)>,
}

impl ServerFiles {
    /// Asks over `output`; the answers come in the order in which the server gives them.
    pub(super) fn new(output: Arc<Mutex<UnixStream>>, answers: UnboundedReceiver<(Answer, Vec<u8>)>) -> Self {
        Self { output, questions: tokio::sync::Mutex::new(Questions { asked: 0, answers }) }
    }
}

#[async_trait]
impl ContentSource for ServerFiles {
    async fn read(&self, path: &str) -> Result<Bytes, ReadError> {
        let mut questions = self.questions.lock().await;
        questions.asked += 1;
        let question = Message::Read { no: questions.asked, path: path.to_owned() };
        send_blocking(&mut *self.output.lock(), &question, &[]).map_err(|_| ReadError::Failed)?;
        loop {
            let Some((Answer { no, outcome }, content)) = questions.answers.recv().await else {
                return Err(ReadError::Failed);
            };
            // Answers to commands that were ended are of no use.
            if no == questions.asked {
                return match outcome {
                    ReadOutcome::Content => Ok(content.into()),
                    ReadOutcome::Refused(reason) => Err(ReadError::Refused(reason)),
                    ReadOutcome::Failed => Err(ReadError::Failed),
                };
            }
        }
    }
}

/// Builds a shell that knows nothing of this machine.
fn shell(files: WorkspaceFiles, settings: &ShellSettings) -> Bash {
    let memory = usize::try_from(settings.memory()).unwrap_or(usize::MAX);
    let limits = ExecutionLimits {
        max_work_units: MAX_WORK,
        max_aggregate_input_bytes: settings.memory().saturating_mul(16),
        max_live_intermediate_bytes: settings.memory(),
        max_commands: MAX_COMMANDS,
        max_loop_iterations: MAX_COMMANDS,
        max_total_loop_iterations: MAX_COMMANDS,
        timeout: settings.timeout,
        max_input_bytes: super::MAX_SCRIPT,
        max_stdout_bytes: super::MAX_OUTPUT,
        max_stderr_bytes: super::MAX_OUTPUT,
        max_background_jobs: 16,
        ..ExecutionLimits::default()
    };
    Bash::builder()
        .fs(Arc::new(PosixFs::new(files)))
        .cwd(crate::path::WORKSPACE)
        .env("HOME", crate::path::WORKSPACE)
        .env("TMPDIR", "/tmp")
        .username("agent")
        .hostname("workspace")
        .limits(limits)
        .memory_limits(MemoryLimits::default().max_total_variable_bytes(memory / 4))
        .session_limits(SessionLimits::unlimited())
        .build()
}

/// Returns why a script was ended, for the model.
fn ended(error: &Error, settings: &ShellSettings) -> String {
    match error {
        Error::ResourceLimit(bashkit::LimitExceeded::Timeout(_)) => super::took_longer(settings),
        Error::ResourceLimit(limit) => format!("it used more than it may: {limit}"),
        other => other.to_string(),
    }
}
