//! The table `workflow_steps`.

use super::run_rows::Used;
use super::{json, name, optional_json, to_json};
use crate::plan::{Record, StepError, StepState};
use ::store::sql::{self, Db, Row, Sql};
use ::store::{Store, StoreError};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// A step of a run.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StepRow {
    /// Its path, such as `each[3]/post`.
    pub(crate) path: String,
    /// Its id in the definition.
    pub(crate) step_id: String,
    /// Its type.
    #[serde(rename = "type")]
    pub(crate) kind: String,
    /// Its state.
    pub(crate) state: StepState,
    /// The number of attempts.
    pub(crate) attempt: u32,
    /// Its input.
    pub(crate) input: Value,
    /// Its output; `null` if there is none.
    pub(crate) output: Value,
    /// Why it has failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<StepError>,
    /// The usage in all attempts.
    pub(crate) used: Used,
    /// The run of a child workflow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) child_id: Option<String>,
    /// When the first attempt started; Unix time, milliseconds.
    pub(crate) started_at: i64,
    /// When it ended; Unix time, milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ended_at: Option<i64>,
    /// When it continues, or when its question lapses; Unix time, milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next_at: Option<i64>,
}

/// The columns that [`StepRow::read`] reads.
macro_rules! columns {
    () => {
        "SELECT path, step_id, step_type, state, attempt, input, output, error, requests, total_tokens, tool_calls,
            cost_usd, unpriced, child_id, started_at, ended_at, next_at
        FROM workflow_steps WHERE run_id = $1 "
    };
}

/// The steps of a run in the order in which they started. A step that timed out may have the same number as the first step of
/// its `onError`, whose path begins with its own.
const OF_RUN: &str = concat!(columns!(), "ORDER BY start_number, path");

/// The steps of a list that do not wait for a person, a time, a child or a decision.
const SETTLED: Sql = Sql::pair(
    concat!(columns!(), "AND path IN (SELECT value FROM json_each($2)) AND state NOT IN ('waiting', 'unknown')"),
    concat!(columns!(), "AND path = ANY($2) AND state NOT IN ('waiting', 'unknown')"),
);

/// An attempt keeps the time and the number of the first one, and until its end the error of the one before.
const START: &str = "
    INSERT INTO workflow_steps
        (run_id, path, owner, step_id, step_type, state, attempt, input, child_id, started_at, next_at, start_number)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
    ON CONFLICT (run_id, path) DO UPDATE SET state = excluded.state, attempt = excluded.attempt,
        child_id = excluded.child_id, next_at = excluded.next_at";

const COUNT_STEPS: &str = "
    UPDATE workflow_runs SET steps = steps + $2, state = 'running', wakes_at = NULL
    WHERE id = $1 AND stop_requested = 0 AND ended_at IS NULL RETURNING steps";

const FINISH: &str = "
    UPDATE workflow_steps SET state = $4, output = $5, error = $6, next_at = $7, ended_at = $8,
        requests = requests + $9, total_tokens = total_tokens + $10, tool_calls = tool_calls + $11,
        cost_usd = cost_usd + $12, unpriced = unpriced + $13
    WHERE run_id = $1 AND path = $2 AND state = $3";

const ADD_USE: &str = "
    UPDATE workflow_steps SET requests = requests + $3, total_tokens = total_tokens + $4, tool_calls = tool_calls + $5,
        cost_usd = cost_usd + $6, unpriced = unpriced + $7
    WHERE run_id = $1 AND path = $2";

const UNCOUNT_ATTEMPT: &str = "UPDATE workflow_steps SET attempt = attempt - 1 WHERE run_id = $1 AND path = $2";

/// Steps that were running when their server was killed.
const LOSE: &str = "
    UPDATE workflow_steps SET state = $3, next_at = $4 WHERE run_id = $1 AND path = $2 AND state = 'running'";

const DELAY: &str = "UPDATE workflow_steps SET next_at = $3 WHERE run_id = $1 AND path = $2 AND ended_at IS NULL";

/// The time that people see.
const DELAY_TASK: &str =
    "UPDATE workflow_tasks SET due_at = $3 WHERE run_id = $1 AND path = $2 AND state = 'open' AND due_at IS NOT NULL";

/// Ends the open steps of a run. The state of an agent that has waited is deleted, since it is not needed any
/// more.
const CLOSE: &str = "
    UPDATE workflow_steps SET state = 'failed', error = $2, ended_at = $3, next_at = NULL, suspended = NULL
    WHERE run_id = $1 AND ended_at IS NULL";

/// Steps whose container's time is over.
const EXPIRE: Sql = Sql::pair(
    "UPDATE workflow_steps SET state = 'failed', error = $3, ended_at = $4, next_at = NULL, suspended = NULL
        WHERE run_id = $1 AND ended_at IS NULL AND path IN (SELECT value FROM json_each($2))",
    "UPDATE workflow_steps SET state = 'failed', error = $3, ended_at = $4, next_at = NULL, suspended = NULL
        WHERE run_id = $1 AND ended_at IS NULL AND path = ANY($2)",
);

