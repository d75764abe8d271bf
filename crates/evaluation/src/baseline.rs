//! Means by case, the changes between two of them, and the gate: a stored baseline that must not get worse.

use crate::case::Case;
use crate::definition::Evaluation;
use crate::hashes::Hashes;
use crate::names::shown_names;
use crate::run::results::CaseResult;
use crate::statistics::{Estimate, bootstrap};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::Path;

/// The largest baseline in bytes.
const MAX_BYTES: u64 = 64 << 20;
/// The name of what counts passed cases, beside the scorers.
pub(crate) const PASSED: &str = "passed";

/// The means of a case over its repetitions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct CaseMeans {
    /// The part of the repetitions that passed.
    pub(crate) passed: f64,
    /// The mean of each scorer that applies. A repetition without an answer counts as 0.
    #[serde(default)]
    pub(crate) scores: BTreeMap<String, f64>,
    /// Whether no repetition has an answer, so that no scorer could score one.
    #[serde(skip)]
    is_unanswered: bool,
}

impl CaseMeans {
    /// Returns the mean of a scorer, or the part that passed.
    fn value(&self, name: &str) -> Option<f64> {
        if name == PASSED { Some(self.passed) } else { self.scores.get(name).copied() }
    }
}

/// Returns a measure of both means of a case, if it is one of both. Without an answer, each scorer of the
/// other one counts as 0: otherwise what fails would drop out of the comparison.
fn both(before: &CaseMeans, after: &CaseMeans, name: &str) -> Option<(f64, f64)> {
    match (before.value(name), after.value(name)) {
        (Some(before), Some(after)) => Some((before, after)),
        (Some(before), None) if after.is_unanswered => Some((before, 0.0)),
        (None, Some(after)) if before.is_unanswered => Some((0.0, after)),
        _ => None,
    }
}

/// Means by the id of the case.
pub(crate) type Means = BTreeMap<String, CaseMeans>;

/// Returns the means of a config.
pub(crate) fn means(results: &[CaseResult], config: &str) -> Means {
    let mut cases: BTreeMap<&str, Vec<&CaseResult>> = BTreeMap::new();
    for result in results.iter().filter(|result| result.config == config) {
        cases.entry(&result.case).or_default().push(result);
    }
    let case = |(id, results): (&str, Vec<&CaseResult>)| {
        let passed = results.iter().filter(|result| result.passed).count() as f64 / results.len() as f64;
        let mut scores: BTreeMap<String, Vec<f64>> = BTreeMap::new();
        for score in results.iter().flat_map(|result| &result.scores) {
            scores.entry(score.scorer.clone()).or_default().push(score.score);
        }
        let unanswered = results.iter().filter(|result| result.error.is_some()).count();
        let mean = |values: Vec<f64>| values.iter().sum::<f64>() / (values.len() + unanswered) as f64;
        let scores = scores.into_iter().map(|(name, values)| (name, mean(values))).collect();
        (id.to_owned(), CaseMeans { passed, scores, is_unanswered: unanswered == results.len() })
    };
    cases.into_iter().map(case).collect()
}

/// Returns the names of the measures, `passed` first.
pub(crate) fn measures<'m>(means: impl IntoIterator<Item = &'m Means>) -> Vec<String> {
    let names: BTreeSet<_> = means.into_iter().flat_map(Means::values).flat_map(|case| case.scores.keys()).collect();
    std::iter::once(PASSED.to_owned()).chain(names.into_iter().filter(|name| *name != PASSED).cloned()).collect()
}

/// How a measure has changed over the cases that have it both times.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Difference {
    /// `passed`, or a scorer.
    pub measure: String,
    /// The mean of the differences, with its interval.
    pub difference: Estimate,
}

impl Difference {
    /// Returns whether it got worse, and that is no chance: the interval is below 0. The interval of one
    /// case is empty and says nothing.
    pub fn is_worse(&self) -> bool {
        self.difference.count > 1 && self.difference.high < 0.0
    }

    /// Returns whether it got better, and that is no chance.
    pub fn is_better(&self) -> bool {
        self.difference.count > 1 && self.difference.low > 0.0
    }
}

/// A case whose means have changed.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Change {
    /// The case.
    pub case: String,
    /// The measures that have changed, `passed` or scorers, each with the means before and after.
    pub measures: Vec<(String, f64, f64)>,
}

impl Change {
    /// Returns the sum of the differences.
    pub fn difference(&self) -> f64 {
        self.measures.iter().map(|(_, before, after)| after - before).sum()
    }
}

