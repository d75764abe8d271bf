//! Streams of a run's events, from the start or a cursor: recent events from memory, older ones
//! from the journal.

use crate::Frames;
use crate::stream::live::{DONE, LiveRun, NextEvents, encode_aside};
use crate::stream::page_size::PageSize;
use bytes::Bytes;
use futures::StreamExt;
use serde_json::json;
use std::sync::Arc;
use store::{JournalRow, Store};
use transcript::to_wire;
use wire::{Chunk, DataChunk, UiMessage, reduce};

/// The position of an event: its number and the epoch of its run, so that a position is never
/// reused for another event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EventCursor {
    epoch: u64,
    seq: u64,
}

impl EventCursor {
    /// Returns the number if the epoch matches.
    pub(crate) fn within(self, epoch: u64) -> Option<u64> {
        (self.epoch == epoch).then_some(self.seq)
    }

    /// Parses `EPOCH.SEQ`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (epoch, seq) = text.split_once('.')?;
        Some(Self { epoch: epoch.parse().ok()?, seq: seq.parse().ok()? })
    }
}

/// Streams after a cursor. A cursor that this run cannot continue yields `data-gap`, after which
/// the client reloads the conversation.
pub(crate) fn stream_after(store: Store, run: Arc<LiveRun>, cursor: Option<EventCursor>) -> Frames {
    match cursor {
        Some(EventCursor { epoch, seq }) if epoch == run.identity.epoch && run.has_sent(seq) => tail(store, run, seq),
        _ => gap(),
    }
}

/// Streams from the run's own start: a whole new message, or only what the run adds to a continued
/// one.
pub(crate) fn stream_after_start(store: Store, run: Arc<LiveRun>) -> Frames {
    tail(store, run, 0)
}

/// Streams from the start, including the parts of the message that precede the run.
pub(crate) fn stream_whole(store: Store, run: Arc<LiveRun>) -> Frames {
    let Some(base) = &run.base else { return tail(store, run, 0) };
    let earlier = earlier(base);
    // Event 1 is the run's own `start`, which was sent already.
    futures::stream::once(async { earlier }).chain(tail(store, run, 1)).boxed()
}

/// Streams an ended run, from its stored message.
pub(crate) fn stream_ended(message: &UiMessage) -> Frames {
    let start = Chunk::Start { message_id: Some(message.id.clone()), message_metadata: message.metadata.clone() };
    let mut told = retell(message, start).to_vec();
    told.extend_from_slice(&encode_aside(&Chunk::Finish { finish_reason: None, message_metadata: None }));
    told.extend_from_slice(DONE);
    futures::stream::once(async { Bytes::from(told) }).boxed()
}

/// Returns the events for the parts of a message that precede its run.
pub(crate) fn earlier(base: &UiMessage) -> Bytes {
    let start = Chunk::Start { message_id: Some(base.id.clone()), message_metadata: base.metadata.clone() };
    retell(base, start)
}

fn retell(message: &UiMessage, start: Chunk) -> Bytes {
    let chunks = std::iter::once(start).chain(reduce::replay(message));
    let told = chunks.filter(|chunk| !to_wire::is_private(chunk)).map(|chunk| encode_aside(&chunk));
    told.fold(Vec::new(), |mut all, frame| {
        all.extend_from_slice(&frame);
        all
    })
    .into()
}

/// Returns a stream that makes the client reload the conversation.
pub(crate) fn gap() -> Frames {
    let told = [&gap_frame()[..], DONE].concat();
    futures::stream::once(async { Bytes::from(told) }).boxed()
}

/// Returns the event that makes the client reload the conversation.
pub(crate) fn gap_frame() -> Bytes {
    let chunk = DataChunk { kind: "data-gap".to_owned(), id: None, data: json!({}), transient: Some(true) };
    encode_aside(&Chunk::Data(chunk))
}

fn tail(store: Store, run: Arc<LiveRun>, mut after: u64) -> Frames {
    async_stream::stream! {
        let mut page = PageSize::first();
        loop {
            match run.next(after) {
                NextEvents::Frames(frames, last) => {
                    after = last;
                    yield frames;
                }
                NextEvents::Nothing => run.wait_for_events(after).await,
                NextEvents::InJournal(last) => {
                    let Some((frames, reached)) = from_journal(&store, &run, after, last, &mut page).await else {
                        yield gap_frame();
                        break;
                    };
                    after = reached;
                    yield frames;
                }
                NextEvents::End => break,
            }
        }
        yield Bytes::from_static(DONE);
    }
    .boxed()
}

