//! Claims due jobs and starts them.

use super::{Shared, attempt};
use crate::context::Attempt;
use crate::kind::Lane;
use crate::new_job::{Enqueued, NewJob};
use crate::table::{self, Claimed, Wanted};
use faults::Point;
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::Duration;
use store::{Listener, ReplicaEvent, StoreError};
use tokio_util::sync::CancellationToken;

/// How often to look for due jobs that other servers have enqueued, because a notification may be
/// missed.
const SHARED_POLL: Duration = Duration::from_secs(1);

/// The longest sleep: meanwhile the clock may have been set forward.
const POLL: Duration = Duration::from_secs(5);

/// The pause after the database failed.
const FAILURE_PAUSE: Duration = Duration::from_secs(1);

/// Claims jobs until the workers drain.
pub(super) async fn run(shared: &Arc<Shared>) {
    let mut listener = shared.jobs.store().listen();
    let mut has_failed = false;
    // A task that has enqueued a job wakes this one, so that there is one for sure.
    let mut is_woken = false;
    while !shared.draining.is_cancelled() {
        let pause = match look(shared, is_woken).await {
            Ok(pause) => {
                has_failed = false;
                pause
            }
            Err(error) => {
                if !has_failed && !error.is_reported() {
                    tracing::error!(%error, "jobs could not be claimed");
                }
                has_failed = true;
                FAILURE_PAUSE
            }
        };
        is_woken = tokio::select! {
            () = shared.draining.cancelled() => return,
            () = shared.jobs.due().notified() => true,
            () = shared.running.freed() => false,
            () = shared.added.notified() => false,
            () = changed(&mut listener) => true,
            () = tokio::time::sleep(pause) => false,
        };
        if has_failed {
            tokio::time::sleep(FAILURE_PAUSE).await;
        }
    }
}

/// Waits until another server has enqueued a job.
async fn changed(listener: &mut Option<Listener>) {
    let Some(listener) = listener else { return std::future::pending().await };
    while !matches!(listener.next().await, ReplicaEvent::Jobs | ReplicaEvent::Missed) {}
}

/// Starts what is due, and returns after which time to look again.
async fn look(shared: &Arc<Shared>, is_woken: bool) -> Result<Duration, StoreError> {
    let poll = if shared.jobs.store().has_others() { SHARED_POLL } else { POLL };
    let mut is_woken = is_woken;
    loop {
        let wanted = wanted(shared);
        if wanted.is_empty() {
            return Ok(poll);
        }
        if !is_woken {
            let kinds = wanted.iter().map(|wanted| wanted.kind).collect();
            // Most of the time nothing is due, and a read costs less than a transaction of the writer.
            let next = shared.jobs.store().read(move |db| Box::pin(table::next_due(db, kinds))).await?;
            match next {
                Some(next) if next.is_zero() => {}
                next => return Ok(next.map_or(poll, |next| next.min(poll))),
            }
        }
        let has_claimed = claim(shared, wanted).await?;
        if !has_claimed && !is_woken {
            return Ok(poll);
        }
        is_woken = false;
    }
}

/// Returns the kinds that have free places.
fn wanted(shared: &Shared) -> Vec<Wanted> {
    let places = shared.running.places();
    let handlers = shared.handlers.lock();
    let wanted =
        handlers.values().map(|handler| Wanted { kind: handler.policy.name, most: places.free(&handler.policy) });
    wanted.filter(|wanted| wanted.most > 0).collect()
}

/// Claims jobs and starts them. Returns false if none was due, or the workers drain.
async fn claim(shared: &Arc<Shared>, wanted: Vec<Wanted>) -> Result<bool, StoreError> {
    let owner = shared.clone();
    let claim = shared.jobs.store().write(move |db| {
        Box::pin(async move {
            let mut places = owner.running.places();
            let may_take = |kind: &str| {
                let policy = owner.policy(kind).filter(|policy| places.free(policy) > 0);
                if let Some(policy) = policy {
                    places.take(kind, policy.lane);
                }
                policy.is_some()
            };
            let mut turns = owner.turns.lock().clone();
            let claimed = table::claim(db, &owner.id, &wanted, &mut turns, may_take).await?;
            *owner.turns.lock() = turns;
            Ok(claimed)
        })
    });
    let claimed = claim.await?;
    let has_claimed = !claimed.is_empty();
    if has_claimed {
        faults::point(Point::JobClaimed);
    }
    claimed.into_iter().for_each(|job| start(shared, job));
    Ok(has_claimed)
}

/// Enqueues a job and starts it here, if a place is free.
pub(super) async fn run_here(shared: &Arc<Shared>, job: NewJob) -> Result<Enqueued, StoreError> {
    let policy = shared.policy(job.policy.name).filter(|policy| shared.running.places().free(policy) > 0);
    if policy.is_none() || shared.draining.is_cancelled() {
        return shared.jobs.enqueue(job).await;
    }
    let owner = shared.clone();
    let write = shared.jobs.store().write(move |db| {
        Box::pin(async move {
            let enqueued = owner.jobs.enqueue_in(db, job).await?;
            let claimed = match &enqueued {
                Enqueued::New(id) => table::assign(db, &owner.id, vec![id.clone()]).await?,
                Enqueued::Pending(_) => Vec::new(),
            };
            Ok((enqueued, claimed))
        })
    });
    let (enqueued, claimed) = write.await?;
    faults::point(Point::JobClaimed);
    claimed.into_iter().for_each(|job| start(shared, job));
    Ok(enqueued)
}

fn start(shared: &Arc<Shared>, job: Claimed) {
    let lane = shared.policy(&job.kind).map_or(Lane::Background, |policy| policy.lane);
    let attempt = Arc::new(Attempt {
        id: job.id,
        kind: job.kind,
        owner: job.owner,
        number: job.attempts,
        fence: job.fence,
        created_at: job.created_at,
        stop: CancellationToken::new(),
        why: Mutex::default(),
    });
    shared.running.insert(attempt.clone(), lane);
    let task = shared.attempts.spawn(attempt::run(shared.clone(), attempt.clone(), job.payload));
    shared.running.set_task(&attempt, task.abort_handle());
}
