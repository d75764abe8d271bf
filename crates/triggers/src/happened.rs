//! Events of the product. They are found by queries over what is stored, so a server that is killed
//! loses none.

use crate::active::{ActiveTrigger, Source};
use crate::engine::{Delivered, Incoming, Triggers};
use crate::store;
use ::store::{EventKind, StoreError, StoredEvent};
use std::sync::Arc;
use std::time::Duration;

/// How far back is searched beyond what was considered: an event is stored a moment after its time.
const OVERLAP: Duration = Duration::from_secs(60);
/// How often the time up to which events were considered is stored if there are none.
const STORE_PROGRESS: Duration = Duration::from_secs(30);
/// The most events of a trigger that are considered at once.
const MAX_EVENTS: u32 = 200;

/// Starts the runs of events that have happened since the last look.
///
/// # Errors
/// The database failed. What has happened is found again.
pub(crate) async fn look(triggers: &Triggers) -> Result<(), StoreError> {
    for trigger in triggers.active.all().iter() {
        if let Source::Stored(kind) = trigger.source {
            look_for(triggers, trigger, kind).await?;
        }
    }
    Ok(())
}

async fn look_for(triggers: &Triggers, trigger: &Arc<ActiveTrigger>, kind: EventKind) -> Result<(), StoreError> {
    let now = triggers.now();
    let state = triggers.state(trigger).await?;
    if state.paused_at.is_some() {
        return Ok(());
    }
    let from = state.checked_at - millis(OVERLAP);
    let events = triggers.store.events_between(kind, from, now, MAX_EVENTS).await?;
    let keys = events.iter().map(|event| event.key.clone()).collect();
    let known = store::known_keys(&triggers.store, &trigger.key, keys).await?;
    let until = match events.last().filter(|_| events.len() >= MAX_EVENTS as usize) {
        // The others are found from there at the next look.
        Some(last) => last.at,
        None => now,
    };
    let mut is_quiet = true;
    for StoredEvent { key, data, .. } in events.into_iter().filter(|event| !known.contains(&event.key)) {
        is_quiet = false;
        let incoming = Incoming { key, event: data, test_by: None, body: None };
        if triggers.deliver(trigger, incoming).await? == Delivered::Full {
            // It is found again, as all that follow.
            return Ok(());
        }
    }
    if is_quiet && until - state.checked_at < millis(STORE_PROGRESS) {
        return Ok(());
    }
    let key = trigger.key.clone();
    let advance = triggers
        .store
        .write(move |db| Box::pin(async move { store::advance(db, &key, state.checked_at, until).await }));
    advance.await
}

fn millis(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}
