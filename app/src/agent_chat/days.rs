//! The days of a conversation: a heading where one begins.

use super::message_state::MessageState;
use super::session::Session;
use crate::agent_conversations::when::{day, day_heading, is_today};
use crate::prelude::*;

/// The heading above a message that is the first of its day; above the first of all only where that is not today's. The server, which does not
/// know the reader's clock, goes by its own, so that little changes when the page comes to life.
pub(super) fn heading(session: Session, message: &MessageState) -> AnyView {
    // What stands before a message never changes while it is there.
    let before = session.messages.with_untracked(|all| {
        let at = all.iter().position(|known| known.id == message.id)?;
        all[..at].iter().rev().find_map(|known| known.metadata.with_untracked(|metadata| metadata.created_at))
    });
    let Some(at) = message.metadata.with_untracked(|metadata| metadata.created_at) else { return ().into_any() };
    let words = move || match session.alive.get() {
        true => day_heading(at),
        false => day(at),
    };
    let is_shown = move || match (session.alive.get(), before) {
        (true, Some(before)) => day_heading(before) != day_heading(at),
        (false, Some(before)) => day(before) != day(at),
        (alive, None) => alive && !is_today(at),
    };
    (move || is_shown().then(|| view! { <h2 class="cw-day">{words}</h2> }.into_any())).into_any()
}
