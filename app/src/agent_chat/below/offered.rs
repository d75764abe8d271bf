//! Suggestions for the next message, below the newest answer: from the answer itself, or else from
//! the config.

use crate::agent_chat::log::prompt::prompts;
use crate::agent_chat::message::state::{MessageState, PartKind, SUGGESTIONS};
use crate::agent_chat::session::{Phase, Session, SessionAction};
use crate::prelude::*;
use crate::texts::{Text, t};
use wire::page::{Prompt, prompts as read};
use wire::{Role, UiPart};

/// The maximum number of suggestions that are shown.
const MAX_SHOWN: usize = 8;

/// A button for each suggestion, which sends its text.
pub(super) fn suggestions(session: Session) -> AnyView {
    (move || {
        if session.phase.get() != Phase::Idle || session.queue.with(|queue| !queue.is_empty()) {
            return None;
        }
        let answer = session.messages.with(|all| all.last().filter(|last| last.role == Role::Assistant).cloned())?;
        let offered = of_answer(&answer).unwrap_or_else(|| session.suggestions());
        if offered.is_empty() {
            return None;
        }
        let offered = offered.into_iter().take(MAX_SHOWN).collect();
        let send = |session: Session, text| session.dispatch(SessionAction::SendText(text));
        let chips = prompts(session, offered, "cw-suggestion", send);
        Some(view! { <ul class="cw-suggestions" aria-label=t(Text::Suggestions)>{chips}</ul> }.into_any())
    })
    .into_any()
}

/// Returns the suggestions of an answer. Tracked.
fn of_answer(answer: &MessageState) -> Option<Vec<Prompt>> {
    answer.parts.with(|parts| {
        parts.iter().rev().find_map(|part| match &part.kind {
            PartKind::Fixed(part) => part.with(|part| match part {
                UiPart::Data(data) if data.kind == SUGGESTIONS => {
                    data.data.get("items").or_else(|| data.data.get("suggestions")).map(read)
                }
                _ => None,
            }),
            _ => None,
        })
    })
}
