//! `POST /a2a/{agent}`, the paths of the binding HTTP+JSON, and the cards.

use crate::body::CallBody;
use crate::error::{self, RestError, RpcError};
use crate::rpc::{Call, CallId, Method};
use crate::section::A2a;
use crate::{card_routes, methods, push, rest, send, stream};
use a2a_types::error_code;
use auth::password::KeyScope;
use axum::Json;
use axum::extract::{FromRequestParts, Path, State};
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use capability::Context;
use chat::Caller;
use config::Config;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};
use std::time::Duration;
use url::form_urlencoded;
use web::openapi::{Access, ApiRouter, Description, RouteInput, RouteOutput, Tag};
use web::{EventStream, Origin};
use wire::{ErrorCode, UserError};

/// The header and the query parameter with the version of the protocol.
const VERSION: &str = a2a_types::SVC_PARAM_VERSION;

/// The group of calls in the OpenAPI document.
const CALLS: Tag = Tag {
    name: "A2A",
    description: "Agents for clients of Agent2Agent (A2A) 1.0, by JSON-RPC and HTTP+JSON. The config switches it on with \
                  `a2a`; without that, these paths answer 404. Scope `agents`.",
    access: Access::Users { scope: Some(KeyScope::Agents) },
};

/// The group of the server's card in the OpenAPI document.
const DISCOVERY: Tag = Tag {
    name: "A2A: discovery",
    description: "The card of the agent that `a2a.defaultAgent` names, if it is public.",
    access: Access::Anyone,
};

/// Returns the routes of calls, whose bodies may have files, and of the cards of agents.
pub(crate) fn routes(context: Context) -> ApiRouter {
    ApiRouter::new(&CALLS)
        .post("/a2a/{agent}", call, "Call a method of A2A: send messages to an agent, and use its tasks")
        .post("/a2a/{agent}/message:send", rest::send, "Send a message to an agent, and get the task (HTTP+JSON)")
        .post(
            "/a2a/{agent}/message:stream",
            rest::stream,
            "Send a message to an agent, and stream the task (HTTP+JSON)",
        )
        .get("/a2a/{agent}/tasks", rest::list, "List the caller's tasks with an agent (HTTP+JSON)")
        .get("/a2a/{agent}/tasks/{task}", rest::show, "Get a task, or with `:subscribe` its events (HTTP+JSON)")
        .post("/a2a/{agent}/tasks/{task}", rest::act, "`:cancel` a task, or `:subscribe` to it (HTTP+JSON)")
        .post(
            "/a2a/{agent}/tasks/{task}/pushNotificationConfigs",
            rest::create_push,
            "Add an address for push notifications of a task",
        )
        .get(
            "/a2a/{agent}/tasks/{task}/pushNotificationConfigs",
            rest::list_push,
            "List the addresses for push notifications of a task",
        )
        .get(
            "/a2a/{agent}/tasks/{task}/pushNotificationConfigs/{id}",
            rest::show_push,
            "Get an address for push notifications of a task",
        )
        .delete(
            "/a2a/{agent}/tasks/{task}/pushNotificationConfigs/{id}",
            rest::delete_push,
            "Delete an address for push notifications of a task",
        )
        .get("/a2a/{agent}/extendedAgentCard", rest::extended_card, "There is no extended card (HTTP+JSON)")
        .get("/a2a/{agent}/.well-known/agent-card.json", card_routes::show_card, "Get the card of an agent")
        .map(|router| router.with_state(context))
}

/// Returns the route of the server's card.
pub(crate) fn card_routes(context: Context) -> ApiRouter {
    ApiRouter::new(&DISCOVERY)
        .get("/.well-known/agent-card.json", card_routes::show_default_card, "Get the card of the server's agent")
        .map(|router| router.with_state(context))
}

/// Who asks which agent.
#[derive(Clone)]
pub(crate) struct CallContext {
    pub(crate) context: Context,
    pub(crate) caller: Caller,
    pub(crate) agent_id: String,
    /// The page on which the conversations are shown.
    pub(crate) page_id: String,
    /// The origin of this server; empty if it is not known.
    pub(crate) origin: String,
}

