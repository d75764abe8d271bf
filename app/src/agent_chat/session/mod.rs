//! A conversation that is open in the browser: what is on the screen, and what can be done.
//!
//! The transcript is the server's. The session shows what it was told, sends what the user does, and
//! follows the answer that is being written, whoever asked for it.
//!
//! - `submit.rs` sends, `edit.rs` sends a message in the place of another, `attach.rs` sends files,
//!   `queue.rs` keeps what waits, `compose.rs` is the rest of what the composer does.
//! - `follow.rs` shows what `connect.rs` reads, `places.rs` says for how long, `tabs.rs` hears of
//!   other tabs and devices.
//! - `client_call.rs` answers the calls that the page itself executes, `page_call.rs` those among
//!   them that do more than fill in fields.
//! - `events.rs` says what happens, `hand_over.rs` hands it to one page, `methods.rs` does what the
//!   page's actions ask, `preset.rs` shows messages that the page puts in, `form.rs` keeps the form.
//! - `change.rs` does what asks nothing of the agent.
//! - `act.rs` leads to all of it from what is on the page before the conversation has begun.

mod act;
mod attach;
mod change;
mod client_call;
mod compose;
mod connect;
mod dictate;
mod edit;
mod elsewhere;
mod events;
mod follow;
mod form;
mod hand_over;
mod methods;
mod page_call;
mod places;
mod preset;
mod queue;
mod shared_state;
mod submit;
mod tabs;

pub(super) use act::Act;
pub(super) use client_call::PAGE_STATE_TOOL;
pub(super) use form::ForeignForm;

use super::CONVERSATION;
use super::message_state::MessageState;
use super::outgoing::{Attached, Outgoing, Queued};
use super::speech;
use crate::actions::{BlockEvents, ClientTools};
use crate::api::ApiError;
use crate::chat_context::ChatContext;
use crate::page_state::{PageState, use_page_state};
use crate::prelude::*;
use crate::scope::Scope;
use crate::texts::said;
use form::FormOf;
use futures::future::AbortHandle;
use hand_over::{Expected, Pending};
use serde_json::Value;
use wire::api::{Answer, ConversationView};
use wire::page::{AgentChatProperties, MessageActions, MessageDisplay, SharedField, Speaker};
use wire::{Role, UiMessage};

/// An open conversation; a cheap handle.
#[derive(Clone, Copy)]
pub(super) struct Session {
    /// None until the first message of a new conversation is sent, and again when it is refused.
    pub(super) id: RwSignal<Option<String>>,
    pub(super) messages: RwSignal<Vec<MessageState>>,
    pub(super) phase: RwSignal<Phase>,
    pub(super) problem: RwSignal<Option<Problem>>,
    /// What stands in the composer.
    pub(super) draft: RwSignal<String>,
    /// The files that go with it.
    pub(super) attached: RwSignal<Vec<Attached>>,
    /// Why something did not come into the composer, or does not go out of it.
    pub(super) refusal: RwSignal<Option<String>>,
    /// What waits for the end of the answer, in its order.
    pub(super) queue: RwSignal<Vec<Queued>>,
    /// Which of the composer's switches are on, in their order.
    pub(super) switched: RwSignal<Vec<bool>>,
    /// Files are held above the chat.
    pub(super) dragging: RwSignal<bool>,
    /// What the user says is being heard.
    pub(super) hearing: RwSignal<bool>,
    /// The browser has no network.
    pub(super) offline: RwSignal<bool>,
    /// The page has come to life, and knows the reader's clock.
    pub(super) alive: RwSignal<bool>,
    /// What a screen reader should say next.
    pub(super) announcement: RwSignal<String>,
    /// Rises when the composer should have the focus.
    pub(super) focus: RwSignal<u32>,
    /// Rises when the end of the log should be seen.
    pub(super) to_end: RwSignal<u32>,
    /// Rises with each frame in which an answer has grown.
    pub(super) frames: RwSignal<u32>,
    /// The message that is being edited, with the text as it is so far.
    pub(super) editing: RwSignal<Option<(String, String)>>,
    /// The message that was deleted last, as long as that can be taken back.
    pub(super) deleted: RwSignal<Option<String>>,
    /// The message whose menu is open, or was last.
    pub(super) subject: RwSignal<Option<MessageState>>,
    /// What the page itself keeps of what the user thinks of answers.
    feedback_values: Option<Memo<Value>>,
    place: StoredValue<Place>,
    page_state: PageState,
    scope: Scope,
    chat: ChatContext,
    inner: StoredValue<Inner>,
}

