//! Why a turn ends after a step, though the model would go on.

use crate::{Limit, Settings};

/// The limit that the finished steps have reached, if one. `ran` are the tools that ran in the last step: a call that could not run, or
/// was not let run, is none that ends the turn, since the model may mend it.
pub(crate) fn limit(settings: &Settings, steps: u32, ran: &[String]) -> Option<Limit> {
    if ran.iter().any(|name| settings.stop_on_tool_call.contains(name)) {
        return Some(Limit::StopOnToolCall);
    }
    (steps >= settings.max_steps).then_some(Limit::MaxSteps)
}