/// What the gates have found out about a request, and the version of the protocol that it names.
pub(crate) struct RequestInfo {
    pub(crate) caller: Caller,
    pub(crate) origin: Option<String>,
    version: String,
    /// The query of the path.
    pub(crate) query: String,
}

impl<S: Sync> FromRequestParts<S> for RequestInfo {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Refusal> {
        let caller = parts.extensions.get::<Caller>().cloned().ok_or_else(UserError::unauthenticated)?;
        let origin = parts.extensions.get::<Origin>().map(|Origin(origin)| origin.clone());
        let header = parts.headers.get(VERSION).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let version = header.or_else(|| {
            let query = form_urlencoded::parse(parts.uri.query().unwrap_or_default().as_bytes());
            let mut found = query.filter(|(name, _)| name.eq_ignore_ascii_case(VERSION));
            found.next().map(|(_, value)| value.into_owned())
        });
        let query = parts.uri.query().unwrap_or_default().to_owned();
        Ok(Self { caller, origin, version: version.unwrap_or_default(), query })
    }
}

impl RouteInput for RequestInfo {}

/// An error before a call is read.
#[derive(Debug)]
pub(crate) struct Refusal(pub(crate) UserError);

/// The form of the responses to a call.
#[derive(Clone, Debug)]
pub(crate) enum Envelope {
    /// That of JSON-RPC, with the id of the call.
    JsonRpc(CallId),
    /// None: that of HTTP+JSON.
    Plain,
}

impl Envelope {
    /// Returns what a method returns, in this form.
    pub(crate) fn result(&self, result: Value) -> Value {
        match self {
            Self::JsonRpc(id) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
            Self::Plain => result,
        }
    }

    /// Returns an error in this form.
    pub(crate) fn error(&self, error: RpcError) -> Value {
        match self {
            Self::JsonRpc(id) => json!({ "jsonrpc": "2.0", "id": id, "error": error }),
            Self::Plain => RestError::from(error).body(),
        }
    }
}

impl From<UserError> for Refusal {
    fn from(error: UserError) -> Self {
        Self(error)
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        error::from_gate(self.0)
    }
}

/// The response to a call, as the OpenAPI document shows it.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "A2aResponse")]
struct RpcResponse {
    /// `2.0`.
    jsonrpc: &'static str,
    /// The id of the call; null if it could not be read.
    id: Option<CallId>,
    /// What the method returns.
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<Value>,
    /// Why the call failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<RpcError>,
}

impl RouteOutput for Refusal {
    fn describe(description: &mut Description<'_>) {
        description.json_error::<RpcResponse>("The request failed; `error.message` says what to do next.");
    }
}

/// The response to a call: one object, or a stream of them.
enum CallResponse {
    Object(StatusCode, Box<RpcResponse>),
    Stream(EventStream),
}

impl CallResponse {
    /// Answers a call.
    fn new(id: CallId, result: Result<Value, RpcError>) -> Self {
        let (result, error) = match result {
            Ok(result) => (Some(result), None),
            Err(error) => (None, Some(error)),
        };
        Self::Object(StatusCode::OK, Box::new(RpcResponse { jsonrpc: "2.0", id: Some(id), result, error }))
    }

    /// Answers what is not a call.
    fn refused(id: Option<CallId>, error: RpcError) -> Self {
        let is_of_client = [error_code::PARSE_ERROR, error_code::INVALID_REQUEST].contains(&error.code);
        let status = if is_of_client { StatusCode::BAD_REQUEST } else { StatusCode::SERVICE_UNAVAILABLE };
        Self::Object(status, Box::new(RpcResponse { jsonrpc: "2.0", id, result: None, error: Some(error) }))
    }
}

impl IntoResponse for CallResponse {
    fn into_response(self) -> Response {
        match self {
            Self::Object(status, object) => (status, Json(object)).into_response(),
            Self::Stream(stream) => stream.into_response(),
        }
    }
}

impl RouteOutput for CallResponse {
    fn describe(description: &mut Description<'_>) {
        description.json::<RpcResponse>(200);
        EventStream::describe(description);
    }
}

