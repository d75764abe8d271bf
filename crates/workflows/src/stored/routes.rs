//! The routes for stored definitions.

use super::table::{self, StoredVersion};
use super::{DiffLine, DiffSide, StoredWorkflow, rights, save, section_yaml};
use auth::password::KeyScope;
use axum::extract::{Path, Query, State};
use axum::response::NoContent;
use axum::{Extension, Json};
use capability::Context;
use chat::Caller;
use config::ValueProblem;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use web::admin::from_store_error;
use web::openapi::{Access, ApiRouter, Created, Tag};
use web::{HttpError, SentJson, valid_json};
use wire::UserError;
use workflow_definition::Workflows;

/// The group in the OpenAPI document.
const DEFINITIONS: Tag = Tag {
    name: "workflow definitions",
    description: "Definitions of workflows that are stored beside those of the config. For administrators, and for the roles that the config names in `workflowEditors`. Scope `endpoints`.",
    access: Access::Users { scope: Some(KeyScope::Endpoints) },
};

/// Returns the routes.
pub(crate) fn routes(context: Context) -> ApiRouter {
    ApiRouter::new(&DEFINITIONS)
        .get("/api/workflows/definitions", list, "List the stored definitions")
        .post("/api/workflows/definitions", add, "Store a definition")
        .post("/api/workflows/definitions/check", check, "Check a definition without storing it")
        .get("/api/workflows/definitions/{id}", show, "Get a stored definition with its versions")
        .put("/api/workflows/definitions/{id}", change, "Store a new version of a definition")
        .get("/api/workflows/definitions/{id}/diff", compare, "Compare two versions of a definition")
        .post("/api/workflows/definitions/{id}/rollback", roll_back, "Restore an earlier version as the newest one")
        .delete("/api/workflows/definitions/{id}", remove, "Delete a stored definition")
        .map(|router| router.with_state(context))
}

/// The body that stores a new definition.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NewDefinition {
    /// The definition, as it would stand in the section `workflows` of the config.
    definition: Map<String, Value>,
    /// Whether it can be started and its triggers work. Default: true.
    #[serde(default = "yes")]
    enabled: bool,
}

/// The body that changes a definition.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ChangedDefinition {
    /// The version that the change is based on.
    version: i64,
    /// The definition.
    definition: Map<String, Value>,
    /// Whether it can be started and its triggers work. Default: true.
    #[serde(default = "yes")]
    enabled: bool,
}

/// The body that makes an earlier version the newest one.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Rollback {
    /// The version that is the newest one now.
    version: i64,
    /// The earlier version.
    to: i64,
}

/// The versions to compare.
#[derive(Deserialize, JsonSchema)]
struct DiffQuery {
    /// The number of a version, or `config` for the workflow of the config with the same id.
    from: String,
    /// The same for the other side.
    to: String,
}

/// A comparison.
#[derive(Serialize, JsonSchema)]
struct Diff {
    /// The changed lines of the definitions as YAML with some around them; none if nothing that matters
    /// is different.
    lines: Vec<DiffLine>,
}

/// The body that checks a definition.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CheckedDefinition {
    /// The definition.
    definition: Map<String, Value>,
}

fn yes() -> bool {
    true
}

/// The problems of a definition.
#[derive(Serialize, JsonSchema)]
struct Problems {
    /// The problems; none if it can be stored.
    problems: Vec<ValueProblem>,
}

/// A stored definition, and whether it is in use.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Definition {
    #[serde(flatten)]
    stored: StoredWorkflow,
    /// Whether it is in use: it is enabled, and the config has everything that it needs and no
    /// workflow with the same id.
    is_in_use: bool,
}

/// The stored definitions.
#[derive(Serialize, JsonSchema)]
struct Definitions {
    items: Vec<Definition>,
}

/// A stored definition with its versions.
#[derive(Serialize, JsonSchema)]
struct DefinitionDetail {
    #[serde(flatten)]
    definition: Definition,
    /// The definition as YAML that can be put into the config.
    yaml: String,
    /// The newest versions, newest first, at most 50.
    versions: Vec<StoredVersion>,
}

