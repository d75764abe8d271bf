//! A conversation that is open in the browser, and the actions on it.
//!
//! The server owns the transcript. The session shows the state that it received, sends the user's messages and
//! decisions, and follows the answer that is being written, also if another client started the run.
//!
//! - `submit.rs` sends messages, `answer.rs` decisions and answers to questions, `edit.rs` sends edited messages, `attach.rs` uploads
//!   files (`external_storage.rs` to the page's own storage), `queue.rs` keeps messages that wait,
//!   `compose.rs` and `dictate.rs` contain other functions of the composer.
//! - `stream/follow.rs` shows what `connect.rs` reads, `connection_permits.rs` limits permanent
//!   connections, `tabs.rs` observes other tabs and devices.
//! - `page/client_call.rs` executes the calls of client tools, `page_call.rs` those that do more
//!   than fill in fields.
//! - `page/events.rs` derives events, `event_claims.rs` delivers each to one page, `methods.rs`
//!   contains the methods for the page's actions, `preset.rs` the messages that the page sets.
//! - `form.rs` saves the shared form, `host_form.rs` states whose form it is.
//! - `change.rs` contains changes that start no run, `workflow.rs` starts workflows by commands.
//! - `dispatch.rs` loads the code for all of this at the latest with the first action; `action.rs`
//!   lists the actions.

mod action;
mod answer;
mod attach;
mod change;
mod compose;
mod dictate;
mod dispatch;
mod edit;
mod external_storage;
mod form;
mod host_form;
mod kept_queue;
mod page;
mod queue;
mod shared_state;
mod stream;
mod submit;
mod workflow;

pub(super) use action::{Problem, Remedy, SessionAction, WorkflowStart};
pub(super) use host_form::HostForm;
pub(super) use page::events::LINK_CLICK;

use super::composer::outgoing::{Attachment, OutgoingMessage, QueuedMessage};
use super::composer::speech;
use super::composer::types::{CommandOption, OpenForm};
use super::message::state::MessageState;
use crate::actions::{Actions, BlockEvents, ClientTools};
use crate::agent_chat::chunk_tables::{CONVERSATION, SESSION};
use crate::api::ApiError;
use crate::chat_context::ChatContext;
use crate::page_state::{PageState, use_page_state};
use crate::prelude::*;
use crate::scope::OperatorScope;
use crate::texts::error_text;
use futures::future::AbortHandle;
use host_form::FormConversation;
use page::event_claims::{ExpectedAnswer, PendingEvent};
use serde_json::Value;
use wire::api::{Answer, ConversationView, RunOptions};
use wire::page::{AgentChatProperties, MessageActions, MessageDisplay, SharedField, Speaker};
use wire::{Role, UiMessage};

