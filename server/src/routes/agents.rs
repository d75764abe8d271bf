//! The agents that a caller can use.

use super::tags::AGENTS;
use crate::state::AppState;
use axum::extract::State;
use axum::{Extension, Json};
use chat::Caller;
use schemars::JsonSchema;
use serde::Serialize;
use web::openapi::ApiRouter;

/// Returns the routes.
pub(crate) fn routes() -> ApiRouter<AppState> {
    ApiRouter::new(&AGENTS).get("/api/agents", list, "List the agents that the caller may use")
}

/// The agents that a caller may use.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct AgentList {
    /// In the order of the config; then those that were added at run time.
    agents: Vec<UsableAgent>,
}

/// An agent as its users see it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct UsableAgent {
    /// The id by which requests name it.
    id: String,
    /// The name for users.
    title: String,
    /// Its description.
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    /// The address of an image, or one or two characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    picture: Option<String>,
    /// The id of the page with its chat; absent if no page that the caller may open has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    page: Option<String>,
}

/// `GET /api/agents`
pub(crate) async fn list(State(state): State<AppState>, Extension(caller): Extension<Caller>) -> Json<AgentList> {
    let current = &state.composition.current;
    let config = current.config();
    let usable = |id: String| {
        let agent = config.agents.get(&id)?;
        Some(UsableAgent {
            title: agent.title.clone().unwrap_or_else(|| id.clone()),
            description: agent.description.clone(),
            picture: agent.picture.clone(),
            page: current.page_for_agent(&caller, &id),
            id,
        })
    };
    Json(AgentList { agents: current.usable_agents(&caller).into_iter().filter_map(usable).collect() })
}
