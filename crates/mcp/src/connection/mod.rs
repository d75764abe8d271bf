//! A connection to an MCP server: opened, asked for its tools and called within time limits.

mod open;
mod tasks;

pub(crate) use open::OpenFailure;

use crate::apps::CachedApp;
use crate::content::PromptInfo;
use crate::events::{ConnectionEvents, NotificationHandler};
use crate::failure::FailureKind;
use crate::listing::{self, CalledTool, ServerTools};
use crate::process::ServerProcess;
use crate::settings::McpSettings;
use crate::{CONNECT_TIME, LIST_TIME, MAX_ERROR, MAX_RENEWALS, MAX_TOOLS, PROBE_TIME, RENEWAL_TIME, clean};
use contract::{Bearer, OmittedTool, ToolContext, ToolError};
use open::{OpenError, begin};
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, CancelledNotificationParam, ClientRequest, JsonObject,
    PaginatedRequestParams, PingRequest, RequestId, RequestMetaObject, ServerResult,
};
use rmcp::service::{Peer, PeerRequestOptions, RoleClient, RunningService, ServiceError};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{Mutex, watch};

/// An open connection to an MCP server.
pub(crate) struct Connection {
    pub(crate) name: String,
    pub(crate) service: RunningService<RoleClient, NotificationHandler>,
    pub(crate) events: NotificationHandler,
    offered: Mutex<Option<Arc<ServerTools>>>,
    /// The prompts, with the number of changes when they were listed.
    pub(crate) prompts: Mutex<Option<(u64, Arc<Vec<PromptInfo>>)>>,
    /// The user interface that was read last.
    pub(crate) app: parking_lot::Mutex<CachedApp>,
    /// When tools or prompts were listed again because the server reported a change.
    renewals: parking_lot::Mutex<VecDeque<Instant>>,
    begun: Instant,
    /// The number of pings after cancelled calls that are not answered yet.
    probes: Arc<watch::Sender<usize>>,
    /// When the access token of the connection expires.
    token_expiry: Option<Instant>,
    /// The user's token, if the connection is authorized for each user.
    pub(crate) token: Option<Bearer>,
    /// The process. It is declared after the service, which closes the process's input when it is
    /// dropped.
    program: Option<ServerProcess>,
}

/// The key in `_meta` of a call that stays the same when the call is repeated, so that the server can tell
/// repetitions apart.
const IDEMPOTENCY_KEY: &str = "chatwright/idempotencyKey";

/// The error of a call that was stopped.
const STOPPED: &str = "Stopped before it finished. It may or may not have had an effect.";
/// The error of a call whose answer is something else than its result.
const NO_RESULT: &str = "The server's answer is not the result of a tool call.";

/// Returns the options of a call.
fn call_options(context: &ToolContext) -> PeerRequestOptions {
    let options = PeerRequestOptions::no_options();
    match context.idempotency_key() {
        Some(key) => {
            let mut meta = RequestMetaObject::new();
            meta.insert(IDEMPOTENCY_KEY.to_owned(), key.into());
            options.with_meta(meta)
        }
        None => options,
    }
}

impl Connection {
    /// Opens a connection, with the user's token if it is authorized for each user.
    pub(crate) async fn open(
        settings: &McpSettings,
        events: ConnectionEvents,
        token: Option<Bearer>,
    ) -> Result<Self, OpenFailure> {
        let begun = tokio::time::timeout(CONNECT_TIME, begin(settings, events, token.as_ref())).await;
        let opened = begun.unwrap_or_else(|_| Err(OpenError::new("it did not answer in time", CONNECT_TIME)));
        let failed = opened.map(|connection| Self { token, ..connection });
        failed.map_err(|failure| {
            let OpenError { public, cause, last_words, challenge } = failure;
            tracing::warn!(server = settings.name, cause, last_words, "an MCP server is not available");
            OpenFailure { error: unavailable(&settings.name, public), challenge }
        })
    }

    /// Returns whether the connection can still be used.
    pub(crate) fn is_open(&self) -> bool {
        !self.service.is_closed() && !self.service.peer().is_transport_closed() && !self.is_token_expired()
    }

    /// Returns whether the access token has expired.
    pub(crate) fn is_token_expired(&self) -> bool {
        self.token_expiry.is_some_and(|ends| ends <= Instant::now())
    }

    /// Waits until it is known whether the server still responds after a cancelled call. Otherwise
    /// the next calls would hang as that one did.
    pub(crate) async fn probed(&self) {
        // The sender is not dropped meanwhile.
        let _ = self.probes.subscribe().wait_for(|running| *running == 0).await;
    }

