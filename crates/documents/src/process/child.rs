//! The child: sets its own limits, reads one file, writes the result.

use super::{Header, MAX_FRAME};
use crate::document::Document;
use crate::{Failure, FailureCode, Limits, Source, read};
use child_process::{Resource, lower_precedence, set_limit};
use std::io::{self, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::thread;

/// The stack of the thread that parses. Parsers of nested formats are recursive.
const STACK: usize = 64 << 20;
/// The bytes that the process may have mapped above its memory limit: the program, libraries, reserved
/// addresses.
const MAPPED: u64 = 512 << 20;
/// The processor time that the process may use above its time limit, which the parent enforces.
const EXTRA_SECONDS: u64 = 5;
/// The number of files that may be open: standard input, output and error, and no other.
const OPEN_FILES: u64 = 3;

/// The exit codes of a child without a result.
const BAD_ARGUMENTS: u8 = 2;
const BAD_INPUT: u8 = 3;
const PARENT_GONE: i32 = 4;
pub(super) const NO_MEMORY: u8 = 5;

/// Runs the child's side. `limits` are the [`Limits`] as JSON.
pub fn run_child(limits: &str) -> ExitCode {
    let Ok(limits) = serde_json::from_str::<Limits>(limits) else {
        eprintln!("the argument must be the limits as JSON; this command is started by the server");
        return ExitCode::from(BAD_ARGUMENTS);
    };
    if let Err(error) = confine(&limits) {
        eprintln!("the limits cannot be set: {error}");
        return ExitCode::from(BAD_ARGUMENTS);
    }
    let (header, content) = match read_request(&mut io::stdin().lock(), limits.input_bytes) {
        Ok(request) => request,
        Err(error) => {
            eprintln!("the file cannot be received: {error}");
            let lacks_memory = error.kind() == io::ErrorKind::OutOfMemory;
            return ExitCode::from(if lacks_memory { NO_MEMORY } else { BAD_INPUT });
        }
    };
    let reading = thread::Builder::new().stack_size(STACK).spawn(move || read_caught(&header, &content, &limits));
    let watching = thread::Builder::new().spawn(exit_with_parent);
    // Threads need nothing but memory for their stacks.
    let (Ok(reading), Ok(_)) = (reading, watching) else { return ExitCode::from(NO_MEMORY) };
    let Ok(result) = reading.join() else { return ExitCode::FAILURE };
    match write_result(&result) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

/// Sets the limits of this process. They cannot be raised again.
fn confine(limits: &Limits) -> io::Result<()> {
    let limit = |resource: Resource, most: u64| set_limit(resource, most, most);
    limit(Resource::Core, 0)?;
    limit(Resource::Fsize, 0)?;
    limit(Resource::Nofile, OPEN_FILES)?;
    limit(Resource::Cpu, limits.time.as_secs().saturating_add(EXTRA_SECONDS))?;
    // Other systems do not count memory in this way.
    if cfg!(target_os = "linux") {
        limit(Resource::Data, limits.memory_bytes)?;
        limit(Resource::As, limits.memory_bytes.saturating_add(MAPPED))?;
    }
    lower_precedence();
    Ok(())
}

fn read_request(input: &mut impl Read, most: u64) -> io::Result<(Header, Vec<u8>)> {
    let mut frame = Vec::new();
    read_frame(input, &mut frame)?;
    let header: Header = serde_json::from_slice(&frame)?;
    let mut content = Vec::new();
    while read_frame(input, &mut content)? > 0 {
        if content.len() as u64 > most {
            return Err(io::Error::other("the file is larger than allowed"));
        }
    }
    Ok((header, content))
}

/// Appends the content of the next frame; returns its length.
fn read_frame(input: &mut impl Read, content: &mut Vec<u8>) -> io::Result<usize> {
    let mut length = [0; 4];
    input.read_exact(&mut length)?;
    let length = u32::from_be_bytes(length) as usize;
    if length > MAX_FRAME {
        return Err(io::Error::other("a frame is longer than allowed"));
    }
    if input.take(length as u64).read_to_end(content)? < length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(length)
}

/// Reads the file; a panic of a parser becomes a failure.
fn read_caught(header: &Header, content: &[u8], limits: &Limits) -> Result<Document, Failure> {
    let source = Source { name: &header.name, media_type: header.media_type.as_deref(), bytes: content };
    catch_unwind(AssertUnwindSafe(|| read(&source, limits))).unwrap_or_else(|panic| {
        let message = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref().copied());
        Err(Failure::new(FailureCode::Crashed, &header.name).with_detail(message.unwrap_or("panic")))
    })
}

/// Waits for the end of standard input, which tells that the parent has gone, and ends the process.
#[expect(clippy::exit, reason = "the thread that parses cannot be stopped in another way")]
fn exit_with_parent() {
    let mut byte = [0];
    while matches!(io::stdin().lock().read(&mut byte), Ok(length) if length > 0) {}
    std::process::exit(PARENT_GONE);
}

fn write_result(result: &Result<Document, Failure>) -> io::Result<()> {
    let mut output = io::BufWriter::new(io::stdout().lock());
    serde_json::to_writer(&mut output, result)?;
    output.flush()
}
