//! Runs an evaluation: asks the agent, scores the answers, and keeps the results.

mod budget;
mod comparisons;
pub(crate) mod file;
pub(crate) mod results;
mod running;
mod score_case;

use crate::case::Case;
use crate::definition::Evaluation;
use crate::subject::Subject;
use budget::Budget;
use results::{CaseResult, Finished, Results};
use running::Running;
use score_case::score_case;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A config that is evaluated.
#[derive(Clone)]
pub struct Candidate {
    /// Its name in results: unique in the evaluation.
    pub name: String,
    /// Another agent than that of the evaluation.
    pub agent_id: Option<String>,
    /// Its agents.
    pub subject: Arc<dyn Subject>,
}

/// The options of a run with which the command line overrides the file of the evaluation.
#[derive(Clone, Copy, Debug)]
pub struct RunSettings {
    /// How often each case is evaluated.
    pub repeat: u32,
    /// How many cases are evaluated at the same time.
    pub parallel: usize,
    /// The highest cost in US dollars.
    pub max_cost_usd: Option<f64>,
}

/// A report of the progress of an evaluation.
#[derive(Clone, Debug)]
pub enum Progress {
    /// The estimated cost of all cases in US dollars, after the first one. Comparisons are not included.
    Estimate(f64),
    /// The number of finished cases has grown.
    Done {
        /// How many are done.
        done: usize,
        /// How many there are.
        all: usize,
        /// How many have been added since this was told last.
        newly: usize,
    },
}

/// Why an evaluation is not complete.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RunError {
    /// The cost would exceed the bound. The results so far are in the file.
    #[error("{0}")]
    Cost(String),
    /// The results could not be written.
    #[error("{0}")]
    Results(String),
}

/// A case that is evaluated with one config.
struct Task<'a> {
    candidate: &'a Candidate,
    case: &'a Case,
    repeat: u32,
}

/// Evaluates the cases that have no result yet, with each config.
///
/// # Errors
/// See [`RunError`].
pub async fn run(
    evaluation: &Evaluation,
    cases: &[Case],
    candidates: &[Candidate],
    mut file: Results,
    settings: RunSettings,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<Finished, RunError> {
    let mut tasks = open_tasks(cases, candidates, &file, settings.repeat).into_iter();
    let run = Run {
        evaluation,
        candidates,
        all: cases.len() * candidates.len() * settings.repeat as usize,
        budget: Mutex::new(Budget::new(settings.max_cost_usd, file.discarded_usd)),
        progress,
    };
    // The cost of a comparison is no estimate for the cost of a case.
    file.comparisons.iter().for_each(|comparison| run.budget().add_finished(comparison.judge_cost_usd));
    run.budget().next_kind();
    file.results.iter().for_each(|result| run.budget().add_finished(result.known_cost_usd()));
    if let Some(first) = tasks.next() {
        file = run.first_task(first, tasks.len(), file).await?;
    }
    file = run.further_tasks(tasks, settings.parallel, file).await?;
    file = comparisons::compare_answers(&run, cases, settings.parallel, file).await?;
    Ok(finished(cases, candidates, file))
}

/// A run that is in progress.
struct Run<'a> {
    evaluation: &'a Evaluation,
    candidates: &'a [Candidate],
    /// The number of results when it is complete.
    all: usize,
    budget: Mutex<Budget>,
    progress: &'a (dyn Fn(Progress) + Sync),
}

