//! The API of the admin console for agents, tools, access, approvals, retention and the config.

use crate::ADMINISTRATION;
use crate::access::{self, AccessQuery};
use crate::agents::{self, AgentDetail, AgentQuery, AgentRow, LiveTool};
use crate::approvals::{self, ApprovalQuery};
use crate::custom_agents::{self, CustomAgentBody, CustomAgentDetail, CustomAgentQuery};
use crate::retention::{self, RetentionPlan};
use crate::state::ConfigState;
use crate::state::ConsoleState;
use crate::tools::{self, ToolQuery, ToolsHealth};
use axum::Json;
use axum::extract::rejection::{JsonRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::response::NoContent;
use chat::{SweepResult, TrialRequest, TrialResult};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use web::HttpError;
use web::admin::Admin;
use web::admin::lists::{ListPage, list_page, split_page, valid_query};
use web::json_error;
use web::openapi::{ApiRouter, Created};
use wire::api::ConversationView;

/// Returns the routes.
pub(crate) fn routes() -> ApiRouter<ConsoleState> {
    ApiRouter::new(&ADMINISTRATION)
        .get("/api/admin/agents", agents, "List agents with their usage")
        .get("/api/admin/agents/{id}", agent, "Get an agent with its config and last answers")
        .post("/api/admin/agents/{id}/ask", ask, "Ask an agent, in a conversation that is marked as a test")
        .get("/api/admin/agents/{id}/tools", tools_of, "List the tools that an agent has now")
        .post("/api/admin/agents/{id}/tools/{tool}", try_tool, "Run a tool as a test")
        .get("/api/admin/custom-agents", custom_agents, "List custom agents")
        .post("/api/admin/custom-agents", add_custom_agent, "Create a custom agent")
        .get("/api/admin/custom-agents/{id}", custom_agent, "Get a custom agent with its versions")
        .put("/api/admin/custom-agents/{id}", change_custom_agent, "Change a custom agent")
        .delete("/api/admin/custom-agents/{id}", delete_custom_agent, "Delete a custom agent")
        .get("/api/admin/tools", tools, "List MCP servers and tools with their health")
        .get("/api/admin/approvals", approvals, "List the standing approvals of all users")
        .delete("/api/admin/approvals/{id}", revoke, "Revoke a standing approval")
        .get("/api/admin/access", access, "List the sessions and API keys of all users")
        .delete("/api/admin/access/{kind}/{id}", revoke_access, "Revoke a session or an API key")
        .get("/api/admin/retention", retention, "Get the retention rules and the next deletions")
        .post("/api/admin/retention", sweep, "Delete due data now")
        .get("/api/admin/config", config, "Get the state of the config, and its last reloads")
}

/// `GET /api/admin/agents`
pub(crate) async fn agents(
    _: Admin,
    State(state): State<ConsoleState>,
    query: Result<Query<AgentQuery>, QueryRejection>,
) -> Result<Json<ListPage<AgentRow>>, HttpError> {
    Ok(list_page(split_page(agents::fetch_page(&state, &valid_query(query)?).await?)))
}

/// `GET /api/admin/agents/{id}`
pub(crate) async fn agent(
    _: Admin,
    State(state): State<ConsoleState>,
    Path(id): Path<String>,
) -> Result<Json<AgentDetail>, HttpError> {
    Ok(Json(agents::agent_detail(&state, &id).await?))
}

/// The body with the question for an agent.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct QuestionBody {
    /// The question.
    text: String,
}

/// The answer of an agent.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TestAnswer {
    /// The conversation, which is temporary.
    conversation_id: String,
    /// The conversation with its messages.
    view: ConversationView,
}

/// `POST /api/admin/agents/{id}/ask`
pub(crate) async fn ask(
    admin: Admin,
    State(state): State<ConsoleState>,
    Path(id): Path<String>,
    sent: Result<Json<QuestionBody>, JsonRejection>,
) -> Result<Json<TestAnswer>, HttpError> {
    let Json(sent) = sent.map_err(|rejection| json_error(&rejection))?;
    let id = agents::ask(&state, &admin, &id, &sent.text).await?;
    let view = state.chat.conversation(&admin.caller, &id).await?;
    Ok(Json(TestAnswer { conversation_id: id, view }))
}

/// The tools of an agent.
#[derive(Serialize, JsonSchema)]
pub(crate) struct LiveToolList {
    /// The tools.
    items: Vec<LiveTool>,
    /// The errors of servers that did not list their tools.
    problems: Vec<String>,
}

/// `GET /api/admin/agents/{id}/tools`
pub(crate) async fn tools_of(
    admin: Admin,
    State(state): State<ConsoleState>,
    Path(id): Path<String>,
) -> Result<Json<LiveToolList>, HttpError> {
    let (items, problems) = agents::tools(&state, &admin, &id).await?;
    Ok(Json(LiveToolList { items, problems }))
}

/// The body of a tool's test run.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ToolTrialBody {
    /// The arguments.
    #[serde(default)]
    arguments: Map<String, Value>,
    /// Whether the administrator approves the call if it needs approval.
    #[serde(default)]
    approved: bool,
}