/// An open conversation; a cheap handle.
#[derive(Clone, Copy)]
pub(super) struct Session {
    /// None until the first message of a new conversation is sent, and again if it is rejected.
    pub(super) id: RwSignal<Option<String>>,
    pub(super) messages: RwSignal<Vec<MessageState>>,
    pub(super) phase: RwSignal<Phase>,
    pub(super) problem: RwSignal<Option<Problem>>,
    /// The text in the composer.
    pub(super) draft: RwSignal<String>,
    /// The files attached to it.
    pub(super) attachments: RwSignal<Vec<Attachment>>,
    /// The error about something that could not be added to the message, or could not be sent.
    pub(super) composer_error: RwSignal<Option<String>>,
    /// Whether the user has sent the message, which waits for its files.
    pub(super) sends_when_uploaded: RwSignal<bool>,
    /// The form above the composer.
    pub(super) open_form: RwSignal<Option<OpenForm>>,
    /// The commands for the prompts that the user sees, and the agents of other pages, once they are loaded.
    pub(super) loaded_options: RwSignal<Vec<CommandOption>>,
    /// The messages that wait for the end of the answer, in order.
    pub(super) queue: RwSignal<Vec<QueuedMessage>>,
    /// The states of the composer's switches, in order.
    pub(super) switch_states: RwSignal<Vec<bool>>,
    /// Whether the agent plans, where the user may choose.
    pub(super) plan_mode: RwSignal<bool>,
    /// The id of the model that answers next, where the user may choose. The picker sets it.
    pub(super) model: RwSignal<Option<String>>,
    /// Whether that model thinks.
    pub(super) thinks: RwSignal<bool>,
    /// Whether the request to the model failed and is sent again.
    pub(super) is_retrying: RwSignal<bool>,
    /// Whether files are being dragged over the chat.
    pub(super) dragging: RwSignal<bool>,
    /// Whether dictation is active.
    pub(super) is_dictating: RwSignal<bool>,
    /// Whether the browser is offline.
    pub(super) offline: RwSignal<bool>,
    /// Whether the page is hydrated, so that the user's time zone is known.
    pub(super) is_hydrated: RwSignal<bool>,
    /// The next announcement for screen readers.
    pub(super) announcement: RwSignal<String>,
    /// Incremented to move the focus to the composer.
    pub(super) focus_requests: RwSignal<u32>,
    /// Incremented to scroll to the end of the log.
    pub(super) scroll_requests: RwSignal<u32>,
    /// Incremented with each frame in which an answer has grown.
    pub(super) frame_count: RwSignal<u32>,
    /// The id of the message that is being edited, and the text so far.
    pub(super) editing: RwSignal<Option<(String, String)>>,
    /// The id of the message deleted last, while it can be restored.
    pub(super) deleted: RwSignal<Option<String>>,
    /// The message whose menu was opened last.
    pub(super) menu_message: RwSignal<Option<MessageState>>,
    /// The feedback values that the page provides.
    feedback_values: Option<Memo<Value>>,
    block: StoredValue<ChatBlock>,
    page_state: PageState,
    scope: OperatorScope,
    chat: ChatContext,
    inner: StoredValue<SessionInner>,
}

/// The block of a chat: its configuration and the state that outlives a session.
#[derive(Clone)]
pub(super) struct ChatBlock {
    pub(super) block_id: String,
    pub(super) page_id: String,
    pub(super) properties: AgentChatProperties,
    pub(super) fields: Vec<SharedField>,
    pub(super) events: BlockEvents,
    pub(super) tools: ClientTools,
    /// The conversation that is selected on the page.
    pub(super) chat: ChatContext,
    /// Whether the drawer is open, if the chat is in one.
    pub(super) drawer_open: RwSignal<bool>,
    /// The messages with which the next conversation starts.
    pub(super) preset_messages: StoredValue<Vec<UiMessage>>,
    /// The last value of the property `messages`, with the id that the page's state gave then.
    pub(super) given_messages: StoredValue<Option<(Option<String>, Value)>>,
    /// The conversation to which the page's form belongs; none if the form belongs to a host page.
    pub(super) form_conversation: Option<FormConversation>,
}

/// The phase of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// No request is in progress.
    Idle,
    /// A request was sent and is not accepted yet.
    Sending,
    /// An answer is being written.
    Streaming,
    /// The user has requested a stop.
    Stopping,
    /// The connection is lost; the answer is still being written on the server.
    Reconnecting,
}

