//! Why a run ended: converts the agent loop's endings to [`EndReason`], a cause for the operator
//! and an error for the user.

use crate::errors;
use crate::stream::live::LiveRun;
use agent::{Ending, InvokeError, Limit, RunSettings, ToolFailure};
use contract::{ModelError, ModelErrorKind};
use std::time::Duration;
use wire::{EndReason, ErrorCode, UserError};

/// The cause, for the operator, of a run that a panic ended. The panic's message may contain parts
/// of the conversation, so it is in the log only.
const PANIC: &str = "the server panicked while it wrote the answer; the log has the message";

/// Returns the cause, for the operator, of a run that recovery closes for this reason.
pub(crate) fn recovery_cause(reason: EndReason) -> &'static str {
    match reason {
        EndReason::Panic => PANIC,
        EndReason::Storage => "the end of the run could not be stored when it ended; the log has the error",
        _ => "the server ended before the run",
    }
}

/// The cause, for the operator, of a run that was ended because memory was almost used up.
pub(crate) const NO_MEMORY: &str = "memory was almost used up; the log has the figures";

/// The end of a run.
#[derive(Debug, PartialEq)]
pub(crate) struct RunEnd {
    pub(crate) reason: EndReason,
    /// The cause of a failure or the limit that was reached, for the operator. It never contains
    /// parts of the conversation.
    pub(crate) cause: Option<String>,
    /// The error for the user, if the run failed.
    pub(crate) error: Option<UserError>,
}

impl RunEnd {
    fn plain(reason: EndReason) -> Self {
        Self { reason, cause: None, error: None }
    }

    fn failed(reason: EndReason, cause: String, error: UserError) -> Self {
        Self { reason, cause: Some(cause), error: Some(error) }
    }

    /// Converts the loop's ending. `closed` is why the sink closed, if it did.
    pub(crate) fn from_ending(ending: &Ending, settings: &RunSettings, run: &LiveRun, closed: Option<SinkEnd>) -> Self {
        match ending {
            Ending::Done => Self::plain(EndReason::Done),
            Ending::Waiting => Self::plain(EndReason::Waiting),
            Ending::Limit(limit) => Self { cause: bound(*limit, settings), ..Self::plain(limit_reason(*limit)) },
            Ending::Stopped => Self::stopped(run),
            Ending::Failed(error) => Self::failed(model_reason(error), error.to_string(), errors::model_error(error)),
            Ending::EmptySummary => {
                Self::failed(EndReason::StreamBroken, "the model wrote no summary".to_owned(), errors::empty_summary())
            }
            Ending::UnknownPrice { model } => Self::failed(
                EndReason::UnknownPrice,
                format!(
                    "the price of the model {model} is not known, so the cost limit cannot be kept; add it to `prices`"
                ),
                errors::unknown_price(model),
            ),
            Ending::InvalidCall { tool } => Self::failed(
                EndReason::InvalidCall,
                // The model chose the name, so it may contain anything.
                format!("a call of `{}` cannot be run, and `repairToolCall` is false", tool.escape_default()),
                errors::invalid_call(),
            ),
            // A stopped run may find its sink closed first.
            Ending::SinkClosed if run.cancel.is_cancelled() => Self::stopped(run),
            Ending::SinkClosed => Self::of_sink(closed.unwrap_or(SinkEnd::Storage)),
        }
    }

    fn stopped(run: &LiveRun) -> Self {
        match run.why_stopped() {
            EndReason::Memory => Self::failed(EndReason::Memory, NO_MEMORY.to_owned(), errors::ended_for_memory()),
            reason => Self::plain(reason),
        }
    }

    fn of_sink(closed: SinkEnd) -> Self {
        match closed {
            SinkEnd::TooLong => {
                let cause = "the answer grew larger than one turn may write".to_owned();
                let message = "The answer grew too long and was ended here. Ask for a shorter one.";
                Self::failed(EndReason::TooLong, cause, UserError::new(ErrorCode::TooLarge, message))
            }
            SinkEnd::Storage => Self::failed(
                EndReason::Storage,
                "the database could not be written; the log has the message".to_owned(),
                errors::not_saved(),
            ),
        }
    }

    /// Returns the end of a run that panicked.
    pub(crate) fn panicked() -> Self {
        Self::failed(EndReason::Panic, PANIC.to_owned(), errors::internal())
    }
}

