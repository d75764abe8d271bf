//! Drives runs. A run advances by a job of the queue: it reads the records, plans, executes the steps
//! that are ready, and stores each of them before it plans again. When nothing is left to do it ends
//! the job, so a run that waits has no task and no memory.

mod calls;
mod delays;
mod drive;
mod emitted;
mod end;
mod events;
mod expiry;
mod host;
mod limits;
mod outcome;
mod prepare;
mod records;
mod reminders;
mod start;
mod suspended;

#[cfg(test)]
pub(crate) use drive::end_of_wait;
pub(crate) use events::{look_for_events, match_handler, match_soon};
pub(crate) use host::{Call, ContextHost, StepHost};
pub(crate) use limits::Remaining;
pub(crate) use outcome::{CallError, CallOutcome};
pub(crate) use reminders::remind;
pub(crate) use suspended::going_on;

use ::store::StoreError;
use ::store::sql::Db;
use jobs::{Backoff, Due, Handler, Jobs, Kind, Lane};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::Duration;

/// The longest time that one job drives a run before it lets others run.
const DRIVE_TIME: Duration = Duration::from_secs(20 * 60);

/// The job that advances a run. Its key is the run's id, so a run is driven by one job at a time,
/// and waking a run that is driven makes it look again.
pub(crate) const ADVANCE: Kind<Advance> = Kind::new("workflows.advance")
    .lane(Lane::Interactive)
    .concurrency(32)
    .attempts(20)
    .backoff(Backoff { base: Duration::from_millis(200), cap: Duration::from_secs(60) })
    .timeout(Duration::from_secs(60 * 60));

/// The payload.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Advance {
    pub(crate) run_id: String,
}

/// Enqueues the job that advances a run, in a transaction.
pub(crate) async fn wake(jobs: &Jobs, db: &mut Db, run_id: &str, owner: &str, due: Due) -> Result<(), StoreError> {
    let job = ADVANCE.job(&Advance { run_id: run_id.to_owned() }).key(run_id).owner(owner).due(due);
    jobs.enqueue_in(db, job).await?;
    Ok(())
}

/// Returns the handler of the job.
pub(crate) fn handler(host: Arc<dyn StepHost>) -> Handler {
    Handler::new(ADVANCE, move |job, Advance { run_id }| drive::drive(host.clone(), job, run_id))
}

#[cfg(test)]
mod tests;
