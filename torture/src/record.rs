//! What the last runs found, kept in the repository so that the scorecard can be held against it.

use crate::scenario::Outcome;
use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Where it is, below the root.
pub(crate) const FILE: &str = "torture/record.json";

/// Letters of a violation that are kept.
const SHORT: usize = 160;

/// The last run of each scenario and of each broken build.
#[derive(Default, Deserialize, Serialize)]
pub(crate) struct Record {
    /// By name.
    pub(crate) scenarios: BTreeMap<String, Line>,
    /// By the defect's name.
    pub(crate) broken: BTreeMap<String, Found>,
    /// By the target's name.
    #[serde(default)]
    pub(crate) fuzz: BTreeMap<String, Fuzzed>,
}

/// What became of a target that was fuzzed.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub(crate) struct Fuzzed {
    /// For how long.
    pub(crate) seconds: u32,
    /// Inputs that it was given.
    pub(crate) runs: u64,
    /// How it fell over, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) fell: Option<String>,
}

impl Fuzzed {
    /// Reads `TARGET SECONDS RUNS HOW IT FELL`; the last may be missing.
    pub(crate) fn read(text: &str) -> Result<(String, Self)> {
        let words: Vec<_> = text.splitn(4, ' ').collect();
        let [target, seconds, runs, ref fell @ ..] = words[..] else {
            anyhow::bail!("not what came of a target: {text}")
        };
        let fell = fell.first().map(|how| short((*how).to_owned()));
        Ok((target.to_owned(), Self { seconds: seconds.parse()?, runs: runs.parse()?, fell }))
    }
}

/// One scenario.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub(crate) struct Line {
    #[serde(skip)]
    pub(crate) name: String,
    /// Its seed.
    pub(crate) seed: u64,
    /// 1 or 2.
    pub(crate) tier: u8,
    /// How long it took, in seconds.
    pub(crate) seconds: u64,
    /// What came of it.
    #[serde(flatten)]
    pub(crate) outcome: Outcome,
}

/// What became of a defect that was built in.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub(crate) struct Found {
    /// The scenario that must find it.
    pub(crate) scenario: String,
    /// The first violation; none when it found nothing.
    pub(crate) by: Option<String>,
}

impl Found {
    /// For the console.
    pub(crate) fn shown(&self) -> String {
        match &self.by {
            Some(by) => format!("found by {}: {by}", self.scenario),
            None => format!("NOT FOUND by {}", self.scenario),
        }
    }
}

impl Line {
    /// Of a run that has ended.
    pub(crate) fn of(name: &str, seed: u64, took: Duration, outcome: Outcome) -> Self {
        let violations = outcome.violations.into_iter().map(short).collect();
        let outcome = Outcome { violations, ..outcome };
        Self { name: name.to_owned(), seed, tier: 0, seconds: took.as_secs(), outcome }
    }

    /// Whether it was run and nothing was wrong.
    pub(crate) fn holds(&self) -> bool {
        self.outcome.skipped.is_none() && self.outcome.violations.is_empty() && self.outcome.injected > 0
    }

    /// For the console.
    pub(crate) fn shown(&self) -> String {
        let Outcome { injected, violations, worst, skipped } = &self.outcome;
        match skipped {
            Some(why) => format!("skipped: {why}"),
            None => format!("{injected:>5} times, {} violations, {worst} ({} s)", violations.len(), self.seconds),
        }
    }
}

impl Record {
    /// The one in the repository; an empty one when there is none.
    pub(crate) fn load(root: &Path) -> Result<Self> {
        let path = root.join(FILE);
        if !path.exists() {
            return Ok(Self::default());
        }
        serde_json::from_slice(&std::fs::read(&path)?).with_context(|| format!("{FILE} cannot be read"))
    }

    /// Puts it there.
    pub(crate) fn save(&self, root: &Path) -> Result<()> {
        Ok(std::fs::write(root.join(FILE), serde_json::to_string_pretty(self)? + "\n")?)
    }

    /// Enters what a scenario found in place of what it found before. One that this machine cannot run changes nothing.
    pub(crate) fn enter(&mut self, line: Line, tier: u8) {
        if line.outcome.skipped.is_none() || !self.scenarios.contains_key(&line.name) {
            self.scenarios.insert(line.name.clone(), Line { tier, ..line });
        }
    }

    /// All that is wrong, a defect that was not found included.
    pub(crate) fn violations(&self) -> usize {
        let lines: usize = self.scenarios.values().map(|line| line.outcome.violations.len()).sum();
        let fell = self.fuzz.values().filter(|fuzzed| fuzzed.fell.is_some()).count();
        lines + fell + self.broken.values().filter(|found| found.by.is_none()).count()
    }
}

/// A violation without its length.
pub(crate) fn short(text: String) -> String {
    match text.char_indices().nth(SHORT) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}

/// Unix time, seconds.
pub(crate) fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs().cast_signed())
}