/// Why the sink of a run closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SinkEnd {
    /// The answer exceeded the size limit.
    TooLong,
    /// The database could not be written.
    Storage,
}

/// Returns the end reason for a limit.
pub(crate) fn limit_reason(limit: Limit) -> EndReason {
    match limit {
        Limit::MaxSteps => EndReason::MaxSteps,
        Limit::StopOnToolCall => EndReason::StopOnToolCall,
        Limit::Time => EndReason::Time,
        Limit::Requests => EndReason::Requests,
        Limit::TotalTokens => EndReason::TotalTokens,
        Limit::ToolCalls => EndReason::ToolCalls,
        Limit::Cost => EndReason::CostUsd,
        Limit::Loop => EndReason::Loop,
        Limit::OutputTokens => EndReason::MaxOutputTokens,
        Limit::ContentFilter => EndReason::ContentFilter,
    }
}

/// Returns the end reason for a model's failure.
pub(crate) fn model_reason(error: &ModelError) -> EndReason {
    match error.kind {
        ModelErrorKind::Unauthorized => EndReason::ModelCredentials,
        ModelErrorKind::RateLimited => EndReason::ModelBusy,
        ModelErrorKind::Refused | ModelErrorKind::ContextTooLong => EndReason::ModelRefused,
        ModelErrorKind::Unavailable | ModelErrorKind::Unreachable | ModelErrorKind::CircuitOpen => EndReason::ModelAway,
        ModelErrorKind::Timeout => EndReason::ModelTimeout,
        ModelErrorKind::BrokenStream => EndReason::StreamBroken,
        ModelErrorKind::Cancelled => EndReason::Shutdown,
    }
}

/// Returns the end reason for a failed invocation.
pub(crate) fn invocation_reason(error: &InvokeError) -> EndReason {
    match error {
        InvokeError::SchemaMismatch(_) | InvokeError::Unchecked(_) => EndReason::Unfit,
        InvokeError::Model(error) => model_reason(error),
        InvokeError::TimedOut => EndReason::Time,
        InvokeError::Limit(limit) | InvokeError::Incomplete { limit, .. } => limit_reason(*limit),
        InvokeError::UnknownPrice(_) => EndReason::UnknownPrice,
        InvokeError::NotAdmitted(_) => EndReason::Requests,
        InvokeError::Stopped => EndReason::Shutdown,
        InvokeError::Waiting(_) => EndReason::Waiting,
        InvokeError::InvalidCall(_) => EndReason::InvalidCall,
        InvokeError::TooLong => EndReason::TooLong,
        InvokeError::NotRecorded => EndReason::Storage,
    }
}

/// Returns why a program's call of a tool has no result.
pub(crate) fn tool_reason(failure: &ToolFailure) -> EndReason {
    match failure {
        ToolFailure::Refused(_) => EndReason::InvalidCall,
        ToolFailure::Limit(limit, _) => limit_reason(*limit),
        ToolFailure::TimedOut(_) => EndReason::Time,
        ToolFailure::Stopped => EndReason::Shutdown,
        ToolFailure::NeedsApproval(_) => EndReason::Waiting,
        ToolFailure::NotRecorded => EndReason::Storage,
        ToolFailure::Failed(_) => EndReason::Other,
    }
}

