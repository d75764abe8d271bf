//! The numbers of cited passages: a card while the pointer or the focus is on one, and the document after a click.
//! There is one handler for the whole log, so that the numbers need none.

use crate::agent_chat::session::Session;
use crate::libraries::{Citation, CitationState};
use crate::prelude::*;
use leptos::web_sys::{Element, Event};
use wasm_bindgen::JsCast;

/// The handlers of a log; a cheap handle.
#[derive(Clone, Copy)]
pub(super) struct CitationHandlers {
    session: Session,
    state: CitationState,
}

impl CitationHandlers {
    pub(super) fn new(session: Session) -> Self {
        Self { session, state: expect_context::<CitationState>() }
    }

    /// The pointer is over something.
    pub(super) fn pointed(self, event: &Event) {
        if let Some((mark, citation)) = self.citation(event) {
            self.state.show_card(mark, citation, false);
        }
    }

    /// Something has got the focus; by the keyboard, if the browser shows it.
    pub(super) fn focused(self, event: &Event) {
        let by_key = |(mark, _): &(Element, Citation)| mark.matches(":focus-visible").unwrap_or_default();
        if let Some((mark, citation)) = self.citation(event).filter(by_key) {
            self.state.show_card(mark, citation, true);
        }
    }

    /// The pointer or the focus has left something.
    pub(super) fn left(self, event: &Event) {
        if mark(event).is_some() {
            self.state.hide_card();
        }
    }

    /// Something was clicked.
    pub(super) fn clicked(self, event: &Event) {
        if let Some((mark, citation)) = self.citation(event) {
            self.state.open(&mark, citation);
        }
    }

    /// Returns the number that an event is about, with its citation.
    fn citation(self, event: &Event) -> Option<(Element, Citation)> {
        let mark = mark(event)?;
        let number: usize = mark.get_attribute("data-source")?.parse().ok()?;
        let message = mark.closest("[data-message]").ok()??.get_attribute("data-message")?;
        let source = self.session.messages.with_untracked(|messages| {
            let message = messages.iter().find(|known| known.id == message)?;
            message.cited_sources.with_untracked(|all| all.get(number.checked_sub(1)?).cloned())
        })?;
        Some((mark, Citation { source, conversation_id: self.session.conversation_id() }))
    }
}

fn mark(event: &Event) -> Option<Element> {
    event.target()?.dyn_into::<Element>().ok()?.closest(".cw-passage").ok()?
}
