//! Evaluations with a budget. A server first evaluates with a small one on the calling thread, and
//! what exceeds it with the largest one on a thread that blocks nothing else.

use crate::meter::{self, BRIEF_LIMITS, FULL_LIMITS};
use crate::{OperatorError, Scope, evaluate};
use serde_json::Value;

/// Evaluates like [`evaluate`] with a small budget, in a few milliseconds at most. Returns `None` if
/// the budget is not enough.
pub fn evaluate_briefly(value: &Value, scope: &Scope<'_>) -> Option<Result<Value, OperatorError>> {
    let (result, is_exhausted) = meter::with_limits(BRIEF_LIMITS, None, || evaluate(value, scope));
    (!is_exhausted).then_some(result)
}

/// Evaluates like [`evaluate`] with the largest budget, in a few seconds at most. Ends early if
/// `is_abandoned` returns true.
///
/// # Errors
/// The errors of [`evaluate`], and an exceeded budget.
pub fn evaluate_fully(
    value: &Value,
    scope: &Scope<'_>,
    is_abandoned: impl Fn() -> bool + 'static,
) -> Result<Value, OperatorError> {
    meter::with_limits(FULL_LIMITS, Some(Box::new(is_abandoned)), || evaluate(value, scope)).0
}