fn definition(context: &Context, stored: StoredWorkflow) -> Definition {
    let config = context.current.config();
    let used = config.section::<Workflows>().and_then(|all| all.get(&stored.id));
    let written = serde_json::from_value(stored.definition.clone()).ok();
    let is_in_use = stored.is_enabled && used.is_some() && used == written.as_ref();
    Definition { stored, is_in_use }
}

/// Checks the rights of a caller, before anything else.
fn editor(context: &Context, caller: &Caller) -> Result<(), HttpError> {
    Ok(rights::check_editor(&context.current.config(), caller)?)
}

async fn list(
    State(context): State<Context>,
    Extension(caller): Extension<Caller>,
) -> Result<Json<Definitions>, HttpError> {
    editor(&context, &caller)?;
    let items = table::list(&context.store).await.map_err(from_store_error)?;
    Ok(Json(Definitions { items: items.into_iter().map(|stored| definition(&context, stored)).collect() }))
}

async fn show(
    State(context): State<Context>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<Json<DefinitionDetail>, HttpError> {
    editor(&context, &caller)?;
    let stored = table::find(&context.store, &id).await.map_err(from_store_error)?;
    let stored = stored.ok_or_else(UserError::not_found)?;
    let versions = table::versions(&context.store, &id).await.map_err(from_store_error)?;
    let yaml = section_yaml(&stored.definition);
    Ok(Json(DefinitionDetail { definition: definition(&context, stored), yaml, versions }))
}

async fn add(
    State(context): State<Context>,
    Extension(caller): Extension<Caller>,
    sent: SentJson<NewDefinition>,
) -> Result<Created<Definition>, HttpError> {
    editor(&context, &caller)?;
    let NewDefinition { definition: written, enabled } = valid_json(sent)?;
    let stored = save(&context, &caller, None, Value::Object(written), enabled).await?;
    Ok(Created(definition(&context, stored)))
}

async fn change(
    State(context): State<Context>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    sent: SentJson<ChangedDefinition>,
) -> Result<Json<Definition>, HttpError> {
    editor(&context, &caller)?;
    let ChangedDefinition { version, definition: written, enabled } = valid_json(sent)?;
    let stored = save(&context, &caller, Some((id, version)), Value::Object(written), enabled).await?;
    Ok(Json(definition(&context, stored)))
}

async fn roll_back(
    State(context): State<Context>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    sent: SentJson<Rollback>,
) -> Result<Json<Definition>, HttpError> {
    editor(&context, &caller)?;
    let Rollback { version, to } = valid_json(sent)?;
    let stored = save::roll_back(&context, &caller, &id, version, to).await?;
    Ok(Json(definition(&context, stored)))
}

async fn compare(
    State(context): State<Context>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    Query(DiffQuery { from, to }): Query<DiffQuery>,
) -> Result<Json<Diff>, HttpError> {
    editor(&context, &caller)?;
    let side = |name: &str, text: &str| {
        let problem =
            || UserError::invalid(format!("/{name}"), "This is neither the number of a version nor `config`.");
        DiffSide::parse(text).ok_or_else(problem)
    };
    let lines = super::diff(&context, &id, side("from", &from)?, side("to", &to)?).await?;
    Ok(Json(Diff { lines }))
}

async fn check(
    State(context): State<Context>,
    Extension(caller): Extension<Caller>,
    sent: SentJson<CheckedDefinition>,
) -> Result<Json<Problems>, HttpError> {
    editor(&context, &caller)?;
    let CheckedDefinition { definition } = valid_json(sent)?;
    let problems = save::check(&context, &caller, Value::Object(definition)).await.err().unwrap_or_default();
    Ok(Json(Problems { problems }))
}

async fn remove(
    State(context): State<Context>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<NoContent, HttpError> {
    editor(&context, &caller)?;
    save::delete(&context, &caller, &id).await?;
    Ok(NoContent)
}
