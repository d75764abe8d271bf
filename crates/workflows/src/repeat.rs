//! Which steps of an ended run are repeated when it goes on.

use crate::plan::{Records, RunFacts, StepError, StepState, unhandled_failures};
use crate::store::{self, RepeatedSteps, RunRow, StepRow};
use ::store::{Store, StoreError};
use operators::Operators;
use std::collections::HashSet;
use std::sync::Arc;
use web::times::now_millis;
use workflow_definition::{Step, Workflow};

/// Returns what the planner knows of a run.
pub(crate) fn facts(run: &RunRow, operators: Arc<Operators>) -> RunFacts {
    RunFacts {
        run_id: run.id.clone(),
        input: run.input.clone(),
        user: run.caller.caller(&run.owner).facts(),
        created_at: run.created_at,
        resumed_at: run.resumed_at,
        operators,
    }
}

/// Returns the steps that are repeated when a run goes on after its end: those whose errors ended it, those that its
/// end has cut off, and with a path that step and all that started later. Steps whose errors were handled are not
/// repeated. `None` if there is no step with this path, or the definition of the run is gone.
///
/// # Errors
/// The database failed.
pub(crate) async fn repeated_steps(
    store: &Store,
    run: &RunRow,
    operators: Arc<Operators>,
    path: Option<&str>,
) -> Result<Option<RepeatedSteps>, StoreError> {
    let Some(definition) = store::definition(store, &run.workflow_id, &run.version).await? else { return Ok(None) };
    let (rows, facts) = (store::steps_of(store, &run.id).await?, facts(run, operators));
    let from = match path {
        Some(path) => match rows.iter().position(|row| row.path == path) {
            Some(from) => from,
            None => return Ok(None),
        },
        None => rows.len(),
    };
    // Expressions may take seconds.
    let chosen = tokio::task::spawn_blocking(move || choose(&definition, &facts, rows, from)).await;
    chosen.map(Some).map_err(|_| StoreError::Failed("the steps to repeat could not be found".to_owned()))
}

fn choose(definition: &Workflow, facts: &RunFacts, rows: Vec<StepRow>, from: usize) -> RepeatedSteps {
    let is_cut_off =
        |row: &StepRow| row.state == StepState::Failed && row.error.as_ref().is_some_and(StepError::is_cut_off);
    // A path ends with the id of its step.
    let is_container =
        |path: &str| definition.step(path.rsplit('/').next().unwrap_or_default()).is_some_and(Step::is_container);
    let mut records: Records = rows.iter().filter(|row| !is_cut_off(row)).cloned().map(StepRow::record).collect();
    let mut failures: Vec<String> = Vec::new();
    loop {
        let found = unhandled_failures(definition, facts, &records, now_millis());
        // What had failed in a step before its time was over would fail that step again.
        let over: Vec<String> = found.iter().filter(|path| is_container(path)).cloned().collect();
        failures.extend(found);
        if over.is_empty() {
            break;
        }
        for path in &over {
            records.remove(path);
        }
    }
    let is_repeated = |index: usize, row: &StepRow| index >= from || failures.contains(&row.path);
    let again: HashSet<String> = rows
        .iter()
        .enumerate()
        .filter(|(index, row)| is_repeated(*index, row))
        .map(|(_, row)| row.path.clone())
        .collect();
    let mut repeated = RepeatedSteps::default();
    // With a step whose time was over, those in it that had not ended.
    let is_out_of_time = |row: &StepRow| {
        let container = row.error.as_ref().and_then(StepError::container);
        container.is_some_and(|path| again.contains(path))
    };
    for (index, row) in rows.into_iter().enumerate() {
        let goes_on = is_cut_off(&row) || is_out_of_time(&row) || failures.contains(&row.path);
        if goes_on && index < from && row.child_id.is_some() {
            repeated.children.push(row.path);
        } else if goes_on || index >= from {
            repeated.anew.push(row.path);
        }
    }
    repeated
}
