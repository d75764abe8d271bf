//! What a server among others does besides its own work: it shows that it lives, takes over the runs of one that does not any more, and
//! ends runs that another one was asked to stop. Alone on its database it has nothing to do.

use crate::live::Registry;
use crate::{invoke, recover};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};
use store::{Listener, News, Store, StoreError};
use tokio_util::task::AbortOnDropHandle;
use wire::EndReason;

/// How often a sign of life is shown, and others are looked after; a third of [`crate::LEASE`].
const BEAT: Duration = Duration::from_secs(5);

/// How often is looked for runs to stop: news of them may be missed.
const LOOK: Duration = Duration::from_secs(1);

/// Begins to do so, until the handle is dropped.
pub(crate) fn start(store: Store, registry: Arc<Registry>) -> Option<AbortOnDropHandle<()>> {
    let listener = store.listen()?;
    Some(AbortOnDropHandle::new(tokio::spawn(async move {
        // Each for itself: a sign of life does not wait until others' runs are closed.
        tokio::join!(beat(&store, &registry), look_after(&store, &registry), serve(&store, &registry, listener));
    })))
}

async fn beat(store: &Store, registry: &Registry) {
    let mut beat = interval(BEAT);
    loop {
        beat.tick().await;
        tell(live(store, registry).await);
    }
}

async fn look_after(store: &Store, registry: &Registry) {
    let (mut round, mut missing) = (interval(BEAT), HashMap::new());
    loop {
        round.tick().await;
        tell(recover::recover(store).await.map(drop));
        tell(close_missing(store, registry, &mut missing).await);
        tell(store.abandon_invocations(invoke::ABANDONED, crate::now()).await.map(drop));
    }
}

async fn serve(store: &Store, registry: &Registry, mut news: Listener) {
    let mut look = interval(LOOK);
    loop {
        tokio::select! {
            _ = look.tick(), if store.has_others() && registry.len() > 0 => tell(stop_wanted(store, registry).await),
            heard = news.next() => {
                // Why is in the database.
                if matches!(heard, News::Stop(_)) {
                    tell(stop_wanted(store, registry).await);
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

/// What fails is done the next time.
fn tell(done: Result<(), StoreError>) {
    if let Err(error) = done {
        tracing::warn!(%error, "the other servers on this database could not be looked after");
    }
}

async fn live(store: &Store, registry: &Registry) -> Result<(), StoreError> {
    // Before it is asked what the database knows: what begins meanwhile is not missed in its answer.
    let runs = registry.all();
    if store.beat(crate::LEASE).await?.lapsed && !runs.is_empty() {
        tracing::warn!(
            runs = runs.len(),
            "this server showed no sign of life for too long; others may have taken its runs over"
        );
        let driven = store.driven_runs().await?;
        for run in runs.iter().filter(|run| !driven.contains(&run.identity.run_id)) {
            run.seal();
            run.stop(EndReason::LeaseLost);
        }
    }
    Ok(())
}

/// Closes runs that the database says are this server's, and that nobody here has driven for longer than a run takes to begin: their end
/// could not be stored when it came.
async fn close_missing(
    store: &Store,
    registry: &Registry,
    missing: &mut HashMap<String, Instant>,
) -> Result<(), StoreError> {
    let driven = store.driven_runs().await?;
    // Read after that: what has ended meanwhile is not among the driven the next time.
    let live: HashSet<String> = registry.all().iter().map(|run| run.identity.run_id.clone()).collect();
    missing.retain(|id, _| driven.contains(id) && !live.contains(id));
    for id in driven.into_iter().filter(|id| !live.contains(id)) {
        missing.entry(id).or_insert_with(Instant::now);
    }
    let is_due = |id: &String| missing.get(id).is_some_and(|since| since.elapsed() >= crate::LEASE);
    if !missing.keys().any(is_due) {
        return Ok(());
    }
    let open: Vec<_> = store.open_runs().await?.into_iter().filter(|run| is_due(&run.run_id)).collect();
    recover::close_all(store, &open, EndReason::Storage).await
}

async fn stop_wanted(store: &Store, registry: &Registry) -> Result<(), StoreError> {
    let wanted = store.runs_to_stop().await?;
    for run in registry.all() {
        if let Some(request) = wanted.iter().find(|request| request.run_id == run.identity.run_id) {
            run.stop(request.reason);
        }
    }
    Ok(())
}
