//! The properties that a sub-agent inherits from its calling agents: their policies and limits, and the semaphore
//! that bounds the sub-agents that run at the same time in the whole turn.

use crate::Policy;
use crate::limits::UsageMeter;
use contract::CallTime;
use parking_lot::Mutex;
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

/// The properties that a sub-agent inherits from its calling agents.
#[derive(Clone)]
pub(crate) struct ParentContext {
    /// The meter of the calling agent, which counts this agent's usage, too.
    pub(crate) meter: Arc<UsageMeter>,
    /// The policies of all calling agents, the root agent's first.
    pub(crate) policies: Vec<Arc<dyn Policy>>,
    /// The permit with which the agent runs.
    pub(crate) permit: AgentPermit,
    /// The time of the task.
    pub(crate) time: CallTime,
}

/// A permit for a sub-agent to run. All sub-agents of a turn, on all levels, share one semaphore.
/// An agent releases its permit while it waits for its own sub-agents; if it kept it, they could
/// wait for it forever.
#[derive(Clone)]
pub(crate) struct AgentPermit {
    semaphore: Arc<Semaphore>,
    /// The permit. `None` for the root agent, which needs none, and while the agent waits for its
    /// sub-agents.
    held: Arc<Mutex<Option<OwnedSemaphorePermit>>>,
}

impl AgentPermit {
    /// Creates the value of the root agent, with a semaphore of this size for all sub-agents.
    pub(crate) fn root(places: usize) -> Self {
        Self { semaphore: Arc::new(Semaphore::new(places.max(1))), held: Arc::default() }
    }

    /// Waits for a permit for a sub-agent. Returns `None` if the run is stopped before.
    pub(crate) async fn acquire_child(&self, cancel: &CancellationToken) -> Option<Self> {
        let place = Self { semaphore: self.semaphore.clone(), held: Arc::default() };
        place.acquire(cancel).await.then_some(place)
    }

    /// Releases the permit while `work` runs, and acquires one again afterwards.
    pub(crate) async fn release_during<T>(&self, cancel: &CancellationToken, work: impl Future<Output = T>) -> T {
        let lent = self.held.lock().take();
        let is_lent = lent.is_some();
        drop(lent);
        let done = work.await;
        if is_lent {
            // A stopped run needs no permit to finish.
            self.acquire(cancel).await;
        }
        done
    }

    async fn acquire(&self, cancel: &CancellationToken) -> bool {
        let Some(Ok(permit)) = cancel.run_until_cancelled(self.semaphore.clone().acquire_owned()).await else {
            return false;
        };
        *self.held.lock() = Some(permit);
        true
    }
}
