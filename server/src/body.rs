//! The timeout of request bodies. A timeout between two chunks would let a client send one byte a
//! second for days, and a fixed timeout for the whole body would cut off large files on slow
//! connections. So the whole body has a deadline, which moves with the bytes received.

use axum::BoxError;
use axum::body::{Body, Bytes, HttpBody};
use hyper::body::{Frame, SizeHint};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::time::{Instant, Sleep, sleep_until};

/// A client that sends this many bytes per second never times out.
const MIN_BYTES_PER_SECOND: u32 = 16 * 1024;

/// Returns a body that fails when it takes longer than `patience` plus one second per 16 KiB
/// received.
pub(crate) fn with_timeout(body: Body, patience: Duration) -> Body {
    if body.is_end_stream() {
        return body;
    }
    let until = Instant::now() + patience;
    Body::new(BodyWithTimeout { body, timeout: patience, deadline: until, timer: Box::pin(sleep_until(until)) })
}

struct BodyWithTimeout {
    body: Body,
    timeout: Duration,
    deadline: Instant,
    timer: Pin<Box<Sleep>>,
}

impl HttpBody for BodyWithTimeout {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        if let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(context) {
            let bytes = frame.as_ref().and_then(|frame| frame.as_ref().ok()?.data_ref().map(Bytes::len));
            let earned = Duration::from_secs_f64(bytes.unwrap_or_default() as f64 / f64::from(MIN_BYTES_PER_SECOND));
            // A fast start does not allow a long silence later.
            self.deadline = (self.deadline + earned).min((Instant::now() + self.timeout).max(self.deadline));
            return Poll::Ready(frame.map(|frame| frame.map_err(Into::into)));
        }
        let until = self.deadline;
        if self.timer.deadline() != until {
            self.timer.as_mut().reset(until);
        }
        ready!(self.timer.as_mut().poll(context));
        Poll::Ready(Some(Err("the request body took too long".into())))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the seconds after which the body of a client fails that sends 20 MB at once and then
    /// nothing.
    async fn rush_and_silence() -> u64 {
        let begun = Instant::now();
        let stream = async_stream::stream! {
            yield Ok::<_, BoxError>(Bytes::from(vec![b'x'; 20 << 20]));
            std::future::pending::<()>().await;
        };
        let body = with_timeout(Body::from_stream(stream), Duration::from_secs(30));
        assert!(axum::body::to_bytes(body, usize::MAX).await.is_err());
        begun.elapsed().as_secs()
    }

    #[tokio::test(start_paused = true)]
    async fn slow_bodies_time_out_and_steady_ones_do_not() {
        let check = async |piece: usize, pieces: usize, expected: Option<usize>| {
            let begun = Instant::now();
            let stream = async_stream::stream! {
                for _ in 0..pieces {
                    tokio::time::sleep(Duration::from_secs(1)).await;
                    yield Ok::<_, BoxError>(Bytes::from(vec![b'x'; piece]));
                }
            };
            let body = with_timeout(Body::from_stream(stream), Duration::from_secs(30));
            let read = axum::body::to_bytes(body, usize::MAX).await.ok().map(|bytes| bytes.len());
            assert_eq!(read, expected, "{pieces} pieces of {piece}");
            begun.elapsed().as_secs()
        };
        assert_eq!(check(1, 29, Some(29)).await, 29);
        assert_eq!(check(1, 1_000, None).await, 30);
        assert_eq!(check(16 * 1024, 300, Some(300 * 16 * 1024)).await, 300);
        assert_eq!(check(8 * 1024, 300, None).await, 59);
        assert_eq!(check(0, 0, Some(0)).await, 0);
        assert_eq!(rush_and_silence().await, 30);
    }
}
