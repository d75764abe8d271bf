//! Agents from a config in one's own process, without HTTP.
//!
//! A message takes the same way as over HTTP: the same checks, limits, tools, hooks and records, and
//! the same types in the answer (`wire`). A program waits for the answer, or follows it chunk by
//! chunk:
//!
//! ```
//! use server::embedded::Builder;
//!
//! # tokio::runtime::Runtime::new().unwrap().block_on(async {
//! let config = "
//! connections: [{ id: demo, type: Demo, properties: { delayMs: 0 } }]
//! agents: [{ id: helper, type: Agent, connectionId: demo, properties: { model: demo } }]
//! ";
//! let chatwright = Builder::from_text(config).start().await?;
//! let agent = chatwright.agent("helper")?;
//! let answer = agent.ask("Hello").await?.finish().await?;
//! assert!(answer.text().starts_with("Hello!"));
//! let next = agent.ask_in(&answer.conversation_id, "count to 3").await?.finish().await?;
//! assert!(next.text().starts_with("1, 2, 3"));
//! # anyhow::Ok(())
//! # }).unwrap();
//! ```
//!
//! Conversations are in a database in memory, unless the program names another one. A `store` in the
//! config has no effect here, so that a trial changes no data of a server. Nothing happens on its own:
//! schedules and other background work of the config run only with [`Builder::background_work`].

mod builder;
mod events;
mod reply;

pub use builder::{Builder, StartError};
pub use chat::Caller;
pub use events::{StreamEnd, StreamEvent, StreamEvents, StreamMessage, StreamState, StreamToolCall, StreamUsage};
pub use reply::{Answer, Reply};

use crate::compose::{Composition, usage_caller};
use capability::{EndpointCall, EndpointFailure};
use chat::{ConversationUsage, CountedInvocation, TextOrigin};
use serde_json::{Map, Value};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use wire::api::{ConversationView, RunOptions, SendRequest, Submission};
use wire::invoke::InvokeRequest;
use wire::{ErrorCode, UiMessage, UserError};

/// The id of the page of agents that are on no page of the config.
const PAGE: &str = "embedded";

/// Whether this program does the work of helper processes, see [`run_helper`].
static HAS_HELPERS: AtomicBool = AtomicBool::new(false);

/// Does the work of a process that reads a document or runs a script; `None` in all other processes.
/// Such a process is this program once more, so a program whose agents read documents or run scripts
/// calls this first in `main`, and ends with the code. Without it, documents cannot be read and scripts
/// cannot be run.
pub fn run_helper() -> Option<ExitCode> {
    enable_helpers();
    crate::cli::CommandLine::of_helper().and_then(|arguments| arguments.run_as_helper())
}

/// Records that this program does the work of helper processes.
pub(crate) fn enable_helpers() {
    HAS_HELPERS.store(true, Ordering::Relaxed);
}

/// The running agents of a config. When the last handle is dropped, their runs and background
/// work end; what they wrote is stored. [`Chatwright::shutdown`] also waits for that.
#[derive(Clone)]
pub struct Chatwright {
    running: Arc<Running>,
}

struct Running {
    composition: Composition,
    jobs: TaskTracker,
    stop: CancellationToken,
    runtime: Handle,
    /// The files of the config that were asked for; some may not exist.
    files: Vec<PathBuf>,
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.stop.is_cancelled() {
            let (stop, jobs, chat) = (self.stop.clone(), self.jobs.clone(), self.composition.chat.clone());
            self.runtime.spawn(async move {
                stop.cancel();
                chat.drain(Duration::ZERO).await;
                jobs.wait().await;
                chat.close().await;
            });
        }
    }
}

impl Chatwright {
    /// Returns an agent, used by the owner of the program, who has the role `admin`.
    ///
    /// # Errors
    /// 404 if the config has no such agent.
    pub fn agent(&self, id: &str) -> Result<Agent, UserError> {
        self.agent_for(owner(), id)
    }

    /// Returns an agent, used by this caller. Their rights and quotas apply, and their conversations
    /// are theirs alone.
    ///
    /// # Errors
    /// 401 and 404 by the access rule of the agent.
    pub fn agent_for(&self, caller: Caller, id: &str) -> Result<Agent, UserError> {
        let current = &self.running.composition.current;
        if !current.usable_agents(&caller).iter().any(|usable| usable == id) {
            return Err(UserError::not_found());
        }
        let page_id = current.page_for_agent(&caller, id).unwrap_or_else(|| PAGE.to_owned());
        Ok(Agent { chatwright: self.clone(), caller, page_id, id: id.to_owned() })
    }

    /// Calls an endpoint of the config for the owner of the program, and returns what its routine
    /// returns. It may be an internal one.
    ///
    /// # Errors
    /// 422 for an unknown endpoint, for a payload that does not fit, and if the routine rejects it; 503 if
    /// it takes too long, 500 if a step fails.
    pub async fn call_endpoint(&self, id: &str, payload: Value) -> Result<Value, UserError> {
        let cancel = CancellationToken::new();
        let _gone = cancel.clone().drop_guard();
        let call = EndpointCall {
            caller: &owner(),
            id,
            payload,
            usage: usage_caller(id),
            idempotency_key: new_id(),
            meter: Arc::new(|models| models),
            cancel,
            reports: contract::CallReports::default(),
        };
        self.running.composition.current.call_endpoint_inside(call).await.map_err(|failure| match failure {
            EndpointFailure::Refused(message) => UserError::invalid("/", message),
            EndpointFailure::TimedOut(message) => UserError::new(ErrorCode::Unavailable, message),
            EndpointFailure::Failed(message) => UserError::new(ErrorCode::Internal, message),
        })
    }

