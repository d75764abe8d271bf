//! Keep-alive comments on an idle stream, so that neither a proxy nor the browser closes the
//! connection.

use crate::Frames;
use bytes::Bytes;
use futures::StreamExt;
use std::hash::{BuildHasher, RandomState};
use std::pin::pin;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// An SSE comment, which clients ignore.
const SIGN: &[u8] = b": keep-alive\n\n";

/// Adds a keep-alive comment to the frames after each idle period of about this length (±20 %). The
/// jitter spreads the load: thousands of streams may have received their last frame at the same
/// moment.
pub fn with_keep_alive(mut frames: Frames, silence: Duration) -> Frames {
    async_stream::stream! {
        let mut patience = about(silence);
        let (mut last, mut timer) = (Instant::now(), pin!(sleep(patience)));
        loop {
            // One timer that checks when the last frame was sent: resetting a timer for each frame
            // would cost more than the frame itself.
            tokio::select! {
                biased;
                frame = frames.next() => match frame {
                    Some(frame) => {
                        last = Instant::now();
                        yield frame;
                    }
                    None => break,
                },
                () = &mut timer => {
                    if last.elapsed() >= patience {
                        (last, patience) = (Instant::now(), about(silence));
                        yield Bytes::from_static(SIGN);
                    }
                    timer.as_mut().reset(last + patience);
                }
            }
        }
    }
    .boxed()
}

/// Returns 80 to 120 % of a duration, at random.
fn about(silence: Duration) -> Duration {
    // The hasher's key is random.
    let share = RandomState::new().hash_one(0) % 1_000;
    silence.mul_f64(0.8 + share as f64 * 0.4 / 999.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SILENCE: Duration = Duration::from_secs(15);

    /// Returns the times, in seconds, of the keep-alive comments within an idle period of the given
    /// length.
    async fn signs(seconds: u64) -> Vec<f64> {
        let frames = async_stream::stream! {
            yield Bytes::from_static(b"data: 1\n\n");
            sleep(Duration::from_secs(seconds)).await;
            yield Bytes::from_static(b"data: [DONE]\n\n");
        };
        let (begun, mut told, mut signs) = (Instant::now(), Vec::new(), Vec::new());
        let mut frames = with_keep_alive(frames.boxed(), SILENCE);
        while let Some(frame) = frames.next().await {
            if frame.as_ref() == SIGN { signs.push(begun.elapsed().as_secs_f64()) } else { told.push(frame) }
        }
        assert_eq!(told, [&b"data: 1\n\n"[..], b"data: [DONE]\n\n"]);
        signs
    }

    #[tokio::test(start_paused = true)]
    async fn idle_stream_is_kept_alive() {
        assert_eq!(signs(11).await, [0.0; 0]);
        assert_eq!(signs(19).await.len(), 1);
        let signs = signs(200).await;
        assert!((11..=16).contains(&signs.len()), "{signs:?}");
        for pair in signs.windows(2) {
            assert!((11.9..=18.1).contains(&(pair[1] - pair[0])), "{signs:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn keep_alives_of_many_streams_are_spread() {
        let all = futures::future::join_all((0..200).map(|_| signs(19))).await;
        let first: Vec<_> = all.iter().map(|signs| signs[0]).collect();
        let within = |from: f64| first.iter().filter(|at| (from..from + 1.0).contains(*at)).count();
        let most = (12..18).map(|second| within(f64::from(second))).max().unwrap_or_default();
        assert!(most < 100, "{first:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn frames_delay_the_next_keep_alive() {
        let frames = async_stream::stream! {
            for _ in 0..100 {
                sleep(Duration::from_secs(10)).await;
                yield Bytes::from_static(b"data: 1\n\n");
            }
        };
        assert_eq!(with_keep_alive(frames.boxed(), SILENCE).count().await, 100);
    }
}