/// Where the chat stands.
#[derive(Clone)]
pub(super) struct Place {
    pub(super) block_id: String,
    pub(super) page_id: String,
    pub(super) properties: AgentChatProperties,
    pub(super) fields: Vec<SharedField>,
    pub(super) events: BlockEvents,
    pub(super) tools: ClientTools,
    /// Which conversation is open on the page.
    pub(super) chat: ChatContext,
    /// Whether it is to be seen, where it stands in a drawer.
    pub(super) open: RwSignal<bool>,
    /// Messages with which the next conversation begins.
    pub(super) preset: StoredValue<Vec<UiMessage>>,
    /// Which conversation the page's form is about; none where the form is another site's.
    pub(super) form_of: Option<FormOf>,
}

/// What the session is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Nothing.
    Idle,
    /// Something was sent and is not accepted yet.
    Sending,
    /// An answer is being written.
    Streaming,
    /// The user has asked to end it.
    Stopping,
    /// The connection is lost, the answer is being written on without us.
    Reconnecting,
}

/// What went wrong, for the user.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Problem {
    pub(super) message: String,
    pub(super) remedy: Option<Remedy>,
}

/// What the user can do about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Remedy {
    /// Send what stands in the composer.
    Send,
    /// Load the conversation.
    Reload,
    /// Begin a new conversation.
    New,
}

/// What is not shown.
#[derive(Default)]
struct Inner {
    /// Counts the streams that were followed: only the newest may change anything.
    follower: u64,
    /// Ends the wait for the next bytes, or for the next attempt.
    interrupt: Option<AbortHandle>,
    /// When the stream was heard of last, by the page's clock.
    heard: f64,
    /// No connection is open, another one will be.
    left: bool,
    /// With which id the conversation begins.
    next_id: Option<String>,
    /// A message that the server has not acknowledged; sent again as it is, it is the same message.
    unsent: Option<(String, Outgoing)>,
    /// The answer was stopped for what waits.
    interrupting: bool,
    /// Stop was asked for before the server had accepted.
    stop_early: bool,
    /// What stands above the first message of a new conversation; the server takes it over with that.
    history: Vec<UiMessage>,
    /// What waited and is being sent.
    leaving: Option<Queued>,
    /// The page is being asked whether a message may be sent.
    asking: bool,
    /// What stood in the place of the answer that is being waited for.
    replaced: Vec<String>,
    /// By which the server knows that a call runs here.
    runner: Option<String>,
    /// What came of calls that ran here, until the server has it.
    ran: Vec<Answer>,
    /// The answer whose events are wanted.
    expected: Option<Expected>,
    /// Events that are to be claimed, the oldest first.
    pending: Vec<Pending>,
    /// Events are being claimed.
    is_claiming: bool,
}

impl Session {
    /// A conversation as it was loaded, or a new one.
    pub(super) fn new(view: Option<&ConversationView>, place: Place) -> Self {
        // A new conversation needs none of the code for messages.
        let begun = view.filter(|view| !view.messages.is_empty());
        let messages = begun.and_then(|view| untrack(|| CONVERSATION.get()).map(|code| (code.messages)(view)));
        let running = view.is_some_and(|view| view.active.is_some());
        let scope = Scope::of_page();
        let values = place.properties.feedback_values.clone();
        let feedback_values = values.map(|values| Memo::new(move |_| scope.evaluate(&values).unwrap_or_default()));
        let switched = place.properties.sender.switches.iter().map(|switch| switch.default).collect();
        Self {
            id: RwSignal::new(view.map(|view| view.summary.id.clone())),
            messages: RwSignal::new(messages.unwrap_or_default()),
            phase: RwSignal::new(if running { Phase::Streaming } else { Phase::Idle }),
            problem: RwSignal::new(None),
            draft: RwSignal::new(String::new()),
            attached: RwSignal::new(Vec::new()),
            refusal: RwSignal::new(None),
            queue: RwSignal::new(Vec::new()),
            switched: RwSignal::new(switched),
            dragging: RwSignal::new(false),
            hearing: RwSignal::new(false),
            offline: RwSignal::new(false),
            alive: RwSignal::new(false),
            announcement: RwSignal::new(String::new()),
            focus: RwSignal::new(0),
            to_end: RwSignal::new(0),
            frames: RwSignal::new(0),
            editing: RwSignal::new(None),
            deleted: RwSignal::new(None),
            subject: RwSignal::new(None),
            feedback_values,
            chat: place.chat,
            place: StoredValue::new(place),
            page_state: use_page_state(),
            scope,
            inner: StoredValue::new(Inner::default()),
        }
    }

