//! What a server among others does besides its own work: it shows that it lives, takes over the runs of one that does not any more, and
//! ends runs that another one was asked to stop. Alone on its database it has nothing to do.

use crate::live::Registry;
use crate::{invoke, recover};
use std::sync::Arc;
use std::time::Duration;
use store::{Listener, News, Store, StoreError};
use tokio_util::task::AbortOnDropHandle;

/// How often a sign of life is shown, and others are looked after; a third of [`crate::LEASE`].
const BEAT: Duration = Duration::from_secs(5);

/// How often is looked for runs to stop: news of them may be missed.
const LOOK: Duration = Duration::from_secs(1);

/// Begins to do so, until the handle is dropped.
pub(crate) fn start(store: Store, registry: Arc<Registry>) -> Option<AbortOnDropHandle<()>> {
    let listener = store.listen()?;
    Some(AbortOnDropHandle::new(tokio::spawn(serve(store, registry, listener))))
}

async fn serve(store: Store, registry: Arc<Registry>, mut news: Listener) {
    let (mut beat, mut look) = (tokio::time::interval(BEAT), tokio::time::interval(LOOK));
    for interval in [&mut beat, &mut look] {
        interval.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    }
    loop {
        let done = tokio::select! {
            _ = beat.tick() => live(&store, &registry).await,
            _ = look.tick(), if store.has_others() && registry.len() > 0 => stop_wanted(&store, &registry).await,
            heard = news.next() => {
                if let News::Stop(ids) = heard {
                    stop(&registry, &ids);
                }
                Ok(())
            }
        };
        // What fails is done the next time.
        if let Err(error) = done {
            tracing::warn!(%error, "the other servers on this database could not be looked after");
        }
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
            run.cancel.cancel();
        }
    }
    recover::recover(store).await?;
    store.abandon_invocations(invoke::ABANDONED, crate::now()).await?;
    Ok(())
}

async fn stop_wanted(store: &Store, registry: &Registry) -> Result<(), StoreError> {
    stop(registry, &store.runs_to_stop().await?);
    Ok(())
}

fn stop(registry: &Registry, ids: &[String]) {
    let wanted = registry.all().into_iter().filter(|run| ids.contains(&run.identity.run_id));
    wanted.for_each(|run| run.cancel.cancel());
}
