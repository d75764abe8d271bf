//! A run as long as it lives: its encoded events in memory, in order, for any number of watchers.
//!
//! Each watcher keeps a position and nothing else, so a slow one costs nothing and holds nobody up.

use bytes::{BufMut, Bytes, BytesMut};
use parking_lot::Mutex;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use store::JournalBatch;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use wire::{Chunk, EndReason, Reducer, UiMessage};

/// Stored events stay in memory up to this size, so that most watchers never touch the database.
const KEPT_BYTES: usize = 256 * 1024;

/// Events are written into blocks of this size, so that a delta does not cost an allocation.
const BLOCK_BYTES: usize = 2 * 1024;

/// What most events need.
const EVENT_BYTES: usize = 160;

/// The end of every stream.
pub(crate) const DONE: &[u8] = b"data: [DONE]\n\n";

/// Who and what a run is.
#[derive(Clone, Debug)]
pub(crate) struct RunIdentity {
    pub(crate) run_id: String,
    pub(crate) conversation_id: String,
    pub(crate) owner: String,
    pub(crate) message_id: String,
    pub(crate) epoch: u64,
}

/// A run that is writing.
pub(crate) struct LiveRun {
    pub(crate) identity: RunIdentity,
    /// What the message held when a run that continues it began; told again to those who join from the start.
    pub(crate) base: Option<UiMessage>,
    /// Ends the run; [`LiveRun::stop`] also says why.
    pub(crate) cancel: CancellationToken,
    /// Why it was stopped, if it was.
    stopped: OnceLock<EndReason>,
    /// The message as far as it has come.
    message: Mutex<Reducer>,
    log: Mutex<Log>,
    changed: Notify,
}

/// Events are numbered from 1. `stored` and `told` are the numbers of the newest stored and told ones.
struct Log {
    frames: VecDeque<Bytes>,
    /// The number of `frames[0]`.
    first: u64,
    stored: u64,
    /// Since when there is something that is not stored.
    unstored_since: Option<Instant>,
    told: u64,
    kept_bytes: usize,
    buffer: BytesMut,
    /// The run's row is being closed: nothing more goes to the journal.
    sealed: bool,
    ended: bool,
}

impl Log {
    fn last(&self) -> u64 {
        self.first + self.frames.len() as u64 - 1
    }

    fn push(&mut self, epoch: u64, chunk: &Chunk) {
        let seq = self.last() + 1;
        let frame = encode(&mut self.buffer, epoch, seq, chunk);
        self.kept_bytes += frame.len();
        self.frames.push_back(frame);
        if self.unstored_since.is_none() {
            self.unstored_since = Some(Instant::now());
        }
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
        while self.kept_bytes > KEPT_BYTES && self.first <= self.stored.min(self.told) {
            let Some(frame) = self.frames.pop_front() else { return };
            self.kept_bytes -= frame.len();
            self.first += 1;
        }
    }
}

/// What a watcher finds after its position.
pub(crate) enum Next {
    /// Events up to this number.
    Frames(Bytes, u64),
    /// They are no longer in memory; the journal has them up to this number.
    InJournal(u64),
    /// Nothing more for now.
    Nothing,
    /// Nothing more ever.
    End,
}

impl LiveRun {
    /// A run that writes `message`, which is empty unless the run `continues` it.
    pub(crate) fn new(identity: RunIdentity, message: UiMessage, continues: bool, cancel: CancellationToken) -> Self {
        let base = continues.then(|| message.clone());
        let log = Log {
            frames: VecDeque::new(),
            first: 1,
            stored: 0,
            unstored_since: None,
            told: 0,
            kept_bytes: 0,
            buffer: BytesMut::with_capacity(BLOCK_BYTES),
            sealed: false,
            ended: false,
        };
        let message = Mutex::new(Reducer::new(message));
        let stopped = OnceLock::new();
        Self { identity, base, cancel, stopped, message, log: Mutex::new(log), changed: Notify::new() }
    }

    /// Ends the run for this reason; of several, the first one counts.
    pub(crate) fn stop(&self, why: EndReason) {
        let _ = self.stopped.set(why);
        self.cancel.cancel();
    }

    /// Why the run was stopped. A stop for which nobody gave a reason is that of all runs when the server ends.
    pub(crate) fn why_stopped(&self) -> EndReason {
        self.stopped.get().copied().unwrap_or(EndReason::Shutdown)
    }

    /// Folds a chunk into the message. A chunk that does not fit is the run's own fault, and is left out.
    pub(crate) fn fold(&self, chunk: &Chunk) {
        if let Err(error) = self.message.lock().apply(chunk) {
            tracing::warn!(%error, run = self.identity.run_id, "a chunk did not fit its message");
        }
    }

    /// The message as far as it has come.
    pub(crate) fn message(&self) -> UiMessage {
        self.look(UiMessage::clone)
    }

    /// The same for who only looks: a message may be long.
    pub(crate) fn look<T>(&self, look: impl FnOnce(&UiMessage) -> T) -> T {
        let mut reducer = self.message.lock();
        reducer.settle();
        look(reducer.message())
    }

