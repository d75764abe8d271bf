//! The answer that is scored, and the result of a check.

use crate::subject::{Subject, Transcript};
use serde_json::Value;

/// The result of a check, before it has the name of its scorer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Verdict {
    pub(crate) score: f64,
    pub(crate) passed: bool,
    pub(crate) reason: String,
    /// The cost of the scorer in US dollars.
    pub(crate) cost_usd: f64,
    /// Whether the scorer itself failed.
    pub(crate) is_error: bool,
}

impl Verdict {
    pub(crate) fn passed() -> Self {
        Self { score: 1.0, passed: true, reason: String::new(), cost_usd: 0.0, is_error: false }
    }

    pub(crate) fn failed(reason: impl Into<String>) -> Self {
        Self { score: 0.0, passed: false, reason: reason.into(), cost_usd: 0.0, is_error: false }
    }

    /// The scorer itself failed after this cost.
    pub(crate) fn error(reason: impl Into<String>, cost_usd: f64) -> Self {
        Self { cost_usd, is_error: true, ..Self::failed(reason) }
    }

    /// Passes if there is no problem.
    pub(crate) fn without(problems: &[String]) -> Self {
        if problems.is_empty() { Self::passed() } else { Self::failed(problems.join("; ")) }
    }
}

/// An answer that is scored.
#[derive(Clone, Copy)]
pub(crate) struct Scored<'a> {
    /// The case as scorers see it.
    pub(crate) case: &'a Value,
    pub(crate) transcript: &'a Transcript,
    /// The text of the last answer.
    pub(crate) text: &'a str,
    /// The agents that judge, and the endpoints.
    pub(crate) subject: &'a dyn Subject,
}

/// The result of a check: `None` if the case has no value for it. An error is reported as a failed
/// score.
pub(crate) type Checked = Result<Option<Verdict>, String>;
