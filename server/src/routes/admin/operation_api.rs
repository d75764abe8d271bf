//! Agents, tools, approvals, retention and the config for programs, as JSON.

use super::Admin;
use super::access::{self, AccessQuery};
use super::agents::{self, AgentDetail, AgentLine, AgentQuery};
use super::api::{Listed, asked, listed};
use super::approvals::{self, ApprovalQuery};
use super::custom::{self, CustomAgentBody, CustomAgentDetail, CustomQuery};
use super::lists::paged;
use super::retention::{self, Plan};
use super::tools::{self, Health, ToolQuery};
use crate::compose::ConfigState;
use crate::error::HttpError;
use crate::router::AppState;
use crate::routes::agent::unreadable;
use axum::Json;
use axum::extract::rejection::{JsonRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use chat::{Swept, Trial, TrialRequest};
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// `GET /api/admin/agents`
pub(crate) async fn agents(
    _: Admin,
    State(state): State<AppState>,
    query: Result<Query<AgentQuery>, QueryRejection>,
) -> Result<Json<Listed<AgentLine>>, HttpError> {
    Ok(listed(paged(agents::found(&state, &asked(query)?).await?)))
}

/// `GET /api/admin/agents/{id}`
pub(crate) async fn agent(
    _: Admin,
    State(state): State<AppState>,
    Path(id): Path<String>,
) -> Result<Json<AgentDetail>, HttpError> {
    Ok(Json(agents::one(&state, &id).await?))
}

/// A question for an agent.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Question {
    text: String,
}

/// `POST /api/admin/agents/{id}/ask`
pub(crate) async fn ask(
    admin: Admin,
    State(state): State<AppState>,
    Path(id): Path<String>,
    sent: Result<Json<Question>, JsonRejection>,
) -> Result<Json<Value>, HttpError> {
    let Json(sent) = sent.map_err(|rejection| unreadable(&rejection))?;
    let id = agents::ask(&state, &admin, &id, &sent.text).await?;
    let view = state.composition.chat.conversation(&admin.0, &id).await?;
    Ok(Json(json!({ "conversationId": id, "view": view })))
}

/// `GET /api/admin/agents/{id}/tools`
pub(crate) async fn tools_of(
    admin: Admin,
    State(state): State<AppState>,
    Path(id): Path<String>,
) -> Result<Json<Value>, HttpError> {
    let (items, problems) = agents::tools(&state, &admin, &id).await?;
    Ok(Json(json!({ "items": items, "problems": problems })))
}

/// A call to try.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Attempt {
    #[serde(default)]
    arguments: Map<String, Value>,
    /// What is said where the call asks first.
    #[serde(default)]
    approved: bool,
}

/// `POST /api/admin/agents/{id}/tools/{tool}`
pub(crate) async fn try_tool(
    admin: Admin,
    State(state): State<AppState>,
    Path((agent_id, tool)): Path<(String, String)>,
    sent: Result<Json<Attempt>, JsonRejection>,
) -> Result<Json<Trial>, HttpError> {
    let Json(Attempt { arguments, approved }) = sent.map_err(|rejection| unreadable(&rejection))?;
    let arguments = Value::Object(arguments).to_string();
    Ok(Json(tools::attempt(&state, &admin, TrialRequest { agent_id, tool, arguments, approved }).await?))
}

/// `GET /api/admin/custom-agents`
pub(crate) async fn custom_agents(
    _: Admin,
    State(state): State<AppState>,
    query: Result<Query<CustomQuery>, QueryRejection>,
) -> Result<Json<Listed<store::CustomAgentRow>>, HttpError> {
    Ok(listed(paged(custom::found(&state, &asked(query)?).await?)))
}

/// `POST /api/admin/custom-agents`
pub(crate) async fn add_custom_agent(
    admin: Admin,
    State(state): State<AppState>,
    sent: Result<Json<CustomAgentBody>, JsonRejection>,
) -> Result<(StatusCode, Json<Value>), HttpError> {
    let Json(sent) = sent.map_err(|rejection| unreadable(&rejection))?;
    Ok((StatusCode::CREATED, Json(json!({ "id": custom::save(&state, &admin, None, sent).await? }))))
}

/// `GET /api/admin/custom-agents/{id}`
pub(crate) async fn custom_agent(
    _: Admin,
    State(state): State<AppState>,
    Path(id): Path<String>,
) -> Result<Json<CustomAgentDetail>, HttpError> {
    Ok(Json(custom::one(&state, &id).await?))
}

/// `PUT /api/admin/custom-agents/{id}`
pub(crate) async fn change_custom_agent(
    admin: Admin,
    State(state): State<AppState>,
    Path(id): Path<String>,
    sent: Result<Json<CustomAgentBody>, JsonRejection>,
) -> Result<Json<CustomAgentDetail>, HttpError> {
    let Json(sent) = sent.map_err(|rejection| unreadable(&rejection))?;
    custom::save(&state, &admin, Some(&id), sent).await?;
    Ok(Json(custom::one(&state, &id).await?))
}

/// `DELETE /api/admin/custom-agents/{id}`
pub(crate) async fn delete_custom_agent(
    admin: Admin,
    State(state): State<AppState>,
    Path(id): Path<String>,
) -> Result<StatusCode, HttpError> {
    custom::delete(&state, &admin, &id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// `GET /api/admin/tools`
pub(crate) async fn tools(
    _: Admin,
    State(state): State<AppState>,
    query: Result<Query<ToolQuery>, QueryRejection>,
) -> Result<Json<Health>, HttpError> {
    Ok(Json(tools::health(&state, &asked(query)?).await?))
}

/// `GET /api/admin/access`
pub(crate) async fn access(
    _: Admin,
    State(state): State<AppState>,
    query: Result<Query<AccessQuery>, QueryRejection>,
) -> Result<Json<Listed<store::AdminAccess>>, HttpError> {
    Ok(listed(paged(access::found(&state, &asked(query)?).await?)))
}

/// `DELETE /api/admin/access/{kind}/{id}`
pub(crate) async fn revoke_access(
    admin: Admin,
    State(state): State<AppState>,
    Path((kind, id)): Path<(store::AccessKind, String)>,
) -> Result<StatusCode, HttpError> {
    access::take_away(&state, &admin, (kind, &id)).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// `GET /api/admin/approvals`
pub(crate) async fn approvals(
    _: Admin,
    State(state): State<AppState>,
    query: Result<Query<ApprovalQuery>, QueryRejection>,
) -> Result<Json<Listed<store::AdminGrant>>, HttpError> {
    Ok(listed(paged(approvals::found(&state, &asked(query)?).await?)))
}

/// `DELETE /api/admin/approvals/{id}`
pub(crate) async fn revoke(
    admin: Admin,
    State(state): State<AppState>,
    Path(id): Path<String>,
) -> Result<StatusCode, HttpError> {
    approvals::take_back(&state, &admin, &id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// `GET /api/admin/retention`
pub(crate) async fn retention(_: Admin, State(state): State<AppState>) -> Result<Json<Plan>, HttpError> {
    Ok(Json(retention::plan(&state).await?))
}

/// `POST /api/admin/retention`
pub(crate) async fn sweep(admin: Admin, State(state): State<AppState>) -> Result<Json<Swept>, HttpError> {
    Ok(Json(retention::apply(&state, &admin).await?))
}

/// `GET /api/admin/config`
pub(crate) async fn config(_: Admin, State(state): State<AppState>) -> Json<ConfigState> {
    Json(state.composition.current.state())
}
