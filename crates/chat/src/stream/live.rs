//! An active run: its encoded events in memory, in order, for any number of watchers.
//!
//! A watcher only has a position, so a slow one costs nothing and delays nobody.

use bytes::{BufMut, Bytes, BytesMut};
use parking_lot::Mutex;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use store::JournalBatch;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use wire::{Chunk, EndReason, Reducer, UiMessage};

/// Stored events stay in memory up to this size, so that most watchers never read from the
/// database.
const KEPT_BYTES: usize = 256 * 1024;

/// The size of the blocks into which events are written, so that a delta needs no allocation of its
/// own.
const BLOCK_BYTES: usize = 2 * 1024;

/// The end of every stream.
pub(crate) const DONE: &[u8] = b"data: [DONE]\n\n";

/// The ids of a run.
#[derive(Clone, Debug)]
pub(crate) struct RunIdentity {
    pub(crate) run_id: String,
    pub(crate) conversation_id: String,
    pub(crate) owner: String,
    pub(crate) message_id: String,
    pub(crate) epoch: u64,
}

/// An active run.
pub(crate) struct LiveRun {
    pub(crate) identity: RunIdentity,
    /// The message when a run that continues it started; sent to watchers who join from the start.
    pub(crate) base: Option<UiMessage>,
    /// Stops the run; [`LiveRun::stop`] also records the reason.
    pub(crate) cancel: CancellationToken,
    /// The reason why it was stopped, if it was.
    stopped: OnceLock<EndReason>,
    /// The message so far.
    message: Mutex<Reducer>,
    log: Mutex<Log>,
    changed: Notify,
}

/// The run's events, numbered from 1. `stored` and `sent` are the numbers of the last stored and
/// the last sent event.
struct Log {
    frames: VecDeque<Bytes>,
    /// The number of `frames[0]`.
    first: u64,
    stored: u64,
    /// Since when there are events that are not stored.
    unstored_since: Option<Instant>,
    sent: u64,
    kept_bytes: usize,
    /// The total size of all events, including those no longer in memory.
    all_bytes: usize,
    /// The event that is being written.
    scratch: Vec<u8>,
    buffer: BytesMut,
    /// Whether the run's row is being closed, so that nothing more goes to the journal.
    sealed: bool,
    ended: bool,
}

impl Log {
    fn last(&self) -> u64 {
        self.first + self.frames.len() as u64 - 1
    }

    fn push(&mut self, epoch: u64, chunk: &Chunk) {
        let seq = self.last() + 1;
        let frame = self.encode(epoch, seq, chunk);
        self.kept_bytes += frame.len();
        self.all_bytes += frame.len();
        self.frames.push_back(frame);
        if self.unstored_since.is_none() {
            self.unstored_since = Some(Instant::now());
        }
    }

    /// Encodes one server-sent event. The run's events share `buffer`, so that most of them need no
    /// allocation. JSON is written in many small pieces, which cost less in a vector than in that
    /// buffer, so the event is written to `scratch` first.
    fn encode(&mut self, epoch: u64, seq: u64, chunk: &Chunk) -> Bytes {
        use std::io::Write;
        let Self { scratch, buffer, .. } = self;
        scratch.clear();
        // Writing into a vector cannot fail, and a chunk is plain data.
        let _ = write!(scratch, "id: {epoch}.{seq}\ndata: ");
        if let Err(error) = serde_json::to_writer(&mut *scratch, chunk) {
            tracing::error!(%error, "a chunk could not be written as JSON");
        }
        scratch.extend_from_slice(b"\n\n");
        buffer.put_slice(scratch);
        if scratch.len() > BLOCK_BYTES {
            // A run does not keep the memory of its largest event.
            *scratch = Vec::new();
        }
        buffer.split().freeze()
    }

    fn join(&self, from: u64, to: u64) -> Bytes {
        let range = (from - self.first) as usize..=(to - self.first) as usize;
        if range.start() == range.end() {
            return self.frames[*range.start()].clone();
        }
        let mut joined = BytesMut::with_capacity(self.frames.range(range.clone()).map(Bytes::len).sum());
        self.frames.range(range).for_each(|frame| joined.put_slice(frame));
        joined.freeze()
    }