/// `POST /api/admin/agents/{id}/tools/{tool}`
pub(crate) async fn try_tool(
    admin: Admin,
    State(state): State<ConsoleState>,
    Path((agent_id, tool)): Path<(String, String)>,
    sent: Result<Json<ToolTrialBody>, JsonRejection>,
) -> Result<Json<TrialResult>, HttpError> {
    let Json(ToolTrialBody { arguments, approved }) = sent.map_err(|rejection| json_error(&rejection))?;
    let arguments = Value::Object(arguments).to_string();
    Ok(Json(tools::run_trial(&state, &admin, TrialRequest { agent_id, tool, arguments, approved }).await?))
}

/// `GET /api/admin/custom-agents`
pub(crate) async fn custom_agents(
    _: Admin,
    State(state): State<ConsoleState>,
    query: Result<Query<CustomAgentQuery>, QueryRejection>,
) -> Result<Json<ListPage<::custom_agents::store::CustomAgentRow>>, HttpError> {
    Ok(list_page(split_page(custom_agents::fetch_page(&state, &valid_query(query)?).await?)))
}

/// A new custom agent.
#[derive(Serialize, JsonSchema)]
pub(crate) struct NewCustomAgent {
    /// Its id.
    id: String,
}

/// `POST /api/admin/custom-agents`
pub(crate) async fn add_custom_agent(
    admin: Admin,
    State(state): State<ConsoleState>,
    sent: Result<Json<CustomAgentBody>, JsonRejection>,
) -> Result<Created<NewCustomAgent>, HttpError> {
    let Json(sent) = sent.map_err(|rejection| json_error(&rejection))?;
    Ok(Created(NewCustomAgent { id: custom_agents::save(&state, &admin, None, sent).await? }))
}

/// `GET /api/admin/custom-agents/{id}`
pub(crate) async fn custom_agent(
    _: Admin,
    State(state): State<ConsoleState>,
    Path(id): Path<String>,
) -> Result<Json<CustomAgentDetail>, HttpError> {
    Ok(Json(custom_agents::custom_agent_detail(&state, &id).await?))
}

/// `PUT /api/admin/custom-agents/{id}`
pub(crate) async fn change_custom_agent(
    admin: Admin,
    State(state): State<ConsoleState>,
    Path(id): Path<String>,
    sent: Result<Json<CustomAgentBody>, JsonRejection>,
) -> Result<Json<CustomAgentDetail>, HttpError> {
    let Json(sent) = sent.map_err(|rejection| json_error(&rejection))?;
    custom_agents::save(&state, &admin, Some(&id), sent).await?;
    Ok(Json(custom_agents::custom_agent_detail(&state, &id).await?))
}

/// `DELETE /api/admin/custom-agents/{id}`
pub(crate) async fn delete_custom_agent(
    admin: Admin,
    State(state): State<ConsoleState>,
    Path(id): Path<String>,
) -> Result<NoContent, HttpError> {
    custom_agents::delete(&state, &admin, &id).await?;
    Ok(NoContent)
}

/// `GET /api/admin/tools`
pub(crate) async fn tools(
    _: Admin,
    State(state): State<ConsoleState>,
    query: Result<Query<ToolQuery>, QueryRejection>,
) -> Result<Json<ToolsHealth>, HttpError> {
    Ok(Json(tools::health(&state, &valid_query(query)?).await?))
}

/// `GET /api/admin/access`
pub(crate) async fn access(
    _: Admin,
    State(state): State<ConsoleState>,
    query: Result<Query<AccessQuery>, QueryRejection>,
) -> Result<Json<ListPage<store::AdminAccess>>, HttpError> {
    Ok(list_page(split_page(access::fetch_page(&state, &valid_query(query)?).await?)))
}

/// `DELETE /api/admin/access/{kind}/{id}`
pub(crate) async fn revoke_access(
    admin: Admin,
    State(state): State<ConsoleState>,
    Path((kind, id)): Path<(store::AccessKind, String)>,
) -> Result<NoContent, HttpError> {
    access::revoke_access(&state, &admin, (kind, &id)).await?;
    Ok(NoContent)
}

/// `GET /api/admin/approvals`
pub(crate) async fn approvals(
    _: Admin,
    State(state): State<ConsoleState>,
    query: Result<Query<ApprovalQuery>, QueryRejection>,
) -> Result<Json<ListPage<store::AdminGrant>>, HttpError> {
    Ok(list_page(split_page(approvals::fetch_page(&state, &valid_query(query)?).await?)))
}

/// `DELETE /api/admin/approvals/{id}`
pub(crate) async fn revoke(
    admin: Admin,
    State(state): State<ConsoleState>,
    Path(id): Path<String>,
) -> Result<NoContent, HttpError> {
    approvals::revoke_approval(&state, &admin, &id).await?;
    Ok(NoContent)
}

/// `GET /api/admin/retention`
pub(crate) async fn retention(_: Admin, State(state): State<ConsoleState>) -> Result<Json<RetentionPlan>, HttpError> {
    Ok(Json(retention::plan(&state).await?))
}

/// `POST /api/admin/retention`
pub(crate) async fn sweep(admin: Admin, State(state): State<ConsoleState>) -> Result<Json<SweepResult>, HttpError> {
    Ok(Json(retention::apply(&state, &admin).await?))
}

/// `GET /api/admin/config`
pub(crate) async fn config(_: Admin, State(state): State<ConsoleState>) -> Json<ConfigState> {
    Json(state.host.config_state())
}
