//! Why a turn ends after a step, though the model would go on.

use crate::{Limit, Settings};
use contract::ToolCall;

/// The limit that the finished steps have reached, if one.
pub(crate) fn limit(settings: &Settings, steps: u32, calls: &[ToolCall]) -> Option<Limit> {
    if calls.iter().any(|call| settings.stop_on_tool_call.contains(&call.name)) {
        return Some(Limit::StopOnToolCall);
    }
    (steps >= settings.max_steps).then_some(Limit::MaxSteps)
}
