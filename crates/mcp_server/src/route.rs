//! `/mcp`: the streamable HTTP transport. There are no sessions, so every server of the same database can
//! answer every request. The id of a session that a client gets is not stored: it only tells the ids of the
//! requests of one client from those of another, and whether the client shows forms.

use crate::asking::Asker;
use crate::asking::form::Reply;
use crate::asking::receive::receive;
use crate::asking::session::{SESSION_ID, Session};
use crate::call::Client;
use crate::error::Refusal;
use crate::handler::{Handler, Shared};
use crate::resources::reading;
use crate::running::CallKey;
use crate::section::McpApi;
use crate::{resources, store, stream};
use auth::AuthMethod;
use auth::password::KeyScope;
use axum::body::Body;
use axum::extract::{FromRequest, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use chat::Caller;
use config::Config;
use http_body_util::Full;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::convert::Infallible;
use std::sync::Arc;
use web::EventStream;
use web::openapi::{Access, ApiRouter, Description, RouteInput, RouteOutput, Tag};
use web::{Origin, RequestContext};
use wire::{ErrorCode, UserError};

/// The path of the MCP server.
pub(crate) const PATH: &str = "/mcp";

/// The longest id of a request, as JSON, of a call that a notification can cancel.
const MAX_REQUEST_ID: usize = 256;

/// The group in the OpenAPI document.
const MCP: Tag = Tag {
    name: "MCP",
    description: "The Model Context Protocol: agents, endpoints and documents as tools of MCP clients, documents also as \
                  resources, and the caller's prompts. The config switches it on with `mcpApi`; without that, this path \
                  answers 404. Scope `agents`; tools that are endpoints or search documents, and resources, also need the \
                  scope `endpoints`, and prompts the scope `conversations`.",
    access: Access::Users { scope: Some(KeyScope::Agents) },
};

/// Returns the route.
pub(crate) fn routes(shared: Shared) -> ApiRouter {
    ApiRouter::new(&MCP)
        .post(PATH, post, "Send a message of JSON-RPC to the MCP server")
        .map(|router| router.layer(from_fn_with_state(shared.clone(), require_section)).with_state(shared))
}

/// Middleware: answers 404, with any method, if the MCP server is switched off.
async fn require_section(State(shared): State<Shared>, request: Request, next: Next) -> Response {
    if shared.context.current.config().section::<McpApi>().is_some() {
        return next.run(request).await;
    }
    let message = "There is no MCP server here. The administrator switches it on with `mcpApi` in the config.";
    Refusal::from(UserError::new(ErrorCode::NotFound, message)).into_response()
}

/// A message of JSON-RPC: a request, which has an `id` and a `method`, a notification, which has no `id`, or the response to a
/// request of the server, which has no `method`.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "McpMessage")]
struct Message {
    /// The version of JSON-RPC.
    #[serde(rename = "jsonrpc")]
    _version: JsonRpcVersion,
    /// The id of a request: a number or a text.
    id: Option<Value>,
    /// The method, for example `tools/list`.
    method: Option<String>,
    /// The parameters of the method.
    params: Option<Value>,
    /// The result of a request of the server.
    result: Option<Value>,
}

/// The version of JSON-RPC; others are refused.
#[derive(Deserialize, JsonSchema)]
#[schemars(inline)]
enum JsonRpcVersion {
    /// The only version that MCP uses.
    #[serde(rename = "2.0")]
    V2,
}

/// An HTTP request with a message.
struct McpRequest {
    parts: Parts,
    body: Body,
}

impl<S: Sync> FromRequest<S> for McpRequest {
    type Rejection = Infallible;

    async fn from_request(request: Request, _: &S) -> Result<Self, Infallible> {
        let (parts, body) = request.into_parts();
        Ok(Self { parts, body })
    }
}

impl RouteInput for McpRequest {
    fn describe(description: &mut Description<'_>) {
        description.json_body::<Message>();
    }
}

/// An HTTP response with messages.
struct McpResponse(Response);

impl IntoResponse for McpResponse {
    fn into_response(self) -> Response {
        self.0
    }
}

impl RouteOutput for McpResponse {
    fn describe(description: &mut Description<'_>) {
        let message = serde_json::json!({ "type": "object" });
        description.response(200, "application/json", &message);
        EventStream::describe(description);
        description.empty(202);
        description.error("The request failed; `error.message` says what to do next.", "application/json", &message);
    }
}

/// `POST /mcp`
async fn post(State(shared): State<Shared>, request: McpRequest) -> McpResponse {
    McpResponse(answer(shared, request).await.unwrap_or_else(IntoResponse::into_response))
}

async fn answer(shared: Shared, McpRequest { parts, body }: McpRequest) -> Result<Response, Refusal> {
    let config = shared.context.current.config();
    let caller = parts.extensions.get::<Caller>().filter(|caller| caller.is_authenticated);
    let caller = caller.cloned().ok_or_else(UserError::unauthenticated)?;
    let scopes = key_scopes(&parts)?;
    check_media_types(&parts.headers)?;
    let session = session(&parts.headers)?;
    let bytes = web::read_body(body, config.limits.body_bytes).await?;
    let message = parse(&bytes)?;
    if handle_here(&shared, &caller, session.as_ref(), &message).await? {
        return Ok(StatusCode::ACCEPTED.into_response());
    }
    let method = message.method.as_deref().unwrap_or_default();
    let uri = message.params.as_ref().and_then(|params| params.get("uri")).and_then(Value::as_str);
    let is_file = method == "resources/read" && uri.is_some_and(resources::is_file);
    let permit = is_file.then(|| reading::permit(&caller.user_id)).transpose()?;
    let may_ask = method == "tools/call" && session.as_ref().is_some_and(|session| session.shows_forms);
    let (asker, questions) = may_ask.then(Asker::channel).unzip();
    let client = Client {
        asker,
        origin: parts.extensions.get::<Origin>().map(|Origin(origin)| origin.clone()).unwrap_or_default(),
        scopes,
        call: call_key(&caller, session.as_ref(), message.id.as_ref()),
        caller,
    };
    let handler = Handler::new(shared, client);
    let service = StreamableHttpService::new(
        move || Ok(handler.clone()),
        Arc::new(NeverSessionManager::default()),
        transport(&config, method),
    );
    let request = Request::from_parts(parts, Full::new(bytes));
    let response = async move { service.handle(request).await.map(Body::new) };
    let response = stream::begin(response, config.limits.heartbeat).await;
    let mut response = match questions {
        Some(questions) => stream::with_questions(response, questions),
        None => response,
    };
    let (status, headers) = (response.status(), response.headers_mut());
    if method == "initialize" && status.is_success() {
        let id = Session::begin(message.params.as_ref()).id;
        headers.extend(HeaderValue::from_str(&id).map(|id| (HeaderName::from_static(SESSION_ID), id)));
    }
    // Proxies must not buffer events.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    Ok(match permit {
        Some(permit) => reading::holding(response, permit),
        None => response,
    })
}