const DELETE: &str = "DELETE FROM workflow_steps WHERE run_id = $1 AND path = $2";

/// The step of a child, whose run continues.
const REOPEN: &str = "
    UPDATE workflow_steps SET state = 'retrying', attempt = 0, next_at = $3, ended_at = NULL
    WHERE run_id = $1 AND path = $2";

const CHILD: &str = "SELECT child_id FROM workflow_steps WHERE run_id = $1 AND path = $2";

/// The steps of an ended run that are repeated when it continues.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RepeatedSteps {
    /// The paths of those that begin again.
    pub(crate) anew: Vec<String>,
    /// The paths of those whose child runs continue.
    pub(crate) children: Vec<String>,
}

/// A step that starts, or starts again.
#[derive(Clone, Debug)]
pub(crate) struct StartedStep {
    pub(crate) path: String,
    pub(crate) step_id: String,
    pub(crate) kind: &'static str,
    pub(crate) state: StepState,
    pub(crate) attempt: u32,
    pub(crate) input: Value,
    pub(crate) child_id: Option<String>,
    pub(crate) next_at: Option<i64>,
}

/// The end of an attempt.
#[derive(Clone, Debug)]
pub(crate) struct FinishedStep {
    pub(crate) path: String,
    /// The state that it must have.
    pub(crate) from: StepState,
    pub(crate) state: StepState,
    pub(crate) output: Option<Value>,
    pub(crate) error: Option<StepError>,
    pub(crate) next_at: Option<i64>,
    pub(crate) used: Used,
}

impl FinishedStep {
    /// The end of a step that has used nothing itself.
    pub(crate) fn ended(path: String, from: StepState, result: Result<Value, StepError>) -> Self {
        let (state, output, error) = match result {
            Ok(output) => (StepState::Done, Some(output), None),
            Err(error) => (StepState::Failed, None, Some(error)),
        };
        Self { path, from, state, output, error, next_at: None, used: Used::default() }
    }
}

fn state_name(state: StepState) -> &'static str {
    match state {
        StepState::Running => "running",
        StepState::Unknown => "unknown",
        StepState::Retrying => "retrying",
        StepState::Waiting => "waiting",
        StepState::Done => "done",
        StepState::Failed => "failed",
    }
}

impl StepRow {
    fn read(row: &Row) -> Result<Self, StoreError> {
        Ok(Self {
            path: row.try_get("path")?,
            step_id: row.try_get("step_id")?,
            kind: row.try_get("step_type")?,
            state: name(row.try_get("state")?)?,
            attempt: u32::try_from(row.try_get::<i64>("attempt")?).unwrap_or(1),
            input: json(row.try_get("input")?)?,
            output: optional_json(row.try_get("output")?)?.unwrap_or_default(),
            error: optional_json(row.try_get("error")?)?,
            used: Used::read(row)?,
            child_id: row.try_get("child_id")?,
            started_at: row.try_get("started_at")?,
            ended_at: row.try_get("ended_at")?,
            next_at: row.try_get("next_at")?,
        })
    }

    /// Returns what the planner reads.
    pub(crate) fn record(self) -> (String, Record) {
        let Self { path, state, output, error, attempt, next_at, ended_at, .. } = self;
        (path, Record { state, output, error, attempt, next_at, ended_at: ended_at.unwrap_or_default() })
    }
}

/// Returns the steps of a run in the order in which they started.
pub(crate) async fn step_rows(db: &mut Db, run_id: &str) -> Result<Vec<StepRow>, StoreError> {
    sql::query(OF_RUN).bind(run_id).fetch_all(db).await?.iter().map(StepRow::read).collect()
}

/// As [`step_rows`], outside of a transaction.
pub(crate) async fn steps_of(store: &Store, run_id: &str) -> Result<Vec<StepRow>, StoreError> {
    let run_id = run_id.to_owned();
    store.read(move |db| Box::pin(async move { step_rows(db, &run_id).await })).await
}

/// Returns those of these steps that neither wait nor have an unknown outcome any more.
pub(crate) async fn settled_steps(store: &Store, run_id: &str, paths: Vec<String>) -> Result<Vec<StepRow>, StoreError> {
    let find = sql::query(SETTLED).bind(run_id.to_owned()).bind(paths);
    store.rows(find, StepRow::read).await
}

/// Counts steps that start. Returns the number of the first of them; `None` if the run was asked to stop, or
/// is gone.
pub(crate) async fn count_steps(db: &mut Db, run_id: &str, steps: usize) -> Result<Option<i64>, StoreError> {
    let steps = i64::try_from(steps).unwrap_or(i64::MAX);
    let counted: Option<i64> = sql::query_scalar(COUNT_STEPS).bind(run_id).bind(steps).fetch_optional(db).await?;
    Ok(counted.map(|counted| counted - steps + 1))
}

/// Stores that a step starts. `number` is its place in the order in which the steps of the run have started.
pub(crate) async fn start_step(
    db: &mut Db,
    (run_id, owner): (&str, &str),
    step: &StartedStep,
    number: i64,
    now: i64,
) -> Result<(), StoreError> {
    let start = sql::query(START).bind(run_id).bind(&step.path).bind(owner).bind(&step.step_id).bind(step.kind);
    let start = start.bind(state_name(step.state)).bind(step.attempt).bind(to_json(&step.input));
    start.bind(&step.child_id).bind(now).bind(step.next_at).bind(number).execute(db).await?;
    Ok(())
}

