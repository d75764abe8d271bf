//! Work of which some runs at the same time.

use futures::FutureExt;
use futures::stream::{FuturesUnordered, StreamExt};

/// The most results that are returned, and so written, together.
const MAX_TOGETHER: usize = 64;

/// Futures that run, each with a result or `None` if it was left out.
pub(super) struct Running<F> {
    futures: FuturesUnordered<F>,
    left_out: usize,
}

impl<T, F: Future<Output = Option<T>>> Running<F> {
    pub(super) fn new() -> Self {
        Self { futures: FuturesUnordered::new(), left_out: 0 }
    }

    /// Adds the next futures while less than `most` run.
    pub(super) fn fill(&mut self, most: usize, mut next: impl FnMut() -> Option<F>) {
        while self.futures.len() < most
            && let Some(future) = next()
        {
            self.futures.push(future);
        }
    }

    /// Waits until one has ended, and returns the results of those that have ended by then; `None` if none runs.
    pub(super) async fn ended(&mut self) -> Option<Vec<T>> {
        let mut ended = vec![self.futures.next().await?];
        while ended.len() < MAX_TOGETHER
            && let Some(Some(next)) = self.futures.next().now_or_never()
        {
            ended.push(next);
        }
        let count = ended.len();
        let results: Vec<_> = ended.into_iter().flatten().collect();
        self.left_out += count - results.len();
        Some(results)
    }

    /// Returns how many were left out.
    pub(super) fn left_out(&self) -> usize {
        self.left_out
    }
}
