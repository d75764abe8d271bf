//! The stop conditions of a turn, checked after each step.

use crate::{Limit, RunSettings};

/// Returns how many of these tools end the turn.
pub(crate) fn count_last<'n>(settings: &RunSettings, tools: impl IntoIterator<Item = &'n String>) -> usize {
    tools.into_iter().filter(|name| settings.stop_on_tool_call.contains(*name)).count()
}

/// Returns the limit that the completed steps have reached, if any. `is_last` says whether a call
/// of the last step ends the turn.
pub(crate) fn limit(settings: &RunSettings, steps: u32, is_last: bool) -> Option<Limit> {
    if is_last {
        return Some(Limit::StopOnToolCall);
    }
    (steps >= settings.step_limit()).then_some(Limit::MaxSteps)
}
