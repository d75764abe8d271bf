//! The SSE decoder: chunk boundaries do not matter, and no event exceeds the limit.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sse::{DecodeError, Event, SseDecoder, SseLimits};

const LIMITS: SseLimits = SseLimits { line: 256, event: 512 };

fn read<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> (Vec<Event>, Result<(), DecodeError>) {
    let (mut decoder, mut events) = (SseDecoder::new(LIMITS), Vec::new());
    for piece in pieces {
        let pushed = decoder.push(piece);
        while let Some(event) = decoder.next() {
            assert!(event.data.len() <= LIMITS.event, "an event exceeds the limit");
            events.push(event);
        }
        if pushed.is_err() {
            return (events, pushed);
        }
    }
    (events, Ok(()))
}

fuzz_target!(|data: &[u8]| {
    let Some((&size, bytes)) = data.split_first() else { return };
    let (whole, of_whole) = read(std::iter::once(bytes));
    let (cut, of_cut) = read(bytes.chunks(usize::from(size % 16) + 1));
    assert_eq!(whole, cut);
    assert_eq!(of_whole.is_ok(), of_cut.is_ok());
});
