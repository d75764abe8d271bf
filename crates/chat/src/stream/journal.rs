//! Stores the events of all runs in batches: one transaction for everything new, every [`INTERVAL`]
//! or as soon as someone waits for it. Never one transaction per token.

use crate::stream::live::RunRegistry;
use std::sync::Arc;
use std::time::Duration;
use store::Store;
use tokio::sync::{mpsc, oneshot};
use wire::EndReason;

/// How long text may have been sent before it is stored.
const INTERVAL: Duration = Duration::from_millis(80);

/// How often leases are renewed: a third of [`crate::upkeep::LEASE`].
const RENEW: Duration = Duration::from_secs(5);

/// A handle to the task that writes the journal.
#[derive(Clone)]
pub(crate) struct Journal {
    requests: mpsc::Sender<oneshot::Sender<bool>>,
}

impl Journal {
    /// Starts the task. It ends when the last handle is dropped.
    pub(crate) fn start(store: Store, registry: Arc<RunRegistry>) -> Self {
        let (requests, inbox) = mpsc::channel(4096);
        tokio::spawn(write(store, registry, inbox));
        Self { requests }
    }

    /// Waits until everything appended before the call is stored; returns false if storing failed.
    pub(crate) async fn flush(&self) -> bool {
        let (done, stored) = oneshot::channel();
        self.requests.send(done).await.is_ok() && stored.await.unwrap_or(false)
    }
}

async fn write(store: Store, registry: Arc<RunRegistry>, mut inbox: mpsc::Receiver<oneshot::Sender<bool>>) {
    let mut tick = tokio::time::interval(INTERVAL);
    tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut renew = tokio::time::interval(RENEW);
    let mut waiting = Vec::new();
    loop {
        tokio::select! {
            request = inbox.recv() => match request {
                Some(done) => waiting.push(done),
                None => return,
            },
            _ = tick.tick() => {}
            _ = renew.tick() => renew_leases(&store, &registry).await,
        }
        while let Ok(done) = inbox.try_recv() {
            waiting.push(done);
        }
        let stored = store_batch(&store, &registry).await;
        for done in waiting.drain(..) {
            // The requester may have gone.
            let _ = done.send(stored);
        }
    }
}

/// Stores the new events of every run in one transaction. After a failure they stay in memory and
/// are retried with the next batch.
async fn store_batch(store: &Store, registry: &RunRegistry) -> bool {
    let (mut runs, mut batches) = (Vec::new(), Vec::new());
    for run in registry.all() {
        if let Some(batch) = run.unstored() {
            runs.push((run, batch.last_seq));
            batches.push(batch);
        }
    }
    if batches.is_empty() {
        return true;
    }
    match store.append_events(batches).await {
        Ok(fenced) => {
            for (run, last) in &runs {
                if fenced.contains(&run.identity.run_id) {
                    // The run was closed or deleted elsewhere, so it must stop writing here.
                    run.seal();
                    // With a single server, no other server can have taken over the run.
                    run.stop(if store.is_shared() { EndReason::LeaseLost } else { EndReason::Deleted });
                }
                run.stored_up_to(*last);
            }
            true
        }
        Err(error) => {
            if !error.is_reported() {
                tracing::error!(%error, runs = runs.len(), "the journal could not be written");
            }
            false
        }
    }
}

async fn renew_leases(store: &Store, registry: &RunRegistry) {
    if store.is_shared() {
        // With several servers, the server's own heartbeat covers its runs.
        return;
    }
    let runs: Vec<_> = registry.all().iter().map(|run| run.identity.run_id.clone()).collect();
    if runs.is_empty() {
        return;
    }
    let renewed = store.renew_leases(runs, crate::now() + crate::upkeep::LEASE.as_millis() as i64).await;
    if let Some(error) = renewed.err().filter(|error| !error.is_reported()) {
        tracing::warn!(%error, "leases could not be renewed");
    }
}
