//! The report of an evaluation: as Markdown for people, as JSON for programs, and as JUnit's XML for build servers.

mod junit;
mod markdown;

pub use junit::junit;
pub use markdown::markdown;

use crate::agreement::{Agreement, PersonVerdict, agreements};
use crate::baseline::{Change, Difference, Gate, compare, means, measures};
use crate::run::results::{CaseResult, Finished};
use crate::scorer::judge::Winner;
use crate::statistics::{Estimate, bootstrap, mean, rate};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};

/// How far means are apart at most that are the same, but for how they are stored.
const SAME_MEAN: f64 = 1e-9;

/// Estimates that are known from an earlier report of the same results, by config and scorer.
pub type Estimates = HashMap<(String, String), Estimate>;

/// A report.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// The name of the evaluation.
    pub evaluation: String,
    /// The figures of each config.
    pub configs: Vec<ConfigReport>,
    /// The second config compared with the first, if there are two.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comparison: Option<PairReport>,
    /// The comparison with the baseline, and the cases that must pass.
    pub gate: Gate,
    /// How far judges agree with people; empty if no person has said something of an answer that they have judged.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub agreements: Vec<Agreement>,
    /// The results that did not pass.
    pub failures: Vec<CaseResult>,
}

/// The figures of a config.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ConfigReport {
    /// The name of the config.
    pub config: String,
    /// The number of cases.
    pub cases: usize,
    /// The part of the cases that pass, with the Wilson interval.
    pub passed: Estimate,
    /// The means of the scorers over the cases to which they apply, with bootstrap intervals.
    pub scorers: BTreeMap<String, Estimate>,
    /// The number of results without an answer.
    pub errors: usize,
    /// The cost in US dollars, of results whose cost is known.
    pub cost_usd: f64,
    /// The number of results whose cost is unknown.
    pub unpriced: usize,
    /// The cost of the judges in US dollars.
    pub judge_cost_usd: f64,
    /// The mean time of an answer.
    pub mean_seconds: f64,
    /// The tokens that models have read.
    pub input_tokens: u64,
    /// The tokens that models have written.
    pub output_tokens: u64,
}

/// Two configs compared.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PairReport {
    /// The first config.
    pub first: String,
    /// The second config.
    pub second: String,
    /// The second minus the first, with intervals of the paired bootstrap.
    pub differences: Vec<Difference>,
    /// The cases that differ, those that are worse with the second config first.
    pub changes: Vec<Change>,
    /// How often the judge prefers the answer of the first, of the second, and none of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preferred: Option<[usize; 3]>,
}

impl Report {
    /// Makes the report of results. `configs` are the names of the configs, in order.
    pub fn new(evaluation: &str, configs: &[String], finished: &Finished, gate: Gate, seed: u64) -> Self {
        Self::with_estimates(evaluation, configs, finished, gate, seed, &Estimates::default())
    }

    /// Like [`Report::new`], with estimates that need not be computed again. Those are not used whose mean is not that of
    /// the results, some of which may have been deleted.
    pub fn with_estimates(
        evaluation: &str,
        configs: &[String],
        finished: &Finished,
        gate: Gate,
        seed: u64,
        known: &Estimates,
    ) -> Self {
        let results = &finished.results;
        let comparison = match configs {
            [first, second] => Some(pair(first, second, finished, seed)),
            _ => None,
        };
        Self {
            evaluation: evaluation.to_owned(),
            configs: configs.iter().map(|config| config_report(results, config, seed, known)).collect(),
            comparison,
            gate,
            agreements: agreements(results, &[]),
            failures: results.iter().filter(|result| !result.passed).cloned().collect(),
        }
    }

    /// Compares the judges also with the verdicts of people on the answers in these results.
    #[must_use]
    pub fn with_verdicts(self, results: &[CaseResult], verdicts: &[PersonVerdict]) -> Self {
        Self { agreements: agreements(results, verdicts), ..self }
    }

    /// Returns whether every case passes with every config.
    pub fn is_all_passed(&self) -> bool {
        self.failures.is_empty()
    }
}

fn pair(first: &str, second: &str, finished: &Finished, seed: u64) -> PairReport {
    let results = &finished.results;
    let (differences, changes) = compare(&means(results, first), &means(results, second), seed);
    let count = |winner: Winner| finished.comparisons.iter().filter(|result| result.winner == winner).count();
    let preferred = [Winner::First, Winner::Second, Winner::Neither].map(count);
    PairReport {
        first: first.to_owned(),
        second: second.to_owned(),
        differences,
        changes,
        preferred: (!finished.comparisons.is_empty()).then_some(preferred),
    }
}

/// Returns a sum; 0 of nothing, where `sum` is -0.
fn total(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(0.0, |all, one| all + one)
}

fn config_report(results: &[CaseResult], config: &str, seed: u64, known: &Estimates) -> ConfigReport {
    let means = means(results, config);
    let passed: Vec<_> = means.values().map(|case| case.passed).collect();
    let scorer = |name: &String| {
        let scores: Vec<_> = means.values().filter_map(|case| case.scores.get(name).copied()).collect();
        let known = known.get(&(config.to_owned(), name.clone())).copied();
        let known = known.filter(|known| known.count == scores.len() && (known.mean - mean(&scores)).abs() < SAME_MEAN);
        (name.clone(), known.unwrap_or_else(|| bootstrap(&scores, seed)))
    };
    let own: Vec<_> = results.iter().filter(|result| result.config == config).collect();
    let answered: Vec<_> = own.iter().filter(|result| result.error.is_none()).collect();
    ConfigReport {
        config: config.to_owned(),
        cases: means.len(),
        passed: rate(&passed),
        scorers: measures([&means]).iter().skip(1).map(scorer).collect(),
        errors: own.len() - answered.len(),
        cost_usd: total(own.iter().filter_map(|result| result.cost_usd)),
        unpriced: own.iter().filter(|result| result.cost_usd.is_none()).count(),
        judge_cost_usd: total(own.iter().map(|result| result.judge_cost_usd)),
        mean_seconds: mean(&answered.iter().map(|result| result.seconds).collect::<Vec<_>>()),
        input_tokens: own.iter().map(|result| result.input_tokens).sum(),
        output_tokens: own.iter().map(|result| result.output_tokens).sum(),
    }
}
