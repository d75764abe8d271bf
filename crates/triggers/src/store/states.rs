//! Table `trigger_states`.

use super::of_trigger;
use crate::active::TriggerKey;
use ::store::sql::{self, Db, Row};
use ::store::{Store, StoreError};

/// The number of failures in a row after which a trigger is paused.
const MAX_FAILURES: i64 = 5;
/// The most states that are listed. A config has at most as many triggers.
const MAX_STATES: u32 = 10_000;

/// The state of a trigger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StateRow {
    pub(crate) key: TriggerKey,
    /// The source of its events.
    pub(crate) subject: String,
    /// Up to when ticks and events were considered; Unix time in milliseconds, as all times here.
    pub(crate) checked_at: i64,
    /// How many runs have failed one after the other.
    pub(crate) failures: i64,
    /// How many deliveries came again.
    pub(crate) repeats: i64,
    pub(crate) paused_at: Option<i64>,
    /// The administrator who has paused it; `None` if it was paused after failures.
    pub(crate) paused_by: Option<String>,
}

/// The outcome of pausing or resuming.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PauseOutcome {
    Done,
    /// It was so already.
    Unchanged,
}

macro_rules! columns {
    () => {
        "SELECT workflow_id, trigger_id, subject, checked_at, failures, repeats, paused_at, paused_by FROM trigger_states "
    };
}

const ALL: &str = concat!(columns!(), "ORDER BY workflow_id, trigger_id LIMIT $1");

const ENSURE: &str = "
    INSERT INTO trigger_states (workflow_id, trigger_id, subject, checked_at) VALUES ($1, $2, $3, $4)
    ON CONFLICT (workflow_id, trigger_id) DO UPDATE SET subject = excluded.subject, checked_at = excluded.checked_at
    WHERE trigger_states.subject <> excluded.subject";

const FIND: &str = concat!(columns!(), "WHERE workflow_id = $1 AND trigger_id = $2");

const ADVANCE: &str = "
    UPDATE trigger_states SET checked_at = $3 WHERE workflow_id = $1 AND trigger_id = $2 AND checked_at = $4";

const COUNT_FAILURE: &str =
    "UPDATE trigger_states SET failures = failures + 1 WHERE workflow_id = $1 AND trigger_id = $2";

const PAUSE_AFTER_FAILURES: &str = "
    UPDATE trigger_states SET paused_at = $3, paused_by = NULL
    WHERE workflow_id = $1 AND trigger_id = $2 AND paused_at IS NULL AND failures >= $4";

const CLEAR_FAILURES: &str =
    "UPDATE trigger_states SET failures = 0 WHERE workflow_id = $1 AND trigger_id = $2 AND failures > 0";

const COUNT_REPEAT: &str = "UPDATE trigger_states SET repeats = repeats + 1 WHERE workflow_id = $1 AND trigger_id = $2";

const COUNT_PAUSED: &str = "SELECT count(*) FROM trigger_states WHERE paused_at IS NOT NULL AND paused_by IS NULL";

const PAUSE: &str = "
    UPDATE trigger_states SET paused_at = $3, paused_by = $4
    WHERE workflow_id = $1 AND trigger_id = $2 AND paused_at IS NULL";

const RESUME: &str = "
    UPDATE trigger_states SET paused_at = NULL, paused_by = NULL, failures = 0, checked_at = $3
    WHERE workflow_id = $1 AND trigger_id = $2 AND paused_at IS NOT NULL";

const DELETE: &str = "DELETE FROM trigger_states WHERE workflow_id = $1 AND trigger_id = $2";

/// Returns the state of a trigger, which begins now if there is none, or if it waits for something
/// else than before.
pub(crate) async fn ensure(db: &mut Db, key: &TriggerKey, subject: &str, now: i64) -> Result<StateRow, StoreError> {
    of_trigger(ENSURE, key).bind(subject).bind(now).execute(&mut *db).await?;
    state(&of_trigger(FIND, key).fetch_one(db).await?)
}