    /// Returns the age of the connection.
    pub(crate) fn age(&self) -> Duration {
        self.begun.elapsed()
    }

    /// Returns the server's tools. They are listed again after the server has reported a change, but not too often:
    /// then the old list stays in use, and is renewed later.
    pub(crate) async fn tools(&self) -> Result<Arc<ServerTools>, RequestError> {
        let mut offered = self.offered.lock().await;
        if self.events.is_stale() && (offered.is_none() || self.may_renew()) {
            *offered = None;
        }
        if let Some(offered) = &*offered {
            return Ok(offered.clone());
        }
        // Before it is listed, so that a change meanwhile is not missed.
        self.events.set_fresh();
        let listed = tokio::time::timeout(LIST_TIME, self.list()).await;
        let listed = listed.unwrap_or(Err(ServiceError::Timeout { timeout: LIST_TIME })).map_err(|error| {
            tracing::warn!(server = self.name, %error, last_words = self.last_words(), "an MCP server does not list its tools");
            let message = unavailable(&self.name, "it did not list its tools");
            match FailureKind::from_service(&error) {
                FailureKind::Unauthorized(challenge) => RequestError::Unauthorized(message, challenge),
                FailureKind::Refused(_) => RequestError::Refused(message),
                FailureKind::Answered(_) | FailureKind::Lost => RequestError::Lost(message),
            }
        })?;
        let read = Arc::new(listing::read_tools(&self.name, listed, self.runs_tasks()).await);
        *offered = Some(read.clone());
        Ok(read)
    }

    /// Counts a renewal of the list, if there may be one now.
    pub(crate) fn may_renew(&self) -> bool {
        let mut renewals = self.renewals.lock();
        while renewals.front().is_some_and(|at| at.elapsed() >= RENEWAL_TIME) {
            renewals.pop_front();
        }
        let may_renew = renewals.len() < MAX_RENEWALS;
        if may_renew {
            renewals.push_back(Instant::now());
        }
        may_renew
    }

    /// Returns the names of the listed tools, and the tools that agents cannot use. Both are empty
    /// while the tools are being listed.
    pub(crate) fn known_tools(&self) -> (Vec<String>, Vec<OmittedTool>) {
        let listed = self.offered.try_lock().ok().and_then(|offered| offered.clone());
        let Some(listed) = listed else { return (Vec::new(), Vec::new()) };
        (listed.offered.iter().map(|tool| tool.name.clone()).collect(), listed.left_out.clone())
    }

    /// Lists all pages, up to the limit.
    async fn list(&self) -> Result<Vec<rmcp::model::Tool>, ServiceError> {
        let (mut tools, mut cursor) = (Vec::new(), None);
        loop {
            let page = PaginatedRequestParams::default().with_cursor(cursor);
            let page = self.service.peer().list_tools(Some(page)).await?;
            // The timeout ends a server that returns empty pages forever.
            tools.extend(page.tools);
            cursor = page.next_cursor;
            if tools.len() > MAX_TOOLS {
                tracing::warn!(
                    server = self.name,
                    "an MCP server offers more than {MAX_TOOLS} tools; the rest is left out"
                );
                tools.truncate(MAX_TOOLS);
                cursor = None;
            }
            if cursor.is_none() {
                return Ok(tools);
            }
        }
    }

