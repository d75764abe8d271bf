//! Reads the chunks of a run for programs in the same process.

use sse::{SseDecoder, SseLimits};
use wire::Chunk;
use wire::chunk::DONE;

/// The size limits of an event; those of the streams themselves are lower.
const LIMITS: SseLimits = SseLimits { line: 64 << 20, event: 64 << 20 };

/// Reads the chunks of [`Frames`](super::Frames).
pub struct ChunkReader {
    decoder: SseDecoder,
    is_over: bool,
}

impl ChunkReader {
    /// Begins with a new stream.
    pub fn new() -> Self {
        Self { decoder: SseDecoder::new(LIMITS), is_over: false }
    }

    /// Reads a frame. Returns the chunks that it completes.
    pub fn push(&mut self, frame: &[u8]) -> Vec<Chunk> {
        let mut chunks = Vec::new();
        if self.decoder.push(frame).is_err() {
            return chunks;
        }
        while let Some(event) = self.decoder.next() {
            if event.data == DONE {
                self.is_over = true;
            } else if let Ok(chunk) = serde_json::from_str(&event.data) {
                chunks.push(chunk);
            }
        }
        chunks
    }

    /// Returns whether the stream has ended as it should. Without that it was cut off.
    pub fn is_over(&self) -> bool {
        self.is_over
    }
}

impl Default for ChunkReader {
    fn default() -> Self {
        Self::new()
    }
}