/// Returns the section.
///
/// # Errors
/// 404 if A2A is switched off.
pub(crate) fn section(config: &Config) -> Result<&A2a, UserError> {
    config.section::<A2a>().ok_or_else(|| {
        let message = "A2A is switched off here. The administrator switches it on with `a2a: {}` in the config.";
        UserError::new(ErrorCode::NotFound, message)
    })
}

/// `POST /a2a/{agent}`
async fn call(
    State(context): State<Context>,
    facts: RequestInfo,
    Path(agent_id): Path<String>,
    body: CallBody,
) -> Result<CallResponse, Refusal> {
    let version = check_version(&facts.version);
    let (asked, heartbeat) = find_agent(context, facts, agent_id)?;
    let Call { id, method } = match body.read().await {
        Ok(call) => call,
        Err((id, error)) => return Ok(CallResponse::refused(id, error)),
    };
    let answered = match version.and(method) {
        Ok(method) => answer(asked, Envelope::JsonRpc(id.clone()), method).await,
        Err(error) => Err(error),
    };
    Ok(match answered {
        Ok(Answered::Stream(frames)) => CallResponse::Stream(EventStream::new(frames, heartbeat)),
        Ok(Answered::Object(result)) => CallResponse::new(id, Ok(result)),
        Err(error) => CallResponse::new(id, Err(error)),
    })
}

/// Returns who asks which agent, and how often a silent stream shows that it is alive.
fn find_agent(context: Context, facts: RequestInfo, agent_id: String) -> Result<(CallContext, Duration), UserError> {
    let RequestInfo { caller, origin, .. } = facts;
    let config = context.current.config();
    if !section(&config)?.offers(&agent_id) {
        return Err(UserError::not_found());
    }
    // A conversation is shown on a page.
    let page_id = context.page_of_agent(&caller, &agent_id)?;
    let asked = CallContext { context, caller, agent_id, page_id, origin: origin.unwrap_or_default() };
    Ok((asked, config.limits.heartbeat))
}

/// Returns what [`find_agent`] does, for a request of this version.
///
/// # Errors
/// The version is another one, or the caller cannot use the agent.
pub(crate) fn open(
    context: Context,
    facts: RequestInfo,
    agent_id: String,
) -> Result<(CallContext, Duration), RestError> {
    let version = check_version(&facts.version);
    let found = find_agent(context, facts, agent_id)?;
    version?;
    Ok(found)
}

/// Checks that a request is of this version. Its patch number does not matter.
fn check_version(version: &str) -> Result<(), RpcError> {
    let version = version.trim();
    let is_ours = version.strip_prefix(a2a_types::VERSION).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    // Without a version, it is that of the time before there was a header for it.
    if is_ours { Ok(()) } else { Err(RpcError::unsupported_version(if version.is_empty() { "0.3" } else { version })) }
}

/// What a method returns.
pub(crate) enum Answered {
    Object(Value),
    Stream(chat::Frames),
}

/// Runs a method.
///
/// # Errors
/// Those of the method.
pub(crate) async fn answer(asked: CallContext, envelope: Envelope, method: Method) -> Result<Answered, RpcError> {
    let result = match method {
        Method::Send(request) => json!({ "task": send::send_and_wait(&asked, *request).await? }),
        Method::SendStreaming(request) => return Ok(Answered::Stream(stream::send(asked, envelope, *request).await?)),
        Method::Get(request) => json!(methods::get(&asked, request).await?),
        Method::List(request) => json!(methods::list(&asked, request).await?),
        Method::Cancel(request) => json!(methods::cancel(&asked, request).await?),
        Method::Subscribe(request) => {
            return Ok(Answered::Stream(stream::subscribe(asked, envelope, request.id).await?));
        }
        Method::ExtendedCard => {
            let message = "There is no extended card: the card of the agent is the same for everybody who may see it.";
            return Err(RpcError::unsupported(message));
        }
        Method::CreatePush(request) => push::create(&asked, request).await?,
        Method::GetPush(request) => push::get(&asked, request).await?,
        Method::ListPush(request) => push::list(&asked, request).await?,
        Method::DeletePush(request) => push::delete(&asked, request).await?,
    };
    Ok(Answered::Object(result))
}
