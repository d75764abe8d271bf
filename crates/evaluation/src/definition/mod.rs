//! The evaluation file: which agent is evaluated with which cases, and how answers are scored.

use crate::case::Case;
use crate::case_value::texts;
use crate::dataset::{joined, read_cases, read_text};
use crate::document::{Document, problem_of_file};
use crate::names::shown_names;
use crate::scorer::Scorer;
use config::Diagnostic;
use serde::Deserialize;
use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// An evaluation, as its file says.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Evaluation {
    /// Its name in reports and baselines.
    pub name: String,
    /// The config, relative to the file, unless the command line names one or two.
    #[serde(default)]
    pub config: Option<PathBuf>,
    /// The agent that is evaluated.
    pub agent_id: String,
    /// The files with the cases, relative to the file.
    #[serde(deserialize_with = "texts")]
    pub dataset: Vec<String>,
    /// How answers are scored.
    #[serde(default)]
    pub scorers: Vec<Scorer>,
    /// How two configs are compared, beside their scores.
    #[serde(default)]
    pub compare: Option<Comparison>,
    /// How often each case is evaluated, 1 to 100.
    #[serde(default = "one")]
    pub repeat: u32,
    /// How many cases are evaluated at the same time, 1 to 64.
    #[serde(default = "four")]
    pub parallel: usize,
    /// The highest cost in US dollars, as far as it can be foreseen.
    #[serde(default)]
    pub max_cost_usd: Option<f64>,
    /// How long a case may take, 1 to 3600 seconds.
    #[serde(default = "five_minutes")]
    pub timeout_seconds: u64,
    /// Where the random numbers of intervals begin, so that they are the same each time.
    #[serde(default)]
    pub seed: u64,
}

/// How an agent compares the answers of two configs to the same case.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Comparison {
    /// The agent of the first config.
    pub agent_id: String,
    /// The criterion by which the judge prefers an answer.
    pub rubric: String,
}

/// The agents and the endpoints that scorers need in a config.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Required<'a> {
    /// The agents that judge.
    pub agents: BTreeSet<&'a str>,
    /// The endpoints that score.
    pub endpoints: BTreeSet<&'a str>,
}

/// The name of scorers without a file in messages.
const SCORERS: &str = "scorers.yaml";

/// A list of scorers.
#[derive(Deserialize)]
#[serde(transparent)]
struct Scorers(Vec<Scorer>);

/// Returns the problems of scorers, each with its JSON pointer, which begins with `path`.
fn scorer_problems(scorers: &[Scorer], path: &str) -> Vec<(String, String)> {
    let (mut ids, mut problems) = (HashSet::new(), Vec::new());
    for (index, scorer) in scorers.iter().enumerate() {
        let at = |key: &str| format!("{path}/{index}{key}");
        if !ids.insert(scorer.id.as_str()) {
            problems.push((at("/id"), format!("there is another scorer `{}`", scorer.id)));
        }
        problems.extend(scorer.problems().into_iter().map(|(key, message)| (at(&key), message)));
    }
    problems
}

fn one() -> u32 {
    1
}

fn four() -> usize {
    4
}

fn five_minutes() -> u64 {
    300
}

