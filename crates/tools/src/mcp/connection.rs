//! A connection to an MCP server: opened, asked for its tools and called within time limits.

use super::child::Program;
use super::events::Events;
use super::failure::Failure;
use super::listing::{self, Listed};
use super::settings::{McpSettings, McpTransport};
use super::stdio::StdioTransport;
use super::{CONNECT_TIME, LIST_TIME, MAX_ERROR, MAX_TOOLS, PROBE_TIME, clean, http, result, sse};
use contract::{LeftOut, ToolContext, ToolError};
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CancelledNotificationParam, ClientRequest, JsonObject,
    PaginatedRequestParams, PingRequest, RequestId, ServerResult,
};
use rmcp::service::{ClientInitializeError, Peer, PeerRequestOptions, RoleClient, RunningService, ServiceError};
use rmcp::transport::Transport;
use serde_json::Value;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Mutex;

/// An open connection to an MCP server.
pub(super) struct Connection {
    name: String,
    service: RunningService<RoleClient, Events>,
    events: Events,
    offered: Mutex<Option<Arc<Listed>>>,
    begun: Instant,
    /// When the access token of the connection expires.
    ends: Option<Instant>,
    /// The process. It is declared after the service, which closes the process's input when it is
    /// dropped.
    program: Option<Program>,
}

impl Connection {
    /// Opens a connection.
    pub(super) async fn open(settings: &McpSettings) -> Result<Self, ToolError> {
        let begun = tokio::time::timeout(CONNECT_TIME, begin(settings)).await;
        let failed = begun.unwrap_or_else(|_| Err(Unopened::new("it did not answer in time", CONNECT_TIME)));
        failed.map_err(|failure| {
            let Unopened { public, cause, last_words } = failure;
            tracing::warn!(server = settings.name, cause, last_words, "an MCP server is not available");
            unavailable(&settings.name, public)
        })
    }

    /// Returns whether the connection can still be used.
    pub(super) fn is_open(&self) -> bool {
        !self.service.is_closed() && !self.service.peer().is_transport_closed() && !self.is_over()
    }

    /// Returns whether the access token has expired.
    pub(super) fn is_over(&self) -> bool {
        self.ends.is_some_and(|ends| ends <= Instant::now())
    }

    /// Returns the age of the connection.
    pub(super) fn age(&self) -> Duration {
        self.begun.elapsed()
    }

    /// Returns the server's tools. They are listed again after the server has reported a change.
    pub(super) async fn tools(&self) -> Result<Arc<Listed>, Unanswered> {
        let mut offered = self.offered.lock().await;
        if self.events.take_stale() {
            *offered = None;
        }
        if let Some(offered) = &*offered {
            return Ok(offered.clone());
        }
        let listed = tokio::time::timeout(LIST_TIME, self.list()).await;
        let listed = listed.unwrap_or(Err(ServiceError::Timeout { timeout: LIST_TIME })).map_err(|error| {
            tracing::warn!(server = self.name, %error, last_words = self.last_words(), "an MCP server does not list its tools");
            let told = unavailable(&self.name, "it did not list its tools");
            match Failure::of(&error) {
                Failure::Refused(_) => Unanswered::Refused(told),
                Failure::Answered(_) | Failure::Lost => Unanswered::Lost(told),
            }
        })?;
        let read = Arc::new(listing::read(&self.name, listed).await);
        *offered = Some(read.clone());
        Ok(read)
    }

    /// Returns the names of the listed tools, and the tools that agents cannot use. Both are empty
    /// while the tools are being listed.
    pub(super) fn known_tools(&self) -> (Vec<String>, Vec<LeftOut>) {
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
    pub(super) async fn call(
        &self,
        tool: &str,
        arguments: JsonObject,
        context: ToolContext,
        gone: impl Future<Output = ()> + Send + 'static,
    ) -> Result<Value, Unanswered> {
        let request = CallToolRequest::new(CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments));
        let sent = self
            .service
            .peer()
            .send_cancellable_request(ClientRequest::CallToolRequest(request), PeerRequestOptions::no_options());
        let handle = sent.await.map_err(|error| self.failed(tool, &error))?;
        let _following = self.events.follow(handle.progress_token.clone(), context.progress);
        let (peer, request_id) = (handle.peer.clone(), handle.id.clone());
        let answer = tokio::select! {
            answer = handle.await_response() => answer.map_err(|error| self.failed(tool, &error))?,
            () = context.cancel.cancelled() => {
                // A task of its own, since the call has returned by then.
                tokio::spawn(async move {
                    if !is_alive_after(&peer, request_id).await {
                        gone.await;
                    }
                });
                let stopped = "Stopped before it finished. It may or may not have had an effect.";
                return Err(Unanswered::Answered(ToolError::new(stopped)));
            }
        };
        let answered = |text: &str| Unanswered::Answered(ToolError::new(text));
        match answer {
            ServerResult::CallToolResult(result) => result::value(result).map_err(Unanswered::Answered),
            ServerResult::InputRequiredResult(_) => {
                Err(answered("The tool requested further input, which is not supported."))
            }
            _ => Err(answered("The server's answer is not the result of a tool call.")),
        }
    }

