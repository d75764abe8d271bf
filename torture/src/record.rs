//! The results of the last runs, stored in the repository as the source of the scorecard.

use crate::scenario::Outcome;
use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The path below the repository's root.
pub(crate) const FILE: &str = "torture/record.json";

/// The number of characters of a violation that are stored.
const MAX_VIOLATION_CHARS: usize = 160;

/// The results of the last run of each scenario, build with a defect and fuzz target.
#[derive(Default, Deserialize, Serialize)]
pub(crate) struct Record {
    /// By scenario name.
    pub(crate) scenarios: BTreeMap<String, ScenarioResult>,
    /// By defect name.
    pub(crate) broken: BTreeMap<String, DefectResult>,
    /// By target name.
    #[serde(default)]
    pub(crate) fuzz: BTreeMap<String, FuzzResult>,
}

/// The result of a fuzz target.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub(crate) struct FuzzResult {
    /// The duration in seconds.
    pub(crate) seconds: u32,
    /// The number of inputs.
    pub(crate) runs: u64,
    /// The failure, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) fell: Option<String>,
}

impl FuzzResult {
    /// Parses `TARGET SECONDS RUNS FAILURE`; the failure is optional.
    pub(crate) fn parse(text: &str) -> Result<(String, Self)> {
        let words: Vec<_> = text.splitn(4, ' ').collect();
        let [target, seconds, runs, ref fell @ ..] = words[..] else {
            anyhow::bail!("not the result of a fuzz target: {text}")
        };
        let fell = fell.first().map(|how| truncated((*how).to_owned()));
        Ok((target.to_owned(), Self { seconds: seconds.parse()?, runs: runs.parse()?, fell }))
    }
}

/// The result of a scenario.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub(crate) struct ScenarioResult {
    #[serde(skip)]
    pub(crate) name: String,
    /// Its seed.
    pub(crate) seed: u64,
    /// The tier, 1 or 2.
    pub(crate) tier: u8,
    /// The duration in seconds.
    pub(crate) seconds: u64,
    /// The outcome.
    #[serde(flatten)]
    pub(crate) outcome: Outcome,
}

/// The result of a build with a defect.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub(crate) struct DefectResult {
    /// The scenario that must find it.
    pub(crate) scenario: String,
    /// The first violation, or none if the scenario did not find the defect.
    pub(crate) by: Option<String>,
}

impl DefectResult {
    /// Formats it for the console.
    pub(crate) fn summary(&self) -> String {
        match &self.by {
            Some(by) => format!("found by {}: {by}", self.scenario),
            None => format!("NOT FOUND by {}", self.scenario),
        }
    }
}

impl ScenarioResult {
    /// Creates the result of a run.
    pub(crate) fn from_outcome(name: &str, seed: u64, took: Duration, outcome: Outcome) -> Self {
        let violations = outcome.violations.into_iter().map(truncated).collect();
        let outcome = Outcome { violations, ..outcome };
        Self { name: name.to_owned(), seed, tier: 0, seconds: took.as_secs(), outcome }
    }

    /// Returns whether it ran without violations.
    pub(crate) fn passed(&self) -> bool {
        self.outcome.skipped.is_none() && self.outcome.violations.is_empty() && self.outcome.injected > 0
    }

    /// Formats it for the console.
    pub(crate) fn summary(&self) -> String {
        let Outcome { injected, violations, worst, skipped } = &self.outcome;
        match skipped {
            Some(why) => format!("skipped: {why}"),
            None => format!("{injected:>5} injected, {} violations, {worst} ({} s)", violations.len(), self.seconds),
        }
    }
}

impl Record {
    /// Loads the record of the repository, or an empty one.
    pub(crate) fn load(root: &Path) -> Result<Self> {
        let path = root.join(FILE);
        if !path.exists() {
            return Ok(Self::default());
        }
        serde_json::from_slice(&std::fs::read(&path)?).with_context(|| format!("{FILE} cannot be read"))
    }

    /// Writes the record.
    pub(crate) fn save(&self, root: &Path) -> Result<()> {
        Ok(std::fs::write(root.join(FILE), serde_json::to_string_pretty(self)? + "\n")?)
    }

    /// Replaces the result of a scenario. A skipped run does not replace an earlier result.
    pub(crate) fn insert(&mut self, line: ScenarioResult, tier: u8) {
        if line.outcome.skipped.is_none() || !self.scenarios.contains_key(&line.name) {
            self.scenarios.insert(line.name.clone(), ScenarioResult { tier, ..line });
        }
    }
}

/// Truncates a violation.
pub(crate) fn truncated(text: String) -> String {
    match text.char_indices().nth(MAX_VIOLATION_CHARS) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}

/// Returns the Unix time in seconds.
pub(crate) fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs().cast_signed())
}
