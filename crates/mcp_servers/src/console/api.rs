//! The API for MCP servers. The list is in `list`.

use crate::body::ServerBody;
use crate::current::{Current, McpConfig, McpConfigUpdate};
use crate::service;
use crate::store::TestResult;
use crate::views::ServerDetail;
use added_entries::console::{export, remove};
use added_entries::load;
use axum::Json;
use axum::extract::{Path, State};
use capability::Context;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use web::admin::{ADMINISTRATION, Admin};
use web::openapi::{ApiRouter, Created};
use web::{HttpError, SentJson, valid_json};
use wire::UserError;

pub(super) fn routes() -> ApiRouter<Context> {
    ApiRouter::new(&ADMINISTRATION)
        .get("/api/mcp/config", show_config, "Get the MCP servers that administrators have added")
        .put("/api/mcp/config", replace_config, "Replace the MCP servers that administrators have added")
        .get("/api/mcp/config/export", export::<Current>, "Export the added MCP servers as YAML for the config")
        .post("/api/admin/mcp-servers", add, "Add an MCP server")
        .get("/api/admin/mcp-servers/{name}", show, "Get an added MCP server with its state")
        .put("/api/admin/mcp-servers/{name}", change, "Change an added MCP server")
        .delete("/api/admin/mcp-servers/{name}", remove::<Current>, "Delete an added MCP server")
        .post("/api/admin/mcp-servers/{name}/test", test_stored, "Test an added MCP server, and store the result")
        .post("/api/admin/mcp-server-tests", test, "Test an MCP server that need not be stored")
}

/// A new server, or one to test.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "NewMcpServer")]
struct NewServer {
    /// The name.
    name: String,
    /// The server.
    server: ServerBody,
}

/// The change of a server.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "McpServerChange")]
struct ServerChange {
    /// The version that the change is based on.
    version: i64,
    /// The server. Masked values stay as they are stored.
    server: ServerBody,
}

/// The outcome of the test of a stored server.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "McpServerTestOutcome")]
struct TestOutcome {
    /// Whether the test goes on. The server has its result then.
    running: bool,
    /// The result of the test.
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<TestResult>,
}

/// `GET /api/mcp/config`
async fn show_config(_: Admin, State(context): State<Context>) -> Result<Json<McpConfig>, HttpError> {
    Ok(Json(load::<Current>(&context).await?.mcp_config()))
}

/// `PUT /api/mcp/config`
async fn replace_config(
    admin: Admin,
    State(context): State<Context>,
    sent: SentJson<McpConfigUpdate>,
) -> Result<Json<McpConfig>, HttpError> {
    service::replace(&context, &admin, valid_json(sent)?).await?;
    Ok(Json(load::<Current>(&context).await?.mcp_config()))
}

/// `GET /api/admin/mcp-servers/{name}`
async fn show(
    _: Admin,
    State(context): State<Context>,
    Path(name): Path<String>,
) -> Result<Json<ServerDetail>, HttpError> {
    Ok(Json(detail(&context, &name).await?))
}

async fn detail(context: &Context, name: &str) -> Result<ServerDetail, UserError> {
    let current: Current = load(context).await?;
    Ok(current.detail(context, current.stored.find(name)?))
}

/// `POST /api/admin/mcp-servers`
async fn add(
    admin: Admin,
    State(context): State<Context>,
    sent: SentJson<NewServer>,
) -> Result<Created<ServerDetail>, HttpError> {
    let NewServer { name, server } = valid_json(sent)?;
    added_entries::add::<Current>(&context, &admin, &name, &server).await?;
    Ok(Created(detail(&context, &name).await?))
}

/// `PUT /api/admin/mcp-servers/{name}`
async fn change(
    admin: Admin,
    State(context): State<Context>,
    Path(name): Path<String>,
    sent: SentJson<ServerChange>,
) -> Result<Json<ServerDetail>, HttpError> {
    let ServerChange { version, server } = valid_json(sent)?;
    added_entries::update::<Current>(&context, &admin, &name, version, &server).await?;
    Ok(Json(detail(&context, &name).await?))
}

/// `POST /api/admin/mcp-servers/{name}/test`
async fn test_stored(
    admin: Admin,
    State(context): State<Context>,
    Path(name): Path<String>,
) -> Result<Json<TestOutcome>, HttpError> {
    let result = service::test_stored(&context, &admin, &name).await?;
    Ok(Json(TestOutcome { running: result.is_none(), result }))
}

/// `POST /api/admin/mcp-server-tests`
async fn test(
    admin: Admin,
    State(context): State<Context>,
    sent: SentJson<NewServer>,
) -> Result<Json<TestResult>, HttpError> {
    let NewServer { name, server } = valid_json(sent)?;
    Ok(Json(service::test(&context, &admin, &name, &server).await?))
}
