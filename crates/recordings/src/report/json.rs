//! The report as JSON.

use super::{Comparison, DatasetReport};
use serde::Serialize;

/// The report about all replayed runs.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct JsonReport<'a> {
    /// The version of this form.
    pub version: u32,
    /// Whether there is no difference that fails.
    pub passed: bool,
    /// The comparisons.
    pub runs: &'a [Comparison],
    /// The results by the cases of a dataset, if one was replayed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dataset: Option<&'a DatasetReport>,
}

impl<'a> JsonReport<'a> {
    /// Creates a report.
    pub fn new(runs: &'a [Comparison], passed: bool) -> Self {
        Self { version: 1, passed, runs, dataset: None }
    }
}
