//! Compares the answers of two configs, after all cases are evaluated.

use super::results::{ComparisonResult, Results, Winner};
use super::{Run, RunError, ended};
use crate::case::Case;
use crate::definition::Comparison;
use crate::scorer::judge::compare;
use futures::stream::FuturesUnordered;
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
    let (mut running, mut left_out) = (FuturesUnordered::new(), 0);
    // The first one is made alone: it says what the others will cost.
    let mut most = 1;
    loop {
        while running.len() < most
            && let Some(pair) = pairs.next()
        {
            running.push(evaluate(run, comparison, pair));
        }
        let compared = ended(&mut running).await;
        if compared.is_empty() {
            break;
        }
        left_out += compared.iter().filter(|compared| compared.is_none()).count();
        file = keep(compared, file).await?;
        most = parallel;
    }
    if left_out > 0 { Err(run.too_costly(left_out)) } else { Ok(file) }
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

/// Appends comparisons to the file.
async fn keep(compared: Vec<Option<ComparisonResult>>, mut file: Results) -> Result<Results, RunError> {
    let compared = compared.into_iter().flatten().collect();
    file.append_comparisons(compared).await.map_err(RunError::Results)?;
    Ok(file)
}