    /// Begins the session's life in the browser.
    pub(super) fn start(self, view: Option<&ConversationView>) {
        self.alive.set(true);
        self.offer_methods();
        self.watch_network();
        self.keep_form();
        on_cleanup(move || {
            self.interrupt();
            speech::stop();
            // Whoever has something attached has the code for it.
            if self.attached.try_with_untracked(|all| !all.is_empty()) == Some(true) {
                self.act(Act::Leave);
            }
            speech::stop_hearing();
        });
        // Others can only change what the server knows.
        let is_known = Memo::new(move |_| self.id.with(Option::is_some));
        Effect::new(move |_| {
            if is_known.get() && CONVERSATION.get().is_some() {
                untrack(|| self.act(Act::Listen));
            }
        });
        match view {
            Some(view) if view.active.is_some() => self.act(Act::Watch),
            Some(_) => self.act(Act::RunClientCalls),
            None if self.has_preset() => self.act(Act::ShowPreset),
            None => {}
        }
        self.follow_messages();
    }

    /// Whether the page has put messages into the chat, for a conversation that begins.
    fn has_preset(self) -> bool {
        self.place.with_value(|place| place.preset.with_value(|preset| !preset.is_empty()))
    }

    /// The conversation that is open, once it has an id. Not tracked.
    pub(super) fn conversation_id(self) -> Option<String> {
        self.id.get_untracked()
    }

    /// What the user can do with messages.
    pub(super) fn actions(self) -> MessageActions {
        self.place.with_value(|place| place.properties.actions)
    }

    /// How messages are shown.
    pub(super) fn display<T>(self, of: impl FnOnce(&MessageDisplay) -> T) -> T {
        self.place.with_value(|place| of(&place.properties.message_display))
    }

    /// Who speaks in a message of this role.
    pub(super) fn speaker(self, role: Role) -> Speaker {
        self.place.with_value(|place| match role {
            Role::User => place.properties.roles.user.clone(),
            Role::Assistant | Role::System => place.properties.roles.assistant.clone(),
        })
    }

    /// Whether nothing can be sent now.
    pub(super) fn is_busy(self) -> bool {
        self.phase.get() != Phase::Idle
    }

    /// Whether an answer is being written, or about to be.
    pub(super) fn is_answering(self) -> bool {
        matches!(self.phase.get(), Phase::Sending | Phase::Streaming | Phase::Reconnecting)
    }

    /// The newest message, if it is the agent's. Not tracked.
    fn newest_answer(self) -> Option<MessageState> {
        self.messages.with_untracked(|messages| messages.last().filter(|last| last.role == Role::Assistant).cloned())
    }

    /// Whether a message is the newest one. Tracked.
    pub(super) fn is_newest(self, id: &str) -> bool {
        self.messages.with(|messages| messages.last().is_some_and(|last| last.id == id))
    }

    pub(super) fn is_gone(self) -> bool {
        self.messages.is_disposed()
    }

    fn fail(self, error: &ApiError, remedy: Option<Remedy>) {
        self.tell("onError", serde_json::json!({ "message": error.to_string() }));
        self.problem.set(Some(Problem { message: said(&error.0), remedy }));
    }

    /// Ends whatever is being waited for.
    fn interrupt(self) {
        let handle = self.inner.try_update_value(|inner| {
            inner.follower += 1;
            inner.interrupt.take()
        });
        if let Some(Some(handle)) = handle {
            handle.abort();
        }
    }
}
