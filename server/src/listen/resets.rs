//! Requests that a client takes back before they are answered (rapid reset, CVE-2023-44487). Each costs the server what an answer costs and
//! the client next to nothing, so a connection may do it only so often.

use axum::body::{Body, Bytes, HttpBody};
use hyper::body::{Frame, Incoming, SizeHint};
use parking_lot::Mutex;
use std::future::Future;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::Instant;

/// So many within [`SPAN`] end the connection; a browser that leaves a page takes back what it had open, a few dozen at most.
const MOST: u32 = 100;
/// The same from this machine, where it is a proxy: its one connection is many people's.
const MOST_OF_PROXY: u32 = 2_000;
/// See [`MOST`].
const SPAN: Duration = Duration::from_secs(10);

/// Of one connection.
pub(super) struct Resets {
    most: u32,
    /// How many since when.
    count: Mutex<(u32, Option<Instant>)>,
    too_many: Notify,
}

impl Resets {
    pub(super) fn of(peer: IpAddr) -> Self {
        let most = if peer.to_canonical().is_loopback() { MOST_OF_PROXY } else { MOST };
        Self { most, count: Mutex::default(), too_many: Notify::new() }
    }

    /// The answer, which counts when it is dropped before it is there.
    pub(super) fn follow<F: Future>(self: &Arc<Self>, answer: F) -> impl Future<Output = F::Output> + use<F> {
        let asked = Asked { resets: self.clone(), is_answered: false };
        async move {
            let mut asked = asked;
            let answer = answer.await;
            asked.is_answered = true;
            answer
        }
    }

    /// The body of a request, which counts when it breaks off: then its answer may be there, but nobody waits for it.
    pub(super) fn body(self: &Arc<Self>, body: Incoming) -> Body {
        Body::new(Brought { body, resets: self.clone() })
    }

    /// Resolves when the connection is to end.
    pub(super) async fn are_too_many(&self) {
        self.too_many.notified().await;
    }

    fn one_more(&self) {
        let mut count = self.count.lock();
        let now = Instant::now();
        if count.1.is_none_or(|since| now - since > SPAN) {
            *count = (0, Some(now));
        }
        count.0 += 1;
        if count.0 >= self.most {
            self.too_many.notify_one();
        }
    }
}

struct Asked {
    resets: Arc<Resets>,
    is_answered: bool,
}

impl Drop for Asked {
    fn drop(&mut self) {
        if !self.is_answered {
            self.resets.one_more();
        }
    }
}

struct Brought {
    body: Incoming,
    resets: Arc<Resets>,
}

impl HttpBody for Brought {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let frame = Pin::new(&mut self.body).poll_frame(context);
        if matches!(frame, Poll::Ready(Some(Err(_)))) {
            self.resets.one_more();
        }
        frame
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
    use futures::FutureExt;

    #[tokio::test(start_paused = true)]
    async fn a_hundred_in_ten_seconds_are_too_many() {
        let check = async |resets: u32, pause: Duration, answered: bool| {
            let counted = Arc::new(Resets::of([192, 0, 2, 1].into()));
            for _ in 0..resets {
                match answered {
                    true => counted.follow(std::future::ready(())).await,
                    false => drop(counted.follow(std::future::pending::<()>())),
                }
                tokio::time::sleep(pause).await;
            }
            counted.are_too_many().now_or_never().is_some()
        };
        let quick = Duration::from_millis(10);
        assert!(!check(99, quick, false).await);
        assert!(check(100, quick, false).await);
        assert!(!check(1_000, quick, true).await);
        assert!(!check(1_000, Duration::from_millis(200), false).await);
    }
}
