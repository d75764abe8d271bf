//! The table of experiments.

use super::experiment::{ConfigSummary, Decision, Ending, Experiment, Settings, State};
use super::{UNREADABLE, UNWRITABLE};
use ::store::sql::{self, Db, Row};
use ::store::{Store, StoreError};
use std::sync::Arc;

/// The most experiments that are kept.
const MAX_EXPERIMENTS: i64 = 1_000;

const COLUMNS: &str = "
    SELECT id, name, dataset_id, dataset_version, settings, configs, fingerprint, state, job_id, total, done,
        estimate_usd, spent_usd, summary, cause, created_by, created_at, ended_at, decision, decision_note, decided_by, decided_at
    FROM experiments";

const INSERT: &str = "
    INSERT INTO experiments (id, name, dataset_id, dataset_version, settings, configs, fingerprint, state, total, done,
        spent_usd, created_by, created_at, ended_at, summary)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)";

const SET_JOB: &str = "UPDATE experiments SET job_id = $2 WHERE id = $1";

const BEGIN: &str = "
    UPDATE experiments SET state = 'running', total = $2, fingerprint = $3
    WHERE id = $1 AND state IN ('waiting', 'running')";

const END: &str = "
    UPDATE experiments SET state = $2, cause = $3, ended_at = $4, summary = $5, job_id = NULL
    WHERE id = $1 AND state IN ('waiting', 'running')";

const CONTINUE: &str = "
    UPDATE experiments SET state = 'waiting', cause = NULL, ended_at = NULL, settings = $2, estimate_usd = NULL
    WHERE id = $1 AND state IN ('stopped', 'failed')";

const DECIDE: &str = "
    UPDATE experiments SET decision = $2, decision_note = $3, decided_by = $4, decided_at = $5
    WHERE id = $1 AND state IN ('done', 'stopped', 'failed') AND coalesce(decided_at, 0) = $6";

/// Experiments that count as running, and whose job has ended all the same, for example because an administrator has
/// cancelled it or the user who started it was deleted.
const END_ABANDONED: &str = "
    UPDATE experiments SET state = 'stopped', cause = 'The job was cancelled.', ended_at = $1, job_id = NULL
    WHERE state IN ('waiting', 'running')
    AND NOT EXISTS (SELECT 1 FROM jobs j WHERE j.id = experiments.job_id AND j.state IN ('waiting', 'running'))";

const PRUNE: &str = "
    DELETE FROM experiments WHERE state NOT IN ('waiting', 'running')
    AND id <= (SELECT id FROM experiments ORDER BY id DESC LIMIT 1 OFFSET $1)";

/// Stores a new experiment.
pub(crate) async fn insert(db: &mut Db, experiment: &Experiment) -> Result<(), StoreError> {
    let new = experiment.clone();
    let settings = serde_json::to_string(&new.settings).map_err(|_| UNWRITABLE)?;
    let configs = serde_json::to_string(&new.configs).map_err(|_| UNWRITABLE)?;
    let insert = sql::query(INSERT).bind(new.id).bind(new.name).bind(new.dataset_id).bind(new.dataset_version);
    let insert = insert.bind(settings).bind(configs).bind(new.fingerprint).bind(new.state.name().to_owned());
    let insert = insert.bind(new.total).bind(new.done).bind(new.spent_usd).bind(new.created_by);
    let summary = summary_text(&new.summary)?;
    insert.bind(new.created_at).bind(new.ended_at).bind(summary).execute(db).await?;
    Ok(())
}

/// Stores which job runs an experiment.
pub(crate) async fn set_job(db: &mut Db, id: &str, job_id: &str) -> Result<(), StoreError> {
    sql::query(SET_JOB).bind(id.to_owned()).bind(job_id.to_owned()).execute(db).await?;
    Ok(())
}

/// Begins, or goes on with, an experiment that waits or was interrupted. Returns whether it is to run.
pub(crate) async fn begin(db: &mut Db, id: &str, total: i64, fingerprint: String) -> Result<bool, StoreError> {
    let begin = sql::query(BEGIN).bind(id.to_owned()).bind(total).bind(fingerprint);
    Ok(begin.execute(db).await?.rows_affected() > 0)
}

/// Ends an experiment. Returns whether it waited or ran.
pub(crate) async fn end(db: &mut Db, id: &str, ending: Ending, now: i64) -> Result<bool, StoreError> {
    let Ending { state, cause, summary } = ending;
    let end = sql::query(END).bind(id.to_owned()).bind(state.name().to_owned()).bind(cause).bind(now);
    Ok(end.bind(summary_text(&summary)?).execute(db).await?.rows_affected() > 0)
}

fn summary_text(summary: &[ConfigSummary]) -> Result<Option<String>, StoreError> {
    if summary.is_empty() { Ok(None) } else { serde_json::to_string(summary).map(Some).map_err(|_| UNWRITABLE) }
}

