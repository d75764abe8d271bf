//! The tables `workflow_definitions` and `workflow_runs`.

use super::run_rows::{COLUMNS, RunCaller, RunRow, RunState, Used, UsedBefore};
use super::to_json;
use crate::plan::StepError;
use ::store::sql::{self, Db, Row, Sql};
use ::store::{Store, StoreError};
use serde_json::Value;
use std::collections::HashMap;
use std::sync::Arc;
use workflow_definition::{RunLimits, Workflow};

/// The most runs of a user that have not ended. Children count.
pub(crate) const MAX_OPEN_RUNS: i64 = 1_000;

pub(super) const INSERT_DEFINITION: &str = "
    INSERT INTO workflow_definitions (workflow_id, version, definition, created_at) VALUES ($1, $2, $3, $4)
    ON CONFLICT (workflow_id, version) DO NOTHING";

const DEFINITION: &str = "SELECT definition FROM workflow_definitions WHERE workflow_id = $1 AND version = $2";

const INSERT: &str = "
    INSERT INTO workflow_runs
        (id, owner, workflow_id, version, parent_id, parent_path, ancestors, caller, input, limits, state, created_at, root_id,
        key_base, rerun_of, causes)
    SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 'running', $11, $13, $14, $15, $16
    WHERE (SELECT count(*) FROM workflow_runs WHERE owner = $2 AND ended_at IS NULL) < $12";

const PARK: &str = "UPDATE workflow_runs SET state = 'waiting', wakes_at = $2 WHERE id = $1 AND ended_at IS NULL";

const END: &str = "
    UPDATE workflow_runs SET state = $2, output = $3, error = $4, ended_at = $5, wakes_at = NULL
    WHERE id = $1 AND ended_at IS NULL";

const REOPEN: &str = "
    UPDATE workflow_runs SET state = 'running', output = NULL, error = NULL, ended_at = NULL, stop_requested = 0,
        limits = $2, resumed_at = $3, used_before = $4
    WHERE id = $1 AND ended_at IS NOT NULL";

const REQUEST_STOP: &str = "UPDATE workflow_runs SET stop_requested = 1 WHERE id = $1 AND ended_at IS NULL";

const IS_STOP_REQUESTED: &str = "SELECT stop_requested FROM workflow_runs WHERE id = $1 AND ended_at IS NULL";

const SPEND: Sql = Sql::pair(
    "UPDATE workflow_runs SET requests = requests + $2, total_tokens = total_tokens + $3, tool_calls = tool_calls + $4,
        cost_usd = cost_usd + $5, unpriced = unpriced + $6 WHERE id IN (SELECT value FROM json_each($1))",
    "UPDATE workflow_runs SET requests = requests + $2, total_tokens = total_tokens + $3, tool_calls = tool_calls + $4,
        cost_usd = cost_usd + $5, unpriced = unpriced + $6 WHERE id = ANY($1)",
);

/// Not the whole rows: an input may be large.
const USED: Sql = Sql::pair(
    "SELECT limits, requests, total_tokens, tool_calls, cost_usd, unpriced, used_before FROM workflow_runs
        WHERE id IN (SELECT value FROM json_each($1))",
    "SELECT limits, requests, total_tokens, tool_calls, cost_usd, unpriced, used_before FROM workflow_runs WHERE id = ANY($1)",
);

const STATES: Sql = Sql::pair(
    "SELECT id, state, error FROM workflow_runs WHERE id IN (SELECT value FROM json_each($1))",
    "SELECT id, state, error FROM workflow_runs WHERE id = ANY($1)",
);

const CHILDREN: &str = "SELECT id, owner FROM workflow_runs WHERE parent_id = $1 AND ended_at IS NULL";

const CHILDREN_AT: Sql = Sql::pair(
    "SELECT id, owner FROM workflow_runs
        WHERE parent_id = $1 AND ended_at IS NULL AND parent_path IN (SELECT value FROM json_each($2))",
    "SELECT id, owner FROM workflow_runs WHERE parent_id = $1 AND ended_at IS NULL AND parent_path = ANY($2)",
);

const COUNT_FAILED: &str = "
    SELECT count(*) FROM workflow_runs
    WHERE ended_at > $1 AND state = 'failed' AND parent_id IS NULL AND ($2 = '' OR workflow_id = $2)";

const COUNT_UNDECIDED: &str = "
    SELECT count(*) FROM workflow_runs WHERE ended_at IS NULL AND EXISTS (
        SELECT 1 FROM workflow_steps WHERE run_id = workflow_runs.id AND workflow_steps.state = 'unknown')";

