//! Compares the answers of two configs, after all cases are evaluated.

use super::results::{ComparisonResult, Results};
use super::running::Running;
use super::{Run, RunError};
use crate::case::Case;
use crate::definition::Comparison;
use crate::scorer::judge::{Winner, compare};
use std::collections::{HashMap, HashSet};

/// Two answers to a case.
struct Pair<'a> {
    case: &'a Case,
    repeat: u32,
    answers: (String, String),
}

/// Asks the judge which answer of two configs is better, for each case that is not compared yet.
pub(super) async fn compare_answers(
    run: &Run<'_>,
    cases: &[Case],
    parallel: usize,
    mut file: Results,
) -> Result<Results, RunError> {
    let Some(comparison) = &run.evaluation.compare else { return Ok(file) };
    let mut pairs = open_pairs(run, cases, &file).into_iter();
    run.budget().next_kind();
    // The first one is made alone: the cost of the others is estimated from it.
    let (mut running, mut most) = (Running::new(), 1);
    loop {
        running.fill(most, || Some(evaluate(run, comparison, pairs.next()?)));
        let Some(compared) = running.ended().await else { break };
        file.append_comparisons(compared).await.map_err(RunError::Results)?;
        most = parallel;
    }
    run.complete(running.left_out(), file)
}

/// Returns the cases that both configs have answered and that are not compared yet.
fn open_pairs<'a>(run: &Run<'_>, cases: &'a [Case], file: &Results) -> Vec<Pair<'a>> {
    let [first, second] = run.candidates else { return Vec::new() };
    let known: HashSet<_> = file.comparisons.iter().map(|known| (known.case.as_str(), known.repeat)).collect();
    let answered = file.results.iter().filter(|result| result.error.is_none());
    let answers: HashMap<_, _> = answered
        .map(|result| ((result.config.as_str(), result.case.as_str(), result.repeat), &result.answer))
        .collect();
    let repeats = file.results.iter().map(|result| result.repeat + 1).max().unwrap_or_default();
    let rounds = (0..repeats).flat_map(|repeat| cases.iter().map(move |case| (repeat, case)));
    let pairs = rounds.filter(|(repeat, case)| !known.contains(&(case.id.as_str(), *repeat)));
    let pairs = pairs.filter_map(|(repeat, case)| {
        let answer = |config: &str| answers.get(&(config, case.id.as_str(), repeat)).map(|answer| (*answer).clone());
        Some(Pair { case, repeat, answers: (answer(&first.name)?, answer(&second.name)?) })
    });
    pairs.collect()
}

/// Compares two answers; `None` if that would probably exceed the bound of the cost.
async fn evaluate(run: &Run<'_>, comparison: &Comparison, pair: Pair<'_>) -> Option<ComparisonResult> {
    if !run.budget().begin() {
        return None;
    }
    let Pair { case, repeat, answers } = pair;
    let judge = (comparison.agent_id.as_str(), comparison.rubric.as_str());
    let answers = (answers.0.as_str(), answers.1.as_str());
    let compared = compare(&*run.candidates[0].subject, judge, &case.to_value(), answers).await;
    run.budget().end(compared.cost_usd);
    let is_error = compared.outcome.is_err();
    let failed = |error| (Winner::Neither, format!("the judge failed: {error}"));
    let (winner, reason) = compared.outcome.unwrap_or_else(failed);
    Some(ComparisonResult {
        case: case.id.clone(),
        repeat,
        winner,
        reason,
        judge_cost_usd: compared.cost_usd,
        is_error,
    })
}
