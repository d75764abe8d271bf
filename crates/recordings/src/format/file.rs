//! Files of recordings: JSON lines. Each recording begins with its header; its blobs precede its entries.

use super::{BlobId, Entry, Header, Recording, VERSION, blob_id};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, HashSet};
use std::io::{self, BufRead, Write};
use thiserror::Error;

/// The longest line that is read, in bytes.
const MAX_LINE: usize = 64 * 1024 * 1024;
/// The most bytes that are read of one file.
const MAX_FILE: usize = 512 * 1024 * 1024;

/// A line that is no entry.
#[derive(Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
enum Line {
    /// The first line of a recording.
    Recording(Box<Header>),
    /// A value that entries refer to.
    Blob {
        /// Its hash.
        id: BlobId,
        /// The value.
        value: Value,
    },
}

/// Why a file cannot be read.
#[derive(Debug, Error)]
pub enum FormatError {
    /// The file cannot be read.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// A line is wrong.
    #[error("line {line}: {problem}")]
    Line {
        /// The number of the line, from 1.
        line: usize,
        /// What is wrong.
        problem: String,
    },
    /// There is no recording in it.
    #[error("the file has no recording; `chatwright run export` writes one")]
    Empty,
}

/// Returns the line of an entry, without its end.
pub(crate) fn entry_line(entry: &Entry) -> String {
    serde_json::to_string(entry).unwrap_or_default()
}

/// Writes a recording.
///
/// # Errors
/// Those of the writer.
pub fn write(recording: &Recording, out: &mut impl Write) -> io::Result<()> {
    let mut line = |line: String| writeln!(out, "{line}");
    line(serde_json::to_string(&Line::Recording(Box::new(recording.header.clone())))?)?;
    for (id, value) in &recording.blobs {
        line(serde_json::to_string(&Line::Blob { id: id.clone(), value: value.clone() })?)?;
    }
    recording.entries.iter().try_for_each(|entry| line(entry_line(entry)))
}

/// Reads all recordings of a file.
///
/// # Errors
/// The file cannot be read, is too large, has another version, or is damaged: a blob that is missing or
/// does not have its hash, or a recording without a turn.
pub fn read(mut file: impl BufRead) -> Result<Vec<Recording>, FormatError> {
    let (mut recordings, mut text, mut number, mut size) = (Vec::<Recording>::new(), Vec::new(), 0, 0);
    loop {
        text.clear();
        let length = io::Read::take(&mut file, MAX_LINE as u64 + 1).read_until(b'\n', &mut text)?;
        number += 1;
        size += length;
        let failed = |problem: String| FormatError::Line { line: number, problem };
        if length > MAX_LINE || size > MAX_FILE {
            return Err(failed("the file is too large".to_owned()));
        }
        if length == 0 {
            break;
        }
        if text.trim_ascii().is_empty() {
            continue;
        }
        add_line(&mut recordings, &text).map_err(failed)?;
    }
    recordings.iter().try_for_each(check).map_err(|problem| FormatError::Line { line: number, problem })?;
    if recordings.is_empty() { Err(FormatError::Empty) } else { Ok(recordings) }
}

fn add_line(recordings: &mut Vec<Recording>, text: &[u8]) -> Result<(), String> {
    #[derive(Deserialize)]
    struct Kind {
        #[serde(rename = "type")]
        kind: String,
        version: Option<u32>,
    }
    let kind: Kind = serde_json::from_slice(text).map_err(|error| format!("not a line of a recording: {error}"))?;
    match (kind.kind.as_str(), recordings.last_mut()) {
        ("recording", _) if kind.version != Some(VERSION) => {
            let version = kind.version.map_or_else(|| "unknown".to_owned(), |version| version.to_string());
            Err(format!("the recording has the version {version}, and this program reads {VERSION}"))
        }
        ("recording" | "blob", last) => {
            let line = serde_json::from_slice(text).map_err(|error| error.to_string())?;
            match (line, last) {
                (Line::Recording(header), _) => {
                    recordings.push(Recording { header: *header, entries: Vec::new(), blobs: BTreeMap::new() });
                }
                (Line::Blob { id, value }, Some(recording)) => {
                    if blob_id(&value) != id {
                        return Err("the value does not have this hash; the file is damaged".to_owned());
                    }
                    recording.blobs.insert(id, value);
                }
                (Line::Blob { .. }, None) => return Err("the first line must be a `recording`".to_owned()),
            }
            Ok(())
        }
        (_, Some(recording)) => {
            recording.entries.push(serde_json::from_slice(text).map_err(|error| error.to_string())?);
            Ok(())
        }
        (_, None) => Err("the first line must be a `recording`".to_owned()),
    }
}

/// Checks that nothing is missing.
fn check(recording: &Recording) -> Result<(), String> {
    let mut wanted: HashSet<&BlobId> = HashSet::new();
    for entry in &recording.entries {
        match entry {
            Entry::Turn(turn) => wanted.extend(&turn.messages),
            Entry::Request { request, .. } => {
                wanted.extend(request.messages.iter().chain(&request.system).chain([&request.tools]));
            }
            Entry::Source { tools, .. } => drop(wanted.insert(tools)),
            Entry::End(end) => wanted.extend(&end.messages),
            _ => {}
        }
    }
    let run = &recording.header.run_id;
    if let Some(missing) = wanted.into_iter().find(|id| !recording.blobs.contains_key(*id)) {
        return Err(format!("the recording of the run {run} lacks the blob {missing}; the file is damaged"));
    }
    match recording.turn() {
        Some(turn) if turn.turn_start <= turn.messages.len() => Ok(()),
        Some(_) => Err(format!("the turn of the run {run} begins after its messages")),
        None => Err(format!("the recording of the run {run} has no turn; the file is damaged")),
    }
}
