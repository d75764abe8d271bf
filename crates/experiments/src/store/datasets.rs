//! Datasets.

use ::store::sql::{self, Db, Row};
use ::store::{Store, StoreError};
use schemars::JsonSchema;
use serde::Serialize;

/// The most datasets.
const MAX_DATASETS: i64 = 200;

const COLUMNS: &str = "
    SELECT d.id, d.name, d.agent_id, d.scorers, d.version, d.created_by, d.created_at, d.updated_at,
        (SELECT count(*) FROM eval_cases c WHERE c.dataset_id = d.id AND c.removed_in IS NULL) AS cases,
        (SELECT count(*) FROM experiments e WHERE e.dataset_id = d.id) AS experiments
    FROM eval_datasets d";

const INSERT: &str = "
    INSERT INTO eval_datasets (id, name, agent_id, scorers, version, created_by, created_at, updated_at)
    SELECT $1, $2, $3, $4, 1, $5, $6, $6 WHERE (SELECT count(*) FROM eval_datasets) < $7";

const SET_SCORERS: &str =
    "UPDATE eval_datasets SET scorers = $2, name = $3, version = version + 1, updated_at = $4 WHERE id = $1";

const DELETE: &str = "DELETE FROM eval_datasets WHERE id = $1";

/// A dataset.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "EvaluationDataset")]
pub(crate) struct Dataset {
    /// The id.
    pub(crate) id: String,
    /// The name.
    pub(crate) name: String,
    /// The agent whose answers it is about.
    pub(crate) agent_id: String,
    /// A list of scorers, as YAML.
    pub(crate) scorers: String,
    /// Grows with each change of a case or of the scorers.
    pub(crate) version: i64,
    /// The number of cases of this version.
    pub(crate) cases: i64,
    /// The number of experiments with it.
    pub(crate) experiments: i64,
    /// The administrator who made it (id).
    pub(crate) created_by: String,
    /// Unix time, milliseconds.
    pub(crate) created_at: i64,
    /// When a case or the scorers were changed last.
    pub(crate) updated_at: i64,
}

/// Returns all datasets, those that were changed last first.
pub(crate) async fn datasets(store: &Store) -> Result<Vec<Dataset>, StoreError> {
    let list = sql::query(list_sql(" ORDER BY d.updated_at DESC, d.id DESC LIMIT $1")).bind(MAX_DATASETS);
    store.rows(list, read).await
}

/// Returns a dataset.
pub(crate) async fn dataset(store: &Store, id: &str) -> Result<Option<Dataset>, StoreError> {
    let find = sql::query(list_sql(" WHERE d.id = $1")).bind(id.to_owned());
    store.optional_row(find, read).await
}

/// Returns the id of the dataset of an agent with this name, the oldest one.
pub(crate) async fn feedback_dataset(db: &mut Db, agent_id: &str, name: &str) -> Result<Option<String>, StoreError> {
    let find = "SELECT id FROM eval_datasets WHERE agent_id = $1 AND name = $2 ORDER BY id LIMIT 1";
    Ok(sql::query_scalar(find).bind(agent_id.to_owned()).bind(name.to_owned()).fetch_optional(db).await?)
}

/// Stores a new dataset. Returns whether there is room for it.
pub(crate) async fn insert_dataset(db: &mut Db, dataset: &Dataset) -> Result<bool, StoreError> {
    let Dataset { id, name, agent_id, scorers, created_by, created_at, .. } = dataset.clone();
    let insert = sql::query(INSERT).bind(id).bind(name).bind(agent_id).bind(scorers).bind(created_by);
    Ok(insert.bind(created_at).bind(MAX_DATASETS).execute(db).await?.rows_affected() > 0)
}

/// Changes the name and the scorers, which makes a new version. Returns whether the dataset exists.
pub(crate) async fn set_scorers(
    db: &mut Db,
    id: &str,
    (name, scorers): (String, String),
    now: i64,
) -> Result<bool, StoreError> {
    let change = sql::query(SET_SCORERS).bind(id.to_owned()).bind(scorers).bind(name).bind(now);
    Ok(change.execute(db).await?.rows_affected() > 0)
}

/// Deletes a dataset with its cases and experiments. Returns whether it existed.
pub(crate) async fn delete_dataset(db: &mut Db, id: &str) -> Result<bool, StoreError> {
    Ok(sql::query(DELETE).bind(id.to_owned()).execute(db).await?.rows_affected() > 0)
}

/// Returns the statement with a condition or an order.
fn list_sql(rest: &str) -> sql::Sql {
    sql::Sql::from(std::sync::Arc::<str>::from(format!("{COLUMNS}{rest}")))
}

fn read(row: &Row) -> Result<Dataset, StoreError> {
    Ok(Dataset {
        id: row.try_get("id")?,
        name: row.try_get("name")?,
        agent_id: row.try_get("agent_id")?,
        scorers: row.try_get("scorers")?,
        version: row.try_get("version")?,
        cases: row.try_get("cases")?,
        experiments: row.try_get("experiments")?,
        created_by: row.try_get("created_by")?,
        created_at: row.try_get("created_at")?,
        updated_at: row.try_get("updated_at")?,
    })
}