const DELETE_ENDED: &str = "
    DELETE FROM workflow_runs WHERE id IN (
        SELECT id FROM workflow_runs AS run WHERE ended_at < $1
            AND (parent_id IS NULL OR NOT EXISTS (SELECT 1 FROM workflow_runs WHERE id = run.parent_id))
        ORDER BY ended_at LIMIT $2)";

/// Definitions that no run keeps to.
const DELETE_DEFINITIONS: &str = "
    DELETE FROM workflow_definitions WHERE created_at < $1 AND NOT EXISTS (
        SELECT 1 FROM workflow_runs AS run
        WHERE run.workflow_id = workflow_definitions.workflow_id AND run.version = workflow_definitions.version)";

const OPEN_CHILDREN: &str = "
    SELECT limits, requests, total_tokens, tool_calls, cost_usd, unpriced, used_before FROM workflow_runs
    WHERE parent_id = $1 AND ended_at IS NULL";

/// Open runs whose job is gone, for example because an operator deleted it.
const OPEN_WITHOUT_JOB: &str = "
    SELECT id, owner FROM workflow_runs WHERE ended_at IS NULL AND created_at < $1 AND NOT EXISTS (
        SELECT 1 FROM jobs WHERE kind = $2 AND unique_key = workflow_runs.id AND state IN ('waiting', 'running'))
    AND (state = 'running' OR wakes_at < $1) ORDER BY id LIMIT $3";

/// A new run.
#[derive(Clone, Debug)]
pub(crate) struct NewRun {
    pub(crate) id: String,
    pub(crate) owner: String,
    pub(crate) workflow: Workflow,
    /// The run of which this one is a step, with the path of the step, and the runs above both.
    pub(crate) parent: Option<(String, String)>,
    pub(crate) ancestors: Vec<String>,
    /// [`RunRow::key_base`]; empty for the id.
    pub(crate) key_base: String,
    /// The run that is started again.
    pub(crate) rerun_of: Option<String>,
    /// [`RunRow::causes`]
    pub(crate) causes: Vec<String>,
    pub(crate) caller: RunCaller,
    pub(crate) input: Value,
    pub(crate) limits: RunLimits,
    pub(crate) now: i64,
}

fn select(rest: &str) -> Sql {
    let text: Arc<str> = format!("SELECT {COLUMNS} FROM workflow_runs {rest}").into();
    text.into()
}

/// Stores a run with its definition. Returns false if the owner has too many runs that have not
/// ended.
pub(crate) async fn insert_run(db: &mut Db, new: &NewRun) -> Result<bool, StoreError> {
    let (id, version) = (&new.workflow.id.0, new.workflow.version());
    let definition = sql::query(INSERT_DEFINITION).bind(id).bind(&version).bind(to_json(&new.workflow)).bind(new.now);
    definition.execute(&mut *db).await?;
    let (parent, path) = new.parent.clone().unzip();
    let insert = sql::query(INSERT).bind(&new.id).bind(&new.owner).bind(id).bind(version).bind(parent).bind(path);
    let insert = insert.bind(to_json(&new.ancestors)).bind(to_json(&new.caller)).bind(to_json(&new.input));
    let root = new.ancestors.last().unwrap_or(&new.id);
    let insert = insert.bind(to_json(&new.limits)).bind(new.now).bind(MAX_OPEN_RUNS).bind(root).bind(&new.key_base);
    let insert = insert.bind(&new.rerun_of).bind(to_json(&new.causes));
    Ok(insert.execute(db).await?.rows_affected() > 0)
}

/// Returns the definition of a version.
pub(crate) async fn definition(store: &Store, id: &str, version: &str) -> Result<Option<Workflow>, StoreError> {
    let find = sql::query_scalar::<String>(DEFINITION).bind(id).bind(version);
    let text = store.read(move |db| Box::pin(async move { Ok(find.fetch_optional(db).await?) })).await?;
    super::optional_json(text.as_deref())
}

/// As [`definition`], within a transaction.
pub(crate) async fn definition_in(db: &mut Db, id: &str, version: &str) -> Result<Option<Workflow>, StoreError> {
    let find = sql::query_scalar::<String>(DEFINITION).bind(id).bind(version);
    super::optional_json(find.fetch_optional(db).await?.as_deref())
}

/// Returns a run, for the engine and administrators.
pub(crate) async fn run(store: &Store, id: &str) -> Result<Option<RunRow>, StoreError> {
    let id = id.to_owned();
    store.read(move |db| Box::pin(async move { run_in(db, &id).await })).await
}

/// Returns a run within a transaction.
pub(crate) async fn run_in(db: &mut Db, id: &str) -> Result<Option<RunRow>, StoreError> {
    let found = sql::query(select("WHERE id = $1")).bind(id).fetch_optional(db).await?;
    found.as_ref().map(RunRow::read).transpose()
}

