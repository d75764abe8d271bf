//! What a sub-agent inherits from its calling agents: their policies and limits, and the semaphore
//! that bounds the sub-agents that run at the same time in the whole turn.

use crate::Policy;
use crate::limits::Meter;
use parking_lot::Mutex;
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

/// What a sub-agent inherits from its calling agents.
#[derive(Clone)]
pub(crate) struct Above {
    /// The meter of the calling agent, which counts this agent's usage, too.
    pub(crate) meter: Arc<Meter>,
    /// The policies of all calling agents, the root agent's first.
    pub(crate) policies: Vec<Arc<dyn Policy>>,
    /// The permit with which the agent runs.
    pub(crate) place: Place,
}

/// A permit for a sub-agent to run. All sub-agents of a turn, on all levels, share one semaphore.
/// An agent releases its permit while it waits for its own sub-agents; if it kept it, they could
/// wait for it forever.
#[derive(Clone)]
pub(crate) struct Place {
    places: Arc<Semaphore>,
    /// The permit. `None` for the root agent, which needs none, and while the agent waits for its
    /// sub-agents.
    taken: Arc<Mutex<Option<OwnedSemaphorePermit>>>,
}

impl Place {
    /// Creates the value of the root agent, with a semaphore of this size for all sub-agents.
    pub(crate) fn of_first(places: usize) -> Self {
        Self { places: Arc::new(Semaphore::new(places.max(1))), taken: Arc::default() }
    }

    /// Waits for a permit for a sub-agent. Returns `None` if the run is stopped before.
    pub(crate) async fn below(&self, cancel: &CancellationToken) -> Option<Self> {
        let place = Self { places: self.places.clone(), taken: Arc::default() };
        place.take(cancel).await.then_some(place)
    }

    /// Releases the permit while `work` runs, and acquires one again afterwards.
    pub(crate) async fn lend<T>(&self, cancel: &CancellationToken, work: impl Future<Output = T>) -> T {
        let lent = self.taken.lock().take();
        let is_lent = lent.is_some();
        drop(lent);
        let done = work.await;
        if is_lent {
            // A stopped run needs no permit to finish.
            self.take(cancel).await;
        }
        done
    }

    async fn take(&self, cancel: &CancellationToken) -> bool {
        let Some(Ok(permit)) = cancel.run_until_cancelled(self.places.clone().acquire_owned()).await else {
            return false;
        };
        *self.taken.lock() = Some(permit);
        true
    }
}
