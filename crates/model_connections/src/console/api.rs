//! The API for connections to model providers. The list is in `list`.

use crate::body::ConnectionBody;
use crate::current::Current;
use crate::service;
use crate::store::{ListResult, TestResult};
use crate::views::ConnectionDetail;
use added_entries::console::{export, remove};
use added_entries::load;
use axum::Json;
use axum::extract::{Path, State};
use capability::Context;
use schemars::JsonSchema;
use serde::Deserialize;
use web::admin::{ADMINISTRATION, Admin};
use web::openapi::{ApiRouter, Created};
use web::{HttpError, SentJson, valid_json};
use wire::UserError;

pub(super) fn routes() -> ApiRouter<Context> {
    ApiRouter::new(&ADMINISTRATION)
        .get(
            "/api/admin/model-connections.yaml",
            export::<Current>,
            "Export the added connections to model providers as YAML",
        )
        .post("/api/admin/models", add, "Add a connection to a model provider")
        .get("/api/admin/models/{name}", show, "Get an added connection to a model provider with its state")
        .put("/api/admin/models/{name}", change, "Change an added connection to a model provider")
        .delete("/api/admin/models/{name}", remove::<Current>, "Delete an added connection to a model provider")
        .post("/api/admin/models/{name}/test", test, "Ask a model of an added connection for one word")
        .post("/api/admin/models/{name}/list", list, "Ask the provider of an added connection for its models")
}

/// A new connection.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "NewModelConnection")]
struct NewConnection {
    /// The name.
    name: String,
    /// The connection.
    connection: ConnectionBody,
}

/// The change of a connection.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ModelConnectionChange")]
struct ConnectionChange {
    /// The version that the change is based on.
    version: i64,
    /// The connection. A masked key stays as it is stored.
    connection: ConnectionBody,
}

/// Which model is tested.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ModelToTest")]
struct TestBody {
    /// The provider's name of one of the connection's models. Default: the first one.
    #[serde(default)]
    model: Option<String>,
}

/// `GET /api/admin/models/{name}`
async fn show(
    _: Admin,
    State(context): State<Context>,
    Path(name): Path<String>,
) -> Result<Json<ConnectionDetail>, HttpError> {
    Ok(Json(detail(&context, &name).await?))
}

async fn detail(context: &Context, name: &str) -> Result<ConnectionDetail, UserError> {
    let current: Current = load(context).await?;
    Ok(current.detail(current.stored.find(name)?))
}

/// `POST /api/admin/models`
async fn add(
    admin: Admin,
    State(context): State<Context>,
    sent: SentJson<NewConnection>,
) -> Result<Created<ConnectionDetail>, HttpError> {
    let NewConnection { name, connection } = valid_json(sent)?;
    added_entries::add::<Current>(&context, &admin, &name, &connection).await?;
    Ok(Created(detail(&context, &name).await?))
}

/// `PUT /api/admin/models/{name}`
async fn change(
    admin: Admin,
    State(context): State<Context>,
    Path(name): Path<String>,
    sent: SentJson<ConnectionChange>,
) -> Result<Json<ConnectionDetail>, HttpError> {
    let ConnectionChange { version, connection } = valid_json(sent)?;
    added_entries::update::<Current>(&context, &admin, &name, version, &connection).await?;
    Ok(Json(detail(&context, &name).await?))
}

/// `POST /api/admin/models/{name}/test`
async fn test(
    admin: Admin,
    State(context): State<Context>,
    Path(name): Path<String>,
    sent: SentJson<TestBody>,
) -> Result<Json<TestResult>, HttpError> {
    let TestBody { model } = valid_json(sent)?;
    Ok(Json(service::test(&context, &admin, &name, model.as_deref()).await?))
}

/// `POST /api/admin/models/{name}/list`
async fn list(
    admin: Admin,
    State(context): State<Context>,
    Path(name): Path<String>,
) -> Result<Json<ListResult>, HttpError> {
    Ok(Json(service::list(&context, &admin, &name).await?))
}