/// Handles a message that concerns another request, which rmcp cannot find in its stateless mode: the cancelling of a call, and
/// the answer to a question of one. Returns false for other messages.
async fn handle_here(
    shared: &Shared,
    caller: &Caller,
    session: Option<&Session>,
    message: &Message,
) -> Result<bool, Refusal> {
    if message.method.as_deref() == Some("notifications/cancelled") {
        let request_id = message.params.as_ref().and_then(|params| params.get("requestId"));
        if let Some(key) = call_key(caller, session, request_id) {
            cancel(shared, caller, key).await?;
        }
        return Ok(true);
    }
    if let (None, Some(Value::String(id)), Some(session)) = (&message.method, &message.id, session) {
        receive(&shared.context, caller, &session.id, id, Reply::read(message.result.as_ref())).await?;
        return Ok(true);
    }
    Ok(false)
}

/// Returns the key of a call; `None` if a notification cannot cancel it.
fn call_key(caller: &Caller, session: Option<&Session>, request_id: Option<&Value>) -> Option<CallKey> {
    let request_id = request_id?.to_string();
    let is_short_enough = request_id.len() <= MAX_REQUEST_ID;
    let (user_id, session_id) = (caller.user_id.clone(), session?.id.clone());
    is_short_enough.then_some(CallKey { user_id, session_id, request_id })
}

