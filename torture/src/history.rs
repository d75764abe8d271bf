//! The history of what every client sent and received, in order, as JSON Lines.

use anyhow::Result;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// An entry of the history.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(tag = "op", rename_all = "kebab-case")]
pub(crate) enum Op {
    /// A message was sent.
    Sent { user: String, conversation: String, message: String, text: String },
    /// A message was accepted with 200.
    Accepted { conversation: String, message: String },
    /// A message was refused with another status.
    Refused { conversation: String, message: String, status: u16 },
    /// The user approved a call.
    Approved { conversation: String, call: String },
    /// An event of a stream was received, with its cursor and chunk.
    Told { conversation: String, stream: u64, epoch: u64, seq: u64, chunk: Value },
    /// A stream reported a gap, after which clients reload the conversation.
    Gap { conversation: String, stream: u64 },
    /// A stream ended with `[DONE]`.
    Done { conversation: String, stream: u64 },
    /// A conversation was read by its owner.
    Read { user: String, conversation: String, view: Value },
    /// A conversation was imported.
    Imported { conversation: String },
    /// The remote addresses of the server's connections at one moment.
    Reached { addresses: Vec<SocketAddr> },
    /// A run of a workflow was acknowledged (`started`), or seen in its last state, with its error if it is not done.
    WorkflowRun { tag: String, state: String },
    /// The server was killed, or an injected fault ended it.
    Killed,
    /// The server started to listen.
    Started,
}

impl Op {
    /// The prefix of the text of imported messages.
    pub(crate) const IMPORT_PREFIX: &str = "imported";
}

/// The history of one scenario; clones share the file.
#[derive(Clone, Debug)]
pub(crate) struct History {
    path: PathBuf,
    file: Arc<Mutex<File>>,
}

impl History {
    /// Creates a history in this file.
    pub(crate) fn create(path: PathBuf) -> Result<Self> {
        let file = File::create(&path)?;
        Ok(Self { path, file: Arc::new(Mutex::new(file)) })
    }

    /// Appends an entry.
    ///
    /// # Panics
    /// The file cannot be written: an incomplete history would hide violations.
    pub(crate) fn add(&self, op: Op) {
        let mut line = serde_json::to_vec(&op).unwrap_or_default();
        line.push(b'\n');
        let written = self.file.lock().unwrap_or_else(PoisonError::into_inner).write_all(&line);
        assert!(written.is_ok(), "the history cannot be written: {written:?}");
    }

    /// Reads all entries.
    pub(crate) fn read(&self) -> Result<Vec<Op>> {
        read(&self.path)
    }
}

/// Reads the entries of a file.
fn read(path: &Path) -> Result<Vec<Op>> {
    let lines = BufReader::new(File::open(path)?).lines();
    lines.map(|line| Ok(serde_json::from_str(&line?)?)).collect()
}
