//! How full the model's context is: nothing while there is plenty of room.

use super::EXTRAS;
use super::session::Session;
use crate::numbers::grouped;
use crate::prelude::*;
use crate::texts::{Text, fill};

/// From so many percent on it is shown.
const WORTH_SHOWING: u64 = 50;

/// The tokens that are taken and those that there is room for, once they are known.
pub(super) type Taken = Memo<Option<(u64, u64)>>;

/// A small meter beside the button that sends; what it says in full stands in its tooltip.
pub(super) fn context_meter(session: Session) -> AnyView {
    // Of the newest answer that knows: the one that is being written does not yet.
    let taken = Memo::new(move |_| {
        session.messages.with(|all| {
            all.iter().rev().find_map(|message| {
                message.metadata.with(|metadata| Some((metadata.context_used?, metadata.context_size?)))
            })
        })
    });
    let is_shown = Memo::new(move |_| taken.get().is_some_and(|taken| percent(taken) >= WORTH_SHOWING));
    (move || is_shown.get().then(|| EXTRAS.view(move |code| (code.context_meter)(taken)))).into_any()
}

/// The parts of a hundred that are taken, of tokens and those that there is room for.
fn percent((used, size): (u64, u64)) -> u64 {
    (used.saturating_mul(100) / size.max(1)).min(100)
}

/// The meter.
pub(super) fn meter(taken: Taken) -> AnyView {
    let part = move || taken.get().map(percent).unwrap_or_default().to_string();
    let details = move || {
        let (used, size) = taken.get()?;
        Some(fill(Text::ContextDetails, &[&grouped(used), &grouped(size)]))
    };
    view! {
        <meter
            class="cw-context"
            min="0"
            max="100"
            low="50"
            high="85"
            optimum="0"
            value=move || Some(part())
            aria-label=move || Some(fill(Text::ContextFull, &[&part()]))
            title=details
        ></meter>
    }
    .into_any()
}
