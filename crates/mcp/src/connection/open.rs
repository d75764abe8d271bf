//! Opens connections.

use super::{Connection, RequestError};
use crate::events::{ConnectionEvents, NotificationHandler};
use crate::failure::{challenge, is_unreachable};
use crate::http::AccessError;
use crate::process::ServerProcess;
use crate::settings::McpSettings;
use crate::stdio::StdioTransport;
use crate::{McpTransport, http, sse};
use contract::{Bearer, ToolError};
use rmcp::service::{ClientInitializeError, RoleClient};
use rmcp::transport::Transport;
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::watch;

/// The message to the user about a server that requires another token.
const NOT_ACCEPTED: &str = "it does not accept the key";

/// Why a connection could not be opened.
pub(crate) struct OpenFailure {
    /// The message for the user.
    pub(crate) error: ToolError,
    /// The value of `WWW-Authenticate`, if the server wanted another token.
    pub(crate) challenge: Option<String>,
}

impl From<OpenFailure> for RequestError {
    /// A call whose connection could not be opened did not run.
    fn from(failure: OpenFailure) -> Self {
        match failure.challenge {
            Some(challenge) => Self::Unauthorized(failure.error, challenge),
            None => Self::Answered(failure.error),
        }
    }
}

/// Why a connection could not be opened, in detail.
pub(super) struct OpenError {
    /// The reason for the user.
    pub(super) public: &'static str,
    /// The cause for the log.
    pub(super) cause: String,
    /// The error output of a process, for the log.
    pub(super) last_words: String,
    /// See [`OpenFailure::challenge`].
    pub(super) challenge: Option<String>,
}

impl OpenError {
    pub(super) fn new(public: &'static str, cause: impl std::fmt::Debug) -> Self {
        Self { public, cause: format!("{cause:?}"), last_words: String::new(), challenge: None }
    }
}

impl From<AccessError> for OpenError {
    fn from(error: AccessError) -> Self {
        match error {
            AccessError::Settings(cause) => Self::new("it cannot be reached", cause),
            AccessError::Token(cause) => Self::new("there is no access token for it", cause),
        }
    }
}

pub(super) async fn begin(
    settings: &McpSettings,
    events: ConnectionEvents,
    token: Option<&Bearer>,
) -> Result<Connection, OpenError> {
    match &settings.transport {
        McpTransport::Stdio(stdio) => {
            let (program, output, input) =
                ServerProcess::start(stdio).map_err(|error| OpenError::new("it could not be started", error))?;
            let transport = StdioTransport::new(output, input);
            let last_words = program.last_words();
            let begun = serve(events, transport, None).await;
            let begun = begun.map_err(|failure| OpenError { last_words: last_words.text(), ..failure })?;
            Ok(Connection { program: Some(program), ..begun })
        }
        McpTransport::Http(http) => {
            let access = http::prepare_access(http, token).await?;
            serve(events, http::streamable(&access), access.token_expiry).await
        }
        McpTransport::Sse(http) => {
            let access = http::prepare_access(http, token).await?;
            let opened = sse::open(&access).await.map_err(|failure| {
                let challenge = challenge(&failure);
                let public = if challenge.is_some() { NOT_ACCEPTED } else { "it cannot be reached" };
                OpenError { challenge, ..OpenError::new(public, failure) }
            });
            let (transport, ends) = (opened?, access.token_expiry);
            serve(events, transport, ends).await
        }
    }
}

/// Returns the value of `WWW-Authenticate`, if the server wanted another token.
fn challenge_of(error: &ClientInitializeError) -> Option<String> {
    match error {
        ClientInitializeError::TransportError { error, .. } => challenge(&*error.error),
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => challenge_of(fallback),
        _ => None,
    }
}

async fn serve(
    events: ConnectionEvents,
    transport: impl Transport<RoleClient> + 'static,
    ends: Option<Instant>,
) -> Result<Connection, OpenError> {
    let name = events.server.clone();
    let events = NotificationHandler::new(events);
    let service = rmcp::serve_client(events.clone(), transport).await.map_err(|error| {
        let challenge = challenge_of(&error);
        let public = match &error {
            _ if challenge.is_some() => NOT_ACCEPTED,
            ClientInitializeError::ConnectionClosed(_) => "it ended at once",
            ClientInitializeError::TransportError { error, .. } if is_unreachable(&*error.error) => {
                "it cannot be reached"
            }
            _ => "it did not answer as an MCP server does",
        };
        OpenError { challenge, ..OpenError::new(public, error) }
    })?;
    let begun = Instant::now();
    let probes = Arc::new(watch::Sender::new(0));
    let (offered, prompts, app, renewals) = Default::default();
    Ok(Connection {
        name,
        service,
        events,
        offered,
        prompts,
        app,
        renewals,
        begun,
        probes,
        token_expiry: ends,
        token: None,
        program: None,
    })
}