    fn forget_stored(&mut self) {
        while self.kept_bytes > KEPT_BYTES && self.first <= self.stored.min(self.sent) {
            let Some(frame) = self.frames.pop_front() else { return };
            self.kept_bytes -= frame.len();
            self.first += 1;
        }
    }
}

/// The events after a watcher's position.
pub(crate) enum NextEvents {
    /// Events up to this number.
    Frames(Bytes, u64),
    /// The events are no longer in memory; the journal has them up to this number.
    InJournal(u64),
    /// No events yet.
    Nothing,
    /// The stream has ended.
    End,
}

impl LiveRun {
    /// Creates a run that writes `message`, which is empty unless the run `continues` it.
    pub(crate) fn new(identity: RunIdentity, message: UiMessage, continues: bool, cancel: CancellationToken) -> Self {
        let base = continues.then(|| message.clone());
        let log = Log {
            frames: VecDeque::new(),
            first: 1,
            stored: 0,
            unstored_since: None,
            sent: 0,
            kept_bytes: 0,
            all_bytes: 0,
            scratch: Vec::new(),
            buffer: BytesMut::with_capacity(BLOCK_BYTES),
            sealed: false,
            ended: false,
        };
        let message = Mutex::new(Reducer::new(message));
        let stopped = OnceLock::new();
        Self { identity, base, cancel, stopped, message, log: Mutex::new(log), changed: Notify::new() }
    }

    /// Stops the run for this reason; the first reason counts.
    pub(crate) fn stop(&self, why: EndReason) {
        let _ = self.stopped.set(why);
        self.cancel.cancel();
    }

    /// Returns why the run was stopped. Without a recorded reason, the server is shutting down.
    pub(crate) fn why_stopped(&self) -> EndReason {
        self.stopped.get().copied().unwrap_or(EndReason::Shutdown)
    }

    /// Applies a chunk to the message. A chunk that does not fit is a bug of the run, and is
    /// skipped.
    pub(crate) fn fold(&self, chunk: &Chunk) {
        if let Err(error) = self.message.lock().apply(chunk) {
            tracing::warn!(%error, run = self.identity.run_id, "a chunk did not fit its message");
        }
    }

    /// Returns a copy of the message so far.
    pub(crate) fn message(&self) -> UiMessage {
        self.with_message(UiMessage::clone)
    }

    /// Reads the message without copying it, since it may be long.
    pub(crate) fn with_message<T>(&self, look: impl FnOnce(&UiMessage) -> T) -> T {
        let mut reducer = self.message.lock();
        reducer.settle();
        look(reducer.message())
    }

    /// Appends an event that is sent at once and stored with the next batch. Waiting watchers get
    /// it with the next [`LiveRun::announce`], because waking them costs more than the event
    /// itself.
    pub(crate) fn publish(&self, chunk: &Chunk) {
        let mut log = self.log.lock();
        log.push(self.identity.epoch, chunk);
        log.sent = log.last();
    }

    /// Wakes the watchers.
    pub(crate) fn announce(&self) {
        self.changed.notify_waiters();
    }

    /// Appends an event that is sent once it is stored.
    pub(crate) fn append_held(&self, chunk: &Chunk) {
        self.log.lock().push(self.identity.epoch, chunk);
    }

    /// Sends the last events without journaling them, since the message is stored by then.
    pub(crate) fn end(&self, chunks: &[Chunk]) {
        let mut log = self.log.lock();
        for chunk in chunks {
            log.push(self.identity.epoch, chunk);
        }
        log.sent = log.last();
        log.ended = true;
        drop(log);
        self.changed.notify_waiters();
    }

    /// Returns the events that are not journaled yet, together with the events that end the run.
    /// They are journaled if another server may send them.
    pub(crate) fn last_batch(&self, chunks: &[Chunk]) -> Option<JournalBatch> {
        let (epoch, mut log) = (self.identity.epoch, self.log.lock());
        let (first_seq, last) = (log.stored + 1, log.last());
        let mut frames = if last >= first_seq { log.join(first_seq, last).to_vec() } else { Vec::new() };
        for (seq, chunk) in (last + 1..).zip(chunks) {
            frames.extend_from_slice(&log.encode(epoch, seq, chunk));
        }
        let last_seq = last + chunks.len() as u64;
        let run_id = self.identity.run_id.clone();
        (last_seq >= first_seq).then(|| JournalBatch { run_id, epoch, first_seq, last_seq, frames: frames.into() })
    }

