//! Reads a response body: bytes to server-sent events to parts. All codecs share this loop.

use crate::http::{MAX_CAUSE, error_chain};
use crate::too_long;
use contract::{ModelError, ModelErrorKind, Part, PartStream};
use futures::StreamExt;
use reqwest::Response;
use std::pin::pin;
use tokio_util::sync::CancellationToken;

/// The maximum size of an event of most providers, in bytes.
const MAX_EVENT: usize = 4 * 1024 * 1024;
/// The maximum size of an event of a provider that sends images, in bytes. A larger answer is not
/// stored anyway.
pub(crate) const MAX_IMAGE_EVENT: usize = 16 * 1024 * 1024;
/// The maximum size of a reply, in bytes on the wire: twenty times the longest that any model
/// writes today.
const MAX_REPLY: usize = 256 * 1024 * 1024;

/// Decodes the events of one provider, without I/O.
pub(crate) trait Codec: Send + 'static {
    /// The maximum size of an event, in bytes. Memory is allocated only as data arrives.
    const MAX_EVENT: usize = MAX_EVENT;

    /// Decodes an event and appends its parts.
    fn decode_event(&mut self, data: &str, parts: &mut Vec<Part>) -> Result<(), ModelError>;

    /// Handles the end of the stream: appends the remaining parts, or returns an error if the reply
    /// is incomplete.
    fn end(&mut self, parts: &mut Vec<Part>) -> Result<(), ModelError>;

    /// Returns whether the reply is complete. Everything after that is ignored.
    fn is_complete(&self) -> bool;
}

/// Returns the parts of a response, and [`Part::Alive`] for bytes without a part. The connection is
/// closed as soon as the stream is dropped or cancelled, or the reply is complete.
pub(crate) fn part_stream(response: Response, codec: impl Codec, cancel: CancellationToken) -> PartStream {
    async_stream::stream! {
        let mut reader = StreamReader::new(codec);
        let mut bytes = pin!(response.bytes_stream());
        let mut cancelled = pin!(cancel.cancelled());
        let mut ready = Vec::new();
        while !reader.codec.is_complete() {
            let next = tokio::select! {
                biased;
                () = &mut cancelled => Err(cancelled_error()),
                next = bytes.next() => next.transpose().map_err(|error| stream_error(format!("the connection failed while the response was read: {}", error_chain(&error)))),
            };
            // Whether more data may follow.
            let read = match next {
                Ok(Some(piece)) => reader.push(&piece, &mut ready).map(|()| true),
                Ok(None) => reader.end(&mut ready).map(|()| false),
                Err(error) => Err(error),
            };
            // While a model thinks, it may send only comments, pings and progress. `Alive` tells
            // the reader of the parts that the connection works.
            if ready.is_empty() && matches!(read, Ok(true)) && !reader.codec.is_complete() {
                ready.push(Part::Alive);
            }
            // The parts before an error are valid.
            for part in ready.drain(..) {
                yield Ok(part);
            }
            match read {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => {
                    yield Err(error);
                    break;
                }
            }
        }
    }
    .boxed()
}

/// A codec together with the decoder of server-sent events, without I/O.
pub(crate) struct StreamReader<C> {
    decoder: sse::SseDecoder,
    codec: C,
    /// The number of bytes so far.
    bytes_read: usize,
    event_count: u64,
}

impl<C: Codec> StreamReader<C> {
    pub(crate) fn new(codec: C) -> Self {
        let decoder = sse::SseDecoder::new(sse::SseLimits { line: C::MAX_EVENT, event: C::MAX_EVENT });
        Self { decoder, codec, bytes_read: 0, event_count: 0 }
    }

    /// Returns whether the reply is complete. Everything after that is ignored.
    pub(crate) fn is_complete(&self) -> bool {
        self.codec.is_complete()
    }

    /// Decodes the next bytes and appends their parts.
    pub(crate) fn push(&mut self, bytes: &[u8], parts: &mut Vec<Part>) -> Result<(), ModelError> {
        let pushed = self.decoder.push(bytes);
        while !self.codec.is_complete()
            && let Some(event) = self.decoder.next()
        {
            self.event_count += 1;
            self.codec.decode_event(&event.data, parts)?;
        }
        // Errors after a complete reply are ignored.
        if self.codec.is_complete() {
            return Ok(());
        }
        pushed.map_err(|error| stream_error(error.to_string()))?;
        self.bytes_read = self.bytes_read.saturating_add(bytes.len());
        if self.bytes_read > MAX_REPLY {
            return Err(stream_error("the reply is larger than the limit of 256 MiB"));
        }
        Ok(())
    }

    /// Handles the end of the stream. An event without its final blank line is incomplete and
    /// ignored.
    pub(crate) fn end(&mut self, parts: &mut Vec<Part>) -> Result<(), ModelError> {
        if self.event_count == 0 && self.bytes_read > 0 {
            return Err(stream_error("the response contained no server-sent events"));
        }
        self.codec.end(parts)
    }
}

/// Returns the error for a stream that cannot be decoded further.
pub(crate) fn stream_error(cause: impl Into<String>) -> ModelError {
    ModelError::new(ModelErrorKind::BrokenStream, cause)
}

/// Returns the error that a provider has reported in a stream, with the beginning of its cause.
pub(crate) fn reported_error(kind: ModelErrorKind, mut cause: String) -> ModelError {
    cause.truncate(cause.floor_char_boundary(MAX_CAUSE));
    ModelError::new(too_long::refine(kind, &cause), cause)
}

/// Returns the error for a request that was cancelled.
pub(crate) fn cancelled_error() -> ModelError {
    ModelError::new(ModelErrorKind::Cancelled, "the request was cancelled")
}
