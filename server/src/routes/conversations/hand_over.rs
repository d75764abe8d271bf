//! The API for handing a conversation over to another agent.

use crate::routes::pages::app_context;
use crate::routes::tags::CONVERSATIONS;
use crate::state::AppState;
use axum::extract::{Path, State};
use axum::{Extension, Json};
use chat::{Caller, HandOver};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use web::openapi::ApiRouter;
use web::{HttpError, SentJson, valid_json};
use wire::UserError;
use wire::locale::{Text, fill_placeholders};

/// Returns the routes.
pub(crate) fn routes() -> ApiRouter<AppState> {
    ApiRouter::new(&CONVERSATIONS).post(
        "/api/conversations/{id}/agent",
        hand_over,
        "Hand a conversation over to another agent; 409 `busy` while an answer is being written or waits for the user",
    )
}

/// The agent that answers from now on.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct HandOverRequest {
    /// The agent, which the caller may use.
    agent_id: String,
    /// The page on which the user goes on; without it, the first page with a chat of the agent.
    page_id: Option<String>,
}

/// Where the conversation goes on.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct HandedOver {
    /// The agent that answers.
    agent_id: String,
    /// The page.
    page_id: String,
}

/// `POST /api/conversations/{id}/agent` with `{agentId, pageId?}`
pub(crate) async fn hand_over(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    request: SentJson<HandOverRequest>,
) -> Result<Json<HandedOver>, HttpError> {
    let HandOverRequest { agent_id, page_id } = valid_json(request)?;
    let current = &state.composition.current;
    let page_id = page_id.or_else(|| current.page_for_agent(&caller, &agent_id)).ok_or_else(UserError::not_found)?;
    // Also refuses what a token of an embedding site does not allow.
    current.check_agent_on_page(&caller, &page_id, &agent_id)?;
    let to = HandOver { agent_id: agent_id.clone(), page_id: page_id.clone() };
    let line = |from: &str| shown_line(&state, &caller, from, &agent_id);
    state.composition.chat.hand_over(&caller, &id, to, line).await?;
    Ok(Json(HandedOver { agent_id, page_id }))
}

/// Returns the line that the conversation shows, in the language of the site.
fn shown_line(state: &AppState, caller: &Caller, from: &str, to: &str) -> String {
    let config = state.composition.current.config();
    let links = app_context(state).pages.links(caller);
    let name = |id: &str| {
        // An agent that a user has made is not in the config. Its page has its name.
        let on_page = || links.iter().find(|link| link.agent_id.as_deref() == Some(id)).map(|link| link.title.clone());
        let title = config.agents.get(id).and_then(|agent| agent.title.clone());
        title.or_else(on_page).unwrap_or_else(|| id.to_owned())
    };
    let names = [name(from), name(to)];
    let names = names.each_ref().map(String::as_str);
    match state.composition.current.texts() {
        Some(texts) => texts.filled(Text::HandedOver, &names),
        None => fill_placeholders(Text::HandedOver.english(), &names),
    }
}
