//! Handles the notifications and requests of a server. It may report progress and changes of its
//! tools, and ask the user of a running call. Everything else that a server can request of a client
//! (sampling, roots) is refused.

use crate::apps;
use crate::asking::{self, AskUser, QuestionRequest, UserAnswer};
use crate::content::{KnownPrompts, PromptInfo};
use crate::message::ANSWERED_CALL;
use contract::{CallReports, ToolContext, ToolError, UserWait};
use parking_lot::Mutex;
use rmcp::ClientHandler;
use rmcp::ErrorData;
use rmcp::model::{
    ClientCapabilities, ClientConfig, CustomNotification, ElicitRequestParams, ElicitResult, ElicitationAction,
    ElicitationCapability, FormElicitationCapability, Implementation, ProgressNotificationParam, ProgressToken,
    ProtocolVersion, RequestId, RequestMetaObject, UrlElicitationCapability,
};
use rmcp::service::{NotificationContext, RequestContext, RequestHandle, RoleClient};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// The minimum time between two progress reports of a call.
const PACE: Duration = Duration::from_millis(200);
/// The maximum size of a progress message in bytes.
const MAX_MESSAGE: usize = 300;
/// The maximum number of questions of a call.
const MAX_QUESTIONS: u32 = 10;
/// How long a question waits for the id of its call, which is just being sent.
const SENDING_TIME: Duration = Duration::from_secs(2);
/// Why a question without a call is not asked.
const NO_CALL: &str = "no call runs that could ask";
/// The maximum size of the id of a page that the user opens, in bytes.
const MAX_OPENED_ID: usize = 200;
/// The notification that the user has finished on a page that they have opened.
const OPENED_COMPLETE: &str = "notifications/elicitation/complete";

/// The events that a connection reports to its owner.
#[derive(Clone, Default)]
pub(crate) struct ConnectionEvents {
    /// The name of the server.
    pub(crate) server: String,
    /// How often the server has reported a change of its tools or prompts.
    pub(crate) revision: Arc<AtomicU64>,
    /// Whether the user interfaces of its tools are shown.
    pub(crate) shows_apps: bool,
    /// Asks users; `None` if the server may not.
    pub(crate) ask: Option<Arc<dyn AskUser>>,
    /// The prompts of the server, which all its connections record.
    pub(crate) prompts: Arc<Mutex<KnownPrompts>>,
}

/// The handler of one connection; cheap to clone.
#[derive(Clone, Default)]
pub(crate) struct NotificationHandler {
    inner: Arc<Inner>,
}

#[derive(Default)]
struct Inner {
    events: ConnectionEvents,
    is_stale: AtomicBool,
    /// How often the list of prompts has changed.
    prompt_changes: AtomicU64,
    calls: Mutex<Calls>,
    /// Notified when a call that was being sent runs.
    has_begun: Notify,
}

/// The calls of a connection.
#[derive(Default)]
struct Calls {
    running: HashMap<RequestId, RunningCall>,
    /// The number of calls that are being sent, whose ids are not known yet. The server may ask in one of them already.
    sending: usize,
}

/// Which call a question belongs to.
enum AskingCall {
    /// This one. Its token stays the same when it goes on with another request, unlike its id.
    Found(ProgressToken, ToolContext),
    /// A call that is just being sent.
    Sending,
}

/// A running call.
struct RunningCall {
    token: ProgressToken,
    context: ToolContext,
    /// When its progress was last reported.
    reported: Option<Instant>,
    /// The number of questions so far.
    questions: u32,
    /// The pages that the user has opened, by the server's ids; the time of the call stands still until the server
    /// says that the user has finished there.
    opened: HashMap<String, UserWait>,
}

impl NotificationHandler {
    pub(crate) fn new(events: ConnectionEvents) -> Self {
        Self { inner: Arc::new(Inner { events, ..Inner::default() }) }
    }

    /// Returns whether the list of tools has changed since [`NotificationHandler::set_fresh`].
    pub(crate) fn is_stale(&self) -> bool {
        self.inner.is_stale.load(Ordering::Relaxed)
    }

    /// Records that the tools are listed from now on.
    pub(crate) fn set_fresh(&self) {
        self.inner.is_stale.store(false, Ordering::Relaxed);
    }

    /// Returns how often the list of prompts has changed.
    pub(crate) fn prompt_changes(&self) -> u64 {
        self.inner.prompt_changes.load(Ordering::Relaxed)
    }

    /// Returns how often the server has reported a change of its tools or prompts.
    pub(crate) fn changes(&self) -> u64 {
        self.inner.events.revision.load(Ordering::Relaxed)
    }

    /// Records the prompts for the commands of composers.
    pub(crate) fn publish_prompts(&self, prompts: &Arc<Vec<PromptInfo>>) {
        self.inner.events.prompts.lock().record(prompts);
    }

