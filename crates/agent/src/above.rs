//! What an agent has from those above it: their policies hold for it, their limits count for it, and all agents of a turn share the
//! places for those that work at the same time.

use crate::Policy;
use crate::limits::Meter;
use parking_lot::Mutex;
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

/// What an agent has from those above it.
#[derive(Clone)]
pub(crate) struct Above {
    /// Counts for the limits of the agent above.
    pub(crate) meter: Arc<Meter>,
    /// The policies of all agents above, the highest first.
    pub(crate) policies: Vec<Arc<dyn Policy>>,
    /// The place that the agent works in.
    pub(crate) place: Place,
}

/// A place to work in. There are only so many for all agents below the first one, over all levels. An agent leaves its own while it waits
/// for agents below it: if it kept it, those could wait for it for ever.
#[derive(Clone)]
pub(crate) struct Place {
    places: Arc<Semaphore>,
    /// The place itself; none for the first agent, which needs none, and for one that waits.
    taken: Arc<Mutex<Option<OwnedSemaphorePermit>>>,
}

impl Place {
    /// The first agent's, with so many places for those below it.
    pub(crate) fn of_first(places: usize) -> Self {
        Self { places: Arc::new(Semaphore::new(places.max(1))), taken: Arc::default() }
    }

    /// A place for an agent below; none if the run is stopped before one is free.
    pub(crate) async fn below(&self, cancel: &CancellationToken) -> Option<Self> {
        let place = Self { places: self.places.clone(), taken: Arc::default() };
        place.take(cancel).await.then_some(place)
    }

    /// Gives the place to others for as long as `work` runs, and takes one again then.
    pub(crate) async fn lend<T>(&self, cancel: &CancellationToken, work: impl Future<Output = T>) -> T {
        let lent = self.taken.lock().take();
        let is_lent = lent.is_some();
        drop(lent);
        let done = work.await;
        if is_lent {
            // A run that is stopped needs no place to come to its end.
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