/// Returns the state of a trigger, if it has one.
pub(crate) async fn find(store: &Store, key: &TriggerKey) -> Result<Option<StateRow>, StoreError> {
    let find = of_trigger(FIND, key);
    store.optional_row(find, state).await
}

/// Returns the states of all triggers.
pub(crate) async fn states(store: &Store) -> Result<Vec<StateRow>, StoreError> {
    let list = sql::query(ALL).bind(MAX_STATES);
    store.rows(list, state).await
}

/// Stores up to when ticks and events were considered, unless another server has stored it.
pub(crate) async fn advance(db: &mut Db, key: &TriggerKey, from: i64, to: i64) -> Result<(), StoreError> {
    of_trigger(ADVANCE, key).bind(to).bind(from).execute(db).await?;
    Ok(())
}

/// Counts a failure. Returns true if the trigger is paused because of it.
pub(crate) async fn count_failure(db: &mut Db, key: &TriggerKey, now: i64) -> Result<bool, StoreError> {
    of_trigger(COUNT_FAILURE, key).execute(&mut *db).await?;
    let pause = of_trigger(PAUSE_AFTER_FAILURES, key).bind(now).bind(MAX_FAILURES);
    Ok(pause.execute(db).await?.rows_affected() > 0)
}

/// Stores that a run did not fail.
pub(crate) async fn clear_failures(db: &mut Db, key: &TriggerKey) -> Result<(), StoreError> {
    of_trigger(CLEAR_FAILURES, key).execute(db).await?;
    Ok(())
}

/// Counts a delivery that came again.
pub(crate) async fn count_repeat(db: &mut Db, key: &TriggerKey) -> Result<(), StoreError> {
    of_trigger(COUNT_REPEAT, key).execute(db).await?;
    Ok(())
}

/// Returns how many triggers were paused because their runs have failed.
pub(crate) async fn count_paused(store: &Store) -> Result<i64, StoreError> {
    let count = sql::query_scalar::<i64>(COUNT_PAUSED);
    store.read(move |db| Box::pin(async move { Ok(count.fetch_one(db).await?) })).await
}

/// Pauses a trigger.
pub(crate) async fn pause(db: &mut Db, key: &TriggerKey, by: &str, now: i64) -> Result<PauseOutcome, StoreError> {
    let paused = of_trigger(PAUSE, key).bind(now).bind(by).execute(db).await?;
    Ok(outcome(paused.rows_affected()))
}

/// Resumes a trigger. Events from the time of the pause are left out.
pub(crate) async fn resume(db: &mut Db, key: &TriggerKey, now: i64) -> Result<PauseOutcome, StoreError> {
    Ok(outcome(of_trigger(RESUME, key).bind(now).execute(db).await?.rows_affected()))
}

/// Deletes states.
pub(crate) async fn delete_states(store: &Store, keys: Vec<TriggerKey>) -> Result<(), StoreError> {
    let delete = store.write(move |db| {
        Box::pin(async move {
            for key in &keys {
                of_trigger(DELETE, key).execute(&mut *db).await?;
            }
            Ok(())
        })
    });
    delete.await
}

fn outcome(changed: u64) -> PauseOutcome {
    if changed > 0 { PauseOutcome::Done } else { PauseOutcome::Unchanged }
}

fn state(row: &Row) -> Result<StateRow, StoreError> {
    Ok(StateRow {
        key: TriggerKey { workflow_id: row.try_get("workflow_id")?, trigger_id: row.try_get("trigger_id")? },
        subject: row.try_get("subject")?,
        checked_at: row.try_get("checked_at")?,
        failures: row.try_get("failures")?,
        repeats: row.try_get("repeats")?,
        paused_at: row.try_get("paused_at")?,
        paused_by: row.try_get("paused_by")?,
    })
}