    fn failed(&self, tool: &str, error: &ServiceError) -> Unanswered {
        let refused = |why: &str| ToolError::new(format!("The server refused the call: {}", clean(why, MAX_ERROR)));
        let failure = Failure::of(error);
        if !matches!(failure, Failure::Answered(_)) {
            tracing::warn!(server = self.name, tool, %error, last_words = self.last_words(), "a call of an MCP server failed");
        }
        match failure {
            Failure::Answered(why) => Unanswered::Answered(refused(&why)),
            Failure::Refused(why) => Unanswered::Refused(refused(&why)),
            Failure::Lost => Unanswered::Lost(ToolError::new(format!(
                "The connection to `{}` ended before there was a result. The call may or may not have had an effect.",
                self.name
            ))),
        }
    }

    fn last_words(&self) -> String {
        self.program.as_ref().map(|program| program.last_words().text()).unwrap_or_default()
    }
}

/// Why a request has no result.
pub(super) enum Unanswered {
    /// The server answered with an error, and the connection can still be used.
    Answered(ToolError),
    /// The request was refused before it ran, and the connection cannot be used any more: the
    /// server has forgotten its session.
    Refused(ToolError),
    /// The connection cannot be used any more, and the request may have run.
    Lost(ToolError),
}

impl Unanswered {
    /// Returns the error for the model or the user.
    pub(super) fn into_error(self) -> ToolError {
        match self {
            Self::Answered(error) | Self::Refused(error) | Self::Lost(error) => error,
        }
    }
}

/// Notifies the server that a call is cancelled, and returns whether the server still responds.
async fn is_alive_after(peer: &Peer<RoleClient>, given_up: RequestId) -> bool {
    let told =
        CancelledNotificationParam::new(Some(given_up), Some("the user stopped it, or it took too long".to_owned()));
    let asked = async {
        let _ = peer.notify_cancelled(told).await;
        peer.send_request(ClientRequest::PingRequest(PingRequest::default())).await
    };
    match tokio::time::timeout(PROBE_TIME, asked).await {
        Ok(Ok(_)) => true,
        // A server that does not support ping has responded.
        Ok(Err(error)) => matches!(Failure::of(&error), Failure::Answered(_)),
        Err(_) => false,
    }
}

/// Returns the message for the user.
pub(super) fn unavailable(name: &str, why: &str) -> ToolError {
    ToolError::new(format!("The tools of `{name}` are not available now: {why}."))
}

/// Why a connection could not be opened.
struct Unopened {
    /// The reason for the user.
    public: &'static str,
    /// The cause for the log.
    cause: String,
    /// The error output of a process, for the log.
    last_words: String,
}

impl Unopened {
    fn new(public: &'static str, cause: impl std::fmt::Debug) -> Self {
        Self { public, cause: format!("{cause:?}"), last_words: String::new() }
    }
}

async fn begin(settings: &McpSettings) -> Result<Connection, Unopened> {
    let unreachable = |error| Unopened::new("it cannot be reached", error);
    match &settings.transport {
        McpTransport::Stdio(stdio) => {
            let (program, output, input) =
                Program::start(stdio).map_err(|error| Unopened::new("it could not be started", error))?;
            let transport = StdioTransport::new(output, input);
            let last_words = program.last_words();
            let begun = serve(settings, transport, None).await;
            let begun = begun.map_err(|failure| Unopened { last_words: last_words.text(), ..failure })?;
            Ok(Connection { program: Some(program), ..begun })
        }
        McpTransport::Http(http) => {
            let access = http::access(http).await.map_err(unreachable)?;
            serve(settings, http::streamable(&access), access.ends).await
        }
        McpTransport::Sse(http) => {
            let access = http::access(http).await.map_err(unreachable)?;
            let (transport, ends) = (sse::open(&access).await.map_err(unreachable)?, access.ends);
            serve(settings, transport, ends).await
        }
    }
}

async fn serve(
    settings: &McpSettings,
    transport: impl Transport<RoleClient> + 'static,
    ends: Option<Instant>,
) -> Result<Connection, Unopened> {
    let events = Events::default();
    let service = rmcp::serve_client(events.clone(), transport).await.map_err(|error| {
        let public = match &error {
            error if error.is_authorization_required() => "it does not accept the key",
            ClientInitializeError::ConnectionClosed(_) => "it ended at once",
            _ => "it did not answer as an MCP server does",
        };
        Unopened::new(public, error)
    })?;
    let (name, begun) = (settings.name.clone(), Instant::now());
    Ok(Connection { name, service, events, offered: Mutex::default(), begun, ends, program: None })
}
