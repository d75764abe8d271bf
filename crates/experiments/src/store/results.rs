//! The results of cases.

use super::verdicts::{Verdict, verdicts_about};
use super::{UNREADABLE, UNWRITABLE};
use ::store::sql::{self, Db};
use ::store::{Store, StoreError};
use evaluation::{CaseResult, ComparisonResult};

/// The most bytes of all recordings of an experiment.
const MAX_RECORDINGS: i64 = 64 * 1024 * 1024;

const PUT: &str = "
    INSERT INTO experiment_results (experiment_id, kind, config, case_id, repeat, owner, content, recording)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
    ON CONFLICT (experiment_id, kind, config, case_id, repeat) DO UPDATE SET
        owner = excluded.owner, content = excluded.content, recording = excluded.recording";

const PROGRESS: &str = "
    UPDATE experiments SET done = (SELECT count(*) FROM experiment_results WHERE experiment_id = $1 AND kind = 'result'),
        spent_usd = spent_usd + $2, estimate_usd = coalesce($3, estimate_usd)
    WHERE id = $1";

/// Results whose case was deleted while it was evaluated, with its user or with their consent.
const DELETE_ORPHANED: &str = "
    DELETE FROM experiment_results WHERE experiment_id = $1 AND owner <> ''
    AND NOT EXISTS (
        SELECT 1 FROM eval_cases c JOIN experiments e ON e.dataset_id = c.dataset_id
        WHERE e.id = $1 AND c.owner = experiment_results.owner AND c.case_id = experiment_results.case_id)";

const RECORDED_BYTES: &str = "
    SELECT CAST(coalesce(sum(length(recording)), 0) AS BIGINT) FROM experiment_results WHERE experiment_id = $1";

const LIST: &str = "
    SELECT kind, content FROM experiment_results WHERE experiment_id = $1 ORDER BY kind, config, case_id, repeat";

const LIST_OF_CASE: &str = "
    SELECT kind, content FROM experiment_results WHERE experiment_id = $1 AND case_id = $2
    ORDER BY kind, config, case_id, repeat";

const RECORDINGS: &str = "
    SELECT recording FROM experiment_results
    WHERE experiment_id = $1 AND kind = 'result' AND config = $2 AND case_id = $3 AND recording IS NOT NULL
    ORDER BY repeat LIMIT 1";

/// A result that is stored.
#[derive(Clone, Debug)]
pub(crate) enum ResultRow {
    /// Of a case, with what the agent did, as a file of recordings.
    Result(Box<CaseResult>, Option<String>),
    /// The comparison of two answers.
    Comparison(ComparisonResult),
}

/// The results of an experiment.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeptResults {
    pub(crate) results: Vec<CaseResult>,
    pub(crate) comparisons: Vec<ComparisonResult>,
    /// The verdicts of people on the answers.
    pub(crate) verdicts: Vec<Verdict>,
}

/// Stores results, each with the owner of its case, and how far the experiment is. A result replaces an earlier one of the
/// same case.
pub(crate) async fn append(
    db: &mut Db,
    experiment_id: &str,
    rows: Vec<(ResultRow, String)>,
    estimate_usd: Option<f64>,
) -> Result<(), StoreError> {
    let bytes = sql::query_scalar::<i64>(RECORDED_BYTES).bind(experiment_id.to_owned()).fetch_one(&mut *db).await?;
    let (mut left, mut cost) = (MAX_RECORDINGS - bytes, 0.0);
    for (row, owner) in rows {
        let (kind, config, case, repeat, content, recording) = match row {
            ResultRow::Result(result, recording) => {
                cost += result.cost_usd.unwrap_or_default() + result.judge_cost_usd;
                let content = serde_json::to_string(&result);
                ("result", result.config, result.case, result.repeat, content, recording)
            }
            ResultRow::Comparison(result) => {
                cost += result.judge_cost_usd;
                let content = serde_json::to_string(&result);
                ("comparison", String::new(), result.case, result.repeat, content, None)
            }
        };
        let recording = recording.filter(|recording| recording.len() as i64 <= left);
        left -= recording.as_ref().map_or(0, |recording| recording.len() as i64);
        let put = sql::query(PUT).bind(experiment_id.to_owned()).bind(kind.to_owned()).bind(config).bind(case);
        let put = put.bind(i64::from(repeat)).bind(owner).bind(content.map_err(|_| UNWRITABLE)?);
        put.bind(recording).execute(&mut *db).await?;
    }
    sql::query(PROGRESS).bind(experiment_id.to_owned()).bind(cost).bind(estimate_usd).execute(db).await?;
    Ok(())
}

/// Deletes the results of users whose cases are gone.
pub(crate) async fn delete_orphaned(db: &mut Db, experiment_id: &str) -> Result<(), StoreError> {
    sql::query(DELETE_ORPHANED).bind(experiment_id.to_owned()).execute(db).await?;
    Ok(())
}

/// Returns the results of an experiment.
pub(crate) async fn results(store: &Store, experiment_id: &str) -> Result<KeptResults, StoreError> {
    let kept = list(store, sql::query(LIST).bind(experiment_id.to_owned())).await?;
    let verdicts = verdicts_about(store, (experiment_id, None), &kept.results).await?;
    Ok(KeptResults { verdicts, ..kept })
}

/// Returns the results of a case in an experiment.
pub(crate) async fn results_of_case(store: &Store, experiment_id: &str, case: &str) -> Result<KeptResults, StoreError> {
    let of_case = sql::query(LIST_OF_CASE).bind(experiment_id.to_owned()).bind(case.to_owned());
    let kept = list(store, of_case).await?;
    let verdicts = verdicts_about(store, (experiment_id, Some(case)), &kept.results).await?;
    Ok(KeptResults { verdicts, ..kept })
}

async fn list(store: &Store, list: sql::Query) -> Result<KeptResults, StoreError> {
    let rows = store.read(move |db| Box::pin(async move { Ok(list.fetch_all(db).await?) })).await?;
    let mut kept = KeptResults::default();
    for row in &rows {
        let (kind, content): (String, String) = (row.try_get("kind")?, row.try_get("content")?);
        match kind.as_str() {
            "result" => kept.results.push(serde_json::from_str(&content).map_err(|_| UNREADABLE)?),
            _ => kept.comparisons.push(serde_json::from_str(&content).map_err(|_| UNREADABLE)?),
        }
    }
    Ok(kept)
}

/// Returns the recording of an agent in a case, as a file of recordings; of several repetitions, the first one.
pub(crate) async fn recordings_of(
    store: &Store,
    experiment_id: &str,
    config: &str,
    case: &str,
) -> Result<Option<String>, StoreError> {
    let find = sql::query_scalar::<String>(RECORDINGS).bind(experiment_id.to_owned()).bind(config.to_owned());
    let find = find.bind(case.to_owned());
    store.read(move |db| Box::pin(async move { Ok(find.fetch_optional(db).await?) })).await
}