    /// Returns whether the config has this endpoint.
    pub(crate) fn has_endpoint(&self, id: &str) -> bool {
        self.running.composition.current.config().endpoints.contains_key(id)
    }

    /// Returns the files of the config that were asked for; some may not exist.
    pub(crate) fn files(&self) -> &[PathBuf] {
        &self.running.files
    }

    /// Returns the first model of an agent and its sub-agents whose price is not known.
    ///
    /// # Errors
    /// The errors of [`Chatwright::agent`].
    pub(crate) async fn unpriced_model(&self, id: &str) -> Result<Option<String>, UserError> {
        let agent = chat::AgentSource::by_id(&*self.running.composition.current, &owner(), id).await?;
        Ok(agent.unpriced_model().map(str::to_owned))
    }

    /// Returns how many answers of a user may be written at the same time; more are refused.
    pub fn max_runs(&self) -> usize {
        let limits = chat::AgentSource::submission_limits(&*self.running.composition.current, &owner());
        limits.runs.min(self.running.composition.limits.runs)
    }

    /// Refuses new messages, gives running answers `patience` to end, then stops them, and ends all
    /// background work. Nothing can be read afterwards.
    pub async fn shutdown(self, patience: Duration) {
        let running = &self.running;
        running.stop.cancel();
        running.composition.chat.drain(patience).await;
        running.jobs.wait().await;
        running.composition.chat.close().await;
    }
}

/// An agent, used by one caller.
#[derive(Clone)]
pub struct Agent {
    chatwright: Chatwright,
    caller: Caller,
    page_id: String,
    id: String,
}

impl Agent {
    /// Begins a conversation.
    ///
    /// # Errors
    /// 413 and 422 for an invalid message, 429 for a used-up quota, 503 when full or shutting down.
    pub async fn ask(&self, text: &str) -> Result<Reply, UserError> {
        self.ask_in(&new_id(), text).await
    }

    /// Sends a message to a conversation. An unknown id, of 1 to 128 letters, digits, `-` or `_`,
    /// begins one.
    ///
    /// # Errors
    /// The errors of [`Agent::ask`]; 404 for a conversation of another caller, 409 while an answer is being
    /// written.
    pub async fn ask_in(&self, conversation_id: &str, text: &str) -> Result<Reply, UserError> {
        let message = UiMessage::user(new_id(), text);
        let submission = Submission::Message { message, replaces: None, history: Vec::new() };
        self.send(conversation_id, submission, RunOptions::default()).await
    }

    /// Sends a submission: a message with all its parts, decisions on calls that wait for the user,
    /// another try, or the continuation of an answer. A message counts as the program's; an agent with
    /// `memory` remembers only what has `textOrigin: "user"` in its metadata.
    ///
    /// # Errors
    /// The errors of [`Agent::ask_in`].
    pub async fn send(
        &self,
        conversation_id: &str,
        submission: Submission,
        options: RunOptions,
    ) -> Result<Reply, UserError> {
        let continues = matches!(submission, Submission::Answers { .. } | Submission::Continue);
        let earlier = if continues { self.conversation(conversation_id).await?.messages.pop() } else { None };
        let request = SendRequest {
            page_id: self.page_id.clone(),
            block_id: None,
            agent_id: self.id.clone(),
            conversation_id: conversation_id.to_owned(),
            submission: TextOrigin::Program.mark_submission(submission),
            shared_state: Map::new(),
            url_query: Map::new(),
            switches: Map::new(),
            options,
        };
        let sent = self.chat().send(&self.caller, request).await?;
        Ok(Reply::new(self.clone(), conversation_id, earlier, sent.frames))
    }

    /// Stops the answer that is being written in a conversation; what was written stays.
    ///
    /// # Errors
    /// 404 for a conversation of another caller.
    pub async fn stop(&self, conversation_id: &str) -> Result<(), UserError> {
        self.chat().stop(&self.caller, conversation_id).await
    }

    /// Returns a conversation with its messages.
    ///
    /// # Errors
    /// 404 for an unknown one, or one of another caller.
    pub async fn conversation(&self, id: &str) -> Result<ConversationView, UserError> {
        self.chat().conversation(&self.caller, id).await
    }

    /// Returns the usage and the cost of a conversation.
    ///
    /// # Errors
    /// The errors of [`Agent::conversation`].
    pub async fn usage(&self, id: &str) -> Result<ConversationUsage, UserError> {
        self.chat().usage(&self.caller, id).await
    }

    /// Sends one prompt outside of conversations and returns the answer, as text or in the form of a
    /// JSON Schema, with what it has used. The name of the agent in the request is replaced.
    ///
    /// # Errors
    /// The errors of [`Agent::ask`]. A failure of the model is reported in the invocation.
    pub async fn invoke(&self, request: InvokeRequest) -> Result<CountedInvocation, UserError> {
        let request = InvokeRequest { agent_name: self.id.clone(), ..request };
        self.chat().invoke_counted(&self.caller, request, None, CancellationToken::new()).await
    }

    fn chat(&self) -> &chat::Chat {
        &self.chatwright.running.composition.chat
    }
}

/// Returns the owner of the program, who is that of a server with the auth mode `local`.
fn owner() -> Caller {
    Caller::signed_in(auth::LOCAL_OWNER).with_roles(config::OWNER_ROLES.map(str::to_owned).to_vec())
}

fn new_id() -> String {
    uuid::Uuid::now_v7().simple().to_string()
}
