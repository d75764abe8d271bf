//! The outcomes of calls, and what the answers of the product mean for a step.

use crate::store::Used;
use chat::{CountedInvocation, InvocationUsage, SuspendableInvocation, SuspendedInvocation, ToolFailure};
use serde_json::Value;
use std::time::Duration;
use wire::invoke::InvocationStatus;
use wire::{EndReason, ErrorCode, ErrorReason, UserError};

/// The shortest and the longest pause before a step is tried again that was refused.
const MIN_PAUSE: Duration = Duration::from_secs(1);
pub(super) const MAX_PAUSE: Duration = Duration::from_secs(60);

/// Why a call has no output.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum CallError {
    /// It has failed: the kind and the message of the error.
    Failed(&'static str, String),
    /// It was refused before anything was done, because the server has no place for it, is shutting down, or the
    /// user's quota is used up. It is tried again after this pause.
    Refused { message: String, pause: Duration },
    /// The server stopped it to shut down. It is not known what it did.
    Interrupted,
    /// An agent waits for decisions on its calls.
    Asks(Box<SuspendedInvocation>),
}

/// The outcome of a call.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CallOutcome {
    /// The output.
    pub(crate) result: Result<Value, CallError>,
    /// The usage.
    pub(crate) used: Used,
}

impl CallOutcome {
    /// The outcome of a call that was not made.
    pub(super) fn unmade(error: CallError) -> Self {
        Self { result: Err(error), used: Used::default() }
    }
}

/// A call that has ended.
pub(super) struct Finished {
    pub(super) path: String,
    pub(super) step_id: String,
    pub(super) attempt: u32,
    pub(super) outcome: CallOutcome,
}

/// Returns the outcome of an agent's invocation.
pub(super) fn of_agent(SuspendableInvocation { counted, suspended }: SuspendableInvocation) -> CallOutcome {
    let CountedInvocation { invocation, usage } = counted;
    if let Some(suspended) = suspended {
        return CallOutcome { result: Err(CallError::Asks(Box::new(suspended))), used: used(usage) };
    }
    let message = invocation.error.unwrap_or_else(|| "There was no answer.".to_owned());
    let result = match (invocation.status, invocation.reason) {
        (InvocationStatus::Succeeded, _) => Ok(invocation.output),
        (_, Some(EndReason::Shutdown)) => Err(CallError::Interrupted),
        (InvocationStatus::Timeout, _) | (_, Some(EndReason::Time)) => Err(CallError::Failed("timeout", message)),
        (_, Some(EndReason::Unfit)) => Err(CallError::Failed("invalid", message)),
        (_, Some(reason)) if reason.outcome() == wire::api::Outcome::Limit => Err(CallError::Failed("limit", message)),
        _ => Err(CallError::Failed("failed", message)),
    };
    CallOutcome { result, used: used(usage) }
}

/// Returns what an invocation has used.
pub(super) fn used(usage: InvocationUsage) -> Used {
    Used {
        requests: usage.requests.into(),
        total_tokens: usage.total_tokens,
        tool_calls: usage.tool_calls.into(),
        cost_usd: usage.cost_usd,
        unpriced: usage.unpriced.into(),
    }
}

/// Returns the error of a tool. `is_draining` says whether the server shuts down.
pub(super) fn tool_error(failure: &ToolFailure, is_draining: bool) -> CallError {
    let kind = match failure {
        ToolFailure::Stopped if is_draining => return CallError::Interrupted,
        ToolFailure::Refused(_) | ToolFailure::NeedsApproval(_) => "invalid",
        ToolFailure::Limit(..) => "limit",
        ToolFailure::TimedOut(_) => "timeout",
        ToolFailure::Failed(_) | ToolFailure::Stopped | ToolFailure::NotRecorded => "failed",
    };
    CallError::Failed(kind, failure.to_string())
}

/// Returns the error of a call that the product did not accept, or could not record.
pub(super) fn refusal(error: UserError) -> CallError {
    match error.code {
        ErrorCode::RateLimited => refused(error),
        ErrorCode::Unavailable if error.reason == Some(ErrorReason::ServerBusy) => refused(error),
        // The end could not be stored, so the call may have had its effect.
        ErrorCode::Unavailable => CallError::Failed("unavailable", error.message),
        _ => CallError::Failed("invalid", error.message),
    }
}

fn refused(UserError { message, retry_after, .. }: UserError) -> CallError {
    let pause = retry_after.map_or(MIN_PAUSE, |seconds| Duration::from_secs(seconds.into()));
    CallError::Refused { message, pause: pause.clamp(MIN_PAUSE, MAX_PAUSE) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_refused_before_anything_was_done_is_tried_again() {
        let check = |error: UserError, expected: &str| {
            let seen = match refusal(error) {
                CallError::Refused { pause, .. } => format!("refused for {} s", pause.as_secs()),
                CallError::Failed(kind, message) => format!("{kind}: {message}"),
                CallError::Interrupted => "interrupted".to_owned(),
                CallError::Asks(_) => "asks".to_owned(),
            };
            assert_eq!(seen, expected);
        };
        let error = |code: ErrorCode, retry_after: Option<u32>| UserError { retry_after, ..UserError::new(code, "no") };
        check(error(ErrorCode::RateLimited, Some(86_400)), "refused for 60 s");
        check(error(ErrorCode::Unavailable, Some(5)).because(ErrorReason::ServerBusy), "refused for 5 s");
        check(error(ErrorCode::Unavailable, None).because(ErrorReason::ServerBusy), "refused for 1 s");
        check(error(ErrorCode::Unavailable, Some(2)).because(ErrorReason::NotSaved), "unavailable: no");
        check(error(ErrorCode::Unavailable, None), "unavailable: no");
        check(error(ErrorCode::NotFound, None), "invalid: no");
    }
}
