//! `POST /a2a/{agent}`, and the cards.

use crate::body::CallBody;
use crate::error::{self, RpcError};
use crate::rpc::{Call, CallId, Method};
use crate::section::A2a;
use crate::{card, methods, send, stream};
use a2a_types::error_code;
use auth::password::KeyScope;
use axum::Json;
use axum::extract::{FromRequestParts, Path, State};
use axum::http::header::{CACHE_CONTROL, ETAG, IF_NONE_MATCH};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use capability::Context;
use chat::Caller;
use config::Config;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use url::form_urlencoded;
use web::openapi::{Access, ApiRouter, Description, RouteInput, RouteOutput, Tag};
use web::{EventStream, Origin};
use wire::{ErrorCode, UserError};

/// The header and the query parameter with the version of the protocol.
const VERSION: &str = a2a_types::SVC_PARAM_VERSION;
/// How long a card may be kept, in seconds.
const CARD_TIME: u32 = 300;

/// The group of calls in the OpenAPI document.
const CALLS: Tag = Tag {
    name: "A2A",
    description: "Agents for clients of Agent2Agent (A2A) 1.0, by JSON-RPC. The config switches it on with `a2a`; without \
                  that, these paths answer 404. Scope `agents`.",
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
        .get("/a2a/{agent}/.well-known/agent-card.json", show_card, "Get the card of an agent")
        .map(|router| router.with_state(context))
}

/// Returns the route of the server's card.
pub(crate) fn card_routes(context: Context) -> ApiRouter {
    ApiRouter::new(&DISCOVERY)
        .get("/.well-known/agent-card.json", show_default_card, "Get the card of the server's agent")
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
struct RequestInfo {
    caller: Caller,
    origin: Option<String>,
    version: String,
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
        Ok(Self { caller, origin, version: version.unwrap_or_default() })
    }
}

impl RouteInput for RequestInfo {}

/// An error before a call is read.
#[derive(Debug)]
pub(crate) struct Refusal(UserError);

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
    let RequestInfo { caller, origin, version } = facts;
    let config = context.current.config();
    if !section(&config)?.offers(&agent_id) {
        return Err(UserError::not_found().into());
    }
    // A conversation is shown on a page.
    let page_id = context.page_of_agent(&caller, &agent_id)?;
    let heartbeat = config.limits.heartbeat;
    let Call { id, method } = match body.read().await {
        Ok(call) => call,
        Err((id, error)) => return Ok(CallResponse::refused(id, error)),
    };
    let asked = CallContext { context, caller, agent_id, page_id, origin: origin.unwrap_or_default() };
    let answered = match check_version(&version).and(method) {
        Ok(method) => answer(asked, id.clone(), method).await,
        Err(error) => Err(error),
    };
    Ok(match answered {
        Ok(Answered::Stream(frames)) => CallResponse::Stream(EventStream::new(frames, heartbeat)),
        Ok(Answered::Object(result)) => CallResponse::new(id, Ok(result)),
        Err(error) => CallResponse::new(id, Err(error)),
    })
}

/// Checks that a request is of this version. Its patch number does not matter.
fn check_version(version: &str) -> Result<(), RpcError> {
    let version = version.trim();
    let is_ours = version.strip_prefix(a2a_types::VERSION).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    // Without a version, it is that of the time before there was a header for it.
    if is_ours { Ok(()) } else { Err(RpcError::unsupported_version(if version.is_empty() { "0.3" } else { version })) }
}

/// What a method returns.
enum Answered {
    Object(Value),
    Stream(chat::Frames),
}

async fn answer(asked: CallContext, id: CallId, method: Method) -> Result<Answered, RpcError> {
    let result = match method {
        Method::Send(request) => json!({ "task": send::send_and_wait(&asked, *request).await? }),
        Method::SendStreaming(request) => return Ok(Answered::Stream(stream::send(asked, id, *request).await?)),
        Method::Get(request) => json!(methods::get(&asked, request).await?),
        Method::List(request) => json!(methods::list(&asked, request).await?),
        Method::Cancel(request) => json!(methods::cancel(&asked, request).await?),
        Method::Subscribe(request) => return Ok(Answered::Stream(stream::subscribe(asked, id, request.id).await?)),
        Method::ExtendedCard => {
            let message = "There is no extended card: the card of the agent is the same for everybody who may see it.";
            return Err(RpcError::unsupported(message));
        }
        Method::Push => return Err(RpcError::no_push_notifications()),
    };
    Ok(Answered::Object(result))
}

