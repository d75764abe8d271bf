//! The report about the replays of a dataset's cases.

use super::terminal::printable;
use super::{Comparison, Finding};
use serde::Serialize;

/// A case with the recorded runs that have written its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedCase {
    /// The id of the case.
    pub case: String,
    /// The ids of the runs; none if nothing was recorded.
    pub runs: Vec<String>,
}

/// The replays of the cases of a dataset.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DatasetReport {
    /// The ids of the cases whose replays do not diverge.
    pub same: Vec<String>,
    /// Those of which a replay diverges.
    pub diverging: Vec<String>,
    /// Those without a recording, which say nothing.
    pub without_recording: Vec<String>,
}

impl DatasetReport {
    /// Makes the report of replays.
    pub fn new(cases: &[RecordedCase], comparisons: &[Comparison]) -> Self {
        let mut report = Self { same: Vec::new(), diverging: Vec::new(), without_recording: Vec::new() };
        let diverges = |finding: &Finding| finding.kind.is_divergence() && !finding.unstable;
        for RecordedCase { case, runs } in cases {
            let mut own = comparisons.iter().filter(|comparison| runs.contains(&comparison.run_id));
            let kind = match (runs.is_empty(), own.any(|comparison| comparison.findings().any(diverges))) {
                (true, _) => &mut report.without_recording,
                (_, true) => &mut report.diverging,
                _ => &mut report.same,
            };
            kind.push(case.clone());
        }
        report
    }

    /// Returns it as lines.
    pub fn in_words(&self) -> String {
        let Self { same, diverging, without_recording } = self;
        let recorded = same.len() + diverging.len();
        let all = recorded + without_recording.len();
        let mut text =
            format!("cases with a recording: {recorded} of {all}\nreplayed without a divergence: {}\n", same.len());
        for (title, cases) in [("with a divergence", diverging), ("without a recording", without_recording)] {
            if !cases.is_empty() {
                let cases: Vec<_> = cases.iter().map(|case| printable(case)).collect();
                text.push_str(&format!("{title}: {}\n", cases.join(", ")));
            }
        }
        text
    }
}
