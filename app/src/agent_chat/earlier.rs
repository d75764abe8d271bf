//! Which messages of a conversation stand in the document: the newest, and earlier ones once the reader goes there. What a frame and what
//! opening costs then does not grow with the conversation.

use super::message_state::MessageState;
use super::session::Session;
use crate::chat_context::use_chat_context;
use crate::prelude::*;
use crate::texts::{Text, t};
use leptos::html;

/// So many of the newest messages are always there.
const NEWEST: usize = 30;
/// So many more come at a time.
const STEP: usize = 20;
/// This near to the beginning of what is there, in pixels, more comes.
const NEAR: i32 = 1_200;

/// What is there; a cheap handle.
#[derive(Clone, Copy)]
pub(super) struct Earlier {
    session: Session,
    scroller: NodeRef<html::Div>,
    /// So many of the oldest are not there.
    hidden: RwSignal<usize>,
    /// More is on the way.
    coming: StoredValue<bool>,
}

impl Earlier {
    pub(super) fn new(session: Session, scroller: NodeRef<html::Div>) -> Self {
        let count = session.messages.with_untracked(Vec::len);
        let hidden = RwSignal::new(count.saturating_sub(NEWEST));
        let earlier = Self { session, scroller, hidden, coming: StoredValue::new(false) };
        let chat = use_chat_context();
        Effect::new(move |_| {
            if chat.wanted.get().is_some_and(|id| earlier.reveal(&id)) {
                chat.wanted.set(None);
            }
        });
        earlier
    }

    /// The messages that are there. Tracked.
    pub(super) fn shown(self) -> Vec<MessageState> {
        let hidden = self.hidden();
        self.session.messages.with(|all| all[hidden..].to_vec())
    }

    /// The way to what is not there, for who does not scroll.
    pub(super) fn button(self) -> AnyView {
        let is_some = Memo::new(move |_| self.hidden() > 0);
        (move || {
            is_some.get().then(|| {
                view! {
                    <button type="button" class="cw-earlier" on:click=move |_| self.more()>
                        {t(Text::EarlierMessages)}
                    </button>
                }
                .into_any()
            })
        })
        .into_any()
    }

    /// The log was scrolled.
    pub(super) fn scrolled(self) {
        if self.scroller.get_untracked().is_some_and(|scroller| scroller.scroll_top() < NEAR) {
            self.more();
        }
    }

    /// Tracked. What was replaced or deleted since may have left fewer messages.
    fn hidden(self) -> usize {
        let most = self.session.messages.with(Vec::len).saturating_sub(NEWEST);
        self.hidden.get().min(most)
    }

    fn more(self) {
        let hidden = untrack(|| self.hidden());
        if hidden > 0 && !self.coming.get_value() {
            self.show_from(hidden.saturating_sub(STEP));
        }
    }

    /// Brings a message into the document, if it is one of this conversation.
    fn reveal(self, id: &str) -> bool {
        let at = self.session.messages.with_untracked(|all| all.iter().position(|message| message.id == id));
        let is_here = at.is_some();
        if let Some(at) = at.filter(|at| *at < untrack(|| self.hidden())) {
            self.show_from(at.saturating_sub(STEP));
        }
        is_here
    }

    /// What the reader sees stays where it is.
    fn show_from(self, first: usize) {
        let Some(scroller) = self.scroller.get_untracked() else { return };
        let from_end = scroller.scroll_height() - scroller.scroll_top();
        self.coming.set_value(true);
        self.hidden.set(first);
        request_animation_frame(move || {
            // The conversation may have been left.
            if self.coming.try_set_value(false).is_none() {
                scroller.set_scroll_top(scroller.scroll_height() - from_end);
            }
        });
    }
}
