//! How far each step is. Only steps that do something have records; the state of the others follows
//! from what is in them and from what comes after them.

use crate::outline::{ListRole, OutlineStep, StepEnd};
use std::collections::HashMap;
use wire::workflow::StepState;

/// The stored state of a run: how it ended, and the records of its steps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunRecords<'r> {
    /// Whether it has ended.
    pub has_ended: bool,
    /// Whether it has ended without an error.
    pub is_done: bool,
    /// The path of the step with whose error the run ended; empty for other ends.
    pub failed: &'r str,
    /// The records of its steps, in the order in which they were made.
    pub records: Vec<Record<'r>>,
}

/// The stored state of a step that has started. A step in a loop has a record for each iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'r> {
    /// The id of the step.
    pub step_id: &'r str,
    /// The path, such as `each[3]/post`.
    pub path: &'r str,
    /// The state.
    pub state: StepState,
    /// Whether the step has ended.
    pub has_ended: bool,
}

/// The states of the steps by their ids, which are unique in a workflow.
pub(crate) struct States<'r> {
    states: HashMap<String, StepState>,
    records: HashMap<&'r str, Vec<Record<'r>>>,
}

/// Returns whether a step in this state has begun.
pub(crate) fn has_started(state: StepState) -> bool {
    !matches!(state, StepState::Pending | StepState::Skipped)
}

impl<'r> States<'r> {
    pub(crate) fn new(steps: &[OutlineStep], run: &RunRecords<'r>) -> Self {
        let mut records: HashMap<&str, Vec<Record<'r>>> = HashMap::new();
        for record in &run.records {
            records.entry(record.step_id).or_default().push(*record);
        }
        let mut states = Self { states: HashMap::new(), records };
        // A run that ended with `return` has not passed what comes after it.
        let is_passed = run.is_done && !has_return(steps);
        states.read_list(steps, run.has_ended, is_passed, run.failed);
        if run.is_done {
            states.mark_return(steps);
        }
        states
    }

    /// Returns the state of a step.
    pub(crate) fn state(&self, id: &str) -> StepState {
        self.states.get(id).copied().unwrap_or(StepState::Pending)
    }

    /// Returns the path of the record that needs most attention, and how many records of how many
    /// have ended.
    pub(crate) fn record(&self, id: &str) -> (Option<String>, Option<String>) {
        let Some(records) = self.records.get(id) else { return (None, None) };
        // `max_by_key` returns the last one of several records with the same state.
        let shown = records.iter().max_by_key(|record| record.state);
        let ended = records.iter().filter(|record| record.has_ended).count();
        (shown.map(|record| record.path.to_owned()), Some(format!("{ended}/{}", records.len())))
    }

    /// Returns whether a step in another branch of a step has started.
    pub(crate) fn other_branch_started(&self, step: &OutlineStep, branch: usize) -> bool {
        // The steps of a loop are no branch of it.
        let branches = step.lists.iter().filter(|list| list.role != ListRole::Body);
        let others = branches.enumerate().filter(|(index, _)| *index != branch);
        others.flat_map(|(_, other)| &other.steps).any(|step| has_started(self.state(&step.id)))
    }

    /// Sets the states of the steps of a list, from its end, since a step without a record is over if
    /// a later one has started. Returns whether any step has started.
    fn read_list(&mut self, steps: &[OutlineStep], has_ended: bool, is_passed: bool, failed: &str) -> bool {
        let mut is_passed = is_passed;
        let mut has_started = false;
        for step in steps.iter().rev() {
            let started = self.read_step(step, has_ended, is_passed, failed);
            is_passed |= started;
            has_started |= started;
        }
        has_started
    }

    fn read_step(&mut self, step: &OutlineStep, has_ended: bool, is_passed: bool, failed: &str) -> bool {
        let id = step.id.as_str();
        let over = has_ended || is_passed;
        let mut inner = Vec::new();
        for list in &step.lists {
            self.read_list(&list.steps, over, false, failed);
            inner.extend(list.steps.iter().map(|step| self.state(&step.id)));
        }
        let started = inner.iter().copied().filter(|state| has_started(*state));
        let own = self.records.get(id).into_iter().flatten().map(|record| record.state).max();
        let is_composite = !step.lists.is_empty() && own.is_none();
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
        has_started(state)
    }

    /// Marks the `return` with which a run ended, if only one can have ended it: one before which
    /// everything in its list is done and after which nothing has started.
    fn mark_return(&mut self, steps: &[OutlineStep]) {
        let mut found = Vec::new();
        self.find_returns(steps, &mut found);
        if let [id] = found.as_slice() {
            self.states.insert(id.clone(), StepState::Done);
        }
    }

    fn find_returns(&self, steps: &[OutlineStep], found: &mut Vec<String>) {
        for (index, step) in steps.iter().enumerate() {
            if steps[index + 1..].iter().any(|later| self.has_record(later)) {
                continue;
            }
            if step.end == Some(StepEnd::Return) {
                found.push(step.id.clone());
            }
            for list in &step.lists {
                self.find_returns(&list.steps, found);
            }
            if !self.is_over(step) {
                break;
            }
        }
    }

    fn has_record(&self, step: &OutlineStep) -> bool {
        self.records.contains_key(step.id.as_str())
            || step.lists.iter().flat_map(|list| &list.steps).any(|step| self.has_record(step))
    }

    fn is_over(&self, step: &OutlineStep) -> bool {
        self.has_record(step) || !step.lists.is_empty()
    }
}

fn has_return(steps: &[OutlineStep]) -> bool {
    let is_return =
        |step: &OutlineStep| step.end == Some(StepEnd::Return) || step.lists.iter().any(|list| has_return(&list.steps));
    steps.iter().any(is_return)
}
