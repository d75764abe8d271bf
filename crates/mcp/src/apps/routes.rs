//! The routes of apps: the page around one, its document, and its calls.

use super::calls::{AppCallOutcome, AppCallRequest, AppReadRequest, call, read};
use super::page::{AppPlace, host_page, message_page};
use super::shown::ShownApp;
use crate::capability::McpServers;
use crate::listing::ToolSelector;
use crate::server::McpServer;
use ::settings::mcp::McpApps;
use auth::password::KeyScope;
use axum::extract::{Path, State};
use axum::middleware::from_fn;
use axum::response::Response;
use axum::routing::get;
use axum::{Extension, Json, Router};
use capability::Context;
use chat::Caller;
use contract::{RunScope, ToolError};
use std::sync::Arc;
use std::time::Duration;
use web::openapi::{Access, ApiRouter, Tag};
use web::{HttpError, SentJson, refuse_api_keys, valid_json};
use wire::{MCP_APP, UiPart, UserError};

/// The group in the OpenAPI document.
const APPS: Tag = Tag {
    name: "tool apps",
    description: "The user interfaces of tools (MCP Apps) in the caller's conversations. Scope `agents`.",
    access: Access::Users { scope: Some(KeyScope::Agents) },
};

/// The state of the handlers.
#[derive(Clone)]
pub(super) struct AppState {
    servers: McpServers,
    pub(super) context: Context,
}

/// Returns the routes.
pub(crate) fn routes(servers: McpServers, context: &Context) -> ApiRouter {
    let pages = Router::new()
        .route("/mcp-apps/{conversation_id}/{call_id}", get(show))
        .route("/mcp-apps/{conversation_id}/{call_id}/frame", get(frame))
        .layer(from_fn(refuse_api_keys));
    let state = AppState { servers, context: context.clone() };
    ApiRouter::new(&APPS)
        .post(
            "/api/tool-apps/{conversation_id}/{call_id}",
            call_tool,
            "Call a tool for the user interface of a call's result",
        )
        .post(
            "/api/tool-apps/{conversation_id}/{call_id}/resource",
            read_resource,
            "Read a resource for the user interface of a call's result",
        )
        .with_pages(pages)
        .map(|router| router.with_state(state))
}

/// An app in a conversation of the caller.
pub(super) struct FoundApp {
    /// The conversation's agent.
    pub(super) agent_id: String,
    /// The server.
    pub(super) server: Arc<McpServer>,
    /// The tools of the server that the agent uses.
    pub(super) selected: ToolSelector,
    /// The time limit of a call.
    pub(super) time: Duration,
    /// How the server's apps are shown.
    pub(super) apps: McpApps,
    /// The part that the message keeps.
    pub(super) shown: ShownApp,
}

impl AppState {
    /// Returns the app of a call, if the caller may use the conversation's agent and it still shows apps of this server.
    pub(super) async fn find(
        &self,
        caller: &Caller,
        (conversation_id, call_id): (&str, &str),
    ) -> Result<FoundApp, UserError> {
        let view = self.context.chat.conversation(caller, conversation_id).await?;
        let agent_id = view.summary.agent_id;
        let is_app = |part: &UiPart| match part {
            UiPart::Data(data) if data.kind == MCP_APP && data.id.as_deref() == Some(call_id) => {
                serde_json::from_value::<ShownApp>(data.data.clone()).ok()
            }
            _ => None,
        };
        let shown = view.messages.iter().flat_map(|message| &message.parts).find_map(is_app);
        let shown = shown.ok_or_else(UserError::not_found)?;
        let config = self.context.current.config();
        let agent =
            config.agents.get(&agent_id).filter(|_| self.context.current.usable_agents(caller).contains(&agent_id));
        let agent = agent.ok_or_else(UserError::not_found)?;
        let is_same = |name: &str, prefix: &str| (name, prefix) == (shown.server.as_str(), shown.prefix.as_str());
        let used = agent.mcp.iter().find(|used| is_same(&used.name, &used.prefix)).ok_or_else(UserError::not_found)?;
        let apps = used.server.features.apps.clone().ok_or_else(UserError::not_found)?;
        let (server, selection) = self.servers.used(&config, used);
        let time = selection.timeout;
        // The pattern was compiled when the config was loaded.
        let selected = ToolSelector::new(selection).map_err(|_| UserError::not_found())?;
        if selected.is_used(&shown.tool) {
            Ok(FoundApp { agent_id, server, selected, time, apps, shown })
        } else {
            Err(UserError::not_found())
        }
    }
}

/// Returns the scope of what is done for an app.
pub(super) fn scope(caller: &Caller, conversation_id: &str, found: &FoundApp) -> RunScope {
    RunScope {
        conversation_id: conversation_id.to_owned(),
        agent_id: found.agent_id.clone(),
        for_app: true,
        ..caller.scope()
    }
}

/// `GET /mcp-apps/{conversation_id}/{call_id}`
async fn show(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Path((conversation_id, call_id)): Path<(String, String)>,
) -> Result<Response, HttpError> {
    let found = state.find(&caller, (&conversation_id, &call_id)).await?;
    let config = state.context.current.config();
    let place = AppPlace {
        conversation_id: &conversation_id,
        call_id: &call_id,
        locale: config.locale.as_ref(),
        reads_resources: found.server.features().resources,
    };
    Ok(host_page(&place, &found.shown))
}

/// `GET /mcp-apps/{conversation_id}/{call_id}/frame`
async fn frame(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Path((conversation_id, call_id)): Path<(String, String)>,
) -> Result<Response, HttpError> {
    let found = state.find(&caller, (&conversation_id, &call_id)).await?;
    let app = found.server.app(&scope(&caller, &conversation_id, &found), &found.shown.tool).await;
    Ok(match app {
        Ok(app) => web::frame::app_frame(&app.html, &found.shown.title, &app.sources(&found.apps.domains)),
        Err(ToolError { message }) => message_page(&message),
    })
}

/// `POST /api/tool-apps/{conversation_id}/{call_id}`
async fn call_tool(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Path((conversation_id, call_id)): Path<(String, String)>,
    body: SentJson<AppCallRequest>,
) -> Result<Json<AppCallOutcome>, HttpError> {
    let request = valid_json(body)?;
    let found = state.find(&caller, (&conversation_id, &call_id)).await?;
    Ok(Json(call(&state, &caller, conversation_id, found, request).await?))
}

/// `POST /api/tool-apps/{conversation_id}/{call_id}/resource`
async fn read_resource(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Path((conversation_id, call_id)): Path<(String, String)>,
    body: SentJson<AppReadRequest>,
) -> Result<Json<AppCallOutcome>, HttpError> {
    let request = valid_json(body)?;
    let found = state.find(&caller, (&conversation_id, &call_id)).await?;
    Ok(Json(read(&state, &caller, conversation_id, found, request).await?))
}