/// Returns the runs of a user that no other run started, of one workflow or of all, newest first, at most `most`;
/// those before the run `before`.
pub(crate) async fn runs_of(
    store: &Store,
    owner: &str,
    before: &str,
    workflow: Option<&str>,
    most: u32,
) -> Result<Vec<RunRow>, StoreError> {
    let rest = "WHERE owner = $1 AND parent_id IS NULL AND id < $2 AND ($3 = '' OR workflow_id = $3)
        ORDER BY id DESC LIMIT $4";
    let list = sql::query(select(rest)).bind(owner).bind(before).bind(workflow.unwrap_or_default()).bind(most);
    store.rows(list, RunRow::read).await
}

/// The filter of an administrator's list of runs.
#[derive(Clone, Debug, Default)]
pub(crate) struct RunFilter {
    /// The name of a state, or `undecided`: a step waits for a decision, because it is not known what it did.
    pub(crate) state: Option<&'static str>,
    /// The workflow.
    pub(crate) workflow: Option<String>,
    /// The user.
    pub(crate) owner: Option<String>,
    /// Only runs that started at this time or later; Unix time in milliseconds.
    pub(crate) from: Option<i64>,
    /// Only runs that started before this time.
    pub(crate) to: Option<i64>,
}

/// Returns the runs of all users, newest first, at most `most`; those before the run `before`.
pub(crate) async fn list(store: &Store, before: &str, filter: RunFilter, most: u32) -> Result<Vec<RunRow>, StoreError> {
    let RunFilter { state, workflow, owner, from, to } = filter;
    let rest = "WHERE id < $1
            AND ($2 = '' OR state = $2 OR $2 = 'undecided' AND ended_at IS NULL AND EXISTS (
                SELECT 1 FROM workflow_steps WHERE run_id = workflow_runs.id AND workflow_steps.state = 'unknown'))
            AND ($3 = '' OR workflow_id = $3) AND ($4 = '' OR owner = $4) AND created_at >= $5 AND created_at < $6
        ORDER BY id DESC LIMIT $7";
    let list = sql::query(select(rest)).bind(before).bind(state.unwrap_or_default());
    let list = list.bind(workflow.unwrap_or_default()).bind(owner.unwrap_or_default());
    let list = list.bind(from.unwrap_or_default()).bind(to.unwrap_or(i64::MAX)).bind(most);
    store.rows(list, RunRow::read).await
}

/// Stores that a run waits.
pub(crate) async fn park(db: &mut Db, id: &str, wakes_at: Option<i64>) -> Result<(), StoreError> {
    sql::query(PARK).bind(id).bind(wakes_at).execute(db).await?;
    Ok(())
}

/// Stores the end of a run. Returns false if it has ended before.
pub(crate) async fn end_run(
    db: &mut Db,
    id: &str,
    state: RunState,
    output: Option<&Value>,
    error: Option<&StepError>,
    now: i64,
) -> Result<bool, StoreError> {
    let end = sql::query(END).bind(id).bind(state.name()).bind(output.map(to_json)).bind(error.map(to_json)).bind(now);
    Ok(end.execute(db).await?.rows_affected() > 0)
}

/// Makes a run continue that has ended, with these limits, which count from now. Returns false if it has not ended.
pub(crate) async fn reopen(db: &mut Db, id: &str, limits: &RunLimits, now: i64) -> Result<bool, StoreError> {
    let Some(run) = run_in(db, id).await? else { return Ok(false) };
    let before = UsedBefore { used: run.used, steps: run.steps };
    let reopen = sql::query(REOPEN).bind(id).bind(to_json(limits)).bind(now).bind(to_json(&before));
    Ok(reopen.execute(db).await?.rows_affected() > 0)
}

/// Returns the states of these runs with their errors; deleted ones are left out.
pub(crate) async fn states(
    store: &Store,
    ids: Vec<String>,
) -> Result<HashMap<String, (RunState, Option<StepError>)>, StoreError> {
    let find = sql::query(STATES).bind(ids);
    let rows = store.read(move |db| Box::pin(async move { Ok(find.fetch_all(db).await?) })).await?;
    let state = |row: &Row| {
        let (state, error): (String, Option<String>) = (row.try_get("state")?, row.try_get("error")?);
        Ok((row.try_get("id")?, (super::name(&state)?, super::optional_json(error.as_deref())?)))
    };
    rows.iter().map(state).collect()
}

/// Asks a run to stop. Returns false if it has ended.
pub(crate) async fn request_stop(db: &mut Db, id: &str) -> Result<bool, StoreError> {
    Ok(sql::query(REQUEST_STOP).bind(id).execute(db).await?.rows_affected() > 0)
}

