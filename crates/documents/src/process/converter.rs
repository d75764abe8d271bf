//! The parent: starts a child per file, streams the file to it, and bounds time and output.

use super::child::NO_MEMORY;
use super::{Header, MAX_FRAME, READ_DOCUMENT};
use crate::document::Document;
use crate::format::{self, Detected};
use crate::{Failure, FailureCode, Limits, Source, read};
use bytes::Bytes;
use futures::{Stream, StreamExt};
use std::ffi::OsString;
use std::fmt::Display;
use std::num::NonZero;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStdin, Command};
use tokio::sync::Semaphore;

/// The maximum number of files that are read at once.
const MAX_PARALLEL: usize = 4;
/// The maximum size in bytes of a text file that is read without a process.
const SMALL_TEXT: usize = 1 << 20;
/// How much longer the result may be than the text, for the structure and escaped characters.
const OUTPUT_FACTOR: u64 = 3;
/// The bytes that the result may have besides the text.
const OUTPUT_EXTRA: u64 = 16 << 20;
/// The number of bytes that are kept of a child's error output.
const MAX_ERRORS: u64 = 4_096;

/// The signals that tell why a child was ended.
const SIGKILL: i32 = 9;
const SIGXCPU: i32 = 24;

/// Reads files in child processes, a few at a time. A cheap handle: clones share the bound.
#[derive(Clone, Debug)]
pub struct Converter {
    program: PathBuf,
    arguments: Vec<OsString>,
    limits: Limits,
    permits: Arc<Semaphore>,
}

/// The content of a file, of which the first bytes are known.
struct Content<S> {
    head: Bytes,
    rest: S,
}

impl Converter {
    /// Builds a converter that runs this program with the subcommand [`READ_DOCUMENT`].
    pub fn new(limits: Limits) -> Self {
        Self::with_program(child_process::own_program(), [READ_DOCUMENT.into()], limits)
    }

