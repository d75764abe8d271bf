//! Publishes events: converts them to chunks, folds these into the message and encodes them once.
//! Text is sent at once; chunks that the user may rely on are sent when the journal has stored them.

use crate::Clock;
use crate::run::ending::SinkEnd;
use crate::stream::journal::Journal;
use crate::stream::live::LiveRun;
use agent::Event;
use faults::Point;
use std::sync::Arc;
use transcript::to_wire::{ChunkConverter, is_acknowledgement, is_private};
use wire::Chunk;

/// The maximum size of a turn in bytes of text and arguments.
const MAX_TURN_BYTES: usize = 16 * 1024 * 1024;

/// Publishes the events of one run.
pub(super) struct Publisher {
    run: Arc<LiveRun>,
    journal: Journal,
    clock: Clock,
    converter: ChunkConverter,
    /// The chunks of the current event. Kept empty between events, so that most events need no
    /// allocation.
    chunks: Vec<Chunk>,
    /// The size of the turn so far.
    bytes: usize,
}

impl Publisher {
    pub(super) fn new(run: Arc<LiveRun>, journal: Journal, clock: Clock) -> Self {
        Self { run, journal, clock, converter: ChunkConverter::default(), chunks: Vec::new(), bytes: 0 }
    }

    /// Publishes an event. Returns whether it must be stored with [`Publisher::store`] before the next one, or why the sink
    /// closes if it cannot continue. Not async: a future would copy each event, and most need not wait.
    pub(super) fn publish(&mut self, event: Event) -> Result<bool, SinkEnd> {
        // Watchers are notified of the parts of a reply once no more are ready, in `pause`.
        let is_part = matches!(event, Event::Part(_));
        self.converter.convert(event, self.clock.now(), &mut self.chunks);
        let mut acknowledges = false;
        for chunk in self.chunks.drain(..) {
            self.bytes += size(&chunk);
            self.run.fold(&chunk);
            if is_private(&chunk) {
                continue;
            }
            if is_acknowledgement(&chunk) {
                self.run.append_held(&chunk);
                acknowledges = true;
            } else {
                // It would also send the acknowledgement before it, which is not stored yet.
                debug_assert!(!acknowledges, "an acknowledgement must be the last public chunk of an event");
                self.run.publish(&chunk);
            }
        }
        if !is_part {
            self.run.announce();
        }
        if self.bytes > MAX_TURN_BYTES {
            return Err(SinkEnd::TooLong);
        }
        Ok(acknowledges)
    }

    /// Waits until everything published is stored. Returns why the sink closes if that fails.
    pub(super) async fn store(&self) -> Result<(), SinkEnd> {
        if !self.journal.flush().await {
            return Err(SinkEnd::Storage);
        }
        faults::point(Point::EventStored);
        Ok(())
    }
}

/// Returns what a chunk adds to the size of the turn.
fn size(chunk: &Chunk) -> usize {
    match chunk {
        Chunk::TextDelta { delta, .. } | Chunk::ReasoningDelta { delta, .. } => delta.len(),
        Chunk::ToolInputDelta { input_text_delta, .. } => input_text_delta.len(),
        Chunk::File(file) => file.url.len(),
        _ => 0,
    }
}
