//! The results of a run. Each is kept when it is known, in a file or elsewhere, so that a run that was
//! killed continues where it was.

use super::file;
use crate::scorer::Score;
use crate::scorer::judge::Winner;
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fmt::Debug;
use std::path::Path;

/// The evaluation of one case with one config.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CaseResult {
    /// The name of the config.
    pub config: String,
    /// The id of the case.
    pub case: String,
    /// Which repetition it is, from 0.
    pub repeat: u32,
    /// Whether there is an answer, and every scorer that applies passes.
    pub passed: bool,
    /// Why there is no answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The scores of the scorers that apply to the case.
    pub scores: Vec<Score>,
    /// The text of the last answer; the end of a long one is cut off.
    pub answer: String,
    /// The names of the tools that were called, in order.
    pub tools: Vec<String>,
    /// The conversation, in a database that is given.
    pub conversation_id: String,
    /// The tokens that models have read and written.
    pub input_tokens: u64,
    /// See `input_tokens`.
    pub output_tokens: u64,
    /// In US dollars; absent if a price is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    /// The cost of the judges in US dollars.
    pub judge_cost_usd: f64,
    /// How long the answers took.
    pub seconds: f64,
    /// The scores of judges for the rated answer of the case. Only the first result of a case has them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rated: Vec<RatedScore>,
}

/// The score of a judge for an answer that a person has rated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RatedScore {
    /// Whether the person liked the answer.
    pub liked: bool,
    /// The score of the judge.
    pub score: Score,
}

impl CaseResult {
    /// Returns whether something failed that says nothing about the agent's answer: there is none, or
    /// a scorer could not score it.
    pub(crate) fn is_error(&self) -> bool {
        self.error.is_some() || self.scores.iter().any(|score| score.is_error)
    }

    /// Returns the cost in US dollars as far as it is known, including judges.
    pub(crate) fn known_cost_usd(&self) -> f64 {
        self.cost_usd.unwrap_or_default() + self.judge_cost_usd
    }
}

/// The comparison of two answers to a case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ComparisonResult {
    /// The id of the case.
    pub case: String,
    /// Which repetition it is, from 0.
    pub repeat: u32,
    /// Which answer is better.
    pub winner: Winner,
    /// Why.
    pub reason: String,
    /// The cost of the judge in US dollars.
    pub judge_cost_usd: f64,
    /// Whether the judge failed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_error: bool,
}

/// Where results are kept as they become known.
#[async_trait]
pub trait ResultSink: Debug + Send {
    /// Keeps results and comparisons; they are stored when it returns.
    ///
    /// # Errors
    /// They cannot be stored. The message is for the author of the evaluation.
    async fn append(&mut self, results: &[CaseResult], comparisons: &[ComparisonResult]) -> Result<(), String>;
}

/// The results so far, and what keeps them.
#[derive(Debug, Default)]
pub struct Results {
    sink: Option<Box<dyn ResultSink>>,
    pub(crate) results: Vec<CaseResult>,
    pub(crate) comparisons: Vec<ComparisonResult>,
    /// The cost of results that are made again, in US dollars.
    pub(crate) discarded_usd: f64,
}

impl Results {
    /// Begins a new file. `path`: `None` keeps nothing. `names` are those of the evaluation and the configs,
    /// `fingerprint` is a stable hash of all that the results depend on.
    ///
    /// # Errors
    /// The file exists already, or cannot be written.
    pub fn create(path: Option<&Path>, names: (&str, &[String]), fingerprint: &str) -> Result<Self, String> {
        let Some(path) = path else { return Ok(Self::default()) };
        Ok(Self { sink: Some(Box::new(file::create(path, names, fingerprint)?)), ..Self::default() })
    }

    /// Opens the file of a run that was not completed. A last line that was cut off is removed. Results
    /// that are errors are made again.
    ///
    /// # Errors
    /// The file cannot be read, is used by another process, has a broken line, or is of another evaluation.
    pub fn resume(path: &Path, names: (&str, &[String]), fingerprint: &str) -> Result<Self, String> {
        let (sink, results, comparisons) = file::resume(path, names, fingerprint)?;
        Ok(Self::continued(Box::new(sink), results, comparisons))
    }

    /// Continues with results that are kept already, in the order in which they were kept: a later one replaces an
    /// earlier one. Those that are errors are made again.
    pub fn continued(sink: Box<dyn ResultSink>, results: Vec<CaseResult>, comparisons: Vec<ComparisonResult>) -> Self {
        Known::new(results, comparisons).into_results(sink)
    }

