//! Files of recordings: JSON lines. Each recording begins with its header; its blobs precede its
//! entries.

use super::lines::{Lines, Problem};
use super::{BlobId, Entry, FormatError, Header, Recording, VERSION, blob_id};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, HashSet};
use std::io::{self, BufRead, Write};

/// The types of lines.
const TYPES: [&str; 12] =
    ["recording", "blob", "turn", "request", "reply", "tool", "source", "note", "ruling", "approval", "grant", "end"];

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

/// The beginning of each line.
#[derive(Deserialize)]
struct Kind {
    #[serde(rename = "type")]
    kind: String,
    version: Option<u32>,
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

/// Returns whether a line is one of a file of recordings, and not of another kind of file.
pub(super) fn is_own_line(line: &[u8]) -> bool {
    serde_json::from_slice::<Kind>(line).is_ok_and(|line| TYPES.contains(&line.kind.as_str()))
}

/// Reads all recordings of a file.
///
/// # Errors
/// The file cannot be read, is too large, has another version, or is damaged: a blob that is
/// missing or does not have its hash, or a recording without a turn.
pub fn read(file: impl BufRead) -> Result<Vec<Recording>, FormatError> {
    let (mut recordings, mut lines) = (Vec::<Recording>::new(), Lines::new(file));
    while let Some((number, text)) = lines.next()? {
        if !text.is_empty() {
            add_line(&mut recordings, text).map_err(|problem| problem.in_line(number))?;
        }
    }
    let last = lines.number.max(1);
    recordings.iter().try_for_each(check).map_err(|problem| Problem::new(problem).in_line(last))?;
    if recordings.is_empty() { Err(FormatError::Empty) } else { Ok(recordings) }
}

fn add_line(recordings: &mut Vec<Recording>, text: &[u8]) -> Result<(), Problem> {
    let invalid = |error: serde_json::Error| Problem::from_json("", &error, 0);
    let no_line = |error| Problem::from_json("not a line of a recording: ", &error, 0);
    let kind: Kind = serde_json::from_slice(text).map_err(no_line)?;
    match (kind.kind.as_str(), recordings.last_mut()) {
        ("recording", _) if kind.version != Some(VERSION) => {
            let version = kind.version.map_or_else(|| "unknown".to_owned(), |version| version.to_string());
            Err(Problem::new(format!("the recording has the version {version}, and this program reads {VERSION}")))
        }
        ("recording" | "blob", last) => {
            let line = serde_json::from_slice(text).map_err(invalid)?;
            match (line, last) {
                (Line::Recording(header), _) => {
                    recordings.push(Recording { header: *header, entries: Vec::new(), blobs: BTreeMap::new() });
                }
                (Line::Blob { id, value }, Some(recording)) => {
                    if blob_id(&value) != id {
                        return Err(Problem::new("the value does not have this hash; the file is damaged"));
                    }
                    recording.blobs.insert(id, value);
                }
                (Line::Blob { .. }, None) => return Err(Problem::new("the first line must be a `recording`")),
            }
            Ok(())
        }
        (_, Some(recording)) => {
            recording.entries.push(serde_json::from_slice(text).map_err(invalid)?);
            Ok(())
        }
        (_, None) => Err(Problem::new("the first line must be a `recording`")),
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
            Entry::Reply { raw: Some(raw), .. } => drop(wanted.insert(&raw.events)),
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
