//! Background work: looks for what is due, and deletes what is old.

use crate::engine::Triggers;
use crate::store;
use crate::ticks::Ticker;
use crate::{happened, settle};
use capability::Job;
use std::sync::Arc;
use std::time::Duration;

/// The interval of the check for ticks; between them it reads no database.
const TICKS: Duration = Duration::from_secs(1);
/// The interval of the search for events and the ends of runs.
const EVENTS: Duration = Duration::from_secs(2);
/// The interval at which old deliveries are deleted.
const PRUNE: Duration = Duration::from_secs(10 * 60);
/// The retention time of the state of a trigger that the config does not have any more.
const FORGET: Duration = Duration::from_secs(90 * 24 * 60 * 60);

/// Returns the background work.
pub(crate) fn jobs(triggers: &Triggers) -> Vec<Job> {
    let ticker = Arc::new(Ticker::new(triggers.clone()));
    let ticks = move || {
        let ticker = ticker.clone();
        async move { Ok(ticker.look().await?) }
    };
    let (for_events, for_pruning) = (triggers.clone(), triggers.clone());
    let events = move || {
        let triggers = for_events.clone();
        async move {
            settle::settle(&triggers).await?;
            Ok(happened::look(&triggers).await?)
        }
    };
    let prune = move || {
        let triggers = for_pruning.clone();
        async move { prune(&triggers).await }
    };
    vec![
        Job::on_each_server("start scheduled workflows", TICKS, ticks),
        Job::on_each_server("start workflows after events", EVENTS, events),
        Job::recurring("triggers.prune", PRUNE, prune),
    ]
}

async fn prune(triggers: &Triggers) -> anyhow::Result<()> {
    let (states, now) = (store::states(&triggers.store).await?, triggers.now());
    let keys: Vec<_> = states.iter().map(|state| state.key.clone()).collect();
    while store::prune(&triggers.store, keys.clone(), now).await? {}
    let before = now - i64::try_from(FORGET.as_millis())?;
    let is_gone = |state: &store::StateRow| {
        state.checked_at < before && triggers.active.get(&state.key.workflow_id, &state.key.trigger_id).is_none()
    };
    let gone: Vec<_> = states.into_iter().filter(is_gone).map(|state| state.key).collect();
    if !gone.is_empty() {
        store::delete_states(&triggers.store, gone).await?;
    }
    Ok(())
}