    /// Counts a call that is about to be sent.
    pub(crate) fn sending(&self) -> SendingCall {
        self.inner.calls.lock().sending += 1;
        SendingCall { events: Some(self.clone()), continued: None }
    }

    /// Returns where to report a call's progress, if the next report is due.
    fn due_progress(&self, token: &ProgressToken) -> Option<CallReports> {
        let mut calls = self.inner.calls.lock();
        let call = calls.running.values_mut().find(|call| call.token == *token)?;
        if call.reported.is_some_and(|last| last.elapsed() < PACE) {
            return None;
        }
        call.reported = Some(Instant::now());
        Some(call.context.reports.clone())
    }

    /// Returns the call in which a server makes a request, and counts the question.
    ///
    /// The protocol does not say which call a request belongs to. It is known if the request came in the stream that
    /// answers a call; otherwise it is the only one that runs. If several run, nobody is asked, because the answer
    /// could go to another user's call.
    async fn asking_call(&self, meta: &RequestMetaObject) -> Result<(ProgressToken, ToolContext), &'static str> {
        let named = meta.0.0.get(ANSWERED_CALL).and_then(|id| serde_json::from_value::<RequestId>(id.clone()).ok());
        let find = async {
            loop {
                let begun = self.inner.has_begun.notified();
                match self.inner.calls.lock().asking(named.as_ref())? {
                    AskingCall::Found(token, context) => return Ok((token, context)),
                    AskingCall::Sending => {}
                }
                begun.await;
            }
        };
        tokio::time::timeout(SENDING_TIME, find).await.unwrap_or(Err(NO_CALL))
    }

    async fn ask(&self, params: ElicitRequestParams, request: &RequestContext<RoleClient>) -> ElicitResult {
        let Some(ask) = &self.inner.events.ask else { return ElicitResult::new(ElicitationAction::Decline) };
        let opened = match &params {
            ElicitRequestParams::UrlElicitationParams { elicitation_id, .. } => Some(elicitation_id.clone()),
            _ => None,
        };
        let asked = match asking::read_question(&self.inner.events.server, params) {
            Ok(question) => self.asking_call(&request.meta).await.map(|call| (question, call)),
            Err(reason) => Err(reason),
        };
        let (question, (token, context)) = match asked {
            Ok(asked) => asked,
            Err(reason) => {
                tracing::info!(server = self.inner.events.server, reason, "a question of an MCP server was not asked");
                return asking::answer(UserAnswer::Cancelled(reason), true);
            }
        };
        let is_form = matches!(question.request, QuestionRequest::Form { .. });
        let waiting = context.reports.wait_for_user();
        let cancel = context.cancel.clone();
        let answer = tokio::select! {
            answer = ask.ask(question, context) => answer,
            () = cancel.cancelled() => UserAnswer::Cancelled("the call has ended"),
            () = request.ct.cancelled() => UserAnswer::Cancelled("the server has withdrawn the question"),
        };
        if let (UserAnswer::Cancelled(reason), server) = (&answer, &self.inner.events.server) {
            tracing::info!(server, reason, "a question of an MCP server has no answer");
        }
        if let (UserAnswer::Accepted(_), Some(opened)) = (&answer, opened.filter(|id| id.len() <= MAX_OPENED_ID))
            && let Some(call) = self.inner.calls.lock().running.values_mut().find(|call| call.token == token)
        {
            call.opened.insert(opened, waiting);
        }
        asking::answer(answer, is_form)
    }
}

/// JSON-RPC's code of a call that needs the user to open a page first.
const URL_REQUIRED: i32 = -32042;
/// The maximum number of pages that such a call may name.
const MAX_PAGES: usize = 3;

impl NotificationHandler {
    /// Asks the user about the pages that a call needs to be opened first. Returns the error for the model; `None` if
    /// the call has failed for another reason.
    pub(crate) async fn ask_for_pages(&self, error: &ErrorData, context: &ToolContext) -> Option<ToolError> {
        if error.code.0 != URL_REQUIRED {
            return None;
        }
        let ask = self.inner.events.ask.as_ref()?;
        let pages = error.data.as_ref()?.get("elicitations")?.as_array()?;
        let _waiting = context.reports.wait_for_user();
        for page in pages.iter().take(MAX_PAGES) {
            let params: ElicitRequestParams = serde_json::from_value(page.clone()).ok()?;
            let question = asking::read_question(&self.inner.events.server, params).ok()?;
            // The call has ended, so it would not get the values of a form.
            if !matches!(question.request, QuestionRequest::Open { .. }) {
                return None;
            }
            let asked = ask.ask(question, context.clone());
            if !matches!(context.cancel.run_until_cancelled(asked).await?, UserAnswer::Accepted(_)) {
                return Some(ToolError::new("Not run: the user has to open a page for it first, and did not."));
            }
        }
        let text = "Not run yet: it needs something that the user does on a page of the server, which they have opened. \
                    Ask them to say when they have finished there, and then call the tool again.";
        Some(ToolError::new(text))
    }
}

