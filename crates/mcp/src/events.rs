//! Handles the notifications and requests of a server. It may report progress and changes of its
//! tools, and ask the user of a running call. Everything else that a server can request of a client
//! (sampling, roots) is refused.

use crate::asking::{self, AskUser, QuestionRequest, UserAnswer};
use crate::message::ANSWERED_CALL;
use contract::{CallReports, ToolContext, UserWait};
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

/// The minimum time between two progress reports of a call.
const PACE: Duration = Duration::from_millis(200);
/// The maximum size of a progress message in bytes.
const MAX_MESSAGE: usize = 300;
/// The maximum number of questions of a call.
const MAX_QUESTIONS: u32 = 10;
/// The maximum size of the id of a page that the user opens, in bytes.
const MAX_OPENED_ID: usize = 200;
/// The notification that the user has finished on a page that they have opened.
const OPENED_COMPLETE: &str = "notifications/elicitation/complete";

/// What a connection tells its owner.
#[derive(Clone, Default)]
pub(crate) struct ConnectionEvents {
    /// The name of the server.
    pub(crate) server: String,
    /// How often the list of tools has changed.
    pub(crate) revision: Arc<AtomicU64>,
    /// Asks users; `None` if the server may not.
    pub(crate) ask: Option<Arc<dyn AskUser>>,
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
    /// The running calls.
    running: Mutex<HashMap<RequestId, RunningCall>>,
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

    /// Follows a call until the returned value is dropped: forwards its progress, and its questions to the user.
    pub(crate) fn follow(&self, handle: &RequestHandle<RoleClient>, context: ToolContext) -> FollowedCall {
        let (id, token) = (handle.id.clone(), handle.progress_token.clone());
        let call = RunningCall { token, context, reported: None, questions: 0, opened: HashMap::new() };
        self.inner.running.lock().insert(id.clone(), call);
        FollowedCall { events: self.clone(), id }
    }

    /// Returns where to report a call's progress, if the next report is due.
    fn due_progress(&self, token: &ProgressToken) -> Option<CallReports> {
        let mut running = self.inner.running.lock();
        let call = running.values_mut().find(|call| call.token == *token)?;
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
    fn asking_call(&self, meta: &RequestMetaObject) -> Result<(RequestId, ToolContext), &'static str> {
        let mut running = self.inner.running.lock();
        let named = meta.0.0.get(ANSWERED_CALL).and_then(|id| serde_json::from_value::<RequestId>(id.clone()).ok());
        let id = match named {
            Some(id) => Some(id),
            None if running.len() > 1 => return Err("several calls run, and it is not known which one asks"),
            None => running.keys().next().cloned(),
        };
        let Some((id, call)) = id.and_then(|id| Some((id.clone(), running.get_mut(&id)?))) else {
            return Err("no call runs that could ask");
        };
        if call.questions >= MAX_QUESTIONS {
            return Err("the call has asked too often");
        }
        call.questions += 1;
        Ok((id, call.context.clone()))
    }

    async fn ask(&self, params: ElicitRequestParams, request: &RequestContext<RoleClient>) -> ElicitResult {
        let Some(ask) = &self.inner.events.ask else { return ElicitResult::new(ElicitationAction::Decline) };
        let opened = match &params {
            ElicitRequestParams::UrlElicitationParams { elicitation_id, .. } => Some(elicitation_id.clone()),
            _ => None,
        };
        let asked = asking::read_question(&self.inner.events.server, params)
            .and_then(|question| Ok((question, self.asking_call(&request.meta)?)));
        let (question, (id, context)) = match asked {
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
            && let Some(call) = self.inner.running.lock().get_mut(&id)
        {
            call.opened.insert(opened, waiting);
        }
        asking::answer(answer, is_form)
    }
}

/// A call that is followed.
pub(crate) struct FollowedCall {
    events: NotificationHandler,
    id: RequestId,
}

impl Drop for FollowedCall {
    fn drop(&mut self) {
        self.events.inner.running.lock().remove(&self.id);
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
            self.inner.running.lock().values_mut().for_each(|call| drop(call.opened.remove(id)));
        }
    }
}