    /// Appends an event that may be told at once; it is stored with the next group. Watchers who sleep hear of it with the next
    /// [`LiveRun::announce`]: waking them costs more than the event itself.
    pub(crate) fn tell(&self, chunk: &Chunk) {
        let mut log = self.log.lock();
        log.push(self.identity.epoch, chunk);
        log.told = log.last();
    }

    /// Wakes the watchers.
    pub(crate) fn announce(&self) {
        self.changed.notify_waiters();
    }

    /// Appends an event that is told when it is stored.
    pub(crate) fn hold(&self, chunk: &Chunk) {
        self.log.lock().push(self.identity.epoch, chunk);
    }

    /// The last events, told without being journaled: the message itself is stored by now.
    pub(crate) fn end(&self, chunks: &[Chunk]) {
        let mut log = self.log.lock();
        for chunk in chunks {
            log.push(self.identity.epoch, chunk);
        }
        log.told = log.last();
        log.ended = true;
        drop(log);
        self.changed.notify_waiters();
    }

    /// What the journal does not have yet, with the events that will end the run: they are journaled where another server may tell them.
    pub(crate) fn last_batch(&self, chunks: &[Chunk]) -> Option<JournalBatch> {
        let (epoch, mut log) = (self.identity.epoch, self.log.lock());
        let (first_seq, last) = (log.stored + 1, log.last());
        let mut frames = if last >= first_seq { log.join(first_seq, last).to_vec() } else { Vec::new() };
        for (seq, chunk) in (last + 1..).zip(chunks) {
            frames.extend_from_slice(&encode(&mut log.buffer, epoch, seq, chunk));
        }
        let last_seq = last + chunks.len() as u64;
        let run_id = self.identity.run_id.clone();
        (last_seq >= first_seq).then(|| JournalBatch { run_id, epoch, first_seq, last_seq, frames: frames.into() })
    }

    /// Keeps the journal from this run; call it before the run's row is closed.
    pub(crate) fn seal(&self) {
        self.log.lock().sealed = true;
    }

    /// What the journal does not have yet.
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

    /// How many events the journal does not have yet, and how long the oldest one has waited.
    pub(crate) fn behind(&self) -> (u64, Duration) {
        let log = self.log.lock();
        match log.unstored_since {
            Some(since) if !log.sealed => (log.last().saturating_sub(log.stored), since.elapsed()),
            _ => (0, Duration::ZERO),
        }
    }

    /// The journal has everything up to this number: held events may be told, old ones forgotten.
    pub(crate) fn stored_up_to(&self, seq: u64) {
        let mut log = self.log.lock();
        log.stored = log.stored.max(seq);
        // What came meanwhile has waited at most as long as the group took.
        log.unstored_since = (log.stored < log.last()).then(Instant::now);
        let news = seq > log.told;
        log.told = log.told.max(seq);
        log.forget_stored();
        drop(log);
        if news {
            self.changed.notify_waiters();
        }
    }

    /// What comes after an event's number.
    pub(crate) fn next(&self, after: u64) -> Next {
        let log = self.log.lock();
        if after + 1 < log.first {
            Next::InJournal(log.first - 1)
        } else if after < log.told {
            Next::Frames(log.join(after + 1, log.told), log.told)
        } else if log.ended {
            Next::End
        } else {
            Next::Nothing
        }
    }

    /// Whether this number can have been told by this run.
    pub(crate) fn has_told(&self, seq: u64) -> bool {
        seq <= self.log.lock().told
    }

    /// Waits until [`LiveRun::next`] may answer something else than `Nothing`.
    pub(crate) async fn news(&self, after: u64) {
        let mut notified = std::pin::pin!(self.changed.notified());
        notified.as_mut().enable();
        if matches!(self.next(after), Next::Nothing) {
            notified.await;
        }
    }
}

/// One server-sent event. `buffer` is shared by the run's events, so that most of them allocate nothing of their own.
fn encode(buffer: &mut BytesMut, epoch: u64, seq: u64, chunk: &Chunk) -> Bytes {
    use std::fmt::Write;
    buffer.reserve(EVENT_BYTES);
    // Writing into a growing buffer cannot fail, and a chunk is plain data.
    let _ = write!(buffer, "id: {epoch}.{seq}\ndata: ");
    if let Err(error) = serde_json::to_writer(buffer.writer(), chunk) {
        tracing::error!(%error, "a chunk could not be written as JSON");
    }
    buffer.put_slice(b"\n\n");
    buffer.split().freeze()
}

/// One server-sent event without a cursor, for events that are not of the run's log.
pub(crate) fn encode_aside(chunk: &Chunk) -> Bytes {
    let json = serde_json::to_string(chunk).unwrap_or_default();
    Bytes::from(format!("data: {json}\n\n"))
}

/// The runs of this process, by conversation.
#[derive(Default)]
pub(crate) struct Registry {
    runs: Mutex<HashMap<String, Arc<LiveRun>>>,
}

impl Registry {
    pub(crate) fn insert(&self, run: Arc<LiveRun>) {
        self.runs.lock().insert(run.identity.conversation_id.clone(), run);
    }

    /// The conversation's run, if it is this owner's.
    pub(crate) fn get(&self, owner: &str, conversation_id: &str) -> Option<Arc<LiveRun>> {
        self.runs.lock().get(conversation_id).filter(|run| run.identity.owner == owner).cloned()
    }

    /// Forgets a run, unless a newer one has taken its place.
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