    /// Builds a converter that runs another program, which calls [`run_child`](crate::run_child)
    /// with its last argument.
    pub fn with_program(program: PathBuf, arguments: impl IntoIterator<Item = OsString>, limits: Limits) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
        let permits = Arc::new(Semaphore::new(cores.clamp(1, MAX_PARALLEL)));
        Self { program, arguments: arguments.into_iter().collect(), limits, permits }
    }

    /// Returns the limits of each file.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Reads a file whose content is in memory. See [`Converter::convert`].
    ///
    /// # Errors
    /// See [`Converter::convert`].
    pub async fn convert_bytes(
        &self,
        name: &str,
        media_type: Option<&str>,
        content: Bytes,
    ) -> Result<Document, Failure> {
        self.convert(name, media_type, futures::stream::iter([Ok::<_, std::convert::Infallible>(content)])).await
    }

    /// Reads a file. Waits while others are read, and then streams the content, so that only the
    /// child holds all of it. Small text files are read without a child. Dropping the future ends
    /// the child.
    ///
    /// # Errors
    /// [`Failure`] with the reason for the user. An error of `content` is
    /// [`FailureCode::Unavailable`].
    pub async fn convert<S, E>(&self, name: &str, media_type: Option<&str>, content: S) -> Result<Document, Failure>
    where
        S: Stream<Item = Result<Bytes, E>> + Send,
        E: Display,
    {
        let fail = |code: FailureCode| Failure::new(code, name);
        let Ok(_permit) = self.permits.acquire().await else { return Err(fail(FailureCode::Unavailable)) };
        let content = std::pin::pin!(content);
        let read = self.convert_permitted(name, media_type, content);
        tokio::time::timeout(self.limits.time, read).await.unwrap_or_else(|_| Err(fail(FailureCode::TimedOut)))
    }

    async fn convert_permitted<S, E>(
        &self,
        name: &str,
        media_type: Option<&str>,
        mut content: S,
    ) -> Result<Document, Failure>
    where
        S: Stream<Item = Result<Bytes, E>> + Send + Unpin,
        E: Display,
    {
        let fail = |code: FailureCode| Failure::new(code, name);
        let mut head = Vec::new();
        // One byte more shows that there is more.
        while head.len() <= SMALL_TEXT {
            let Some(piece) = content.next().await else { break };
            head.extend_from_slice(&piece.map_err(|error| fail(FailureCode::Unavailable).with_detail(error))?);
        }
        if head.len() as u64 > self.limits.input_bytes {
            return Err(fail(FailureCode::TooLarge));
        }
        let detected = format::detect(name, media_type, &head);
        if head.len() <= SMALL_TEXT && matches!(detected, Detected::Format(format) if format::is_simple(format)) {
            return self.read_here(name, media_type, head).await;
        }
        let header = Header { name: name.to_owned(), media_type: media_type.map(str::to_owned) };
        self.read_in_child(&header, Content { head: head.into(), rest: content }).await
    }

    /// Reads a small text file in a thread of this process.
    async fn read_here(&self, name: &str, media_type: Option<&str>, bytes: Vec<u8>) -> Result<Document, Failure> {
        let (owned, media_type, limits) = (name.to_owned(), media_type.map(str::to_owned), self.limits);
        let work = move || read(&Source { name: &owned, media_type: media_type.as_deref(), bytes: &bytes }, &limits);
        let done = tokio::task::spawn_blocking(work).await;
        done.unwrap_or_else(|error| Err(Failure::new(FailureCode::Crashed, name).with_detail(error)))
    }

    async fn read_in_child<S, E>(&self, header: &Header, content: Content<S>) -> Result<Document, Failure>
    where
        S: Stream<Item = Result<Bytes, E>> + Send + Unpin,
        E: Display,
    {
        let fail = |code: FailureCode| Failure::new(code, &header.name);
        let mut child = self.spawn().map_err(|error| fail(FailureCode::Unavailable).with_detail(error))?;
        let (Some(mut input), Some(output), Some(errors)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(fail(FailureCode::Unavailable));
        };
        let most = (self.limits.output_bytes as u64).saturating_mul(OUTPUT_FACTOR).saturating_add(OUTPUT_EXTRA);
        let (sent, output, errors) = tokio::join!(
            self.send(&mut input, header, content),
            read_at_most(output, most),
            read_at_most(errors, MAX_ERRORS)
        );
        sent?;
        if output.len() as u64 >= most {
            return Err(fail(FailureCode::TooLarge).with_detail("the result is longer than allowed"));
        }
        if let Ok(result) = serde_json::from_slice(&output) {
            return result;
        }
        // The pipe stays open until here: its end would end the child.
        drop(input);
        let status = wait(&mut child).await;
        let code = status.map_or(FailureCode::Crashed, |status| cause(status, &errors));
        Err(fail(code).with_detail(format!("{status:?}: {}", String::from_utf8_lossy(&errors))))
    }

    fn spawn(&self) -> std::io::Result<Child> {
        let limits = serde_json::to_string(&self.limits)?;
        Command::new(&self.program)
            .args(&self.arguments)
            .arg(limits)
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            // Ctrl-C in the terminal of the server is for the server, which drains first.
            .process_group(0)
            .spawn()
    }

    /// Sends the file. A child that ended early is no error here: its result says why.
    async fn send<S, E>(&self, input: &mut ChildStdin, header: &Header, mut content: Content<S>) -> Result<(), Failure>
    where
        S: Stream<Item = Result<Bytes, E>> + Send + Unpin,
        E: Display,
    {
        let fail = |code: FailureCode| Failure::new(code, &header.name);
        let described =
            serde_json::to_vec(header).map_err(|error| fail(FailureCode::Unavailable).with_detail(error))?;
        let mut sent = content.head.len() as u64;
        if write_frames(input, &described).await.is_err() || write_frames(input, &content.head).await.is_err() {
            return Ok(());
        }
        while let Some(piece) = content.rest.next().await {
            let piece = piece.map_err(|error| fail(FailureCode::Unavailable).with_detail(error))?;
            sent += piece.len() as u64;
            if sent > self.limits.input_bytes {
                return Err(fail(FailureCode::TooLarge));
            }
            if write_frames(input, &piece).await.is_err() {
                return Ok(());
            }
        }
        // The empty frame.
        let _ = input.write_all(&[0; 4]).await;
        let _ = input.flush().await;
        Ok(())
    }
}

async fn write_frames(input: &mut ChildStdin, bytes: &[u8]) -> std::io::Result<()> {
    for frame in bytes.chunks(MAX_FRAME) {
        // A frame is at most `MAX_FRAME` long.
        input.write_all(&(frame.len() as u32).to_be_bytes()).await?;
        input.write_all(frame).await?;
    }
    Ok(())
}

/// Reads until the end or the limit; a read error is an end.
async fn read_at_most(output: impl AsyncRead + Unpin, most: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    let _ = output.take(most).read_to_end(&mut bytes).await;
    bytes
}

async fn wait(child: &mut Child) -> Option<ExitStatus> {
    child.wait().await.ok()
}

/// Returns why a child ended without a result.
fn cause(status: ExitStatus, errors: &[u8]) -> FailureCode {
    let errors = String::from_utf8_lossy(errors);
    match status.signal() {
        // Rust's own message, before it aborts the process.
        _ if errors.contains("memory allocation of") => FailureCode::OutOfMemory,
        // The system's answer to a lack of memory.
        Some(SIGKILL) => FailureCode::OutOfMemory,
        Some(SIGXCPU) => FailureCode::TimedOut,
        Some(_) => FailureCode::Crashed,
        None if status.code() == Some(i32::from(NO_MEMORY)) => FailureCode::OutOfMemory,
        None => FailureCode::Unavailable,
    }
}