/// State of a session that is not displayed.
#[derive(Default)]
struct SessionInner {
    /// Counts the streams that were followed; only the newest may change the session.
    stream_generation: u64,
    /// Aborts the wait for the next bytes, or for the next attempt.
    wait_handle: Option<AbortHandle>,
    /// When the last data of the stream arrived, by the page's clock.
    last_received: f64,
    /// Whether the connection is closed for a pause.
    is_paused: bool,
    /// The id that a new conversation will get.
    next_id: Option<String>,
    /// A message that the server has not acknowledged. If it is sent again unchanged, it keeps its
    /// id.
    unsent_message: Option<(String, OutgoingMessage)>,
    /// Whether the answer was stopped to send a waiting message.
    stopped_for_queue: bool,
    /// Whether a stop was requested before the server accepted the message.
    stop_requested: bool,
    /// The messages above the first message of a new conversation; the server stores them with it.
    history: Vec<UiMessage>,
    /// The waiting message that is being sent.
    sending_queued: Option<QueuedMessage>,
    /// Whether copies of waiting messages are being stored on the server.
    is_keeping_queue: bool,
    /// Counts the changes of these copies, with their beginnings and ends: a list that was loaded
    /// meanwhile may lack one.
    queue_changes: u32,
    /// Shows notices on the page about the queue.
    notices: Option<Actions>,
    /// Whether the page is being asked if a message may be sent.
    is_asking_page: bool,
    /// The versions that the expected answer replaces.
    replaced_versions: Vec<String>,
    /// The id under which the server knows this page as the runner of calls.
    runner_id: Option<String>,
    /// The results of calls that ran here, until the server has accepted them.
    unsent_results: Vec<Answer>,
    /// The answer whose events this tab handles.
    expected_answer: Option<ExpectedAnswer>,
    /// Events to be claimed, oldest first.
    pending_events: Vec<PendingEvent>,
    /// Whether events are being claimed.
    is_claiming: bool,
    /// The user's choices about documents and the web.
    choices: RunOptions,
}

impl Session {
    /// A loaded conversation, or a new one.
    pub(super) fn new(view: Option<&ConversationView>, place: ChatBlock) -> Self {
        // A new conversation does not need the code for messages.
        let begun = view.filter(|view| !view.messages.is_empty());
        let messages = begun.and_then(|view| untrack(|| CONVERSATION.get()).map(|code| (code.messages)(view)));
        let running = view.is_some_and(|view| view.active.is_some());
        if running {
            SESSION.request();
        }
        let scope = OperatorScope::for_page();
        let values = place.properties.feedback_values.clone();
        let feedback_values = values.map(|values| Memo::new(move |_| scope.evaluate(&values).unwrap_or_default()));
        let switched = place.properties.sender.switches.iter().map(|switch| switch.default).collect();
        Self {
            id: RwSignal::new(view.map(|view| view.summary.id.clone())),
            messages: RwSignal::new(messages.unwrap_or_default()),
            phase: RwSignal::new(if running { Phase::Streaming } else { Phase::Idle }),
            problem: RwSignal::new(None),
            draft: RwSignal::new(String::new()),
            attachments: RwSignal::new(Vec::new()),
            composer_error: RwSignal::new(None),
            sends_when_uploaded: RwSignal::new(false),
            open_form: RwSignal::new(None),
            loaded_options: RwSignal::new(Vec::new()),
            queue: RwSignal::new(Vec::new()),
            switch_states: RwSignal::new(switched),
            plan_mode: RwSignal::new(false),
            model: RwSignal::new(view.and_then(|view| view.first_model.clone())),
            thinks: RwSignal::new(false),
            is_retrying: RwSignal::new(false),
            dragging: RwSignal::new(false),
            is_dictating: RwSignal::new(false),
            offline: RwSignal::new(false),
            is_hydrated: RwSignal::new(false),
            announcement: RwSignal::new(String::new()),
            focus_requests: RwSignal::new(0),
            scroll_requests: RwSignal::new(0),
            frame_count: RwSignal::new(0),
            editing: RwSignal::new(None),
            deleted: RwSignal::new(None),
            menu_message: RwSignal::new(None),
            feedback_values,
            chat: place.chat,
            block: StoredValue::new(place),
            page_state: use_page_state(),
            scope,
            inner: StoredValue::new(SessionInner::default()),
        }
    }

