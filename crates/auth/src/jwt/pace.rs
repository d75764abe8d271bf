//! Limits how often a server that publishes keys, or metadata with the address of keys, is asked.

use std::time::Duration;
use tokio::time::Instant;

/// The minimum time between two requests, so that strangers cannot cause many, for example by tokens with invented key ids.
pub(super) const MIN_INTERVAL: Duration = Duration::from_secs(5);

/// Spaces the requests to one server.
#[derive(Default)]
pub(crate) struct RequestPace {
    /// When the last request ended; while one is running, when it began.
    last: Option<Instant>,
}

impl RequestPace {
    /// Returns whether the last request was long enough ago.
    pub(crate) fn allows_request(&self) -> bool {
        self.last.is_none_or(|at| at.elapsed() >= MIN_INTERVAL)
    }

    /// Waits for a request.
    pub(crate) async fn run<T>(&mut self, request: impl Future<Output = T>) -> T {
        // The caller may stop waiting before the request ends.
        self.last = Some(Instant::now());
        let answer = request.await;
        // A request that is not answered takes longer than the interval. If the interval began with the request, each waiting
        // caller would then send its own request, one after the other.
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
