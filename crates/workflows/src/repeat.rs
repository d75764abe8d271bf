//! Selects the steps of an ended run that are repeated when it continues.

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

/// The steps that are repeated when a run continues.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Repetition {
    /// The steps.
    pub(crate) steps: RepeatedSteps,
    /// The paths of those that are done and would have their effect once more.
    pub(crate) effects: Vec<String>,
}

/// Returns the steps that are repeated when a run continues after its end: those whose errors ended it, and those that were
/// still running then. With a path, these are also the step with this path and all steps that started after it. Steps whose
/// errors were handled are not repeated. If the step with the path contains others, the path means the first of them. With
/// `repeats_effects`, a child workflow with the path starts again, even if its run could continue. If there is no step with
/// this path, or the definition of the run is gone, the inner `Err` has the paths that exist.
///
/// # Errors
/// The database failed.
pub(crate) async fn repeated_steps(
    store: &Store,
    run: &RunRow,
    operators: Arc<Operators>,
    (path, repeats_effects): (Option<&str>, bool),
) -> Result<Result<Repetition, Vec<String>>, StoreError> {
    let definition = store::definition(store, &run.workflow_id, &run.version).await?;
    let (rows, facts) = (store::steps_of(store, &run.id).await?, facts(run, operators));
    let index = path.map_or(Some(rows.len()), |path| position(&rows, path));
    let (Some(definition), Some(index)) = (definition, index) else {
        return Ok(Err(rows.into_iter().map(|row| row.path).collect()));
    };
    let mut from = Beginning { index, repeats_effects, effects: HashSet::new() };
    for row in rows.iter().skip(index) {
        if has_effect(store, &definition, row).await? {
            from.effects.insert(row.path.clone());
        }
    }
    // Expressions may take seconds.
    let chosen = tokio::task::spawn_blocking(move || choose(&definition, &facts, rows, &from)).await;
    chosen.map(Ok).map_err(|_| StoreError::Failed("the steps to repeat could not be found".to_owned()))
}

/// Returns the place of the step with this path, or of the first one in it.
fn position(rows: &[StepRow], path: &str) -> Option<usize> {
    let is_within = |row: &StepRow| {
        let rest = row.path.strip_prefix(path).filter(|_| !path.is_empty());
        rest.is_some_and(|rest| rest.starts_with(['/', '[', '.']))
    };
    rows.iter().position(|row| row.path == path).or_else(|| rows.iter().position(is_within))
}

/// Returns whether a step would have an effect once more: a call that is done and may not be made twice, or a child
/// workflow with calls that are done.
async fn has_effect(store: &Store, definition: &Workflow, row: &StepRow) -> Result<bool, StoreError> {
    if let Some(child) = &row.child_id {
        return store::has_effects(store, child).await;
    }
    let is_idempotent = definition.step(&row.step_id).is_some_and(Step::is_idempotent);
    Ok(row.state == StepState::Done && !is_idempotent)
}

/// The position from which a run is repeated.
struct Beginning {
    /// The first step, in the order in which they have started.
    index: usize,
    repeats_effects: bool,
    /// The paths of the steps from there on that would have an effect once more.
    effects: HashSet<String>,
}

fn choose(definition: &Workflow, facts: &RunFacts, rows: Vec<StepRow>, from: &Beginning) -> Repetition {
    let is_cut_off =
        |row: &StepRow| row.state == StepState::Failed && row.error.as_ref().is_some_and(StepError::is_cut_off);
    // A path ends with the id of its step.
    let is_container =
        |path: &str| definition.step(path.rsplit('/').next().unwrap_or_default()).is_some_and(Step::is_container);
    let mut records: Records = rows.iter().filter(|row| !is_cut_off(row)).cloned().map(StepRow::record).collect();
    let mut failures: Vec<String> = Vec::new();
    loop {
        let found = unhandled_failures(definition, facts, &records, now_millis());
        // Steps that failed in a container before it timed out would fail it again. They are found without the record of the
        // container.
        let over: Vec<String> = found.iter().filter(|path| is_container(path)).cloned().collect();
        failures.extend(found);
        if over.is_empty() {
            break;
        }
        for path in &over {
            records.remove(path);
        }
    }
    let is_repeated = |index: usize, row: &StepRow| index >= from.index || failures.contains(&row.path);
    let again: HashSet<String> = rows
        .iter()
        .enumerate()
        .filter(|(index, row)| is_repeated(*index, row))
        .map(|(_, row)| row.path.clone())
        .collect();
    let mut repetition = Repetition::default();
    // With a step whose time was over, those in it that had not ended.
    let is_out_of_time = |row: &StepRow| {
        let container = row.error.as_ref().and_then(StepError::container);
        container.is_some_and(|path| again.contains(path))
    };
    for (index, row) in rows.into_iter().enumerate() {
        let goes_on = is_cut_off(&row) || is_out_of_time(&row) || failures.contains(&row.path);
        // The first child continues as well, so that its completed steps are not repeated.
        let is_kept = index < from.index || index == from.index && !from.repeats_effects;
        if goes_on && is_kept && row.child_id.is_some() {
            repetition.steps.children.push(row.path);
        } else if goes_on || index >= from.index {
            if from.effects.contains(&row.path) {
                repetition.effects.push(row.path.clone());
            }
            repetition.steps.anew.push(row.path);
        }
    }
    repetition
}
