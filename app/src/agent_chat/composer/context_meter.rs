//! Shows how full the model's context is, once it is at least half full.

use crate::agent_chat::chunk_tables::{ContextUsage, EXTRAS};
use crate::agent_chat::session::Session;
use crate::prelude::*;
use crate::texts::group_digits;
use crate::texts::{Text, fill};

/// The meter is shown from this percentage on.
const WORTH_SHOWING: u64 = 50;

/// A small meter next to the send button, with the details in its tooltip.
pub(in crate::agent_chat) fn context_meter(session: Session) -> AnyView {
    // Taken from the newest answer that has the numbers; an answer that is being written has none
    // yet.
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

/// The percentage of the context that is used, from the tokens used and the size of the context.
fn percent((used, size): (u64, u64)) -> u64 {
    (used.saturating_mul(100) / size.max(1)).min(100)
}

/// The meter element.
pub(in crate::agent_chat) fn meter(taken: ContextUsage) -> AnyView {
    let part = move || taken.get().map(percent).unwrap_or_default().to_string();
    let details = move || {
        let (used, size) = taken.get()?;
        Some(fill(Text::ContextDetails, &[&group_digits(used), &group_digits(size)]))
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
