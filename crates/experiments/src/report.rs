//! Computes the measures of results. The intervals of many results take seconds, so that is done on threads of its own.

use crate::store::{ConfigSummary, Experiment, KeptResults, MeasureSummary, Verdict};
use evaluation::{CaseResult, Estimate, Estimates, Finished, Gate, PersonVerdict, Report};
use offload::{Busy, Pool};
use std::sync::LazyLock;

/// Where the random numbers of intervals begin, so that they are the same each time.
const SEED: u64 = 0;
/// The size of a thread's stack, in bytes.
const STACK: usize = 2 << 20;
/// The most reports that are computed or wait for that. Each has the results of one or two experiments.
const MAX_QUEUED: usize = 16;

static REPORTS: LazyLock<Pool> = LazyLock::new(|| Pool::new("reports", STACK, MAX_QUEUED));

/// Returns the measures of each config, and the results.
///
/// # Errors
/// Too many reports wait already.
pub(crate) async fn summary(configs: &[String], finished: Finished) -> Result<(Vec<ConfigSummary>, Finished), Busy> {
    let configs = configs.to_vec();
    REPORTS.run(move |_| (summarized(&configs, &finished), finished)).await
}

/// Like [`summary`], for a job, which can wait: another attempt would also repeat the cases that failed.
///
/// # Errors
/// The computation failed.
pub(crate) async fn summary_of_run(configs: &[String], finished: Finished) -> Result<Vec<ConfigSummary>, Busy> {
    let configs = configs.to_vec();
    REPORTS.run_waiting(move |_| summarized(&configs, &finished)).await
}

fn summarized(configs: &[String], finished: &Finished) -> Vec<ConfigSummary> {
    let report = Report::new("", configs, finished, Gate::default(), SEED);
    let measure = |name: &str, estimate: &Estimate| MeasureSummary {
        name: name.to_owned(),
        count: estimate.count,
        mean: estimate.mean,
        low: estimate.low,
        high: estimate.high,
    };
    let config = |config: &evaluation::ConfigReport| ConfigSummary {
        config: config.config.clone(),
        measures: std::iter::once(measure("passed", &config.passed))
            .chain(config.scorers.iter().map(|(name, estimate)| measure(name, estimate)))
            .collect(),
        cost_usd: config.cost_usd + config.judge_cost_usd,
        mean_seconds: config.mean_seconds,
    };
    report.configs.iter().map(config).collect()
}

/// Returns the report about an experiment; of two configs it has their comparison. Judges are compared with people.
///
/// # Errors
/// Too many reports wait already.
pub(crate) async fn report(experiment: &Experiment, kept: KeptResults) -> Result<Report, Busy> {
    let (name, configs) = (experiment.name.clone(), experiment.configs.clone());
    let known = estimates(&experiment.summary);
    let KeptResults { results, comparisons, verdicts } = kept;
    let verdicts: Vec<_> = verdicts.into_iter().map(person_verdict).collect();
    let finished = Finished { results, comparisons };
    let work = REPORTS.run(move |_| {
        let report = Report::with_estimates(&name, &configs, &finished, Gate::default(), SEED, &known);
        report.with_verdicts(&finished.results, &verdicts)
    });
    work.await
}

fn person_verdict(verdict: Verdict) -> PersonVerdict {
    let Verdict { config, case, repeat, liked, .. } = verdict;
    PersonVerdict { config, case, repeat, liked }
}

/// Returns the estimates of a summary that is stored, so that they are not computed again.
fn estimates(summary: &[ConfigSummary]) -> Estimates {
    let mut known = Estimates::default();
    for config in summary {
        for MeasureSummary { name, count, mean, low, high } in &config.measures {
            let estimate = Estimate { count: *count, mean: *mean, low: *low, high: *high };
            known.insert((config.config.clone(), name.clone()), estimate);
        }
    }
    known
}

/// Compares the last config of an experiment with the last config of an earlier one. The names are those of the
/// experiments.
///
/// # Errors
/// Too many reports wait already.
pub(crate) async fn report_against(
    (earlier, before): (&Experiment, &KeptResults),
    (experiment, after): (&Experiment, &KeptResults),
) -> Result<Report, Busy> {
    let names = distinct(&earlier.name, &experiment.name);
    let mut known = Estimates::default();
    let mut results = Vec::new();
    for ((of, kept), name) in [(earlier, before), (experiment, after)].into_iter().zip(&names) {
        let Some(config) = of.configs.last() else { continue };
        let own = kept.results.iter().filter(|result| result.config == *config);
        results.extend(own.map(|result| CaseResult { config: name.clone(), ..result.clone() }));
        let own = estimates(&of.summary).into_iter().filter(|((of, _), _)| of == config);
        known.extend(own.map(|((_, measure), estimate)| ((name.clone(), measure), estimate)));
    }
    let finished = Finished { results, comparisons: Vec::new() };
    let title = experiment.name.clone();
    REPORTS.run(move |_| Report::with_estimates(&title, &names, &finished, Gate::default(), SEED, &known)).await
}

/// Returns the names, which must differ.
fn distinct(earlier: &str, later: &str) -> [String; 2] {
    if earlier == later {
        [format!("{earlier} (earlier)"), format!("{later} (later)")]
    } else {
        [earlier.to_owned(), later.to_owned()]
    }
}