impl Evaluation {
    /// Reads an evaluation and its cases.
    ///
    /// # Errors
    /// The problems of the files, each with its position.
    pub fn read(path: &Path) -> Result<(Self, Vec<Case>), Vec<Diagnostic>> {
        let name = path.display().to_string();
        if !matches!(path.extension().and_then(|extension| extension.to_str()), Some("yaml" | "yml")) {
            return Err(vec![problem_of_file(&name, "an evaluation is a .yaml file")]);
        }
        let text = read_text(path, &name)?;
        let evaluation = Self::parse(&name, &text)?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let (mut cases, mut problems) = (Vec::new(), Vec::new());
        for file in &evaluation.dataset {
            let path = folder.join(file);
            let name = path.display().to_string();
            match read_text(&path, &name).and_then(|text| read_cases(&name, &text)) {
                Ok(read) => cases.extend(read),
                Err(found) => problems.extend(found),
            }
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        let cases = joined(cases)?;
        let unused = evaluation.unused_paths(&cases);
        if !unused.is_empty() {
            return Err(Document { file: &name, text: &text }.problems(unused));
        }
        Ok((evaluation, cases))
    }

    /// Makes an evaluation of an agent with scorers that are written as YAML: a list, as below `scorers` in a file.
    /// The cases come from elsewhere.
    ///
    /// # Errors
    /// The problems of the scorers, each with its position.
    pub fn with_scorers(name: &str, agent_id: &str, scorers: &str) -> Result<Self, Vec<Diagnostic>> {
        let document = Document { file: SCORERS, text: scorers };
        let Scorers(scorers) = document.read(|Scorers(scorers)| scorer_problems(scorers, ""))?;
        Ok(Self {
            name: name.to_owned(),
            config: None,
            agent_id: agent_id.to_owned(),
            dataset: Vec::new(),
            scorers,
            compare: None,
            repeat: one(),
            parallel: four(),
            max_cost_usd: None,
            timeout_seconds: five_minutes(),
            seed: 0,
        })
    }

    /// Reads the text of an evaluation. `file` is its name in messages.
    pub(crate) fn parse(file: &str, text: &str) -> Result<Self, Vec<Diagnostic>> {
        Document { file, text }.read(Self::problems)
    }

    /// Returns the agents and endpoints of the config that score answers.
    pub fn required<'a>(&'a self, cases: &'a [Case]) -> Required<'a> {
        let scorers = self.scorers.iter().chain(cases.iter().flat_map(|case| &case.scorers));
        let compares = self.compare.iter().map(|comparison| comparison.agent_id.as_str());
        Required {
            agents: scorers.clone().filter_map(Scorer::judging_agent).chain(compares).collect(),
            endpoints: scorers.filter_map(Scorer::scoring_endpoint).collect(),
        }
    }

    /// Checks that each case is scored, by a scorer or, with two configs, by `compare`: a case that is not
    /// would always pass.
    ///
    /// # Errors
    /// Names the cases that are not.
    pub fn check_scored(&self, cases: &[Case], configs: usize) -> Result<(), String> {
        if self.compare.is_some() && configs == 2 {
            return Ok(());
        }
        let is_scored = |case: &&Case| {
            let value = case.to_value();
            self.scorers.iter().chain(&case.scorers).any(|scorer| scorer.applies(&case.tags, &value))
        };
        let unscored: Vec<_> = cases.iter().filter(|case| !is_scored(case)).map(|case| case.id.as_str()).collect();
        if unscored.is_empty() {
            return Ok(());
        }
        Err(format!("no scorer applies to {}, so nothing would be checked", shown_names("the case", &unscored)))
    }

    /// Returns how long a case may take.
    pub fn timeout(&self) -> Duration {
        Duration::from_secs(self.timeout_seconds)
    }

    fn problems(&self) -> Vec<(String, String)> {
        let mut problems = Vec::new();
        let mut check = |is_valid: bool, path: &str, message: &str| {
            if !is_valid {
                problems.push((path.to_owned(), message.to_owned()));
            }
        };
        check(!self.name.trim().is_empty(), "/name", "the name is empty");
        check((1..=100).contains(&self.repeat), "/repeat", "a case is evaluated 1 to 100 times");
        check((1..=64).contains(&self.parallel), "/parallel", "1 to 64 cases are evaluated at the same time");
        check((1..=3600).contains(&self.timeout_seconds), "/timeoutSeconds", "a case may take 1 to 3600 seconds");
        check(!self.dataset.is_empty(), "/dataset", "there is no file with cases");
        let is_cost = self.max_cost_usd.is_none_or(|cost| cost.is_finite() && cost >= 0.0);
        check(is_cost, "/maxCostUsd", "the highest cost is a number from 0");
        problems.extend(scorer_problems(&self.scorers, "/scorers"));
        problems
    }

    /// Returns the scorers whose values no case has, which would never score anything.
    fn unused_paths(&self, cases: &[Case]) -> Vec<(String, String)> {
        let values: Vec<_> = cases.iter().map(Case::to_value).collect();
        let scorers = self.scorers.iter().enumerate();
        let missing = scorers.flat_map(|(index, scorer)| {
            let paths = scorer.case_paths().into_iter();
            paths.map(move |(key, path)| (format!("/scorers/{index}{key}"), path.to_owned()))
        });
        let is_unused = |path: &str| {
            values.iter().all(|case| crate::case_value::at_path(case, path).is_none_or(serde_json::Value::is_null))
        };
        let missing = missing.filter(|(_, path)| is_unused(path));
        missing.map(|(at, path)| (at, format!("no case of the dataset has `{path}`"))).collect()
    }
}
