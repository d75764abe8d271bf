//! The jobs that run in this process.

use crate::StopReason;
use crate::context::Attempt;
use crate::kind::{Lane, Policy};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use tokio::sync::Notify;
use tokio::task::AbortHandle;

/// The jobs that run in this process, by id. A job is here until its end is stored.
#[derive(Default)]
pub(super) struct RunningJobs {
    by_id: Mutex<HashMap<String, Running>>,
    /// A place became free.
    freed: Notify,
}

struct Running {
    attempt: Arc<Attempt>,
    lane: Lane,
    task: Option<AbortHandle>,
}

/// The places that are taken, by kind and by lane.
#[derive(Default)]
pub(super) struct Places {
    kinds: HashMap<String, usize>,
    lanes: HashMap<Lane, usize>,
}

impl Places {
    /// Returns how many more jobs of the kind may run.
    pub(super) fn free(&self, policy: &Policy) -> usize {
        let taken = self.kinds.get(policy.name).copied().unwrap_or_default();
        let in_lane = self.lanes.get(&policy.lane).copied().unwrap_or_default();
        policy.concurrency.max(1).saturating_sub(taken).min(policy.lane.places().saturating_sub(in_lane))
    }

    /// Takes a place.
    pub(super) fn take(&mut self, kind: &str, lane: Lane) {
        *self.kinds.entry(kind.to_owned()).or_default() += 1;
        *self.lanes.entry(lane).or_default() += 1;
    }
}

impl RunningJobs {
    pub(super) fn insert(&self, attempt: Arc<Attempt>, lane: Lane) {
        self.by_id.lock().insert(attempt.id.clone(), Running { attempt, lane, task: None });
    }

    /// Keeps the task of a job, if it has not ended already.
    pub(super) fn set_task(&self, attempt: &Attempt, task: AbortHandle) {
        if let Some(running) = self.by_id.lock().get_mut(&attempt.id).filter(|it| it.attempt.fence == attempt.fence) {
            running.task = Some(task);
        }
    }

    /// Removes an attempt, whose place is free now.
    pub(super) fn remove(&self, attempt: &Attempt) {
        let mut by_id = self.by_id.lock();
        if by_id.get(&attempt.id).is_some_and(|it| it.attempt.fence == attempt.fence) {
            by_id.remove(&attempt.id);
        }
        drop(by_id);
        self.freed.notify_one();
    }

    pub(super) fn get(&self, id: &str) -> Option<Arc<Attempt>> {
        self.by_id.lock().get(id).map(|running| running.attempt.clone())
    }

    pub(super) fn all(&self) -> Vec<Arc<Attempt>> {
        self.by_id.lock().values().map(|running| running.attempt.clone()).collect()
    }

    pub(super) fn len(&self) -> usize {
        self.by_id.lock().len()
    }

    pub(super) fn places(&self) -> Places {
        let mut places = Places::default();
        self.by_id.lock().values().for_each(|running| places.take(&running.attempt.kind, running.lane));
        places
    }

    /// Waits until a place becomes free.
    pub(super) async fn freed(&self) {
        self.freed.notified().await;
    }

    pub(super) fn stop_all(&self, reason: StopReason) {
        self.all().iter().for_each(|attempt| attempt.stop(reason));
    }

    pub(super) fn abort_all(&self) {
        self.by_id.lock().values().filter_map(|running| running.task.as_ref()).for_each(AbortHandle::abort);
    }
}
