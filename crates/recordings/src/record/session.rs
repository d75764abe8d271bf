//! The recording of a run in memory, within bounds.

use crate::format::{BlobId, Entry, Header, Recording, entry_line, text_id};
use contract::{Message, mask_secrets};
use parking_lot::Mutex;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::time::Instant;

/// The memory that all recordings together may take, in bytes.
#[derive(Debug)]
pub(crate) struct Budget {
    most: usize,
    used: AtomicUsize,
}

impl Budget {
    pub(crate) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { most, used: AtomicUsize::new(0) })
    }

    /// Reserves a part of the budget; returns whether there is enough.
    fn reserve(&self, bytes: usize) -> bool {
        let before = self.used.fetch_add(bytes, Ordering::Relaxed);
        let fits = before.saturating_add(bytes) <= self.most;
        if !fits {
            self.used.fetch_sub(bytes, Ordering::Relaxed);
        }
        fits
    }

    fn release(&self, bytes: usize) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// The recording of one run.
pub(crate) struct Session {
    budget: Arc<Budget>,
    /// The largest recording in bytes.
    most: usize,
    begun: Instant,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    requests: u32,
    entries: Vec<Entry>,
    blobs: BTreeMap<BlobId, Value>,
    /// The ids of messages by their addresses. The messages are kept, so that an address stays
    /// theirs.
    messages: HashMap<usize, (Arc<Message>, BlobId)>,
    /// The bytes that are reserved.
    bytes: usize,
    /// Whether the recording became too large; then nothing is kept.
    is_over: bool,
}

impl State {
    /// Reserves memory; without it, drops the recording.
    fn reserve(&mut self, bytes: usize, session: &Session) -> bool {
        if self.is_over {
            return false;
        }
        if self.bytes + bytes > session.most || !session.budget.reserve(bytes) {
            session.budget.release(self.bytes);
            *self = Self { is_over: true, ..Self::default() };
            return false;
        }
        self.bytes += bytes;
        true
    }
}

impl Session {
    /// Creates a recording of at most this many bytes.
    pub(crate) fn new(budget: Arc<Budget>, most: usize) -> Arc<Self> {
        Arc::new(Self { budget, most, begun: Instant::now(), state: Mutex::default() })
    }

    /// Appends an entry.
    pub(crate) fn push(&self, entry: Entry) {
        let bytes = entry_line(&entry).len();
        let mut state = self.state.lock();
        if state.reserve(bytes, self) {
            state.entries.push(entry);
        }
    }

    /// Appends a request; returns its number.
    pub(crate) fn push_request(&self, entry: impl FnOnce(u32) -> Entry) -> u32 {
        let id = {
            let mut state = self.state.lock();
            state.requests += 1;
            state.requests
        };
        self.push(entry(id));
        id
    }

    /// Stores a value once; returns its id.
    pub(crate) fn blob(&self, value: Value) -> BlobId {
        let text = value.to_string();
        let id = text_id(&text);
        let mut state = self.state.lock();
        if !state.blobs.contains_key(&id) && state.reserve(text.len(), self) {
            state.blobs.insert(id.clone(), value);
        }
        id
    }

    /// Stores messages with masked secrets; returns their ids.
    pub(crate) fn messages(&self, messages: &[Arc<Message>]) -> Vec<BlobId> {
        messages.iter().map(|message| self.message(message)).collect()
    }

    fn message(&self, message: &Arc<Message>) -> BlobId {
        let address = Arc::as_ptr(message).addr();
        if let Some((_, id)) = self.state.lock().messages.get(&address) {
            return id.clone();
        }
        let id = self.blob(masked_message(message));
        let mut state = self.state.lock();
        if !state.is_over {
            state.messages.insert(address, (message.clone(), id.clone()));
        }
        id
    }

    /// Returns the time since the run began in milliseconds.
    pub(crate) fn elapsed_ms(&self) -> u64 {
        millis_since(self.begun)
    }

    /// Takes the recording; `None` if it became too large. Its memory counts until the session is
    /// dropped.
    pub(crate) fn take(&self, header: Header) -> Option<Recording> {
        let mut state = self.state.lock();
        let (entries, blobs) = (std::mem::take(&mut state.entries), std::mem::take(&mut state.blobs));
        (!state.is_over).then_some(Recording { header, entries, blobs })
    }
}

/// Returns a message with masked secrets.
fn masked_message(message: &Message) -> Value {
    mask_secrets(&serde_json::to_value(message).unwrap_or_default())
}

/// Returns the time since then in milliseconds.
pub(crate) fn millis_since(then: Instant) -> u64 {
    then.elapsed().as_millis().try_into().unwrap_or(u64::MAX)
}

impl Drop for Session {
    fn drop(&mut self) {
        self.budget.release(self.state.get_mut().bytes);
    }
}
