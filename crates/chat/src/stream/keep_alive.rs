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