    /// Calls a tool. When the call is cancelled, the server is notified; `gone` runs if the server
    /// does not respond to a ping afterwards.
    pub(crate) async fn call(
        &self,
        tool: &CalledTool,
        arguments: JsonObject,
        context: ToolContext,
        gone: impl Future<Output = ()> + Send + 'static,
    ) -> Result<CallToolResult, RequestError> {
        if let Some(time) = tool.task_time {
            return self.call_as_task(&tool.name, time, arguments, context, gone).await;
        }
        let tool = tool.name.as_str();
        let request = CallToolRequest::new(CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments));
        let sending = self.events.sending();
        let sent = self
            .service
            .peer()
            .send_cancellable_request(ClientRequest::CallToolRequest(request), call_options(&context));
        let handle = sent.await.map_err(|error| self.request_error(tool, &error))?;
        let cancel = context.cancel.clone();
        let _following = sending.follow(&handle, context.clone());
        let (peer, request_id) = (handle.peer.clone(), handle.id.clone());
        let answer = tokio::select! {
            answer = handle.await_response() => match answer {
                Ok(answer) => answer,
                Err(error) => return Err(self.call_error(tool, &error, &context).await),
            },
            () = cancel.cancelled() => {
                self.end_in_background(async move { cancel_and_ping(&peer, request_id).await }, gone);
                return Err(RequestError::Answered(ToolError::new(STOPPED)));
            }
        };
        let answered = |text: &str| RequestError::Answered(ToolError::new(text));
        match answer {
            ServerResult::CallToolResult(result) => Ok(result),
            ServerResult::InputRequiredResult(_) => {
                Err(answered("The tool requested further input, which is not supported."))
            }
            _ => Err(answered(NO_RESULT)),
        }
    }

    /// Ends a stopped call, which has returned by then. `gone` runs if the server does not respond to `ending`.
    fn end_in_background(
        &self,
        ending: impl Future<Output = bool> + Send + 'static,
        gone: impl Future<Output = ()> + Send + 'static,
    ) {
        let probe = RunningProbe::start(self.probes.clone());
        tokio::spawn(async move {
            if !ending.await {
                gone.await;
            }
            drop(probe);
        });
    }

    /// Returns why a call failed, after the user was asked about pages that it needs.
    async fn call_error(&self, tool: &str, error: &ServiceError, context: &ToolContext) -> RequestError {
        if let ServiceError::McpError(refusal) = error
            && let Some(error) = self.events.ask_for_pages(refusal, context).await
        {
            return RequestError::Answered(error);
        }
        self.request_error(tool, error)
    }

    pub(crate) fn request_error(&self, tool: &str, error: &ServiceError) -> RequestError {
        let refused = |why: &str| ToolError::new(format!("The server refused the call: {}", clean(why, MAX_ERROR)));
        let failure = FailureKind::from_service(error);
        if !matches!(failure, FailureKind::Answered(_)) {
            tracing::warn!(server = self.name, tool, %error, last_words = self.last_words(), "a call of an MCP server failed");
        }
        match failure {
            FailureKind::Answered(why) => RequestError::Answered(refused(&why)),
            FailureKind::Refused(why) => RequestError::Refused(refused(&why)),
            FailureKind::Unauthorized(challenge) => {
                RequestError::Unauthorized(refused("it does not accept the key"), challenge)
            }
            FailureKind::Lost => self.lost(),
        }
    }

    /// Returns the error of a call whose outcome is unknown, because the connection was lost.
    fn lost(&self) -> RequestError {
        RequestError::Lost(ToolError::new(format!(
            "The connection to `{}` ended before there was a result. The call may or may not have had an effect.",
            self.name
        )))
    }

    fn last_words(&self) -> String {
        self.program.as_ref().map(|program| program.last_words().text()).unwrap_or_default()
    }
}

/// Counts a ping while it is not answered.
struct RunningProbe(Arc<watch::Sender<usize>>);

impl RunningProbe {
    fn start(probes: Arc<watch::Sender<usize>>) -> Self {
        probes.send_modify(|running| *running += 1);
        Self(probes)
    }
}

impl Drop for RunningProbe {
    fn drop(&mut self) {
        self.0.send_modify(|running| *running -= 1);
    }
}

/// Why a request has no result.
pub(crate) enum RequestError {
    /// The server answered with an error, and the connection can still be used.
    Answered(ToolError),
    /// The request was refused before it ran, and the connection cannot be used any more: the
    /// server has forgotten its session.
    Refused(ToolError),
    /// The request was refused before it ran: the server wants another token, with the value of `WWW-Authenticate`.
    Unauthorized(ToolError, String),
    /// The connection cannot be used any more, and the request may have run.
    Lost(ToolError),
}

impl RequestError {
    /// Returns the error for the model or the user.
    pub(crate) fn into_error(self) -> ToolError {
        match self {
            Self::Answered(error) | Self::Refused(error) | Self::Unauthorized(error, _) | Self::Lost(error) => error,
        }
    }
}

/// Notifies the server that a call is cancelled, and returns whether the server still responds.
async fn cancel_and_ping(peer: &Peer<RoleClient>, given_up: RequestId) -> bool {
    let cancelled =
        CancelledNotificationParam::new(Some(given_up), Some("the user stopped it, or it took too long".to_owned()));
    let asked = async {
        let _ = peer.notify_cancelled(cancelled).await;
        peer.send_request(ClientRequest::PingRequest(PingRequest::default())).await
    };
    tokio::time::timeout(PROBE_TIME, asked).await.is_ok_and(|answer| has_responded(&answer))
}

/// Returns whether a server has responded to a request. One that does not support the request has, too.
fn has_responded(answer: &Result<ServerResult, ServiceError>) -> bool {
    answer.as_ref().err().is_none_or(|error| matches!(FailureKind::from_service(error), FailureKind::Answered(_)))
}

/// Returns the message for the user.
pub(crate) fn unavailable(name: &str, why: &str) -> ToolError {
    ToolError::new(format!("The tools of `{name}` are not available now: {why}."))
}
