//! Leases. A worker that lives increases the `beat` of its jobs every few seconds. A worker that sees
//! the same beat for [`LEASE`], by its own monotonic clock, takes the job over: neither clocks that
//! are set nor clocks that differ matter.
//!
//! With SQLite one process serves the database, so jobs that run when it starts, and that it does not
//! run itself, are left from a process that died.

use super::Shared;
use super::attempt::{random, retry_or_fail};
use crate::context::{Fence, StopReason};
use crate::kind::Policy;
use crate::outcome::End;
use crate::table::{self, HeldJob};
use faults::Point;
use std::collections::HashMap;
use std::time::{Duration, Instant};
use store::StoreError;
use tokio::time::MissedTickBehavior;

/// How long a job stays with a worker that gives no sign of life. It gives one three times as often.
pub(super) const LEASE: Duration = Duration::from_secs(15);

/// How often to look for requests to stop by other servers.
const STOP_POLL: Duration = Duration::from_secs(1);

/// Why an attempt failed whose worker is gone.
const GONE: &str = "the server that ran it stopped without ending it";

/// The properties of a kind that this program does not know.
const UNKNOWN: Policy = Policy::new("unknown");

/// The beats of jobs that run elsewhere, and since when they are the same.
type Observed = HashMap<(String, i64), (i64, Instant)>;

/// Renews the leases of this worker's jobs, and takes over those of dead ones.
pub(super) async fn run(shared: &Shared) {
    let (mut renewal, mut poll) = (interval(shared.lease / 3), interval(STOP_POLL));
    let (mut renewed, mut observed) = (Instant::now(), Observed::new());
    loop {
        let done = tokio::select! {
            _ = renewal.tick() => {
                let renewed = renew(shared, &mut renewed).await;
                let taken = take_over(shared, &mut observed).await;
                renewed.and(taken)
            }
            _ = poll.tick(), if shared.running.len() > 0 && shared.jobs.store().has_others() => stop(shared).await,
            () = shared.jobs.stops().notified() => stop(shared).await,
        };
        if let Some(error) = done.err().filter(|error| !error.is_reported()) {
            tracing::warn!(%error, "the leases of jobs could not be renewed or checked");
        }
    }
}

fn interval(period: Duration) -> tokio::time::Interval {
    let mut interval = tokio::time::interval(period);
    interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
    interval
}

/// Gives a sign of life for the running jobs, and stops those that are lost or cancelled.
async fn renew(shared: &Shared, renewed: &mut Instant) -> Result<(), StoreError> {
    let attempts = shared.running.all();
    if attempts.is_empty() {
        *renewed = Instant::now();
        return Ok(());
    }
    let ids = attempts.iter().map(|attempt| attempt.id.clone()).collect();
    let (worker, begun) = (shared.id.clone(), Instant::now());
    let held = shared.jobs.store().write(move |db| Box::pin(async move { table::renew(db, &worker, ids).await })).await;
    let held = match held {
        Ok(held) => held,
        Err(error) => {
            // Others count from the last sign of life that they saw.
            if renewed.elapsed() >= shared.lease {
                attempts.iter().for_each(|attempt| attempt.stop(StopReason::Lost));
            }
            return Err(error);
        }
    };
    *renewed = begun;
    for attempt in attempts {
        match held.iter().find(|held| held.id == attempt.id && held.fence == attempt.fence) {
            Some(held) if held.cancel_requested => attempt.stop(StopReason::Cancelled),
            Some(_) => {}
            // Not if it has ended meanwhile.
            None if shared.running.get(&attempt.id).is_some_and(|it| it.fence == attempt.fence) => {
                attempt.stop(StopReason::Lost);
            }
            None => {}
        }
    }
    Ok(())
}

/// Stops the jobs whose stop was requested.
async fn stop(shared: &Shared) -> Result<(), StoreError> {
    if shared.running.len() == 0 {
        return Ok(());
    }
    let worker = shared.id.clone();
    let wanted = shared.jobs.store().read(move |db| Box::pin(async move { table::stop_requested(db, &worker).await }));
    for id in wanted.await? {
        if let Some(attempt) = shared.running.get(&id) {
            attempt.stop(StopReason::Cancelled);
        }
    }
    Ok(())
}

/// Ends the attempts of dead workers.
async fn take_over(shared: &Shared, observed: &mut Observed) -> Result<(), StoreError> {
    let held = shared.jobs.store().read(|db| Box::pin(table::running(db))).await?;
    let elsewhere: Vec<_> = held.into_iter().filter(|job| !is_here(shared, job)).collect();
    observed.retain(|key, _| elsewhere.iter().any(|job| (&job.id, job.fence) == (&key.0, key.1)));
    for job in elsewhere {
        let (beat, since) = observed.entry((job.id.clone(), job.fence)).or_insert((job.beat, Instant::now()));
        if *beat != job.beat {
            (*beat, *since) = (job.beat, Instant::now());
        }
        if since.elapsed() >= lease(shared, &job) {
            end_for(shared, &job).await?;
        }
    }
    Ok(())
}

/// Ends attempts of this worker that have no task: a panic outside of their handlers has ended it.
pub(super) async fn end_lost_attempts(shared: &Shared) -> Result<(), StoreError> {
    let held = shared.jobs.store().read(|db| Box::pin(table::running(db))).await?;
    for job in held.iter().filter(|job| job.holder.as_ref() == Some(&shared.id) && !is_here(shared, job)) {
        end_for(shared, job).await?;
    }
    Ok(())
}

/// A job whose end this worker could not store is not here, so it is taken over like others.
fn is_here(shared: &Shared, job: &HeldJob) -> bool {
    shared.running.get(&job.id).is_some_and(|attempt| attempt.fence == job.fence)
}

/// Returns for how long its worker may give no sign of life. A job of this one is not here, either,
/// just after it was claimed.
fn lease(shared: &Shared, job: &HeldJob) -> Duration {
    let may_live = shared.jobs.store().is_shared() || job.holder.as_ref() == Some(&shared.id);
    if may_live { shared.lease } else { Duration::ZERO }
}

/// Ends the attempt of a dead worker as a failed one, unless it has given a sign of life.
async fn end_for(shared: &Shared, job: &HeldJob) -> Result<(), StoreError> {
    let policy = shared.policy(&job.kind);
    let pause = policy.unwrap_or(UNKNOWN).backoff.pause(job.attempts, random());
    let end = match policy {
        Some(policy) => retry_or_fail(job.attempts, &policy, pause, GONE.to_owned()),
        // Whoever knows the kind decides when it has failed.
        None => End::Retry(pause, GONE.to_owned()),
    };
    faults::point(Point::JobTakenOver);
    let (fence, beat) = (Fence { job_id: job.id.clone(), number: job.fence }, job.beat);
    let write =
        shared.jobs.store().write(move |db| Box::pin(async move { table::end(db, &fence, Some(beat), &end).await }));
    if write.await? {
        tracing::warn!(job = job.id, kind = job.kind, attempt = job.attempts, "took over a job of a dead server");
        shared.jobs.due().notify_one();
    }
    Ok(())
}
