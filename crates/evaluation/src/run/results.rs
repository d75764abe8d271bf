//! The results file: JSON Lines, to which each result is appended when it is known, so that a run that
//! was killed continues where it was.

use crate::scorer::Score;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;

/// The largest results file that is read, in bytes.
const MAX_BYTES: u64 = 1 << 30;

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
    /// What the scorers say, those that apply to the case.
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
    /// What judges have cost.
    pub judge_cost_usd: f64,
    /// How long the answers took.
    pub seconds: f64,
}

impl CaseResult {
    /// Returns whether something failed that says nothing about the agent's answer: there is none, or
    /// a scorer could not score it.
    pub(crate) fn is_error(&self) -> bool {
        self.error.is_some() || self.scores.iter().any(|score| score.is_error)
    }

    /// Returns what it has cost as far as that is known, judges included.
    pub(crate) fn known_cost_usd(&self) -> f64 {
        self.cost_usd.unwrap_or_default() + self.judge_cost_usd
    }
}

/// Which of two answers is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Winner {
    /// That of the first config.
    First,
    /// That of the second config.
    Second,
    /// They are equal, or the judge contradicts itself.
    Neither,
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
    /// What the judge has cost.
    pub judge_cost_usd: f64,
    /// Whether the judge failed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_error: bool,
}

/// What the results are of; the first line of the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Header {
    /// The name of the evaluation.
    pub(crate) evaluation: String,
    /// The names of the configs, in order.
    pub(crate) configs: Vec<String>,
    /// A hash of the evaluation, the dataset and the configs, the same with every build of the program.
    pub(crate) fingerprint: String,
}

/// A line of the file.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase")]
enum Line {
    Run(Header),
    Result(CaseResult),
    Comparison(ComparisonResult),
}

/// The results so far, and the file that keeps them.
#[derive(Debug, Default)]
pub struct ResultsFile {
    file: Option<File>,
    pub(crate) results: Vec<CaseResult>,
    pub(crate) comparisons: Vec<ComparisonResult>,
    /// What results have cost that are made again.
    pub(crate) discarded_usd: f64,
}

impl ResultsFile {
    /// Begins a new file. `path`: `None` keeps nothing. `names` are those of the evaluation and the configs,
    /// `fingerprint` is a stable hash of all that the results depend on.
    ///
    /// # Errors
    /// The file exists already, or cannot be written.
    pub fn create(path: Option<&Path>, names: (&str, &[String]), fingerprint: &str) -> Result<Self, String> {
        let Some(path) = path else { return Ok(Self::default()) };
        let opened = OpenOptions::new().create_new(true).append(true).open(path);
        let file = opened.map_err(|error| match error.kind() {
            std::io::ErrorKind::AlreadyExists => {
                format!("{} exists already; continue it with `--resume`, or delete it", path.display())
            }
            _ => format!("{} cannot be written: {error}", path.display()),
        })?;
        lock(&file, path)?;
        let mut results = Self { file: Some(file), ..Self::default() };
        results.write(&[Line::Run(header(names, fingerprint))])?;
        Ok(results)
    }