    /// Starts the session in the browser.
    pub(super) fn start(self, view: Option<&ConversationView>) {
        self.is_hydrated.set(true);
        self.register_methods();
        self.watch_network();
        self.persist_form();
        on_cleanup(move || {
            self.cancel_following();
            speech::stop_reading();
            // If files are attached, the code for them is loaded.
            if self.attachments.try_with_untracked(|all| !all.is_empty()) == Some(true) {
                self.dispatch(SessionAction::CancelUploads);
            }
            speech::stop_recognition();
        });
        // Other tabs can only change a conversation that is on the server.
        let is_known = Memo::new(move |_| self.id.with(Option::is_some));
        Effect::new(move |_| {
            if is_known.get()
                && let Some(code) = CONVERSATION.get()
            {
                untrack(|| (code.listen)(self));
            }
        });
        // Messages wait only after something was sent, for which the code is loaded, or since before
        // a reload; then `listen` requests the code.
        Effect::new(move |_| {
            if is_known.get()
                && let Some(code) = SESSION.get_loaded()
            {
                untrack(|| (code.persist_queue)(self));
            }
        });
        match view {
            Some(view) if view.active.is_some() => self.dispatch(SessionAction::Watch),
            Some(_) => match untrack(|| CONVERSATION.get()) {
                Some(code) => (code.resume)(self),
                None => self.dispatch(SessionAction::RunClientCalls),
            },
            None if self.has_preset() => self.dispatch(SessionAction::ShowPreset),
            None => {}
        }
        self.watch_messages();
    }

    /// Shows the messages of the page's property, if it has one.
    fn watch_messages(self) {
        let Some(expression) = self.block.with_value(|place| place.properties.messages.clone()) else { return };
        let first = untrack(|| self.scope.evaluate(&expression)).unwrap_or_default();
        Effect::new(move |_| {
            if let (Some(code), Some(_)) = (SESSION.get(), CONVERSATION.get()) {
                untrack(|| (code.watch_messages)(self, &expression, &first));
            }
        });
    }

    /// Whether the page has set messages for a new conversation.
    fn has_preset(self) -> bool {
        self.block.with_value(|place| place.preset_messages.with_value(|preset| !preset.is_empty()))
    }

    /// The id of the conversation, once it has one. Not tracked.
    pub(super) fn conversation_id(self) -> Option<String> {
        self.id.get_untracked()
    }

    /// The actions on messages that the config enables.
    pub(super) fn actions(self) -> MessageActions {
        self.block.with_value(|place| place.properties.actions)
    }

    /// Reads the display properties of messages.
    pub(super) fn display<T>(self, of: impl FnOnce(&MessageDisplay) -> T) -> T {
        self.block.with_value(|place| of(&place.properties.message_display))
    }

    /// The speaker of messages with this role.
    pub(super) fn speaker(self, role: Role) -> Speaker {
        self.block.with_value(|place| match role {
            Role::User => place.properties.roles.user.clone(),
            Role::Assistant | Role::System => place.properties.roles.assistant.clone(),
        })
    }

    /// Whether a request or an answer is in progress, so that nothing can be sent. Tracked.
    pub(super) fn is_busy(self) -> bool {
        self.phase.get() != Phase::Idle
    }

    /// Whether an answer is being written or about to be. Tracked.
    pub(super) fn is_answering(self) -> bool {
        matches!(self.phase.get(), Phase::Sending | Phase::Streaming | Phase::Reconnecting)
    }

    /// The newest message, if it is an answer. Not tracked.
    fn newest_answer(self) -> Option<MessageState> {
        self.messages.with_untracked(|messages| messages.last().filter(|last| last.role == Role::Assistant).cloned())
    }

    /// Whether a message is the newest. Tracked.
    pub(super) fn is_newest(self, id: &str) -> bool {
        self.messages.with(|messages| messages.last().is_some_and(|last| last.id == id))
    }

    pub(super) fn is_disposed(self) -> bool {
        self.messages.is_disposed()
    }

    fn report_error(self, error: &ApiError, remedy: Option<Remedy>) {
        self.emit("onError", serde_json::json!({ "message": error.to_string() }));
        self.problem.set(Some(Problem { message: error_text(&error.0), remedy }));
    }

    /// Stops following the current stream and aborts its wait.
    fn cancel_following(self) {
        let handle = self.inner.try_update_value(|inner| {
            inner.stream_generation += 1;
            inner.wait_handle.take()
        });
        if let Some(Some(handle)) = handle {
            handle.abort();
        }
    }
}