/// Returns whether a run was asked to stop, or is gone.
pub(crate) async fn is_stop_requested(store: &Store, id: &str) -> Result<bool, StoreError> {
    let find = sql::query_scalar::<i64>(IS_STOP_REQUESTED).bind(id);
    let found = store.read(move |db| Box::pin(async move { Ok(find.fetch_optional(db).await?) })).await?;
    Ok(found != Some(0))
}

/// Adds what a step has used to its run and to the runs above.
pub(crate) async fn spend(db: &mut Db, runs: &[String], used: &Used) -> Result<(), StoreError> {
    if *used == Used::default() {
        return Ok(());
    }
    let spend = sql::query(SPEND).bind(runs.to_vec()).bind(used.requests.cast_signed());
    let spend = spend.bind(used.total_tokens.cast_signed()).bind(used.tool_calls.cast_signed()).bind(used.cost_usd);
    let spend = spend.bind(used.unpriced.cast_signed());
    spend.execute(db).await?;
    Ok(())
}

/// Returns the limits of runs, and what they have used of them.
pub(crate) async fn used(db: &mut Db, runs: &[String]) -> Result<Vec<(RunLimits, Used)>, StoreError> {
    sql::query(USED).bind(runs.to_vec()).fetch_all(db).await?.iter().map(limits_and_use).collect()
}

fn limits_and_use(row: &Row) -> Result<(RunLimits, Used), StoreError> {
    Ok((super::json(row.try_get("limits")?)?, Used::read(row)?.since(&UsedBefore::read(row)?.used)))
}

/// Returns the limits of the children of a run that have not ended, and what they have used.
pub(crate) async fn open_children(db: &mut Db, id: &str) -> Result<Vec<(RunLimits, Used)>, StoreError> {
    sql::query(OPEN_CHILDREN).bind(id).fetch_all(db).await?.iter().map(limits_and_use).collect()
}

/// Returns the ids and owners of the children of a run that have not ended.
pub(crate) async fn children(db: &mut Db, id: &str) -> Result<Vec<(String, String)>, StoreError> {
    let rows = sql::query(CHILDREN).bind(id).fetch_all(db).await?;
    rows.iter().map(|row| Ok((row.try_get("id")?, row.try_get("owner")?))).collect()
}

/// Returns the ids and owners of the children that these steps of a run have started and that have not ended.
pub(crate) async fn open_children_at(
    db: &mut Db,
    id: &str,
    paths: &[String],
) -> Result<Vec<(String, String)>, StoreError> {
    let rows = sql::query(CHILDREN_AT).bind(id).bind(paths.to_vec()).fetch_all(db).await?;
    rows.iter().map(|row| Ok((row.try_get("id")?, row.try_get("owner")?))).collect()
}

/// Returns how many runs that no other run started have failed after a time, of a workflow or of all.
pub(crate) async fn count_failed(store: &Store, after: i64, workflow: Option<&str>) -> Result<i64, StoreError> {
    let count = sql::query_scalar::<i64>(COUNT_FAILED).bind(after).bind(workflow.unwrap_or_default().to_owned());
    store.read(move |db| Box::pin(async move { Ok(count.fetch_one(db).await?) })).await
}

/// Returns how many runs have a step whose outcome is unknown.
pub(crate) async fn count_undecided(store: &Store) -> Result<i64, StoreError> {
    let count = sql::query_scalar::<i64>(COUNT_UNDECIDED);
    store.read(move |db| Box::pin(async move { Ok(count.fetch_one(db).await?) })).await
}

/// Deletes runs that ended before this time; children follow when their parents are gone, and
/// definitions when no run keeps to them. Returns whether there may be more.
pub(crate) async fn delete_ended_before(store: &Store, time: i64) -> Result<bool, StoreError> {
    const MOST: u32 = 200;
    let delete = sql::query(DELETE_ENDED).bind(time).bind(MOST);
    let definitions = sql::query(DELETE_DEFINITIONS).bind(time);
    let write = store.write(move |db| {
        Box::pin(async move {
            let deleted = delete.execute(&mut *db).await?.rows_affected();
            definitions.execute(db).await?;
            Ok(deleted)
        })
    });
    let deleted = write.await?;
    Ok(deleted >= u64::from(MOST))
}

/// Returns the ids and owners of open runs that no job of this kind drives.
pub(crate) async fn open_without(store: &Store, kind: &str, before: i64) -> Result<Vec<(String, String)>, StoreError> {
    let find = sql::query(OPEN_WITHOUT_JOB).bind(before).bind(kind).bind(200_u32);
    store.rows(find, |row| Ok((row.try_get("id")?, row.try_get("owner")?))).await
}