/// Returns the limit that was reached, with its configured value.
pub(crate) fn bound(limit: Limit, settings: &RunSettings) -> Option<String> {
    let limits = &settings.limits;
    let seconds = |time: Duration| format!("{} s", time.as_secs_f64());
    match limit {
        Limit::MaxSteps => Some(format!("maxSteps: {}", settings.max_steps)),
        Limit::StopOnToolCall => Some(format!("stopOnToolCall: {}", settings.stop_on_tool_call.join(", "))),
        Limit::Time => Some(format!("time of a turn: {}", seconds(settings.timeouts.total()))),
        Limit::Requests => limits.requests.map(|most| format!("limits.requests: {most}")),
        Limit::TotalTokens => limits.total_tokens.map(|most| format!("limits.totalTokens: {most}")),
        Limit::ToolCalls => limits.tool_calls.map(|most| format!("limits.toolCalls: {most}")),
        Limit::Cost => limits.cost_usd.map(|most| format!("limits.costUsd: {most}")),
        Limit::Loop => Some("the same calls were made five times".to_owned()),
        Limit::OutputTokens => Some(match settings.sampling.max_output_tokens {
            Some(most) => format!("maxOutputTokens: {most}"),
            None => "the output limit of the model; no `maxOutputTokens` is set".to_owned(),
        }),
        Limit::ContentFilter => Some("the provider reported a refusal or a filter".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::live::RunIdentity;
    use agent::TurnLimits;
    use tokio_util::sync::CancellationToken;
    use wire::{Role, UiMessage};

    fn run() -> LiveRun {
        let text = || "x".to_owned();
        let identity =
            RunIdentity { run_id: text(), conversation_id: text(), owner: text(), message_id: text(), epoch: 1 };
        LiveRun::new(identity, UiMessage::new("m", Role::Assistant), false, CancellationToken::new())
    }

    #[test]
    fn runs_that_recovery_closes_have_the_cause_of_their_reason() {
        let check = |reason: EndReason, cause: &str| assert_eq!(recovery_cause(reason), cause, "{reason:?}");
        check(EndReason::ServerGone, "the server ended before the run");
        check(EndReason::Panic, "the server panicked while it wrote the answer; the log has the message");
        check(EndReason::Storage, "the end of the run could not be stored when it ended; the log has the error");
    }

    #[test]
    fn every_end_has_its_reason_and_cause() {
        let limits = TurnLimits { cost_usd: Some(0.5), ..TurnLimits::default() };
        let settings = RunSettings { limits, ..RunSettings::default() };
        let check = |ending: Ending, closed: Option<SinkEnd>, reason: EndReason, cause: Option<&str>| {
            let end = RunEnd::from_ending(&ending, &settings, &run(), closed);
            assert_eq!((end.reason, end.cause.as_deref()), (reason, cause), "{ending:?}");
            assert_eq!(end.error.is_some(), reason.is_failure(), "{ending:?}");
        };
        let model = |kind| Ending::Failed(ModelError::new(kind, "cause"));
        check(Ending::Done, None, EndReason::Done, None);
        check(Ending::Waiting, None, EndReason::Waiting, None);
        check(Ending::Limit(Limit::MaxSteps), None, EndReason::MaxSteps, Some("maxSteps: 10"));
        check(Ending::Limit(Limit::Cost), None, EndReason::CostUsd, Some("limits.costUsd: 0.5"));
        check(Ending::Limit(Limit::Time), None, EndReason::Time, Some("time of a turn: 900 s"));
        let cause = "the output limit of the model; no `maxOutputTokens` is set";
        check(Ending::Limit(Limit::OutputTokens), None, EndReason::MaxOutputTokens, Some(cause));
        let cause = "the provider reported a refusal or a filter";
        check(Ending::Limit(Limit::ContentFilter), None, EndReason::ContentFilter, Some(cause));
        check(Ending::Stopped, None, EndReason::Shutdown, None);
        check(Ending::EmptySummary, None, EndReason::StreamBroken, Some("the model wrote no summary"));
        let cause = ModelError::new(ModelErrorKind::BrokenStream, "cause").to_string();
        check(model(ModelErrorKind::BrokenStream), None, EndReason::StreamBroken, Some(&cause));
        let storage = "the database could not be written; the log has the message";
        check(Ending::SinkClosed, Some(SinkEnd::Storage), EndReason::Storage, Some(storage));
        let long = "the answer grew larger than one turn may write";
        check(Ending::SinkClosed, Some(SinkEnd::TooLong), EndReason::TooLong, Some(long));
        let call = "a call of `t` cannot be run, and `repairToolCall` is false";
        check(Ending::InvalidCall { tool: "t".to_owned() }, None, EndReason::InvalidCall, Some(call));
    }

    #[test]
    fn answer_that_was_ended_for_memory_has_failed() {
        let run = run();
        run.stop(EndReason::Memory);
        for ending in [Ending::Stopped, Ending::SinkClosed] {
            let end = RunEnd::from_ending(&ending, &RunSettings::default(), &run, None);
            assert_eq!((end.reason, end.cause.as_deref()), (EndReason::Memory, Some(NO_MEMORY)));
            assert!(end.error.unwrap().message.contains("short of memory"));
        }
    }

    #[test]
    fn first_stop_reason_wins() {
        let run = run();
        run.stop(EndReason::Deleted);
        run.stop(EndReason::StoppedByUser);
        for ending in [Ending::Stopped, Ending::SinkClosed] {
            assert_eq!(RunEnd::from_ending(&ending, &RunSettings::default(), &run, None).reason, EndReason::Deleted);
        }
    }
}
