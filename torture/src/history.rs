//! What every client sent and was told, in the order in which it happened: a line of JSON each.

use anyhow::Result;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// One thing that happened.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(tag = "op", rename_all = "kebab-case")]
pub(crate) enum Op {
    /// A user's message goes out.
    Sent { user: String, conversation: String, message: String, text: String },
    /// It was answered with 200.
    Accepted { conversation: String, message: String },
    /// It was answered with something else.
    Refused { conversation: String, message: String, status: u16 },
    /// The user says yes to a call.
    Approved { conversation: String, call: String },
    /// An event of a stream: which stream, its cursor, and its chunk.
    Told { conversation: String, stream: u64, epoch: u64, seq: u64, chunk: Value },
    /// A stream told its client to load the conversation anew.
    Gap { conversation: String, stream: u64 },
    /// A stream came to its end, `[DONE]`.
    Done { conversation: String, stream: u64 },
    /// A conversation as its owner reads it.
    Read { user: String, conversation: String, view: Value },
    /// A conversation came from a file.
    Imported { conversation: String },
    /// Where the server had connections to when it was looked at.
    Reached { addresses: Vec<SocketAddr> },
    /// The server was killed, or died as it was told to.
    Killed,
    /// The server answers.
    Started,
}

impl Op {
    /// Begins the text of each message that came from a file.
    pub(crate) const OF_IMPORT: &str = "imported";
}

/// The history of one scenario; a cheap handle.
#[derive(Clone, Debug)]
pub(crate) struct History {
    path: PathBuf,
    file: Arc<Mutex<File>>,
}

impl History {
    /// A new one in this file.
    pub(crate) fn create(path: PathBuf) -> Result<Self> {
        let file = File::create(&path)?;
        Ok(Self { path, file: Arc::new(Mutex::new(file)) })
    }

    /// Appends. A history that cannot be written proves nothing, so this ends the run.
    pub(crate) fn add(&self, op: Op) {
        let mut line = serde_json::to_vec(&op).unwrap_or_default();
        line.push(b'\n');
        let written = self.file.lock().unwrap_or_else(PoisonError::into_inner).write_all(&line);
        assert!(written.is_ok(), "the history cannot be written: {written:?}");
    }

    /// What is in it.
    pub(crate) fn read(&self) -> Result<Vec<Op>> {
        read(&self.path)
    }
}

/// What is in a file.
fn read(path: &Path) -> Result<Vec<Op>> {
    let lines = BufReader::new(File::open(path)?).lines();
    lines.map(|line| Ok(serde_json::from_str(&line?)?)).collect()
}
