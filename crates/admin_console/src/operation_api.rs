//! The API of the admin console for agents, tools, access, approvals, retention and the config.

use crate::access::{self, AccessQuery};
use crate::agents::{self, AgentDetail, AgentQuery, AgentRow};
use crate::approvals::{self, ApprovalQuery};
use crate::custom_agents::{self, CustomAgentBody, CustomAgentDetail, CustomAgentQuery};
use crate::retention::{self, RetentionPlan};
use crate::state::ConfigState;
use crate::state::ConsoleState;
use crate::tools::{self, ToolQuery, ToolsHealth};
use axum::Json;
use axum::extract::rejection::{JsonRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use chat::{SweepResult, TrialRequest, TrialResult};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use web::HttpError;
use web::admin::Admin;
use web::admin::lists::{ListPage, list_page, split_page, valid_query};
use web::json_error;

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
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct QuestionBody {
    text: String,
}

/// `POST /api/admin/agents/{id}/ask`
pub(crate) async fn ask(
    admin: Admin,
    State(state): State<ConsoleState>,
    Path(id): Path<String>,
    sent: Result<Json<QuestionBody>, JsonRejection>,
) -> Result<Json<Value>, HttpError> {
    let Json(sent) = sent.map_err(|rejection| json_error(&rejection))?;
    let id = agents::ask(&state, &admin, &id, &sent.text).await?;
    let view = state.chat.conversation(&admin.caller, &id).await?;
    Ok(Json(json!({ "conversationId": id, "view": view })))
}

/// `GET /api/admin/agents/{id}/tools`
pub(crate) async fn tools_of(
    admin: Admin,
    State(state): State<ConsoleState>,
    Path(id): Path<String>,
) -> Result<Json<Value>, HttpError> {
    let (items, problems) = agents::tools(&state, &admin, &id).await?;
    Ok(Json(json!({ "items": items, "problems": problems })))
}

/// The body of a tool's test run.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ToolTrialBody {
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

/// `POST /api/admin/custom-agents`
pub(crate) async fn add_custom_agent(
    admin: Admin,
    State(state): State<ConsoleState>,
    sent: Result<Json<CustomAgentBody>, JsonRejection>,
) -> Result<(StatusCode, Json<Value>), HttpError> {
    let Json(sent) = sent.map_err(|rejection| json_error(&rejection))?;
    Ok((StatusCode::CREATED, Json(json!({ "id": custom_agents::save(&state, &admin, None, sent).await? }))))
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
) -> Result<StatusCode, HttpError> {
    custom_agents::delete(&state, &admin, &id).await?;
    Ok(StatusCode::NO_CONTENT)
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
) -> Result<StatusCode, HttpError> {
    access::revoke_access(&state, &admin, (kind, &id)).await?;
    Ok(StatusCode::NO_CONTENT)
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
) -> Result<StatusCode, HttpError> {
    approvals::revoke_approval(&state, &admin, &id).await?;
    Ok(StatusCode::NO_CONTENT)
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