impl Run<'_> {
    fn budget(&self) -> MutexGuard<'_, Budget> {
        self.budget.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Evaluates a task; `None` if its cost would probably exceed the bound.
    async fn evaluate(&self, task: Task<'_>) -> Option<CaseResult> {
        if !self.budget().begin() {
            return None;
        }
        let first = &self.candidates[0];
        let is_first = task.repeat == 0 && task.candidate.name == first.name;
        let repeat = (task.repeat, is_first);
        let result = score_case(self.evaluation, task.case, task.candidate, &*first.subject, repeat).await;
        self.budget().end(result.known_cost_usd());
        Some(result)
    }

    /// Evaluates the first task alone: the cost of the others is estimated from it.
    async fn first_task(&self, task: Task<'_>, further: usize, file: Results) -> Result<Results, RunError> {
        let Some(result) = self.evaluate(task).await else { return Err(self.too_costly(further + 1)) };
        let file = self.keep(vec![result], file).await?;
        let (estimate, max) = {
            let budget = self.budget();
            (budget.estimate(further), budget.max_usd())
        };
        (self.progress)(Progress::Estimate(estimate));
        if max.is_some_and(|max| estimate > max) {
            return Err(self.too_costly(further));
        }
        Ok(file)
    }

    async fn further_tasks(
        &self,
        tasks: impl Iterator<Item = Task<'_>>,
        parallel: usize,
        mut file: Results,
    ) -> Result<Results, RunError> {
        let (mut tasks, mut running) = (tasks, Running::new());
        loop {
            running.fill(parallel, || Some(self.evaluate(tasks.next()?)));
            let Some(results) = running.ended().await else { break };
            file = self.keep(results, file).await?;
        }
        self.complete(running.left_out(), file)
    }

    /// Returns the results, unless something was left out because of its cost.
    fn complete(&self, left_out: usize, file: Results) -> Result<Results, RunError> {
        if left_out > 0 { Err(self.too_costly(left_out)) } else { Ok(file) }
    }

    /// Appends results to the file, and reports them.
    async fn keep(&self, results: Vec<CaseResult>, mut file: Results) -> Result<Results, RunError> {
        let max = self.budget().max_usd();
        let newly = results.len();
        let priced = results.iter().try_for_each(|result| check_price(result, max));
        file.append_results(results).await.map_err(RunError::Results)?;
        priced?;
        (self.progress)(Progress::Done { done: file.count(), all: self.all, newly });
        Ok(file)
    }

    fn too_costly(&self, left_out: usize) -> RunError {
        let budget = self.budget();
        let (spent, max) = (budget.spent_usd(), budget.max_usd().unwrap_or_default());
        let all = budget.estimate(left_out);
        RunError::Cost(format!(
            "the cost is bounded to ${max:.4}: ${spent:.4} was spent, and all cases would cost about ${all:.4}; {left_out} were not \
             evaluated. Raise the bound or select fewer cases"
        ))
    }
}

/// Returns the work without a result. The configs of a case follow each other, so that they are compared under the same
/// conditions.
fn open_tasks<'a>(cases: &'a [Case], candidates: &'a [Candidate], file: &Results, repeat: u32) -> Vec<Task<'a>> {
    let known: HashSet<_> =
        file.results.iter().map(|result| (result.config.as_str(), result.case.as_str(), result.repeat)).collect();
    let rounds = (0..repeat).flat_map(|repeat| cases.iter().map(move |case| (repeat, case)));
    let tasks =
        rounds.flat_map(|(repeat, case)| candidates.iter().map(move |candidate| Task { candidate, case, repeat }));
    tasks.filter(|task| !known.contains(&(task.candidate.name.as_str(), task.case.id.as_str(), task.repeat))).collect()
}

/// A bound of the cost holds only if the cost is known.
fn check_price(result: &CaseResult, max_usd: Option<f64>) -> Result<(), RunError> {
    if max_usd.is_none() || result.cost_usd.is_some() {
        return Ok(());
    }
    let message = "the cost is bounded, but the price of a model is unknown: add it to `prices` in the config";
    Err(RunError::Cost(message.to_owned()))
}

fn finished(cases: &[Case], candidates: &[Candidate], file: Results) -> Finished {
    let Results { mut results, mut comparisons, .. } = file;
    let case_order: HashMap<_, _> = cases.iter().enumerate().map(|(index, case)| (case.id.as_str(), index)).collect();
    let config_order = |name: &str| candidates.iter().position(|candidate| candidate.name == name);
    results.retain(|result| case_order.contains_key(result.case.as_str()));
    comparisons.retain(|comparison| case_order.contains_key(comparison.case.as_str()));
    results.sort_by_key(|result| (config_order(&result.config), case_order.get(result.case.as_str()), result.repeat));
    comparisons.sort_by_key(|comparison| (case_order.get(comparison.case.as_str()), comparison.repeat));
    Finished { results, comparisons }
}
