//! The pace of requests to a server that publishes keys, or the metadata with their address.

use std::time::Duration;
use tokio::time::Instant;

/// The minimum time between two requests: what strangers send, such as tokens with invented key ids, causes no more.
pub(super) const MIN_INTERVAL: Duration = Duration::from_secs(5);

/// Keeps the requests to one server apart.
#[derive(Default)]
pub(crate) struct RequestPace {
    /// When the last request ended, or began if it has not ended.
    last: Option<Instant>,
}

impl RequestPace {
    /// Returns whether the last request was long enough ago.
    pub(crate) fn allows_request(&self) -> bool {
        self.last.is_none_or(|at| at.elapsed() >= MIN_INTERVAL)
    }

    /// Waits for a request.
    pub(crate) async fn run<T>(&mut self, request: impl Future<Output = T>) -> T {
        // The caller may stop to wait before the request ends.
        self.last = Some(Instant::now());
        let answer = request.await;
        // A request without an answer takes longer than the interval: if that began with the request, each of those who have
        // waited for it would send one of their own, one after the other.
        self.last = Some(Instant::now());
        answer
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::time::{advance, sleep, timeout};

    #[tokio::test(start_paused = true)]
    async fn interval_begins_when_the_request_ends() {
        let mut pace = RequestPace::default();
        assert!(pace.allows_request());
        pace.run(sleep(MIN_INTERVAL * 2)).await;
        assert!(!pace.allows_request());
        advance(MIN_INTERVAL).await;
        assert!(pace.allows_request());
        let stopped = timeout(Duration::from_secs(1), pace.run(std::future::pending::<()>())).await;
        assert!(stopped.is_err() && !pace.allows_request(), "a request that was given up counts as well");
    }
}