/// Lets an experiment that is not complete wait again, with other bounds. Returns whether it was not complete.
pub(crate) async fn continue_with(db: &mut Db, id: &str, settings: &Settings) -> Result<bool, StoreError> {
    let settings = serde_json::to_string(settings).map_err(|_| UNWRITABLE)?;
    Ok(sql::query(CONTINUE).bind(id.to_owned()).bind(settings).execute(db).await?.rows_affected() > 0)
}

/// Stores a decision, in place of the one that was made at the time `replaces`. Returns false if the experiment has not
/// ended, so that there is nothing to decide, or has another decision.
pub(crate) async fn decide(
    db: &mut Db,
    id: &str,
    decision: &Decision,
    replaces: Option<i64>,
) -> Result<bool, StoreError> {
    let name = if decision.is_adopted { "adopted" } else { "rejected" };
    let decide = sql::query(DECIDE).bind(id.to_owned()).bind(name.to_owned()).bind(decision.note.clone());
    let decide = decide.bind(decision.decided_by.clone()).bind(decision.decided_at).bind(replaces.unwrap_or_default());
    Ok(decide.execute(db).await?.rows_affected() > 0)
}

/// Ends experiments whose jobs have ended without them.
pub(crate) async fn end_abandoned(store: &Store, now: i64) -> Result<u64, StoreError> {
    let end = sql::query(END_ABANDONED).bind(now);
    store.write(move |db| Box::pin(async move { Ok(end.execute(db).await?.rows_affected()) })).await
}

/// Deletes the oldest experiments beyond the bound.
pub(crate) async fn prune(store: &Store) -> Result<u64, StoreError> {
    let prune = sql::query(PRUNE).bind(MAX_EXPERIMENTS);
    store.write(move |db| Box::pin(async move { Ok(prune.execute(db).await?.rows_affected()) })).await
}

/// Returns all experiments, newest first.
pub(crate) async fn experiments(store: &Store, most: i64) -> Result<Vec<Experiment>, StoreError> {
    list(store, statement(" ORDER BY id DESC LIMIT $1").bind(most)).await
}

/// Returns the newest experiments with a dataset, newest first.
pub(crate) async fn of_dataset(store: &Store, dataset_id: &str, most: i64) -> Result<Vec<Experiment>, StoreError> {
    let list_all = statement(" WHERE dataset_id = $1 ORDER BY id DESC LIMIT $2");
    list(store, list_all.bind(dataset_id.to_owned()).bind(most)).await
}

/// Returns an experiment.
pub(crate) async fn experiment(store: &Store, id: &str) -> Result<Option<Experiment>, StoreError> {
    Ok(list(store, statement(" WHERE id = $1").bind(id.to_owned())).await?.into_iter().next())
}

fn statement(rest: &str) -> sql::Query {
    sql::query(sql::Sql::from(Arc::<str>::from(format!("{COLUMNS}{rest}"))))
}

async fn list(store: &Store, query: sql::Query) -> Result<Vec<Experiment>, StoreError> {
    store.rows(query, read).await
}

fn read(row: &Row) -> Result<Experiment, StoreError> {
    let (settings, configs): (String, String) = (row.try_get("settings")?, row.try_get("configs")?);
    let state: String = row.try_get("state")?;
    Ok(Experiment {
        id: row.try_get("id")?,
        name: row.try_get("name")?,
        dataset_id: row.try_get("dataset_id")?,
        dataset_version: row.try_get("dataset_version")?,
        settings: serde_json::from_str(&settings).map_err(|_| UNREADABLE)?,
        configs: serde_json::from_str(&configs).map_err(|_| UNREADABLE)?,
        fingerprint: row.try_get("fingerprint")?,
        state: State::parse(&state)?,
        job_id: row.try_get("job_id")?,
        total: row.try_get("total")?,
        done: row.try_get("done")?,
        estimate_usd: row.try_get("estimate_usd")?,
        spent_usd: row.try_get("spent_usd")?,
        summary: read_summary(row)?,
        cause: row.try_get("cause")?,
        created_by: row.try_get("created_by")?,
        created_at: row.try_get("created_at")?,
        ended_at: row.try_get("ended_at")?,
        decision: read_decision(row)?,
    })
}

fn read_summary(row: &Row) -> Result<Vec<ConfigSummary>, StoreError> {
    let summary: Option<String> = row.try_get("summary")?;
    summary.map_or(Ok(Vec::new()), |summary| serde_json::from_str(&summary).map_err(|_| UNREADABLE))
}

fn read_decision(row: &Row) -> Result<Option<Decision>, StoreError> {
    let Some(decision) = row.try_get::<Option<String>>("decision")? else { return Ok(None) };
    Ok(Some(Decision {
        is_adopted: decision == "adopted",
        note: row.try_get::<Option<String>>("decision_note")?.unwrap_or_default(),
        decided_by: row.try_get::<Option<String>>("decided_by")?.unwrap_or_default(),
        decided_at: row.try_get::<Option<i64>>("decided_at")?.unwrap_or_default(),
    }))
}
