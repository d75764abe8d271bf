//! The calls of apps. They pass the gates of the conversation's agent, as those of its model do.

use super::routes::{AppState, FoundApp, scope};
use crate::content::READ_RESOURCE;
use chat::{AppDecision, AppToolCall, Caller, ToolCallRequest, ToolFailure};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;
use wire::UserError;
use wire::invoke::InvokeLimits;

/// A call of an app.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "AppToolCall")]
pub(super) struct AppCallRequest {
    /// The server's name for the tool.
    tool: String,
    /// The arguments.
    #[serde(default)]
    arguments: Map<String, Value>,
    /// The user's decision, if they were asked about this call.
    decision: Option<AppCallDecision>,
}

/// A resource of its server that an app reads.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "AppResourceRead")]
pub(super) struct AppReadRequest {
    /// The address of the resource.
    uri: String,
    /// The user's decision, if they were asked about this call.
    decision: Option<AppCallDecision>,
}

/// The user's decision on a call of an app.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "AppToolDecision")]
pub(super) struct AppCallDecision {
    /// Whether the call may run.
    approved: bool,
    /// The fingerprint of the answer that asked for the decision.
    fingerprint: String,
}

/// The outcome of a call of an app.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "status", rename_all = "camelCase")]
#[schemars(rename = "AppToolOutcome")]
pub(super) enum AppCallOutcome {
    /// The tool has ended.
    Done {
        /// The answer of the server: a `CallToolResult` of MCP, or a `ReadResourceResult`.
        result: Value,
    },
    /// The user has to approve the call. Nothing was called.
    NeedsApproval {
        /// The fingerprint of the tool, for the decision.
        fingerprint: String,
    },
    /// There is no result.
    Failed {
        /// The reason.
        message: String,
    },
}

/// A call of a tool that the agent has.
struct AgentToolCall {
    tool: String,
    arguments: Value,
    decision: Option<AppCallDecision>,
}

/// Calls a tool of the server, or says that the user has to approve it. It is stopped when the returned future is dropped.
pub(super) async fn call(
    state: &AppState,
    caller: &Caller,
    conversation_id: String,
    found: FoundApp,
    request: AppCallRequest,
) -> Result<AppCallOutcome, UserError> {
    let AppCallRequest { tool, arguments, decision } = request;
    let known = match found.server.tool(&scope(caller, &conversation_id, &found), &tool).await {
        Ok(known) => known,
        Err(error) => return failed(error.message),
    };
    if !known.ui.for_apps || !found.selected.is_used(&tool) {
        return failed(format!("Apps cannot call the tool `{tool}`."));
    }
    let (tool, arguments) = (format!("{}{tool}", found.shown.prefix), Value::Object(arguments));
    make(state, caller, conversation_id, found, AgentToolCall { tool, arguments, decision }).await
}

/// Reads a resource of the server with the agent's tool for that, as [`call`] does.
pub(super) async fn read(
    state: &AppState,
    caller: &Caller,
    conversation_id: String,
    found: FoundApp,
    request: AppReadRequest,
) -> Result<AppCallOutcome, UserError> {
    let AppReadRequest { uri, decision } = request;
    if !found.server.features().resources {
        return failed(format!("Apps cannot read resources of `{}`.", found.server.name()));
    }
    let tool = found.selected.content_name(found.server.name(), READ_RESOURCE);
    make(state, caller, conversation_id, found, AgentToolCall { tool, arguments: json!({ "uri": uri }), decision })
        .await
}

/// Makes a call through the gates of the agent.
async fn make(
    state: &AppState,
    caller: &Caller,
    conversation_id: String,
    found: FoundApp,
    AgentToolCall { tool, arguments, decision }: AgentToolCall,
) -> Result<AppCallOutcome, UserError> {
    let cancel = CancellationToken::new();
    let _stops = cancel.clone().drop_guard();
    let request = ToolCallRequest {
        agent_id: found.agent_id,
        tool,
        arguments,
        is_approved: false,
        app: Some(AppToolCall {
            conversation_id,
            source: found.shown.server,
            decision: decision.map(|AppCallDecision { approved, fingerprint }| AppDecision { approved, fingerprint }),
        }),
        idempotency_key: None,
        causes: Vec::new(),
        limits: InvokeLimits::default(),
        time: found.time,
    };
    match state.context.chat.call_tool(caller, request, cancel).await?.output {
        Ok(result) => Ok(AppCallOutcome::Done { result }),
        Err(ToolFailure::NeedsApproval(fingerprint)) => Ok(AppCallOutcome::NeedsApproval { fingerprint }),
        Err(failure) => failed(failure.to_string()),
    }
}

fn failed(message: String) -> Result<AppCallOutcome, UserError> {
    Ok(AppCallOutcome::Failed { message })
}
