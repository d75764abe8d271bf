//! The responses with the cards of agents.

use crate::card;
use crate::error::Refusal;
use crate::request::RequestInfo;
use crate::section::A2a;
use axum::extract::{Path, State};
use axum::http::header::{CACHE_CONTROL, ETAG, IF_NONE_MATCH};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use capability::Context;
use serde_json::json;
use sha2::{Digest, Sha256};
use web::openapi::{Description, RouteOutput};
use wire::{ErrorCode, UserError};

/// How long a card may be kept, in seconds.
const CARD_TIME: u32 = 300;

/// A card, which clients may keep for some time.
pub(crate) struct CardResponse {
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
        let mut response = if self.is_known {
            StatusCode::NOT_MODIFIED.into_response()
        } else {
            ([(header::CONTENT_TYPE, "application/json")], self.card).into_response()
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
pub(crate) async fn show_card(
    State(context): State<Context>,
    facts: RequestInfo,
    headers: HeaderMap,
    Path(agent_id): Path<String>,
) -> Result<CardResponse, Refusal> {
    let config = context.current.config();
    let section = A2a::of(&config)?;
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
pub(crate) async fn show_default_card(
    State(context): State<Context>,
    facts: RequestInfo,
    headers: HeaderMap,
) -> Result<CardResponse, Refusal> {
    let config = context.current.config();
    let section = A2a::of(&config)?;
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
