//! Limits the requests that a client cancels before they are answered (rapid reset,
//! CVE-2023-44487). Each of them costs the server as much as an answered one and the client almost
//! nothing.

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

/// This many resets within [`WINDOW`] end the connection. A browser that leaves a page cancels a few
/// dozen requests at most.
const MAX_RESETS: u32 = 100;
/// The same for a connection from this machine, which may be a proxy with the requests of many
/// clients.
const MAX_PROXY_RESETS: u32 = 2_000;
/// The window for counting resets.
const WINDOW: Duration = Duration::from_secs(10);

/// Counts the resets of a connection.
pub(super) struct ResetCounter {
    most: u32,
    /// The number of resets, and the start of the window.
    count: Mutex<(u32, Option<Instant>)>,
    too_many: Notify,
}

impl ResetCounter {
    pub(super) fn for_peer(peer: IpAddr) -> Self {
        let most = if peer.to_canonical().is_loopback() { MAX_PROXY_RESETS } else { MAX_RESETS };
        Self { most, count: Mutex::default(), too_many: Notify::new() }
    }

    /// Wraps the future of a response; it counts as a reset when it is dropped before it completes.
    pub(super) fn track<F: Future>(self: &Arc<Self>, answer: F) -> impl Future<Output = F::Output> + use<F> {
        let asked = TrackedRequest { resets: self.clone(), is_answered: false };
        async move {
            let mut asked = asked;
            let answer = answer.await;
            asked.is_answered = true;
            answer
        }
    }

    /// Wraps a request body; it counts as a reset when it fails. The response may be complete then,
    /// but the client no longer waits for it.
    pub(super) fn track_body(self: &Arc<Self>, body: Incoming) -> Body {
        Body::new(TrackedBody { body, resets: self.clone() })
    }

    /// Waits until there are too many resets and the connection must be closed.
    pub(super) async fn exceeded(&self) {
        self.too_many.notified().await;
    }

    fn record(&self) {
        let mut count = self.count.lock();
        let now = Instant::now();
        if count.1.is_none_or(|since| now - since > WINDOW) {
            *count = (0, Some(now));
        }
        count.0 += 1;
        if count.0 >= self.most {
            self.too_many.notify_one();
        }
    }
}

struct TrackedRequest {
    resets: Arc<ResetCounter>,
    is_answered: bool,
}

impl Drop for TrackedRequest {
    fn drop(&mut self) {
        if !self.is_answered {
            self.resets.record();
        }
    }
}

struct TrackedBody {
    body: Incoming,
    resets: Arc<ResetCounter>,
}

impl HttpBody for TrackedBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let frame = Pin::new(&mut self.body).poll_frame(context);
        if matches!(frame, Poll::Ready(Some(Err(_)))) {
            self.resets.record();
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
    async fn hundred_resets_in_ten_seconds_end_the_connection() {
        let check = async |resets: u32, pause: Duration, answered: bool| {
            let counted = Arc::new(ResetCounter::for_peer([192, 0, 2, 1].into()));
            for _ in 0..resets {
                if answered {
                    counted.track(std::future::ready(())).await
                } else {
                    drop(counted.track(std::future::pending::<()>()))
                }
                tokio::time::sleep(pause).await;
            }
            counted.exceeded().now_or_never().is_some()
        };
        let quick = Duration::from_millis(10);
        assert!(!check(99, quick, false).await);
        assert!(check(100, quick, false).await);
        assert!(!check(1_000, quick, true).await);
        assert!(!check(1_000, Duration::from_millis(200), false).await);
    }
}
