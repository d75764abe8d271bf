//! Signs of life on a stream on which nothing is said, so that no proxy takes the connection for dead, nor the browser.

use crate::Frames;
use bytes::Bytes;
use futures::StreamExt;
use std::hash::{BuildHasher, RandomState};
use std::pin::pin;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// A comment, which every client leaves out.
const SIGN: &[u8] = b": keep-alive\n\n";

/// The frames, and after each silence of this length, a fifth more or less, a sign of life. Thousands may have heard the same thing last:
/// signs that came by the clock alone would all be due at one moment, again and again.
pub fn kept_alive(mut frames: Frames, silence: Duration) -> Frames {
    async_stream::stream! {
        let mut patience = about(silence);
        let (mut last, mut timer) = (Instant::now(), pin!(sleep(patience)));
        loop {
            // One timer that finds out what was said meanwhile: moving it with each frame would cost more than the frame.
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

/// Between four and six fifths of it.
fn about(silence: Duration) -> Duration {
    // The hasher's key is what is random.
    let share = RandomState::new().hash_one(0) % 1_000;
    silence.mul_f64(0.8 + share as f64 * 0.4 / 999.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SILENCE: Duration = Duration::from_secs(15);

    /// When signs of life came, in seconds, in a silence of so many.
    async fn signs(seconds: u64) -> Vec<f64> {
        let frames = async_stream::stream! {
            yield Bytes::from_static(b"data: 1\n\n");
            sleep(Duration::from_secs(seconds)).await;
            yield Bytes::from_static(b"data: [DONE]\n\n");
        };
        let (begun, mut told, mut signs) = (Instant::now(), Vec::new(), Vec::new());
        let mut frames = kept_alive(frames.boxed(), SILENCE);
        while let Some(frame) = frames.next().await {
            match frame.as_ref() == SIGN {
                true => signs.push(begun.elapsed().as_secs_f64()),
                false => told.push(frame),
            }
        }
        assert_eq!(told, [&b"data: 1\n\n"[..], b"data: [DONE]\n\n"]);
        signs
    }

    #[tokio::test(start_paused = true)]
    async fn a_silent_stream_is_kept_alive() {
        assert_eq!(signs(11).await, [0.0; 0]);
        assert_eq!(signs(19).await.len(), 1);
        let signs = signs(200).await;
        assert!((11..=16).contains(&signs.len()), "{signs:?}");
        for pair in signs.windows(2) {
            assert!((11.9..=18.1).contains(&(pair[1] - pair[0])), "{signs:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn those_who_heard_the_same_are_not_all_due_at_once() {
        let all = futures::future::join_all((0..200).map(|_| signs(19))).await;
        let first: Vec<_> = all.iter().map(|signs| signs[0]).collect();
        let within = |from: f64| first.iter().filter(|at| (from..from + 1.0).contains(*at)).count();
        let most = (12..18).map(|second| within(f64::from(second))).max().unwrap_or_default();
        assert!(most < 100, "{first:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_said_is_a_sign_itself() {
        let frames = async_stream::stream! {
            for _ in 0..100 {
                sleep(Duration::from_secs(10)).await;
                yield Bytes::from_static(b"data: 1\n\n");
            }
        };
        assert_eq!(kept_alive(frames.boxed(), SILENCE).count().await, 100);
    }
}
