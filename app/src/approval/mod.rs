//! What every card that asks for an approval shares, in a chat and in a list of tasks: values of which
//! nothing is hidden, and the guards of *Approve*.

pub(crate) mod unseen_arguments;
pub(crate) mod value;

use crate::prelude::*;
use std::time::Duration;

/// "Approve" is disabled for this long after the card appears, so that a click meant for what was
/// there before does not approve the call.
const APPROVE_DELAY: Duration = Duration::from_millis(500);

/// Returns whether the card has just appeared, so that "Approve" is still disabled.
pub(crate) fn is_early() -> RwSignal<bool> {
    let early = RwSignal::new(true);
    Effect::new(move |_| {
        let end = move || {
            // The card may have been removed by then.
            let _ = early.try_set(false);
        };
        set_timeout(end, APPROVE_DELAY);
    });
    early
}

/// Renders JSON in a readable form.
pub(crate) fn value_view(value: &serde_json::Value) -> AnyView {
    value::value_nodes(value).into_any()
}
