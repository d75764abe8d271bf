//! The API for agents. The list is in `list`.

use super::{AgentDetail, LiveTool};
use crate::agents;
use crate::state::ConsoleState;
use axum::Json;
use axum::extract::{Path, State};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use web::admin::{ADMINISTRATION, Admin};
use web::openapi::ApiRouter;
use web::{HttpError, SentJson, valid_json};
use wire::api::ConversationView;

pub(super) fn routes() -> ApiRouter<ConsoleState> {
    ApiRouter::new(&ADMINISTRATION)
        .get("/api/admin/agents/{id}", show, "Get an agent with its config and last answers")
        .post("/api/admin/agents/{id}/ask", ask, "Ask an agent, in a conversation that is marked as a test")
        .get("/api/admin/agents/{id}/tools", tools, "List the tools that an agent has now")
}

/// `GET /api/admin/agents/{id}`
async fn show(
    _: Admin,
    State(state): State<ConsoleState>,
    Path(id): Path<String>,
) -> Result<Json<AgentDetail>, HttpError> {
    Ok(Json(agents::agent_detail(&state, &id).await?))
}

/// The body with the question for an agent.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct QuestionBody {
    /// The question.
    text: String,
}

/// The answer of an agent.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct TestAnswer {
    /// The conversation, which is temporary.
    conversation_id: String,
    /// The conversation with its messages.
    view: ConversationView,
}

/// `POST /api/admin/agents/{id}/ask`
async fn ask(
    admin: Admin,
    State(state): State<ConsoleState>,
    Path(id): Path<String>,
    sent: SentJson<QuestionBody>,
) -> Result<Json<TestAnswer>, HttpError> {
    let sent = valid_json(sent)?;
    let id = agents::ask(&state, &admin, &id, &sent.text).await?;
    let view = state.chat.conversation(&admin.caller, &id).await?;
    Ok(Json(TestAnswer { conversation_id: id, view }))
}

/// The tools of an agent.
#[derive(Serialize, JsonSchema)]
struct LiveToolList {
    /// The tools.
    items: Vec<LiveTool>,
    /// The errors of servers that did not list their tools.
    problems: Vec<String>,
}

/// `GET /api/admin/agents/{id}/tools`
async fn tools(
    admin: Admin,
    State(state): State<ConsoleState>,
    Path(id): Path<String>,
) -> Result<Json<LiveToolList>, HttpError> {
    let (items, problems) = agents::tools(&state, &admin, &id).await?;
    Ok(Json(LiveToolList { items, problems }))
}
