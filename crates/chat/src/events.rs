//! Events of runs, conversations and users, for parts of the product that keep data of
//! their own about them.

use crate::submit::branch::known::{KnownMessages, ROOM};
use std::fmt;
use std::sync::{Arc, OnceLock};
use wire::EndReason;
use wire::api::Outcome;

/// Something that has happened and is stored.
///
/// An event is sent once, on the server where it happens: for a run that a dead server left open, on
/// the one that closes it. None is sent if that server is killed before, and for what is deleted
/// while a server starts. So work that must not be lost is found by a query over what is stored; an
/// event only says that it is due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LifecycleEvent {
    /// A run has ended.
    RunEnded {
        /// The run.
        run_id: String,
        /// The conversation.
        conversation_id: String,
        /// The owner of the conversation.
        user_id: String,
        /// The agent.
        agent_id: String,
        /// How it ended. With [`Outcome::Waiting`] the turn goes on when the user has answered; if
        /// the question expires, the same run ends once more.
        outcome: Outcome,
        /// Why it ended.
        reason: EndReason,
    },
    /// A run of an agent without a conversation waits for decisions on its calls.
    AgentRunWaiting {
        /// The run.
        run_id: String,
    },
    /// A conversation was deleted for good, with its rows in all tables.
    ConversationDeleted {
        /// The conversation.
        conversation_id: String,
        /// Its owner.
        user_id: String,
    },
    /// A user was deleted for good, with their rows in all tables.
    UserDeleted {
        /// The user.
        user_id: String,
    },
}

/// Receives events. It is called between other work, so it must return quickly.
pub trait LifecycleObserver: Send + Sync + 'static {
    /// Something has happened.
    fn observe(&self, event: &LifecycleEvent);
}

/// The receiver of events, which is set once after the chat was opened.
#[derive(Clone, Default)]
pub(crate) struct Events {
    observer: Arc<OnceLock<Arc<dyn LifecycleObserver>>>,
    /// Those of a deleted conversation are forgotten.
    pub(crate) known_messages: Arc<KnownMessages>,
}

impl Events {
    /// Sets the receiver; one that is already set stays.
    pub(crate) fn set_observer(&self, observer: Arc<dyn LifecycleObserver>) {
        let _ = self.observer.set(observer);
    }

    pub(crate) fn has_observer(&self) -> bool {
        self.observer.get().is_some()
    }

    pub(crate) fn tell(&self, event: &LifecycleEvent) {
        if let LifecycleEvent::ConversationDeleted { conversation_id, user_id } = event {
            self.known_messages.keep(user_id, conversation_id, None, ROOM);
        }
        if let Some(observer) = self.observer.get() {
            observer.observe(event);
        }
    }
}

impl fmt::Debug for Events {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Events").finish_non_exhaustive()
    }
}