/// Compares two means. Returns the differences of all measures, and the cases that have changed, those
/// that got worse first.
pub(crate) fn compare(before: &Means, after: &Means, seed: u64) -> (Vec<Difference>, Vec<Change>) {
    let measures = measures([before, after]);
    let pairs: Vec<_> = after.iter().filter_map(|(id, after)| Some((id, before.get(id)?, after))).collect();
    let difference = |measure: &String| {
        let differences: Vec<_> = pairs
            .iter()
            .filter_map(|(_, before, after)| both(before, after, measure))
            .map(|(before, after)| after - before)
            .collect();
        let difference = bootstrap(&differences, seed);
        (difference.count > 0).then(|| Difference { measure: measure.clone(), difference })
    };
    let change = |(id, before, after): &(&String, &CaseMeans, &CaseMeans)| {
        let changed = measures.iter().filter_map(|measure| {
            let (before, after) = both(before, after, measure)?;
            ((before - after).abs() > 1e-9).then(|| (measure.clone(), before, after))
        });
        let measures: Vec<_> = changed.collect();
        (!measures.is_empty()).then(|| Change { case: (*id).clone(), measures })
    };
    let mut changes: Vec<_> = pairs.iter().filter_map(change).collect();
    changes.sort_by(|one, other| one.difference().total_cmp(&other.difference()));
    (measures.iter().filter_map(difference).collect(), changes)
}

/// Stored means, with which later runs are compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Baseline {
    /// The name of the evaluation.
    evaluation: String,
    /// The hashes of the cases and of the scorers. Baselines of earlier versions do not have them.
    #[serde(default, skip_serializing_if = "Hashes::is_empty")]
    hashes: Hashes,
    cases: Means,
}

impl Baseline {
    /// Makes a baseline of the results of a config. `cases` are those of the dataset.
    ///
    /// # Errors
    /// Something failed that says nothing about the agent, so that later runs would be compared with less.
    pub fn new(evaluation: &Evaluation, cases: &[Case], results: &[CaseResult], config: &str) -> Result<Self, String> {
        let errors = results.iter().filter(|result| result.config == config && result.is_error());
        let errors: Vec<_> = errors.map(|result| result.case.as_str()).collect();
        if !errors.is_empty() {
            let cases = shown_names("there was no answer, or a scorer failed, for", &errors);
            return Err(format!("the baseline was not changed: {cases}"));
        }
        let means = means(results, config);
        let compared = cases.iter().filter(|case| means.contains_key(&case.id));
        let hashes = Hashes::new(&evaluation.scorers, compared);
        Ok(Self { evaluation: evaluation.name.clone(), hashes, cases: means })
    }

    /// Checks that the baseline has some of the selected cases.
    ///
    /// # Errors
    /// It has none of them.
    pub fn check_cases(&self, selected: &[Case]) -> Result<(), String> {
        if selected.iter().any(|case| self.cases.contains_key(&case.id)) {
            Ok(())
        } else {
            Err("the baseline has none of these cases; `--update-baseline` stores this run as the new one".to_owned())
        }
    }

    /// Reads a baseline.
    ///
    /// # Errors
    /// The file cannot be read, or is of another evaluation.
    pub fn read(path: &Path, evaluation: &str) -> Result<Self, String> {
        let shown = path.display();
        let problem = |error: std::io::Error| match error.kind() {
            std::io::ErrorKind::NotFound => {
                format!("there is no baseline {shown}; `--update-baseline` stores the results of this run as one")
            }
            _ => format!("{shown} cannot be read: {error}"),
        };
        let mut bytes = Vec::new();
        File::open(path).map_err(problem)?.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(problem)?;
        if bytes.len() as u64 > MAX_BYTES {
            return Err(format!("{shown} is larger than {} MB", MAX_BYTES >> 20));
        }
        let baseline: Self = serde_json::from_slice(&bytes)
            .map_err(|error| format!("{shown}:{}:{}: {error}", error.line(), error.column()))?;
        if baseline.evaluation != evaluation {
            return Err(format!("{shown} is the baseline of `{}`, not of `{evaluation}`", baseline.evaluation));
        }
        Ok(baseline)
    }

    /// Writes the baseline; an existing file is replaced at once.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), String> {
        let problem = |error: &dyn std::fmt::Display| format!("{} cannot be written: {error}", path.display());
        let mut json = serde_json::to_vec_pretty(self).map_err(|error| problem(&error))?;
        json.push(b'\n');
        let mut file = readable_file(folder_of(path)).map_err(|error| problem(&error))?;
        file.write_all(&json).and_then(|()| file.as_file().sync_all()).map_err(|error| problem(&error))?;
        file.persist(path).map_err(|error| problem(&error))?;
        Ok(())
    }
}

