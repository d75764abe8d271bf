//! What results say.

use crate::store::{ConfigSummary, Experiment, KeptResults, MeasureSummary};
use evaluation::{CaseResult, Estimate, Finished, Gate, Report};

/// Where the random numbers of intervals begin, so that they are the same each time.
const SEED: u64 = 0;

/// Returns the measures of each config.
pub(crate) fn summary(configs: &[String], finished: &Finished) -> Vec<ConfigSummary> {
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

/// Returns the report about an experiment; of two configs it has their comparison.
pub(crate) fn report(experiment: &Experiment, kept: KeptResults) -> Report {
    let finished = Finished { results: kept.results, comparisons: kept.comparisons };
    Report::new(&experiment.name, &experiment.configs, &finished, Gate::default(), SEED)
}

/// Compares the last config of an experiment with the last config of an earlier one. The names are those of the
/// experiments.
pub(crate) fn report_against(
    (earlier, before): (&Experiment, &KeptResults),
    (experiment, after): (&Experiment, &KeptResults),
) -> Report {
    let names = distinct(&earlier.name, &experiment.name);
    let of_last = |experiment: &Experiment, kept: &KeptResults, name: &str| -> Vec<CaseResult> {
        let config = experiment.configs.last();
        let own = kept.results.iter().filter(|result| Some(&result.config) == config);
        own.map(|result| CaseResult { config: name.to_owned(), ..result.clone() }).collect()
    };
    let mut results = of_last(earlier, before, &names[0]);
    results.extend(of_last(experiment, after, &names[1]));
    let finished = Finished { results, comparisons: Vec::new() };
    Report::new(&experiment.name, &names, &finished, Gate::default(), SEED)
}

/// Returns the names, which must differ.
fn distinct(earlier: &str, later: &str) -> [String; 2] {
    match earlier == later {
        true => [format!("{earlier} (earlier)"), format!("{later} (later)")],
        false => [earlier.to_owned(), later.to_owned()],
    }
}
