//! Background tasks of a server that shares its database with others: sends heartbeats, takes over
//! the runs of dead servers, and stops runs on request of other servers. A single server has
//! nothing to do here.

use crate::outside::running;
use crate::stream::live::RunRegistry;
use crate::upkeep::recover;
use crate::upkeep::recovered::RecoveryReports;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};
use store::{Listener, ReplicaEvent, Store, StoreError};
use tokio_util::task::AbortOnDropHandle;
use wire::EndReason;

/// The interval of heartbeats and of takeovers: a third of [`crate::upkeep::LEASE`].
const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(5);

/// The polling interval for stop requests, since a notification may be missed.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// Starts the tasks; they end when the handle is dropped.
pub(crate) fn start(
    store: Store,
    registry: Arc<RunRegistry>,
    reports: RecoveryReports,
) -> Option<AbortOnDropHandle<()>> {
    let listener = store.listen()?;
    Some(AbortOnDropHandle::new(tokio::spawn(async move {
        // Concurrently, so that a heartbeat does not wait while other servers' runs are closed.
        tokio::join!(
            send_heartbeats(&store, &registry),
            take_over_runs(&store, &registry, &reports),
            handle_stop_requests(&store, &registry, listener)
        );
    })))
}

async fn send_heartbeats(store: &Store, registry: &RunRegistry) {
    let mut beat = interval(HEARTBEAT_INTERVAL);
    loop {
        beat.tick().await;
        log_failure(heartbeat(store, registry).await);
    }
}

async fn take_over_runs(store: &Store, registry: &RunRegistry, reports: &RecoveryReports) {
    let (mut round, mut missing) = (interval(HEARTBEAT_INTERVAL), HashMap::new());
    loop {
        round.tick().await;
        log_failure(recover::recover(store, reports).await.map(drop));
        log_failure(close_missing(store, registry, &mut missing, reports).await);
        log_failure(store.abandon_invocations(running::ABANDONED, crate::now()).await.map(drop));
    }
}

async fn handle_stop_requests(store: &Store, registry: &RunRegistry, mut news: Listener) {
    let mut poll = interval(POLL_INTERVAL);
    loop {
        tokio::select! {
            _ = poll.tick(), if store.has_others() && registry.len() > 0 => log_failure(stop_wanted(store, registry).await),
            heard = news.next() => {
                // The reason is in the database.
                if matches!(heard, ReplicaEvent::Stop(_)) {
                    log_failure(stop_wanted(store, registry).await);
                }
            }
        }
    }
}

fn interval(period: Duration) -> tokio::time::Interval {
    let mut interval = tokio::time::interval(period);
    interval.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    interval
}

/// Logs a failure; it is retried in the next round.
fn log_failure(done: Result<(), StoreError>) {
    if let Err(error) = done {
        tracing::warn!(%error, "the coordination with other servers on this database failed");
    }
}

async fn heartbeat(store: &Store, registry: &RunRegistry) -> Result<(), StoreError> {
    // Read before the database, so that a run that starts meanwhile is not missing in the
    // database's list.
    let runs = registry.all();
    if store.heartbeat(crate::upkeep::LEASE).await?.lease_expired && !runs.is_empty() {
        tracing::warn!(
            runs = runs.len(),
            "this server sent no heartbeat for too long; others may have taken over its runs"
        );
        let driven = store.driven_runs().await?;
        for run in runs.iter().filter(|run| !driven.contains(&run.identity.run_id)) {
            run.seal();
            run.stop(EndReason::LeaseLost);
        }
    }
    Ok(())
}

/// Closes runs that the database assigns to this server, but that have had no task here for longer
/// than the lease: their end could not be stored.
async fn close_missing(
    store: &Store,
    registry: &RunRegistry,
    missing: &mut HashMap<String, Instant>,
    reports: &RecoveryReports,
) -> Result<(), StoreError> {
    let driven = store.driven_runs().await?;
    // The registry is read after the database: a run that ends in between is then missing in the
    // database's next list.
    let live: HashSet<String> = registry.all().iter().map(|run| run.identity.run_id.clone()).collect();
    missing.retain(|id, _| driven.contains(id) && !live.contains(id));
    for id in driven.into_iter().filter(|id| !live.contains(id)) {
        missing.entry(id).or_insert_with(Instant::now);
    }
    let is_due = |id: &String| missing.get(id).is_some_and(|since| since.elapsed() >= crate::upkeep::LEASE);
    if !missing.keys().any(is_due) {
        return Ok(());
    }
    let open: Vec<_> = store.open_runs().await?.into_iter().filter(|run| is_due(&run.run_id)).collect();
    recover::close_all(store, &open, EndReason::Storage, reports).await
}

async fn stop_wanted(store: &Store, registry: &RunRegistry) -> Result<(), StoreError> {
    let wanted = store.runs_to_stop().await?;
    for run in registry.all() {
        if let Some(request) = wanted.iter().find(|request| request.run_id == run.identity.run_id) {
            run.stop(request.reason);
        }
    }
    Ok(())
}
