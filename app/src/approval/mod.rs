//! The parts that approval cards in chats and in lists of tasks share: the display of arguments, which
//! hides nothing, and the checks that disable *Approve* until the user has seen them.

pub(crate) mod unseen_arguments;
pub(crate) mod value;

use crate::prelude::*;
use std::time::Duration;

/// "Approve" is disabled for this long after the card appears, so that a click meant for what was
/// there before does not approve the call.
const APPROVE_DELAY: Duration = Duration::from_millis(500);

/// Returns a signal that is true while "Approve" is disabled because the card has just appeared.
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