/// Stores the end of an attempt. Returns false if the step was not in the expected state.
pub(crate) async fn finish_step(db: &mut Db, run_id: &str, step: &FinishedStep, now: i64) -> Result<bool, StoreError> {
    let ended = matches!(step.state, StepState::Done | StepState::Failed).then_some(now);
    let Used { requests, total_tokens, tool_calls, cost_usd, unpriced } = step.used;
    let finish = sql::query(FINISH).bind(run_id).bind(&step.path).bind(state_name(step.from));
    let finish = finish.bind(state_name(step.state)).bind(step.output.as_ref().map(to_json));
    let finish = finish.bind(step.error.as_ref().map(to_json)).bind(step.next_at).bind(ended);
    let finish = finish.bind(requests.cast_signed()).bind(total_tokens.cast_signed()).bind(tool_calls.cast_signed());
    Ok(finish.bind(cost_usd).bind(unpriced.cast_signed()).execute(db).await?.rows_affected() > 0)
}

/// Adds what a call of a step has used that has ended already.
pub(crate) async fn add_use(db: &mut Db, run_id: &str, path: &str, used: &Used) -> Result<(), StoreError> {
    let Used { requests, total_tokens, tool_calls, cost_usd, unpriced } = *used;
    let add = sql::query(ADD_USE).bind(run_id).bind(path).bind(requests.cast_signed()).bind(total_tokens.cast_signed());
    add.bind(tool_calls.cast_signed()).bind(cost_usd).bind(unpriced.cast_signed()).execute(db).await?;
    Ok(())
}

/// Subtracts the last attempt from the count of a step, because nothing ran in it.
pub(crate) async fn uncount_attempt(db: &mut Db, run_id: &str, path: &str) -> Result<(), StoreError> {
    sql::query(UNCOUNT_ATTEMPT).bind(run_id).bind(path).execute(db).await?;
    Ok(())
}

/// Stores what becomes of steps whose server was killed: each path with its state, and when it is
/// tried again.
pub(crate) async fn lose_steps(
    db: &mut Db,
    run_id: &str,
    lost: &[(String, StepState, Option<i64>)],
) -> Result<(), StoreError> {
    for (path, state, next_at) in lost {
        sql::query(LOSE).bind(run_id).bind(path).bind(state_name(*state)).bind(*next_at).execute(&mut *db).await?;
    }
    Ok(())
}

/// Stores when steps continue.
pub(crate) async fn delay_steps(db: &mut Db, run_id: &str, delays: &[(String, i64)]) -> Result<(), StoreError> {
    for (path, next_at) in delays {
        for statement in [DELAY, DELAY_TASK] {
            sql::query(statement).bind(run_id).bind(path).bind(*next_at).execute(&mut *db).await?;
        }
    }
    Ok(())
}

/// Stores that the steps which have not ended do so with their run.
pub(crate) async fn close_steps(db: &mut Db, run_id: &str, error: &StepError, now: i64) -> Result<(), StoreError> {
    sql::query(CLOSE).bind(run_id).bind(to_json(error)).bind(now).execute(db).await?;
    Ok(())
}

/// Stores that steps which have not ended do so with the step around them.
pub(crate) async fn expire_steps(
    db: &mut Db,
    run_id: &str,
    paths: &[String],
    error: &StepError,
    now: i64,
) -> Result<(), StoreError> {
    sql::query(EXPIRE).bind(run_id).bind(paths.to_vec()).bind(to_json(error)).bind(now).execute(db).await?;
    Ok(())
}

/// Puts steps of an ended run back, so that they run again.
pub(crate) async fn put_back(db: &mut Db, run_id: &str, steps: &RepeatedSteps, now: i64) -> Result<(), StoreError> {
    for path in &steps.anew {
        sql::query(DELETE).bind(run_id).bind(path).execute(&mut *db).await?;
    }
    for path in &steps.children {
        sql::query(REOPEN).bind(run_id).bind(path).bind(now).execute(&mut *db).await?;
    }
    Ok(())
}

/// Returns whether a run is the one for which a step waits: a later attempt may have started another one.
pub(crate) async fn is_child(db: &mut Db, (run_id, path): (&str, &str), child: &str) -> Result<bool, StoreError> {
    let find = sql::query_scalar::<Option<String>>(CHILD).bind(run_id).bind(path);
    Ok(find.fetch_optional(db).await?.flatten().as_deref() == Some(child))
}

/// Returns the run of the child that a step has started last.
pub(crate) async fn child_of(store: &Store, run_id: &str, path: &str) -> Result<Option<String>, StoreError> {
    let find = sql::query_scalar::<Option<String>>(CHILD).bind(run_id.to_owned()).bind(path.to_owned());
    let found = store.read(move |db| Box::pin(async move { Ok(find.fetch_optional(db).await?) })).await?;
    Ok(found.flatten())
}