/// A card, which clients may keep for some time.
struct CardResponse {
    card: Vec<u8>,
    is_public: bool,
    /// Whether the client has the card already.
    is_known: bool,
    tag: String,
}

impl CardResponse {
    fn new(card: &a2a_types::AgentCard, is_public: bool, headers: &HeaderMap) -> Self {
        let mut card = json!(card);
        // The tag is that of the text, and the maps in the card have no order.
        card.sort_all_objects();
        let card = card.to_string().into_bytes();
        let tag = format!("\"{}\"", hex::encode(&Sha256::digest(&card)[..16]));
        let known = headers.get(IF_NONE_MATCH).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let is_known = known.split(',').any(|known| known.trim().trim_start_matches("W/") == tag);
        Self { card, is_public, is_known, tag }
    }
}

impl IntoResponse for CardResponse {
    fn into_response(self) -> Response {
        let mut response = match self.is_known {
            true => StatusCode::NOT_MODIFIED.into_response(),
            false => ([(header::CONTENT_TYPE, "application/json")], self.card).into_response(),
        };
        let kept = if self.is_public { "public" } else { "private" };
        let headers = response.headers_mut();
        headers
            .extend(HeaderValue::from_str(&format!("{kept}, max-age={CARD_TIME}")).map(|value| (CACHE_CONTROL, value)));
        headers.extend(HeaderValue::from_str(&self.tag).map(|value| (ETAG, value)));
        response
    }
}

impl RouteOutput for CardResponse {
    fn describe(description: &mut Description<'_>) {
        description.response(200, "application/json", &json!({ "type": "object" }));
        description.empty(304);
    }
}

/// `GET /a2a/{agent}/.well-known/agent-card.json`
async fn show_card(
    State(context): State<Context>,
    facts: RequestInfo,
    headers: HeaderMap,
    Path(agent_id): Path<String>,
) -> Result<CardResponse, Refusal> {
    let config = context.current.config();
    let section = section(&config)?;
    let agent = config.agents.get(&agent_id).filter(|agent| section.offers(&agent.id));
    let agent = agent.ok_or_else(UserError::not_found)?;
    let is_public = card::is_public(section, agent);
    if !is_public {
        context.page_of_agent(&facts.caller, &agent_id)?;
    }
    let card = card::card(&config, section, agent, &origin(facts.origin)?);
    Ok(CardResponse::new(&card, is_public, &headers))
}

/// `GET /.well-known/agent-card.json`
async fn show_default_card(
    State(context): State<Context>,
    facts: RequestInfo,
    headers: HeaderMap,
) -> Result<CardResponse, Refusal> {
    let config = context.current.config();
    let section = section(&config)?;
    let agent = section.default_agent().and_then(|id| config.agents.get(id));
    let agent = agent.filter(|agent| card::is_public(section, agent)).ok_or_else(|| {
        let message = "No agent is the one of this server as a whole: `a2a.defaultAgent` names it. The cards of agents \
                       are at `/a2a/AGENT/.well-known/agent-card.json`.";
        UserError::new(ErrorCode::NotFound, message)
    })?;
    let card = card::card(&config, section, agent, &origin(facts.origin)?);
    Ok(CardResponse::new(&card, true, &headers))
}

/// Returns the origin of this server, without which a card cannot say where the agent is.
fn origin(origin: Option<String>) -> Result<String, UserError> {
    origin.ok_or_else(|| {
        let message =
            "This server does not know its address. The administrator lists it in the config, in `auth.publicUrls`.";
        UserError::new(ErrorCode::NotFound, message)
    })
}
