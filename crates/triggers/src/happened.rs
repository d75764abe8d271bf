//! Events of the product. They are found by queries over what is stored, so a server that is killed
//! loses none.

use crate::active::{ActiveTrigger, Source};
use crate::engine::{Delivered, Incoming, Triggers};
use crate::store::{self, DeliveryOutcome};
use ::store::{EventKind, StoreError, StoredEvent};
use serde_json::Value;
use std::sync::Arc;

/// The time before the stored position that is searched again, in milliseconds: an event is stored a moment
/// after its time.
const OVERLAP_MS: i64 = 60_000;
/// The interval at which the position is stored if there are no events, in milliseconds.
const STORE_PROGRESS_MS: i64 = 30_000;
/// The most events that are read at once.
const PAGE: u32 = 200;
/// The most pages of events of a trigger that are considered in one look.
const MAX_PAGES: u32 = 100;

/// The most workflows that start each other by the events of their runs, one after the other.
const MAX_CHAIN: usize = 4;

/// Starts the runs of events that have happened since the last look.
///
/// # Errors
/// The database failed. The events are found again.
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
    let mut after = (state.checked_at - OVERLAP_MS, String::new());
    let (mut until, mut has_new) = (after.0, false);
    for _ in 0..MAX_PAGES {
        let events = triggers.store.events_between(kind, (after.0, &after.1), now, PAGE).await?;
        let next = events.last().filter(|_| events.len() >= PAGE as usize).map(|last| (last.at, last.key.clone()));
        match deliver_new(triggers, trigger, events).await? {
            Some(count) => has_new |= count > 0,
            // The later events are found again, too.
            None => return Ok(()),
        }
        until = next.as_ref().map_or(now, |(at, _)| *at);
        match next {
            Some(next) => after = next,
            None => break,
        }
    }
    if !has_new && until - state.checked_at < STORE_PROGRESS_MS {
        return Ok(());
    }
    let key = trigger.key.clone();
    let advance = triggers
        .store
        .write(move |db| Box::pin(async move { store::advance(db, &key, state.checked_at, until).await }));
    advance.await
}

/// Delivers those events that have not come before and returns their number; `None` if the trigger
/// cannot take all of them now.
async fn deliver_new(
    triggers: &Triggers,
    trigger: &Arc<ActiveTrigger>,
    events: Vec<StoredEvent>,
) -> Result<Option<usize>, StoreError> {
    let keys = events.iter().map(|event| event.key.clone()).collect();
    let known = store::known_keys(&triggers.store, &trigger.key, keys).await?;
    let mut count = 0;
    for StoredEvent { key, data, .. } in events.into_iter().filter(|event| !known.contains(&event.key)) {
        count += 1;
        let causes = chain(&data);
        if let Some(cause) = endless(&causes, trigger) {
            triggers.leave_out(trigger, key, DeliveryOutcome::Filtered, &cause).await?;
            continue;
        }
        let incoming = Incoming { key, event: data, by: None, request: None, causes };
        if triggers.deliver(trigger, incoming).await? == Delivered::Full {
            return Ok(None);
        }
    }
    Ok(Some(count))
}

/// Returns the workflows that led to an event, which workflows emit with it.
fn chain(data: &Value) -> Vec<String> {
    let names = data.get("chain").and_then(Value::as_array).into_iter().flatten();
    names.filter_map(Value::as_str).map(str::to_owned).collect()
}

/// Returns why an event starts no run: the run could emit the next event, and so on without end.
fn endless(causes: &[String], trigger: &ActiveTrigger) -> Option<String> {
    let chain = || causes.join(" → ");
    if causes.contains(&trigger.key.workflow_id) {
        return Some(format!("A run of this workflow led to the event: {}.", chain()));
    }
    let is_long = causes.len() >= MAX_CHAIN;
    is_long.then(|| format!("The event is the last of a chain of {MAX_CHAIN} workflows: {}.", chain()))
}
