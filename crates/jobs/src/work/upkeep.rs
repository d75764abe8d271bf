//! Upkeep of the queue: recurring jobs, delays after the clock was set back, figures, and old jobs.

use super::{Shared, metrics};
use crate::context::JobContext;
use crate::handler::Handler;
use crate::new_job::{Due, OnPending};
use crate::table;
use crate::{Kind, NewJob};
use std::time::Duration;
use store::StoreError;
use tokio::time::MissedTickBehavior;

/// How often the figures are taken, and the clock is checked.
const INTERVAL: Duration = Duration::from_secs(5);

/// The key of the only job of a recurring kind.
const RECURRING: &str = "recurring";

/// Keeps the queue in order.
pub(super) async fn run(shared: &Shared) {
    let mut tick = tokio::time::interval(INTERVAL);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut known = Vec::new();
    loop {
        tick.tick().await;
        for done in [ensure_recurring(shared, &mut known).await, correct_delays(shared).await, measure(shared).await] {
            if let Some(error) = done.err().filter(|error| !error.is_reported()) {
                tracing::warn!(%error, "the upkeep of the job queue failed");
            }
        }
    }
}

/// Enqueues the recurring jobs that are not there yet. `known` has the kinds that were looked at.
async fn ensure_recurring(shared: &Shared, known: &mut Vec<&'static str>) -> Result<(), StoreError> {
    let handlers: Vec<Handler> = shared.handlers.lock().values().cloned().collect();
    for handler in handlers {
        let Some(every) = handler.every.filter(|_| !known.contains(&handler.policy.name)) else { continue };
        let name = handler.policy.name;
        let cancelled = shared.jobs.store().read(move |db| Box::pin(table::is_cancelled(db, name, RECURRING)));
        if cancelled.await? {
            // It stays so until an operator retries it.
            known.push(name);
            continue;
        }
        let kind = Kind::<()>::new(name);
        let job = kind.job(&()).key(RECURRING).due(Due::After(every)).on_pending(OnPending::Keep);
        shared.jobs.enqueue(NewJob { every: Some(every), ..job }).await?;
        known.push(name);
    }
    Ok(())
}

async fn correct_delays(shared: &Shared) -> Result<(), StoreError> {
    if !shared.jobs.store().read(|db| Box::pin(table::was_set_back(db))).await? {
        return Ok(());
    }
    let corrected = shared.jobs.store().write(|db| Box::pin(table::correct_delays(db))).await?;
    if corrected > 0 {
        tracing::warn!(jobs = corrected, "the clock was set back; delays of jobs begin now");
        shared.jobs.due().notify_one();
    }
    Ok(())
}

async fn measure(shared: &Shared) -> Result<(), StoreError> {
    metrics::record_queue(&shared.jobs.status().await?, &shared.jobs.kinds());
    Ok(())
}

/// Deletes jobs that ended long ago.
pub(super) async fn prune(job: &JobContext) -> Result<(), StoreError> {
    while !job.stop().is_cancelled() && job.store().write(|db| Box::pin(table::prune(db))).await? {}
    Ok(())
}