    /// Sets what was spent so far, if it is known: more than the results say that are kept, since some were made again.
    #[must_use]
    pub fn with_spent(mut self, spent_usd: f64) -> Self {
        let kept = self.results.iter().map(CaseResult::known_cost_usd);
        let kept: f64 = kept.chain(self.comparisons.iter().map(|comparison| comparison.judge_cost_usd)).sum();
        self.discarded_usd = self.discarded_usd.max(spent_usd - kept);
        self
    }

    /// Returns the number of results that are known.
    pub fn count(&self) -> usize {
        self.results.len()
    }

    pub(crate) async fn append_results(&mut self, results: Vec<CaseResult>) -> Result<(), String> {
        if let Some(sink) = &mut self.sink {
            sink.append(&results, &[]).await?;
        }
        self.results.extend(results);
        Ok(())
    }

    pub(crate) async fn append_comparisons(&mut self, comparisons: Vec<ComparisonResult>) -> Result<(), String> {
        if let Some(sink) = &mut self.sink {
            sink.append(&[], &comparisons).await?;
        }
        self.comparisons.extend(comparisons);
        Ok(())
    }
}

/// The results of an evaluation.
#[derive(Clone, Debug)]
pub struct Finished {
    /// The results, in the order of the configs, cases and repetitions.
    pub results: Vec<CaseResult>,
    /// The comparisons of two configs, in the order of the cases.
    pub comparisons: Vec<ComparisonResult>,
}

impl Finished {
    /// Returns the last result of each case, and the last comparison, in the order in which they were kept: earlier ones
    /// were errors that were made again.
    pub fn last(results: Vec<CaseResult>, comparisons: Vec<ComparisonResult>) -> Self {
        Known::new(results, comparisons).into_finished()
    }
}

/// The stored results, by their keys. A later result replaces an earlier one, which was an error.
#[derive(Default)]
struct Known {
    results: HashMap<(String, String, u32), CaseResult>,
    comparisons: HashMap<(String, u32), ComparisonResult>,
    discarded_usd: f64,
}

impl Known {
    fn new(results: Vec<CaseResult>, comparisons: Vec<ComparisonResult>) -> Self {
        let mut known = Self::default();
        results.into_iter().for_each(|result| known.add_result(result));
        comparisons.into_iter().for_each(|comparison| known.add_comparison(comparison));
        known
    }

    fn add_result(&mut self, result: CaseResult) {
        let compared = (result.case.clone(), result.repeat);
        let key = (result.config.clone(), result.case.clone(), result.repeat);
        if let Some(replaced) = self.results.insert(key, result) {
            self.discarded_usd += replaced.known_cost_usd();
            // It was of another answer.
            self.discard_comparison(&compared);
        }
    }

    fn add_comparison(&mut self, comparison: ComparisonResult) {
        let key = (comparison.case.clone(), comparison.repeat);
        if let Some(replaced) = self.comparisons.insert(key, comparison) {
            self.discarded_usd += replaced.judge_cost_usd;
        }
    }

    fn discard_comparison(&mut self, key: &(String, u32)) {
        self.discarded_usd += self.comparisons.remove(key).map_or(0.0, |comparison| comparison.judge_cost_usd);
    }

    /// Returns all of it, errors included, in the order of the configs' names, the cases and the repetitions.
    fn into_finished(self) -> Finished {
        let mut results: Vec<_> = self.results.into_values().collect();
        results.sort_by(|one, other| {
            (&one.config, &one.case, one.repeat).cmp(&(&other.config, &other.case, other.repeat))
        });
        let mut comparisons: Vec<_> = self.comparisons.into_values().collect();
        comparisons.sort_by(|one, other| (&one.case, one.repeat).cmp(&(&other.case, other.repeat)));
        Finished { results, comparisons }
    }

    /// Leaves out the errors.
    fn into_results(mut self, sink: Box<dyn ResultSink>) -> Results {
        let (errors, results): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.results).into_values().partition(CaseResult::is_error);
        for error in errors {
            self.discarded_usd += error.known_cost_usd();
            self.discard_comparison(&(error.case, error.repeat));
        }
        let (errors, comparisons): (Vec<_>, Vec<_>) =
            self.comparisons.into_values().partition(|comparison| comparison.is_error);
        let discarded_usd = errors.iter().fold(self.discarded_usd, |all, comparison| all + comparison.judge_cost_usd);
        Results { sink: Some(sink), results, comparisons, discarded_usd }
    }
}
