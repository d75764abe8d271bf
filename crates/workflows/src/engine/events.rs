//! Events for which runs wait. A wait is a row, and so is an event, until both are compared: when a
//! program reports an event, when a wait starts, and every few seconds for events of the product.

use super::{StepHost, wake};
use crate::plan::StepState;
use crate::service::Runs;
use crate::store::{self, FinishedStep, WaitRow};
use crate::value::is_met;
use ::store::sql::Db;
use ::store::{EventKind, NumberedEvent, Store, StoreError};
use jobs::{Backoff, Due, Handler, Jobs, Kind, Lane, Outcome};
use operators::Operators;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use web::times::now_millis;

/// The time before the stored position that is searched again, in milliseconds: an event is stored a moment
/// after its time.
const OVERLAP_MS: i64 = 60_000;
/// The most waits and events that are compared at once.
const PAGE: u32 = 200;

/// The job that compares the events of a name with the waits for it. Its key is the name, so there is one
/// at a time, and another one after it if there was a further event meanwhile.
const MATCH: Kind<Match> = Kind::new("workflows.match")
    .lane(Lane::Interactive)
    .concurrency(4)
    .attempts(20)
    .backoff(Backoff { base: Duration::from_millis(200), cap: Duration::from_secs(60) })
    .timeout(Duration::from_secs(60 * 60));

/// The payload.
#[derive(Clone, Debug, Deserialize, Serialize)]
struct Match {
    event: String,
}

/// Enqueues the job for the events of a name, in a transaction.
pub(crate) async fn match_soon(jobs: &Jobs, db: &mut Db, event: &str) -> Result<(), StoreError> {
    jobs.enqueue_in(db, MATCH.job(&Match { event: event.to_owned() }).key(event)).await?;
    Ok(())
}

/// Returns the handler of the job.
pub(crate) fn match_handler(host: Arc<dyn StepHost>) -> Handler {
    Handler::new(MATCH, move |job, Match { event }| {
        let host = host.clone();
        async move {
            let runs = Runs { store: job.store().clone(), jobs: job.jobs().clone() };
            match_event(&runs, &host.operators(), &event).await?;
            Ok(Outcome::DONE)
        }
    })
}

/// Compares the events of the product for which runs wait. Doing it twice at once changes nothing.
///
/// # Errors
/// The database failed. The next look finds the same events again.
pub(crate) async fn look_for_events(runs: &Runs, operators: &Arc<Operators>) -> Result<(), StoreError> {
    let names = EventKind::ALL.map(|kind| kind.name().to_owned());
    for event in store::awaited_of(&runs.store, names.to_vec()).await? {
        match_event(runs, operators, &event).await?;
    }
    Ok(())
}

async fn match_event(runs: &Runs, operators: &Arc<Operators>, event: &str) -> Result<(), StoreError> {
    let mut after = (String::new(), String::new());
    loop {
        let waits = store::waits_for(&runs.store, event, &after, PAGE).await?;
        let Some(last) = waits.last() else { return Ok(()) };
        after = (last.run_id.clone(), last.path.clone());
        match_page(runs, operators, event, waits).await?;
    }
}

/// Compares some waits with all events that they have not seen.
async fn match_page(
    runs: &Runs,
    operators: &Arc<Operators>,
    event: &str,
    mut waits: Vec<WaitRow>,
) -> Result<(), StoreError> {
    let mut source = Source::new(event, &waits);
    while !waits.is_empty() {
        let (events, has_more) = source.next(&runs.store).await?;
        let operators = operators.clone();
        // Expressions may take a while.
        let compared = tokio::task::spawn_blocking(move || compare(waits, &events, &operators)).await;
        let (met, open) = compared.map_err(|_| StoreError::Failed("events could not be compared".to_owned()))?;
        for (wait, event) in met {
            finish(runs, wait, event).await?;
        }
        if !has_more {
            let seen = source.position();
            return store::set_checked(&runs.store, open, seen).await;
        }
        waits = open;
    }
    Ok(())
}

/// The range of the events of a name that is read.
struct Source<'n> {
    event: &'n str,
    /// The kind of an event that is found in the table in which it is stored.
    kind: Option<EventKind>,
    no: i64,
    after: (i64, String),
    until: i64,
}

impl<'n> Source<'n> {
    fn new(event: &'n str, waits: &[WaitRow]) -> Self {
        let kind = EventKind::from_name(event).filter(|kind| !kind.is_emitted());
        let no = waits.iter().map(|wait| wait.checked_no).min().unwrap_or_default();
        let at = waits.iter().map(|wait| wait.checked_at).min().unwrap_or_default();
        Self { event, kind, no, after: (at - OVERLAP_MS, String::new()), until: now_millis() }
    }

    /// Returns the next events, and whether there are more.
    async fn next(&mut self, store: &Store) -> Result<(Vec<NumberedEvent>, bool), StoreError> {
        let events = match self.kind {
            None => store.events_after(self.event, self.no, PAGE).await?,
            Some(kind) => {
                let (at, key) = (self.after.0, self.after.1.clone());
                let found = store.events_between(kind, (at, &key), self.until, PAGE).await?;
                found.into_iter().map(|event| NumberedEvent { no: 0, event, roles: None }).collect()
            }
        };
        if let Some(last) = events.last() {
            self.no = last.no.max(self.no);
            self.after = (last.event.at, last.event.key.clone());
        }
        let has_more = events.len() >= PAGE as usize;
        Ok((events, has_more))
    }

    /// Returns the number and the time up to which all events were read.
    fn position(&self) -> (i64, i64) {
        (self.no, self.until)
    }
}

/// Returns the waits that end with the event that ends them, and those that continue.
fn compare(
    waits: Vec<WaitRow>,
    events: &[NumberedEvent],
    operators: &Operators,
) -> (Vec<(WaitRow, Value)>, Vec<WaitRow>) {
    let (mut met, mut open) = (Vec::new(), Vec::new());
    for wait in waits {
        let found = events.iter().find(|event| is_awaited(&wait, event, operators));
        match found {
            Some(found) => met.push((wait, found.event.data.clone())),
            None => open.push(wait),
        }
    }
    (met, open)
}

fn is_awaited(wait: &WaitRow, NumberedEvent { no, event, roles }: &NumberedEvent, operators: &Operators) -> bool {
    let is_new = event.at >= wait.since && (*no == 0 || *no > wait.checked_no);
    let may_report = || roles.as_ref().is_none_or(|roles| roles.iter().any(|role| wait.senders.contains(role)));
    if !is_new || !may_report() {
        return false;
    }
    let Some(condition) = &wait.condition else { return true };
    is_met(condition, &event.data, operators).unwrap_or_else(|error| {
        let (run, step) = (&wait.run_id, &wait.path);
        tracing::warn!(run, step, error, "the condition of a wait for an event could not be evaluated");
        false
    })
}

/// Ends a wait, unless something else has ended it.
async fn finish(runs: &Runs, wait: WaitRow, event: Value) -> Result<(), StoreError> {
    let (jobs, now) = (runs.jobs.clone(), now_millis());
    let finished = FinishedStep::ended(wait.path, StepState::Waiting, Ok(event));
    let write = runs.store.write(move |db| {
        Box::pin(async move {
            store::delete_wait(db, &wait.run_id, &finished.path).await?;
            if store::finish_step(db, &wait.run_id, &finished, now).await? {
                wake(&jobs, db, &wait.run_id, &wait.owner, Due::Now).await?;
            }
            Ok(())
        })
    });
    write.await
}