    /// Opens the file of a run that was not completed. A last line that was cut off is removed. Results
    /// that are errors are made again.
    ///
    /// # Errors
    /// The file cannot be read, is used by another process, has a broken line, or is of another evaluation.
    pub fn resume(path: &Path, names: (&str, &[String]), fingerprint: &str) -> Result<Self, String> {
        let shown = path.display();
        let problem = |error: std::io::Error| format!("{shown} cannot be read: {error}");
        let mut file = OpenOptions::new().read(true).append(true).open(path).map_err(problem)?;
        lock(&file, path)?;
        let mut bytes = Vec::new();
        Read::by_ref(&mut file).take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(problem)?;
        if bytes.len() as u64 > MAX_BYTES {
            return Err(format!("{shown} is larger than {} MB", MAX_BYTES >> 20));
        }
        // Each line was written with its end, so one without it was cut off.
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        file.set_len(whole as u64).map_err(problem)?;
        file.seek(SeekFrom::End(0)).map_err(problem)?;
        let expected = header(names, fingerprint);
        let mut resumed = Self { file: Some(file), ..Self::default() };
        let mut lines = bytes[..whole].split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).zip(1..);
        match lines.next().map(|(line, _)| serde_json::from_slice(line)) {
            // The process was killed before the first line was whole.
            None => resumed.write(&[Line::Run(expected)])?,
            Some(Ok(Line::Run(found))) if found == expected => {}
            Some(Ok(Line::Run(_))) => {
                return Err(format!(
                    "{shown} is of another evaluation: the evaluation, its dataset or a config has changed since; begin a new file with `--output`"
                ));
            }
            Some(_) => return Err(format!("{shown}:1: this is not the results of an evaluation")),
        }
        let mut known = Known::default();
        for (line, number) in lines {
            match serde_json::from_slice(line) {
                Ok(Line::Result(result)) => known.add_result(result),
                Ok(Line::Comparison(comparison)) => known.add_comparison(comparison),
                Ok(Line::Run(_)) | Err(_) => return Err(format!("{shown}:{number}: the line is not a result")),
            }
        }
        Ok(known.into_file(resumed.file))
    }

    /// Returns the number of results that are known.
    pub fn count(&self) -> usize {
        self.results.len()
    }

    pub(crate) fn append_results(&mut self, results: Vec<CaseResult>) -> Result<(), String> {
        self.write(&results.iter().cloned().map(Line::Result).collect::<Vec<_>>())?;
        self.results.extend(results);
        Ok(())
    }

    pub(crate) fn append_comparisons(&mut self, comparisons: Vec<ComparisonResult>) -> Result<(), String> {
        self.write(&comparisons.iter().cloned().map(Line::Comparison).collect::<Vec<_>>())?;
        self.comparisons.extend(comparisons);
        Ok(())
    }

    /// Writes lines and waits until they are on the disk.
    fn write(&mut self, lines: &[Line]) -> Result<(), String> {
        let Some(file) = &mut self.file else { return Ok(()) };
        let mut bytes = Vec::new();
        for line in lines {
            serde_json::to_writer(&mut bytes, line).map_err(|error| error.to_string())?;
            bytes.push(b'\n');
        }
        let written = file.write_all(&bytes).and_then(|()| file.sync_data());
        written.map_err(|error| format!("the results cannot be written: {error}"))
    }
}

/// The results of a file so far. A later one replaces an earlier one, which was an error.
#[derive(Default)]
struct Known {
    results: HashMap<(String, String, u32), CaseResult>,
    comparisons: HashMap<(String, u32), ComparisonResult>,
    discarded_usd: f64,
}

impl Known {
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

    /// Leaves out the errors.
    fn into_file(mut self, file: Option<File>) -> ResultsFile {
        let (errors, results): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.results).into_values().partition(CaseResult::is_error);
        for error in errors {
            self.discarded_usd += error.known_cost_usd();
            self.discard_comparison(&(error.case, error.repeat));
        }
        let (errors, comparisons): (Vec<_>, Vec<_>) =
            self.comparisons.into_values().partition(|comparison| comparison.is_error);
        let discarded_usd = errors.iter().fold(self.discarded_usd, |all, comparison| all + comparison.judge_cost_usd);
        ResultsFile { file, results, comparisons, discarded_usd }
    }
}

/// Locks the file until it is closed: results of two processes would be mixed.
fn lock(file: &File, path: &Path) -> Result<(), String> {
    file.try_lock().map_err(|error| match error {
        TryLockError::WouldBlock => format!("{} is used by another process", path.display()),
        TryLockError::Error(error) => format!("{} cannot be locked: {error}", path.display()),
    })
}

fn header((evaluation, configs): (&str, &[String]), fingerprint: &str) -> Header {
    Header { evaluation: evaluation.to_owned(), configs: configs.to_vec(), fingerprint: fingerprint.to_owned() }
}
