//! How long the body of a request may take (A35). A bound between two pieces would let a client send a letter a second for days, and one for
//! the whole would cut off a large file on a slow line. So there is a time for the whole, which grows with what has come.

use axum::BoxError;
use axum::body::{Body, Bytes, HttpBody};
use hyper::body::{Frame, SizeHint};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::time::{Instant, Sleep, sleep_until};

/// Who sends so many bytes a second never runs out of time.
const PACE: u32 = 16 * 1024;

/// The body, which ends with an error when it takes longer than `patience` and a second for each 16 KiB.
pub(crate) fn in_time(body: Body, patience: Duration) -> Body {
    if body.is_end_stream() {
        return body;
    }
    let until = Instant::now() + patience;
    Body::new(InTime { body, patience, until, timer: Box::pin(sleep_until(until)) })
}

struct InTime {
    body: Body,
    patience: Duration,
    until: Instant,
    timer: Pin<Box<Sleep>>,
}

impl HttpBody for InTime {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        if let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(context) {
            let bytes = frame.as_ref().and_then(|frame| frame.as_ref().ok()?.data_ref().map(Bytes::len));
            let earned = Duration::from_secs_f64(bytes.unwrap_or_default() as f64 / f64::from(PACE));
            // Time that was earned in a rush is not spent in one long silence.
            self.until = (self.until + earned).min((Instant::now() + self.patience).max(self.until));
            return Poll::Ready(frame.map(|frame| frame.map_err(Into::into)));
        }
        let until = self.until;
        if self.timer.deadline() != until {
            self.timer.as_mut().reset(until);
        }
        ready!(self.timer.as_mut().poll(context));
        Poll::Ready(Some(Err("the body took too long".into())))
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

    /// How long a client is waited for that sends 20 MB at once and then nothing.
    async fn rush_and_silence() -> u64 {
        let begun = Instant::now();
        let stream = async_stream::stream! {
            yield Ok::<_, BoxError>(Bytes::from(vec![b'x'; 20 << 20]));
            std::future::pending::<()>().await;
        };
        let body = in_time(Body::from_stream(stream), Duration::from_secs(30));
        assert!(axum::body::to_bytes(body, usize::MAX).await.is_err());
        begun.elapsed().as_secs()
    }

    #[tokio::test(start_paused = true)]
    async fn a_letter_a_second_is_too_slow_and_a_slow_line_is_not() {
        let check = async |piece: usize, pieces: usize, expected: Option<usize>| {
            let begun = Instant::now();
            let stream = async_stream::stream! {
                for _ in 0..pieces {
                    tokio::time::sleep(Duration::from_secs(1)).await;
                    yield Ok::<_, BoxError>(Bytes::from(vec![b'x'; piece]));
                }
            };
            let body = in_time(Body::from_stream(stream), Duration::from_secs(30));
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
