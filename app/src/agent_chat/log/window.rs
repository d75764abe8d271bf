//! Limits which messages of a conversation are in the document: the newest ones, and earlier ones
//! when the user scrolls up. The cost of opening a conversation and of drawing a frame thus does
//! not grow with its length.

use crate::agent_chat::message::state::MessageState;
use crate::agent_chat::session::Session;
use crate::chat_context::use_chat_context;
use crate::prelude::*;
use crate::texts::{Text, t};
use leptos::html;

/// The number of newest messages that are always shown.
const NEWEST: usize = 30;
/// The number of messages added at a time.
const STEP: usize = 20;
/// The distance from the first shown message, in pixels, at which more messages are added.
const NEAR: i32 = 1_200;

/// The messages that are in the document; a cheap handle.
#[derive(Clone, Copy)]
pub(in crate::agent_chat) struct MessageWindow {
    session: Session,
    scroller: NodeRef<html::Div>,
    /// The number of oldest messages that are not shown.
    hidden: RwSignal<usize>,
    /// Whether more messages are about to be added.
    is_loading: StoredValue<bool>,
}

impl MessageWindow {
    pub(in crate::agent_chat) fn new(session: Session, scroller: NodeRef<html::Div>) -> Self {
        let count = session.messages.with_untracked(Vec::len);
        let hidden = RwSignal::new(count.saturating_sub(NEWEST));
        let earlier = Self { session, scroller, hidden, is_loading: StoredValue::new(false) };
        let chat = use_chat_context();
        Effect::new(move |_| {
            if chat.target_message.get().is_some_and(|id| earlier.reveal(&id)) {
                chat.target_message.set(None);
            }
        });
        earlier
    }

    /// The messages to show. Tracked.
    pub(in crate::agent_chat) fn visible_messages(self) -> Vec<MessageState> {
        let hidden = self.hidden();
        self.session.messages.with(|all| all[hidden..].to_vec())
    }

    /// The button that shows earlier messages, for users who do not scroll.
    pub(in crate::agent_chat) fn button(self) -> AnyView {
        let is_some = Memo::new(move |_| self.hidden() > 0);
        (move || {
            is_some.get().then(|| {
                view! {
                    <button type="button" class="cw-earlier" on:click=move |_| self.show_more()>
                        {t(Text::EarlierMessages)}
                    </button>
                }
                .into_any()
            })
        })
        .into_any()
    }

    /// Handles a scroll of the log.
    pub(in crate::agent_chat) fn scrolled(self) {
        if self.scroller.get_untracked().is_some_and(|scroller| scroller.scroll_top() < NEAR) {
            self.show_more();
        }
    }

    /// The number of hidden messages, limited because edits and deletions may have shortened the
    /// conversation. Tracked.
    fn hidden(self) -> usize {
        let most = self.session.messages.with(Vec::len).saturating_sub(NEWEST);
        self.hidden.get().min(most)
    }

    fn show_more(self) {
        let hidden = untrack(|| self.hidden());
        if hidden > 0 && !self.is_loading.get_value() {
            self.show_from(hidden.saturating_sub(STEP));
        }
    }

    /// Adds a message to the document; false if it is not in this conversation.
    fn reveal(self, id: &str) -> bool {
        let at = self.session.messages.with_untracked(|all| all.iter().position(|message| message.id == id));
        let is_here = at.is_some();
        if let Some(at) = at.filter(|at| *at < untrack(|| self.hidden())) {
            self.show_from(at.saturating_sub(STEP));
        }
        is_here
    }

    /// Shows the messages from this index on and keeps the scroll position.
    fn show_from(self, first: usize) {
        let Some(scroller) = self.scroller.get_untracked() else { return };
        let from_end = scroller.scroll_height() - scroller.scroll_top();
        self.is_loading.set_value(true);
        self.hidden.set(first);
        request_animation_frame(move || {
            // The conversation may have been closed.
            if self.is_loading.try_set_value(false).is_none() {
                scroller.set_scroll_top(scroller.scroll_height() - from_end);
            }
        });
    }
}