/// Reads events after a number from the journal; `None` if they are missing (the database failed,
/// or there is a gap).
async fn from_journal(
    store: &Store,
    run: &LiveRun,
    after: u64,
    last: u64,
    page: &mut PageSize,
) -> Option<(Bytes, u64)> {
    let rows = store.events(&run.identity.owner, &run.identity.run_id, after, page.rows()).await;
    let rows = rows.inspect_err(|error| tracing::error!(%error, "the journal could not be read")).ok()?;
    page.measure(&rows);
    let (frames, reached) = join(&rows, after, last);
    (reached > after).then_some((frames, reached))
}

/// Joins the events after a number, up to the row of `last` or the first gap, and returns them with
/// the number of the last one. Rows may overlap if a batch was stored while its run ended.
pub(crate) fn join(rows: &[JournalRow], after: u64, last: u64) -> (Bytes, u64) {
    let (mut frames, mut reached) = (Vec::new(), after);
    for row in rows.iter().filter(|row| row.first_seq <= last && row.last_seq > after) {
        if row.first_seq > reached + 1 {
            break;
        }
        if row.last_seq <= reached {
            continue;
        }
        let known = (reached + 1 - row.first_seq) as usize;
        frames.extend_from_slice(skip_frames(&row.frames, known));
        reached = row.last_seq;
    }
    (frames.into(), reached)
}

/// Skips whole events at the front. JSON escapes line breaks, so a blank line always ends an event.
pub(crate) fn skip_frames(mut frames: &[u8], count: usize) -> &[u8] {
    for _ in 0..count {
        let end = frames.windows(2).position(|pair| pair == b"\n\n").map_or(frames.len(), |at| at + 2);
        frames = &frames[end..];
    }
    frames
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursors_are_parsed() {
        let check = |text, expected: Option<(u64, u64)>| {
            assert_eq!(EventCursor::parse(text), expected.map(|(epoch, seq)| EventCursor { epoch, seq }), "{text}");
        };
        check("3.17", Some((3, 17)));
        check("", None);
        check("17", None);
        check("3.", None);
        check("3.-1", None);
        check("3.18446744073709551616", None);
        check("../../etc", None);
    }

    #[test]
    fn overlapping_rows_are_joined_up_to_the_first_gap() {
        let row = |first_seq: u64, last_seq: u64| JournalRow {
            first_seq,
            last_seq,
            frames: (first_seq..=last_seq).flat_map(|seq| format!("{seq}\n\n").into_bytes()).collect(),
        };
        let check = |rows: &[(u64, u64)], after: u64, last: u64, expected: &str| {
            let rows: Vec<_> = rows.iter().map(|(first, last)| row(*first, *last)).collect();
            let (frames, reached) = join(&rows, after, last);
            let told = String::from_utf8(frames.to_vec()).unwrap().replace("\n\n", " ");
            assert_eq!(format!("{told}to {reached}"), expected, "{after}");
        };
        check(&[(1, 2), (3, 5)], 0, 99, "1 2 3 4 5 to 5");
        check(&[(1, 2), (3, 5)], 3, 99, "4 5 to 5");
        check(&[(1, 2), (3, 5)], 0, 2, "1 2 to 2");
        check(&[(1, 2), (4, 5)], 0, 99, "1 2 to 2");
        // A batch that was being stored while the run's last events were.
        check(&[(1, 4), (3, 6)], 0, 99, "1 2 3 4 5 6 to 6");
        check(&[(1, 6), (3, 4)], 0, 99, "1 2 3 4 5 6 to 6");
        check(&[], 7, 99, "to 7");
    }

    #[test]
    fn frames_are_skipped_by_whole_events() {
        let frames = b"id: 1.1\ndata: a\n\nid: 1.2\ndata: b\n\n";
        assert_eq!(skip_frames(frames, 0), frames);
        assert_eq!(skip_frames(frames, 1), b"id: 1.2\ndata: b\n\n");
        assert_eq!(skip_frames(frames, 2), b"");
        assert_eq!(skip_frames(frames, 3), b"");
    }
}
