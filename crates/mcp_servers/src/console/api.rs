//! The API for MCP servers. The list is in `list`.

use crate::body::ServerBody;
use crate::current::{Current, McpConfig, McpConfigUpdate};
use crate::service;
use crate::store::TestResult;
use crate::views::ServerDetail;
use axum::Json;
use axum::extract::rejection::JsonRejection;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, NoContent};
use capability::Context;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use store::append_audit;
use web::admin::{ADMINISTRATION, Admin, from_store_error};
use web::openapi::{ApiRouter, Created, PlainText};
use web::{HttpError, json_error};
use wire::UserError;

pub(super) fn routes() -> ApiRouter<Context> {
    ApiRouter::new(&ADMINISTRATION)
        .get("/api/mcp/config", show_config, "Get the MCP servers that administrators have added")
        .put("/api/mcp/config", replace_config, "Replace the MCP servers that administrators have added")
        .get("/api/mcp/config/export", export, "Export the added MCP servers as YAML for the config")
        .post("/api/admin/mcp-servers", add, "Add an MCP server")
        .get("/api/admin/mcp-servers/{name}", show, "Get an added MCP server with its state")
        .put("/api/admin/mcp-servers/{name}", change, "Change an added MCP server")
        .delete("/api/admin/mcp-servers/{name}", remove, "Delete an added MCP server")
        .post("/api/admin/mcp-servers/{name}/test", test_stored, "Test an added MCP server, and keep what was found")
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

/// What became of the test of a stored server.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "McpServerTestOutcome")]
struct TestOutcome {
    /// Whether the test goes on. The server has its result then.
    running: bool,
    /// What was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<TestResult>,
}

type Sent<T> = Result<Json<T>, JsonRejection>;

fn body<T>(sent: Sent<T>) -> Result<T, HttpError> {
    sent.map(|Json(sent)| sent).map_err(|rejection| json_error(&rejection))
}

/// `GET /api/mcp/config`
async fn show_config(_: Admin, State(context): State<Context>) -> Result<Json<McpConfig>, HttpError> {
    Ok(Json(Current::load(&context).await?.mcp_config()))
}

/// `PUT /api/mcp/config`
async fn replace_config(
    admin: Admin,
    State(context): State<Context>,
    sent: Sent<McpConfigUpdate>,
) -> Result<Json<McpConfig>, HttpError> {
    service::replace(&context, &admin, body(sent)?).await?;
    Ok(Json(Current::load(&context).await?.mcp_config()))
}

/// `GET /api/mcp/config/export`
async fn export(admin: Admin, State(context): State<Context>) -> Result<PlainText, HttpError> {
    Ok(PlainText(yaml(&context, &admin).await?.into_response()))
}

/// Returns the export, which is recorded in the audit log.
pub(super) async fn yaml(context: &Context, admin: &Admin) -> Result<String, UserError> {
    let text = Current::load(context).await?.yaml();
    let entry = admin.audit_entry("export_mcp_servers", "", json!({}));
    let write = context.store.write(move |db| Box::pin(async move { append_audit(db, vec![entry]).await }));
    write.await.map_err(from_store_error)?;
    Ok(text)
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
    Current::load(context).await?.detail(context, name)
}

/// `POST /api/admin/mcp-servers`
async fn add(
    admin: Admin,
    State(context): State<Context>,
    sent: Sent<NewServer>,
) -> Result<Created<ServerDetail>, HttpError> {
    let NewServer { name, server } = body(sent)?;
    service::add(&context, &admin, &name, &server).await?;
    Ok(Created(detail(&context, &name).await?))
}

/// `PUT /api/admin/mcp-servers/{name}`
async fn change(
    admin: Admin,
    State(context): State<Context>,
    Path(name): Path<String>,
    sent: Sent<ServerChange>,
) -> Result<Json<ServerDetail>, HttpError> {
    let ServerChange { version, server } = body(sent)?;
    service::update(&context, &admin, &name, version, &server).await?;
    Ok(Json(detail(&context, &name).await?))
}

/// `DELETE /api/admin/mcp-servers/{name}`
async fn remove(
    admin: Admin,
    State(context): State<Context>,
    Path(name): Path<String>,
) -> Result<NoContent, HttpError> {
    service::delete(&context, &admin, &name, None).await?;
    Ok(NoContent)
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
    sent: Sent<NewServer>,
) -> Result<Json<TestResult>, HttpError> {
    let NewServer { name, server } = body(sent)?;
    Ok(Json(service::test(&context, &admin, &name, &server).await?))
}
