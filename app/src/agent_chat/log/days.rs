//! Headings that separate the days of a conversation.

use crate::agent_chat::message::state::MessageState;
use crate::agent_chat::session::Session;
use crate::prelude::*;
use crate::ui::dates::{day_heading, is_today, utc_date};

/// The heading above the first message of a day. The first message of the conversation gets one
/// only if it was not written today. The server does not know the user's time zone and uses its
/// own, so that little changes when the page is hydrated.
pub(in crate::agent_chat) fn heading(session: Session, message: &MessageState) -> AnyView {
    // The messages before this one do not change while it is shown.
    let before = session.messages.with_untracked(|all| {
        let at = all.iter().position(|known| known.id == message.id)?;
        all[..at].iter().rev().find_map(|known| known.metadata.with_untracked(|metadata| metadata.created_at))
    });
    let Some(at) = message.metadata.with_untracked(|metadata| metadata.created_at) else { return ().into_any() };
    let words = move || if session.is_hydrated.get() { day_heading(at) } else { utc_date(at) };
    let is_shown = move || match (session.is_hydrated.get(), before) {
        (true, Some(before)) => day_heading(before) != day_heading(at),
        (false, Some(before)) => utc_date(before) != utc_date(at),
        (alive, None) => alive && !is_today(at),
    };
    (move || is_shown().then(|| view! { <h2 class="cw-day">{words}</h2> }.into_any())).into_any()
}