/// Whether a run may pass: nothing got worse than the baseline, and no case that must pass has failed.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Gate {
    /// The differences to the baseline; none without one.
    pub differences: Vec<Difference>,
    /// The cases that have changed, the worst first.
    pub changes: Vec<Change>,
    /// The measures that got worse, as far as that is no chance.
    pub worse: Vec<String>,
    /// The ids of the cases that must pass and have failed.
    pub failed_must: Vec<String>,
    /// The cases and the scorers of cases that are in the baseline and no longer in the evaluation. They cannot be
    /// compared, so a change for the worse would go unnoticed.
    pub missing: Vec<String>,
    /// The cases that ask or expect something else than in the baseline, and the scorers with other settings. Their
    /// results say nothing about the agent.
    pub changed: Vec<String>,
    /// Whether the baseline is of an earlier version, which does not know what was changed.
    pub lacks_hashes: bool,
    /// How many cases got worse, by chance or not.
    pub worse_cases: usize,
    /// How many cases may be worse.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_worse: Option<usize>,
    /// The number of cases that are in both.
    pub compared: usize,
}

/// The results that a gate checks.
#[derive(Clone, Copy, Debug)]
pub struct Checked<'a> {
    /// The evaluation.
    pub evaluation: &'a Evaluation,
    /// All cases of the dataset.
    pub dataset: &'a [Case],
    /// The cases that were evaluated.
    pub selected: &'a [Case],
    /// Their results.
    pub results: &'a [CaseResult],
    /// The config that is checked.
    pub config: &'a str,
}

impl Gate {
    /// Checks the results of a config.
    pub fn check(checked: Checked<'_>, baseline: Option<&Baseline>, seed: u64) -> Self {
        let Checked { evaluation, dataset, selected: cases, results, config } = checked;
        let now = means(results, config);
        let has_failed = |case: &&Case| case.must && now.get(&case.id).is_none_or(|case| case.passed < 1.0);
        let failed_must = cases.iter().filter(has_failed).map(|case| case.id.clone()).collect();
        let Some(baseline) = baseline else { return Self { failed_must, ..Self::default() } };
        let compared = now.keys().filter(|id| baseline.cases.contains_key(*id)).count();
        let (differences, changes) = compare(&baseline.cases, &now, seed);
        let worse = differences.iter().filter(|difference| difference.is_worse());
        let worse = worse.map(|difference| difference.measure.clone()).collect();
        let hashes = Hashes::new(&evaluation.scorers, dataset.iter());
        Self {
            worse,
            failed_must,
            missing: missing(&baseline.cases, dataset, &now),
            changed: baseline.hashes.changed(&hashes),
            lacks_hashes: baseline.hashes.is_empty(),
            worse_cases: changes.iter().filter(|change| change.difference() < 0.0).count(),
            max_worse: None,
            differences,
            changes,
            compared,
        }
    }

    /// Bounds how many cases may be worse than in the baseline, also by chance.
    #[must_use]
    pub fn with_max_worse(self, max_worse: Option<usize>) -> Self {
        Self { max_worse, ..self }
    }

    /// Returns whether more cases are worse than may be.
    pub fn has_too_many_worse(&self) -> bool {
        self.max_worse.is_some_and(|max| self.worse_cases > max)
    }

    /// Returns whether the run passes.
    pub fn is_passed(&self) -> bool {
        let is_same = self.missing.is_empty() && self.changed.is_empty();
        is_same && self.worse.is_empty() && self.failed_must.is_empty() && !self.has_too_many_worse()
    }
}

/// Returns what means have that neither the dataset nor the means of now have, as texts for people.
fn missing(before: &Means, dataset: &[Case], now: &Means) -> Vec<String> {
    let known: HashSet<_> = dataset.iter().map(|case| case.id.as_str()).collect();
    let cases = before.keys().filter(|id| !known.contains(id.as_str())).map(|id| format!("the case `{id}`"));
    let mut scorers: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let compared = now.iter().filter_map(|(id, now)| Some((id, before.get(id)?, now)));
    for (id, before, now) in compared.filter(|(_, _, now)| !now.is_unanswered) {
        for scorer in before.scores.keys().filter(|scorer| !now.scores.contains_key(*scorer)) {
            scorers.entry(scorer).or_default().push(id);
        }
    }
    let scorers = scorers.into_iter().map(|(scorer, ids)| shown_names(&format!("the scorer `{scorer}` of"), &ids));
    cases.chain(scorers).collect()
}

/// Checks that a file can be written, without changing it.
///
/// # Errors
/// It cannot.
pub fn check_writable(path: &Path) -> Result<(), String> {
    let checked = if path.exists() {
        OpenOptions::new().append(true).open(path).map(drop)
    } else {
        tempfile::NamedTempFile::new_in(folder_of(path)).map(drop)
    };
    checked.map_err(|error| format!("{} cannot be written: {error}", path.display()))
}

/// Creates a temporary file that everybody may read whom the umask allows, as other files of a repository;
/// without that, only the user may.
fn readable_file(folder: &Path) -> std::io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(folder)
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
