//! The changes of a run that continues after its end: its definition and its rights, and those of the runs
//! below it.

use super::run_rows::RunCaller;
use super::runs::INSERT_DEFINITION;
use super::to_json;
use ::store::sql::{self, Db, Row};
use ::store::{Store, StoreError};
use workflow_definition::Workflow;

const USE_VERSION: &str = "UPDATE workflow_runs SET version = $2 WHERE id = $1";

const SET_CALLER: &str = "UPDATE workflow_runs SET caller = $2 WHERE id = $1";

const FAILED_BELOW: &str = "
    WITH RECURSIVE below (id, depth) AS (
        SELECT id, 1 FROM workflow_runs WHERE parent_id = $1
        UNION ALL SELECT run.id, below.depth + 1 FROM workflow_runs AS run JOIN below ON run.parent_id = below.id)
    SELECT run.id, run.parent_id, run.workflow_id, run.version FROM workflow_runs AS run JOIN below ON run.id = below.id
    WHERE run.state IN ('failed', 'stopped') ORDER BY below.depth";

const HAS_EFFECTS: &str = "
    WITH RECURSIVE below (id) AS (
        SELECT id FROM workflow_runs WHERE id = $1
        UNION ALL SELECT run.id FROM workflow_runs AS run JOIN below ON run.parent_id = below.id)
    SELECT EXISTS (SELECT 1 FROM workflow_steps AS step JOIN below ON step.run_id = below.id
        WHERE step.state = 'done' AND step.step_type IN ('agent', 'tool', 'endpoint'))";

/// A run below another one that has failed or was stopped.
#[derive(Clone, Debug)]
pub(crate) struct FailedBelow {
    pub(crate) id: String,
    pub(crate) parent_id: String,
    pub(crate) workflow_id: String,
    pub(crate) version: String,
}

/// Returns the runs below a run that have failed or were stopped, each one after that of which it is a step.
pub(crate) async fn failed_below(db: &mut Db, id: &str) -> Result<Vec<FailedBelow>, StoreError> {
    let rows = sql::query(FAILED_BELOW).bind(id).fetch_all(db).await?;
    let read = |row: &Row| {
        Ok(FailedBelow {
            id: row.try_get("id")?,
            parent_id: row.try_get("parent_id")?,
            workflow_id: row.try_get("workflow_id")?,
            version: row.try_get("version")?,
        })
    };
    rows.iter().map(read).collect()
}

/// Returns whether a run or one below it has calls that are done.
pub(crate) async fn has_effects(store: &Store, id: &str) -> Result<bool, StoreError> {
    let find = sql::query_scalar::<bool>(HAS_EFFECTS).bind(id.to_owned());
    store.read(move |db| Box::pin(async move { Ok(find.fetch_one(db).await?) })).await
}

/// Sets as whom the steps of a run act from now on.
pub(crate) async fn set_caller(db: &mut Db, id: &str, caller: &RunCaller) -> Result<(), StoreError> {
    sql::query(SET_CALLER).bind(id).bind(to_json(caller)).execute(db).await?;
    Ok(())
}

/// Makes a run continue with another version of its definition.
pub(crate) async fn use_definition(db: &mut Db, id: &str, workflow: &Workflow, now: i64) -> Result<(), StoreError> {
    let version = workflow.version();
    let insert = sql::query(INSERT_DEFINITION).bind(&workflow.id.0).bind(&version).bind(to_json(workflow)).bind(now);
    insert.execute(&mut *db).await?;
    sql::query(USE_VERSION).bind(id).bind(version).execute(db).await?;
    Ok(())
}
