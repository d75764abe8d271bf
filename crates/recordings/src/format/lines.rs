//! The lines of a file, within bounds, and the problems of lines.

use std::io::{self, BufRead};
use thiserror::Error;

/// The longest line that is read, in bytes.
const MAX_LINE: usize = 64 * 1024 * 1024;
/// The most bytes that are read of one file.
const MAX_FILE: usize = 512 * 1024 * 1024;

/// The reason why a file cannot be read.
#[derive(Debug, Error)]
pub enum FormatError {
    /// The file cannot be read.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// A line is wrong.
    #[error("{line}:{column}: {problem}")]
    Line {
        /// The number of the line, from 1.
        line: usize,
        /// The column in bytes, from 1.
        column: usize,
        /// The problem.
        problem: String,
    },
    /// There is no recording in it.
    #[error(
        "the file has no recording; `chatwright run export` writes one, and the streamed reply of a model provider is one"
    )]
    Empty,
}

impl FormatError {
    /// Returns the error with the name of the file, as `file:line:column: problem` if it is about a
    /// line.
    pub fn in_file(&self, name: &str) -> String {
        match self {
            Self::Line { .. } => format!("{name}:{self}"),
            Self::Io(_) | Self::Empty => format!("{name}: {self}"),
        }
    }
}

/// A problem of a line: the column from 1, and the text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(crate) column: usize,
    pub(crate) text: String,
}

impl Problem {
    /// Returns a problem of a whole line.
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self { column: 1, text: text.into() }
    }

    /// Returns the problem of JSON that begins after this many bytes of its line. `what` comes
    /// before the cause.
    pub(crate) fn from_json(what: &str, error: &serde_json::Error, offset: usize) -> Self {
        let message = error.to_string();
        // The position is reported apart.
        let message = message.rsplit_once(" at line ").map_or(message.as_str(), |(message, _)| message);
        Self { column: offset + error.column().max(1), text: format!("{what}{message}") }
    }

    pub(crate) fn in_line(self, line: usize) -> FormatError {
        FormatError::Line { line, column: self.column, problem: self.text }
    }
}

/// Reads a file line by line.
pub(crate) struct Lines<R> {
    file: R,
    text: Vec<u8>,
    /// The number of the last line that was read.
    pub(crate) number: usize,
    size: usize,
}

impl<R: BufRead> Lines<R> {
    pub(crate) fn new(file: R) -> Self {
        Self { file, text: Vec::new(), number: 0, size: 0 }
    }

    /// Returns the next line without its end, and its number; `None` at the end of the file.
    ///
    /// # Errors
    /// The file cannot be read, or is too large.
    pub(crate) fn next(&mut self) -> Result<Option<(usize, &[u8])>, FormatError> {
        self.text.clear();
        let length = io::Read::take(&mut self.file, MAX_LINE as u64 + 1).read_until(b'\n', &mut self.text)?;
        if length == 0 {
            return Ok(None);
        }
        self.number += 1;
        self.size += length;
        if length > MAX_LINE {
            return Err(Problem::new("the line is longer than the limit of 64 MiB").in_line(self.number));
        }
        if self.size > MAX_FILE {
            return Err(Problem::new("the file is larger than the limit of 512 MiB").in_line(self.number));
        }
        Ok(Some((self.number, self.text.trim_ascii_end())))
    }
}