    /// Excludes the run from the journal; must be called before the run's row is closed.
    pub(crate) fn seal(&self) {
        self.log.lock().sealed = true;
    }

    /// Returns the events that are not journaled yet.
    pub(crate) fn unstored(&self) -> Option<JournalBatch> {
        let log = self.log.lock();
        if log.sealed || log.last() <= log.stored {
            return None;
        }
        // Frames before `first` are stored, so the range is in memory.
        let (first_seq, last_seq) = (log.stored + 1, log.last());
        Some(JournalBatch {
            run_id: self.identity.run_id.clone(),
            epoch: self.identity.epoch,
            first_seq,
            last_seq,
            frames: log.join(first_seq, last_seq),
        })
    }

    /// Returns the number of events that are not journaled yet, and how long the oldest of them has
    /// waited.
    pub(crate) fn journal_lag(&self) -> (u64, Duration) {
        let log = self.log.lock();
        match log.unstored_since {
            Some(since) if !log.sealed => (log.last().saturating_sub(log.stored), since.elapsed()),
            _ => (0, Duration::ZERO),
        }
    }

    /// Records that the journal has everything up to this number. Held events may then be sent, and
    /// old ones dropped.
    pub(crate) fn stored_up_to(&self, seq: u64) {
        let mut log = self.log.lock();
        log.stored = log.stored.max(seq);
        // Events that were added meanwhile have waited at most as long as the batch took.
        log.unstored_since = (log.stored < log.last()).then(Instant::now);
        let news = seq > log.sent;
        log.sent = log.sent.max(seq);
        log.forget_stored();
        drop(log);
        if news {
            self.changed.notify_waiters();
        }
    }

    /// Returns the events after a number.
    pub(crate) fn next(&self, after: u64) -> NextEvents {
        let log = self.log.lock();
        if after + 1 < log.first {
            NextEvents::InJournal(log.first - 1)
        } else if after < log.sent {
            NextEvents::Frames(log.join(after + 1, log.sent), log.sent)
        } else if log.ended {
            NextEvents::End
        } else {
            NextEvents::Nothing
        }
    }

    /// Returns how much the run has written, in bytes of events.
    pub(crate) fn written(&self) -> usize {
        self.log.lock().all_bytes
    }

    /// Returns whether the run has sent an event with this number.
    pub(crate) fn has_sent(&self, seq: u64) -> bool {
        seq <= self.log.lock().sent
    }

    /// Waits until [`LiveRun::next`] returns something other than `Nothing`.
    pub(crate) async fn wait_for_events(&self, after: u64) {
        let mut notified = std::pin::pin!(self.changed.notified());
        notified.as_mut().enable();
        if matches!(self.next(after), NextEvents::Nothing) {
            notified.await;
        }
    }
}

/// Encodes a server-sent event without an id, for events that are not part of the run's log.
pub(crate) fn encode_aside(chunk: &Chunk) -> Bytes {
    let json = serde_json::to_string(chunk).unwrap_or_default();
    Bytes::from(format!("data: {json}\n\n"))
}

/// The active runs of this process, by conversation.
#[derive(Default)]
pub(crate) struct RunRegistry {
    runs: Mutex<HashMap<String, Arc<LiveRun>>>,
}

impl RunRegistry {
    pub(crate) fn insert(&self, run: Arc<LiveRun>) {
        self.runs.lock().insert(run.identity.conversation_id.clone(), run);
    }

    /// Returns the run of a conversation, if this owner owns it.
    pub(crate) fn get(&self, owner: &str, conversation_id: &str) -> Option<Arc<LiveRun>> {
        self.runs.lock().get(conversation_id).filter(|run| run.identity.owner == owner).cloned()
    }

    /// Removes a run, unless a newer one has replaced it.
    pub(crate) fn remove(&self, run: &LiveRun) {
        let mut runs = self.runs.lock();
        if runs.get(&run.identity.conversation_id).is_some_and(|live| live.identity.run_id == run.identity.run_id) {
            runs.remove(&run.identity.conversation_id);
        }
    }

    pub(crate) fn all(&self) -> Vec<Arc<LiveRun>> {
        self.runs.lock().values().cloned().collect()
    }

    pub(crate) fn len(&self) -> usize {
        self.runs.lock().len()
    }
}
