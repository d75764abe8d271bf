//! How far each step of a definition is. Only steps that do something have records; the state of
//! the others follows from what is in them and from what comes after them.

use super::{InnerList, ListRole, inner_lists};
use crate::definition::{Step, StepKind, Workflow};
use crate::plan;
use crate::store::{RunRow, RunState, StepRow};
use std::collections::HashMap;
use wire::workflow::StepState;

/// What is known of a run.
#[derive(Debug, Default)]
pub(super) struct Progress<'r> {
    pub(super) has_ended: bool,
    pub(super) is_done: bool,
    /// The path of the step with whose error the run ended; empty for other ends.
    pub(super) failed: &'r str,
    pub(super) records: Vec<Record<'r>>,
}

/// What is known of a step that has started.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record<'r> {
    pub(super) step_id: &'r str,
    pub(super) path: &'r str,
    pub(super) state: StepState,
    pub(super) has_ended: bool,
}

impl<'r> Progress<'r> {
    pub(super) fn new(run: &'r RunRow, records: &'r [StepRow]) -> Self {
        let record = |row: &'r StepRow| Record {
            step_id: &row.step_id,
            path: &row.path,
            state: step_state(row.state),
            has_ended: row.ended_at.is_some(),
        };
        Self {
            has_ended: run.ended_at.is_some(),
            is_done: run.state == RunState::Done,
            failed: run.error.as_ref().map_or("", |error| error.step.as_str()),
            records: records.iter().map(record).collect(),
        }
    }
}

/// The states of the steps by their ids, which are unique in a workflow.
pub(super) struct States<'r> {
    states: HashMap<String, StepState>,
    records: HashMap<&'r str, Vec<Record<'r>>>,
}

/// Converts the state of a record.
pub(crate) fn step_state(state: plan::StepState) -> StepState {
    match state {
        plan::StepState::Running => StepState::Running,
        plan::StepState::Unknown => StepState::Unknown,
        plan::StepState::Retrying => StepState::Retrying,
        plan::StepState::Waiting => StepState::Waiting,
        plan::StepState::Done => StepState::Done,
        plan::StepState::Failed => StepState::Failed,
    }
}

impl<'r> States<'r> {
    pub(super) fn new(workflow: &Workflow, progress: &Progress<'r>) -> Self {
        let mut records: HashMap<&str, Vec<Record<'r>>> = HashMap::new();
        for record in &progress.records {
            records.entry(record.step_id).or_default().push(*record);
        }
        let mut states = Self { states: HashMap::new(), records };
        // A run that ended with `return` has not passed what comes after it.
        let is_passed = progress.is_done && !has_return(&workflow.steps);
        states.read_list(&workflow.steps, progress.has_ended, is_passed, progress.failed);
        if progress.is_done {
            states.mark_return(workflow);
        }
        states
    }

    /// Returns the state of a step.
    pub(super) fn state(&self, id: &str) -> StepState {
        self.states.get(id).copied().unwrap_or(StepState::Pending)
    }

    /// Returns the path of the record that needs most attention, and how many records of how many
    /// have ended.
    pub(super) fn record(&self, id: &str) -> (Option<String>, Option<String>) {
        let Some(records) = self.records.get(id) else { return (None, None) };
        // Of several, the last one.
        let shown = records.iter().max_by_key(|record| record.state);
        let ended = records.iter().filter(|record| record.has_ended).count();
        (shown.map(|record| record.path.to_owned()), Some(format!("{ended}/{}", records.len())))
    }

    /// Returns whether a step in another branch of a step has started.
    pub(super) fn other_branch_started(&self, step: &Step, branch: usize) -> bool {
        // The steps of a loop are no branch of it.
        let branches = inner_lists(step).into_iter().filter(|list| list.role != ListRole::Body);
        let others = branches.enumerate().filter(|(index, _)| *index != branch);
        others.flat_map(|(_, other)| other.steps).any(|step| self.has_started(&step.id.0))
    }

    fn has_started(&self, id: &str) -> bool {
        !matches!(self.state(id), StepState::Pending | StepState::Skipped)
    }

    /// Sets the states of the steps of a list, from its end, since a step without a record is over if
    /// a later one has started. Returns whether any step has started.
    fn read_list(&mut self, steps: &[Step], has_ended: bool, is_passed: bool, failed: &str) -> bool {
        let mut is_passed = is_passed;
        let mut has_started = false;
        for step in steps.iter().rev() {
            let started = self.read_step(step, has_ended, is_passed, failed);
            is_passed |= started;
            has_started |= started;
        }
        has_started
    }

    fn read_step(&mut self, step: &Step, has_ended: bool, is_passed: bool, failed: &str) -> bool {
        let id = step.id.0.as_str();
        let over = has_ended || is_passed;
        let mut inner = Vec::new();
        for InnerList { steps, .. } in inner_lists(step) {
            self.read_list(steps, over, false, failed);
            inner.extend(steps.iter().map(|step| self.state(&step.id.0)));
        }
        let started = inner.iter().copied().filter(|state| !matches!(state, StepState::Pending | StepState::Skipped));
        let own = self.records.get(id).into_iter().flatten().map(|record| record.state).max();
        let is_composite = !inner_lists(step).is_empty() && own.is_none();
        let state = match own.or_else(|| started.max()) {
            Some(state) if failed == id => state.max(StepState::Failed),
            Some(state) => state,
            None if !failed.is_empty() && failed.rsplit('/').next() == Some(id) => StepState::Failed,
            // A condition that was false, or a list without items.
            None if is_passed && is_composite => StepState::Done,
            None if over => StepState::Skipped,
            None => StepState::Pending,
        };
        self.states.insert(id.to_owned(), state);
        !matches!(state, StepState::Pending | StepState::Skipped)
    }

    /// Marks the `return` with which a run ended, if only one can have ended it: one before which
    /// everything in its list is done and after which nothing has started.
    fn mark_return(&mut self, workflow: &Workflow) {
        let mut found = Vec::new();
        self.find_returns(&workflow.steps, &mut found);
        if let [id] = found.as_slice() {
            self.states.insert(id.clone(), StepState::Done);
        }
    }

    fn find_returns(&self, steps: &[Step], found: &mut Vec<String>) {
        for (index, step) in steps.iter().enumerate() {
            if steps[index + 1..].iter().any(|later| self.has_record(later)) {
                continue;
            }
            if matches!(step.kind, StepKind::Return(_)) {
                found.push(step.id.0.clone());
            }
            for list in inner_lists(step) {
                self.find_returns(list.steps, found);
            }
            if !self.is_over(step) {
                break;
            }
        }
    }

    fn has_record(&self, step: &Step) -> bool {
        self.records.contains_key(step.id.0.as_str())
            || inner_lists(step).into_iter().flat_map(|list| list.steps).any(|step| self.has_record(step))
    }

    fn is_over(&self, step: &Step) -> bool {
        self.has_record(step) || !inner_lists(step).is_empty()
    }
}

fn has_return(steps: &[Step]) -> bool {
    let is_return = |step: &Step| {
        matches!(step.kind, StepKind::Return(_)) || inner_lists(step).into_iter().any(|list| has_return(list.steps))
    };
    steps.iter().any(is_return)
}