impl Calls {
    /// Returns the call that asks: the named one, or the only one.
    fn asking(&mut self, named: Option<&RequestId>) -> Result<AskingCall, &'static str> {
        let id = match named {
            Some(id) => Some(id.clone()),
            None if self.running.len() + self.sending > 1 => {
                return Err("several calls run, and it is not known which one asks");
            }
            None => self.running.keys().next().cloned(),
        };
        match id.and_then(|id| self.running.get_mut(&id)) {
            Some(call) if call.questions >= MAX_QUESTIONS => Err("the call has asked too often"),
            Some(call) => {
                call.questions += 1;
                Ok(AskingCall::Found(call.token.clone(), call.context.clone()))
            }
            None if self.sending > 0 => Ok(AskingCall::Sending),
            None => Err(NO_CALL),
        }
    }
}

/// A call that is being sent.
pub(crate) struct SendingCall {
    /// `None` once it was sent.
    events: Option<NotificationHandler>,
    /// The call that goes on with what is sent.
    continued: Option<RunningCall>,
}

impl SendingCall {
    /// Follows the call, which was sent, until the returned value is dropped: forwards its progress, and its questions
    /// to the user.
    pub(crate) fn follow(mut self, handle: &RequestHandle<RoleClient>, context: ToolContext) -> FollowedCall {
        let (id, token) = (handle.id.clone(), handle.progress_token.clone());
        let call = self.continued.take();
        let call = call.unwrap_or_else(|| RunningCall {
            token,
            context,
            reported: None,
            questions: 0,
            opened: HashMap::new(),
        });
        let events = self.events.take().unwrap_or_default();
        let mut calls = events.inner.calls.lock();
        calls.running.insert(id.clone(), call);
        calls.sending -= 1;
        drop(calls);
        events.inner.has_begun.notify_waiters();
        FollowedCall { events, id }
    }
}

impl Drop for SendingCall {
    fn drop(&mut self) {
        // It was not sent.
        if let Some(events) = self.events.take() {
            events.inner.calls.lock().sending -= 1;
            events.inner.has_begun.notify_waiters();
        }
    }
}

/// A call that is followed.
pub(crate) struct FollowedCall {
    events: NotificationHandler,
    id: RequestId,
}

impl FollowedCall {
    /// Has the call go on with another request, which is about to be sent: questions may come in its stream. The progress
    /// of the call keeps its token.
    pub(crate) fn continue_with_request(self) -> SendingCall {
        let mut calls = self.events.inner.calls.lock();
        calls.sending += 1;
        let continued = calls.running.remove(&self.id);
        drop(calls);
        SendingCall { events: Some(self.events.clone()), continued }
    }
}

impl Drop for FollowedCall {
    fn drop(&mut self) {
        self.events.inner.calls.lock().running.remove(&self.id);
    }
}

impl ClientHandler for NotificationHandler {
    fn get_info(&self) -> ClientConfig {
        let name = Implementation::new("chatwright", env!("CARGO_PKG_VERSION"));
        let mut capabilities = ClientCapabilities::default();
        capabilities.elicitation = self.inner.events.ask.as_ref().map(|_| {
            let (form, url) = (FormElicitationCapability::new(), UrlElicitationCapability::new());
            ElicitationCapability::new().with_form(form).with_url(url)
        });
        capabilities.extensions = self.inner.events.shows_apps.then(apps::capability);
        // The latest version that has `initialize`. Later versions have none, so offering one in it
        // would violate the protocol.
        ClientConfig::new(capabilities, name).with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        Ok(self.ask(request, &context).await)
    }

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.inner.is_stale.store(true, Ordering::Relaxed);
        self.inner.events.revision.fetch_add(1, Ordering::Relaxed);
    }

    async fn on_prompt_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.inner.prompt_changes.fetch_add(1, Ordering::Relaxed);
        self.inner.events.revision.fetch_add(1, Ordering::Relaxed);
    }

    async fn on_progress(&self, progress: ProgressNotificationParam, _context: NotificationContext<RoleClient>) {
        let Some(reports) = self.due_progress(&progress.progress_token) else { return };
        let message = progress.message.map(|message| super::clean(&message, MAX_MESSAGE));
        let mut shown = json!({ "progress": progress.progress, "total": progress.total, "message": message });
        if let Some(fields) = shown.as_object_mut() {
            fields.retain(|_, value| !value.is_null());
        }
        reports.progress(shown);
    }

    async fn on_custom_notification(&self, told: CustomNotification, _context: NotificationContext<RoleClient>) {
        let id = told.params.as_ref().and_then(|params| params.get("elicitationId")).and_then(Value::as_str);
        if let (OPENED_COMPLETE, Some(id)) = (told.method.as_str(), id) {
            self.inner.calls.lock().running.values_mut().for_each(|call| drop(call.opened.remove(id)));
        }
    }
}