/// Cancels a call of the user, whichever server it runs on.
async fn cancel(shared: &Shared, caller: &Caller, key: CallKey) -> Result<(), Refusal> {
    if shared.running.cancel(&key) {
        return Ok(());
    }
    // Without a conversation, the call has ended, or is not that of an agent.
    if let Some(conversation_id) = store::conversation(&shared.context.store, key.clone()).await? {
        shared.context.chat.stop(caller, &conversation_id).await?;
        store::cancel(&shared.context.store, key).await?;
    }
    Ok(())
}

/// Returns how rmcp answers a request.
fn transport(config: &Config, method: &str) -> StreamableHttpServerConfig {
    StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        // A call may take minutes, in which only a stream can keep the connection alive.
        .with_json_response(method != "tools/call")
        .with_sse_keep_alive(Some(config.limits.heartbeat))
        .with_max_request_body_bytes(config.limits.body_bytes)
        // The server's gates check the host and the origin of every request.
        .disable_allowed_hosts()
        .disable_allowed_origins()
}

/// Returns the scopes of an API key; `None` for other credentials, which are not limited by scopes.
///
/// # Errors
/// 403 for the token of an embedded chat, 401 if it is not known how the caller was identified.
fn key_scopes(parts: &Parts) -> Result<Option<Vec<KeyScope>>, UserError> {
    let context = parts.extensions.get::<RequestContext>().ok_or_else(UserError::unauthenticated)?;
    match &context.auth_method {
        AuthMethod::Key(scopes) => Ok(Some(scopes.clone())),
        AuthMethod::Primary | AuthMethod::Session(_) => Ok(None),
        AuthMethod::Site => {
            let message = "Tokens of embedded chats cannot be used for this request.";
            Err(UserError::new(ErrorCode::Forbidden, message))
        }
    }
}

/// Checks that the client sends JSON and accepts both forms of a response.
fn check_media_types(headers: &HeaderMap) -> Result<(), Refusal> {
    if !has_media_type(headers, &header::CONTENT_TYPE, "application/json") {
        let message = "The request must be `application/json`.";
        return Err(Refusal::invalid(StatusCode::UNSUPPORTED_MEDIA_TYPE, message));
    }
    if !has_media_type(headers, &header::ACCEPT, "application/json")
        || !has_media_type(headers, &header::ACCEPT, "text/event-stream")
    {
        let message = "The header `Accept` must name `application/json` and `text/event-stream`.";
        return Err(Refusal::invalid(StatusCode::NOT_ACCEPTABLE, message));
    }
    Ok(())
}

/// Returns whether a header names a media type, with any parameters.
fn has_media_type(headers: &HeaderMap, name: &HeaderName, media_type: &str) -> bool {
    let values = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|value| {
        let essence = value.split_once(';').map_or(value, |(essence, _)| essence);
        essence.trim().eq_ignore_ascii_case(media_type)
    })
}

/// Reads what the route must know of a message.
fn parse(bytes: &Bytes) -> Result<Message, Refusal> {
    serde_json::from_slice(bytes).map_err(|problem| match problem.classify() {
        serde_json::error::Category::Data => {
            let message = "The body must be one message of JSON-RPC 2.0; batches are not supported.";
            Refusal::invalid(StatusCode::BAD_REQUEST, message)
        }
        _ => Refusal::not_json(),
    })
}

/// Returns the session that a request names.
///
/// # Errors
/// 404 for an id that this server cannot have given, after which a client begins a new session.
fn session(headers: &HeaderMap) -> Result<Option<Session>, Refusal> {
    let Some(value) = headers.get(SESSION_ID) else { return Ok(None) };
    let message = "This session does not exist. Initialize a new one.";
    let session = value.to_str().ok().and_then(Session::parse);
    session.ok_or_else(|| Refusal::invalid(StatusCode::NOT_FOUND, message)).map(Some)
}
