//! The stop conditions of a turn, checked after each step.

use crate::{Limit, RunSettings};

/// Returns whether one of these tools ends the turn. They are those that ran or that wait for the
/// user; an invalid or refused call does not end the turn, since the model may correct it.
pub(crate) fn is_last(settings: &RunSettings, accepted: &[String]) -> bool {
    accepted.iter().any(|name| settings.stop_on_tool_call.contains(name))
}

/// Returns the limit that the completed steps have reached, if any. `is_last` says whether a call
/// of the last step ends the turn.
pub(crate) fn limit(settings: &RunSettings, steps: u32, is_last: bool) -> Option<Limit> {
    if is_last {
        return Some(Limit::StopOnToolCall);
    }
    (steps >= settings.step_limit()).then_some(Limit::MaxSteps)
}
