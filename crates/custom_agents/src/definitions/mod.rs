//! The API with which programs bring their agents along: definitions that are stored by name.

mod body;

use crate::store::CustomAgentRow;
use crate::store::{self, DefinitionOutcome, MAX_CUSTOM_AGENTS, SavedAgent, StoreDefinition};
use crate::validate::{check_key, validate};
use crate::{choices, console};
use axum::Json;
use axum::extract::{Path, State};
use axum::response::NoContent;
use body::{AgentDefinition, Definitions, StoredDefinition};
use capability::Context;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use std::collections::HashSet;
use web::admin::{ADMINISTRATION, Admin, from_store_error};
use web::openapi::ApiRouter;
use web::times::now_millis;
use web::{HttpError, SentJson, valid_json};
use wire::UserError;

/// The most definitions of one request.
const MAX_DEFINITIONS: usize = 100;

/// Returns the routes.
pub(crate) fn routes() -> ApiRouter<Context> {
    ApiRouter::new(&ADMINISTRATION)
        .post("/api/agents/definitions", store_all, "Store definitions of agents by their names")
        .get("/api/agents/definitions", list, "List the stored definitions of agents")
        .get("/api/agents/definitions/{name}", show, "Get the definition of an agent")
        .delete("/api/agents/definitions/{name}", remove, "Delete the definition of an agent")
}

/// The result of storing definitions.
#[derive(Serialize, JsonSchema)]
struct SyncResult {
    /// `synced` if all are stored, `partial` if some are, `failed` if none is.
    state: SyncState,
    /// How many agents are new.
    created: usize,
    /// How many have a new version.
    updated: usize,
    /// How many were already like this.
    unchanged: usize,
    /// How many could not be stored.
    failed: usize,
    /// Each definition, in the order of the request.
    results: Vec<DefinitionResult>,
}

/// Whether the definitions of a request are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum SyncState {
    /// All are.
    Synced,
    /// Some are.
    Partial,
    /// None is.
    Failed,
}

/// The result of storing a definition.
#[derive(Serialize, JsonSchema)]
struct DefinitionResult {
    /// Its name; empty if it has none.
    name: String,
    /// The outcome.
    state: SyncOutcome,
    /// The id of the agent, and of its page. Absent if it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    /// The version of the agent. Absent if it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<i64>,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<DefinitionError>,
}

/// The outcome of storing a definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum SyncOutcome {
    /// There is a new agent.
    Created,
    /// The agent has a new version.
    Updated,
    /// The agent was already like this.
    Unchanged,
    /// The definition was not stored.
    Failed,
}

/// Why a definition was not stored.
#[derive(Serialize, JsonSchema)]
struct DefinitionError {
    /// The field.
    path: String,
    /// The problem of the field.
    message: String,
}

/// The stored definitions.
#[derive(Serialize, JsonSchema)]
struct DefinitionList {
    /// All of them, in the order in which they were created.
    items: Vec<StoredDefinition>,
}

/// `POST /api/agents/definitions`
async fn store_all(
    admin: Admin,
    State(state): State<Context>,
    sent: SentJson<Definitions>,
) -> Result<Json<SyncResult>, HttpError> {
    let Definitions(sent) = valid_json(sent)?;
    let (is_list, sent) = match sent {
        Value::Array(list) if list.len() > MAX_DEFINITIONS => {
            let message = format!("A request has at most {MAX_DEFINITIONS} definitions.");
            return Err(UserError::invalid("/", message).into());
        }
        Value::Array(list) => (true, list),
        one => (false, vec![one]),
    };
    let mut results = Vec::new();
    let (mut broken_off, mut names) = (None, HashSet::new());
    for value in sent {
        let name = value["name"].as_str().unwrap_or_default().to_owned();
        // Each would replace the other at every start of the program that sends both.
        let is_first = name.is_empty() || names.insert(name.to_ascii_lowercase());
        let stored = if is_first {
            store_one(&state, &admin, value).await
        } else {
            Err(UserError::invalid("/name", "Another definition of the request has this name."))
        };
        match stored {
            Ok((done, SavedAgent { id, version })) => {
                results.push(DefinitionResult { name, state: done, id: Some(id), version: Some(version), error: None });
            }
            Err(error) if is_list && error.path.is_some() => {
                let error = DefinitionError { path: error.path.unwrap_or_default(), message: error.message };
                let failed = SyncOutcome::Failed;
                results.push(DefinitionResult { name, state: failed, id: None, version: None, error: Some(error) });
            }
            Err(error) => {
                broken_off = Some(error);
                break;
            }
        }
    }
    let count = |state: SyncOutcome| results.iter().filter(|result| result.state == state).count();
    let (created, updated) = (count(SyncOutcome::Created), count(SyncOutcome::Updated));
    if created + updated > 0 {
        console::apply_changes(&state).await?;
    }
    // The definitions that were stored before the error are in effect; a repeated request continues from there.
    if let Some(error) = broken_off {
        return Err(error.into());
    }
    let failed = count(SyncOutcome::Failed);
    let sync = match failed {
        0 => SyncState::Synced,
        failed if failed == results.len() => SyncState::Failed,
        _ => SyncState::Partial,
    };
    let unchanged = count(SyncOutcome::Unchanged);
    Ok(Json(SyncResult { state: sync, created, updated, unchanged, failed, results }))
}

async fn store_one(state: &Context, admin: &Admin, sent: Value) -> Result<(SyncOutcome, SavedAgent), UserError> {
    let sent: AgentDefinition = serde_json::from_value(sent)
        .map_err(|error| UserError::invalid("/", format!("This is not a definition of an agent: {error}.")))?;
    check_key(&sent.name)?;
    let name = sent.name.clone();
    let config = state.current.config();
    let custom = sent.into_agent(&config)?;
    let custom = validate(&config, &choices::for_administrators(&config), custom).map_err(in_their_words)?;
    let definition =
        serde_json::to_value(&custom).map_err(|_| UserError::invalid("/", "The agent cannot be stored."))?;
    let author = admin.caller.user_id.clone();
    let store = StoreDefinition { name, new_id: console::new_id(), definition, author, now: now_millis() };
    let entry = admin.audit_entry("add_agent", "", Value::Null);
    match store::store_definition(&state.store, store, entry).await.map_err(from_store_error)? {
        DefinitionOutcome::Created(saved) => Ok((SyncOutcome::Created, saved)),
        DefinitionOutcome::Updated(saved) => Ok((SyncOutcome::Updated, saved)),
        DefinitionOutcome::Unchanged(saved) => Ok((SyncOutcome::Unchanged, saved)),
        DefinitionOutcome::Full => {
            let message = format!("There are already {MAX_CUSTOM_AGENTS} custom agents, which is the maximum.");
            Err(UserError::invalid("/name", message))
        }
    }
}

/// `GET /api/agents/definitions`
async fn list(_: Admin, State(state): State<Context>) -> Result<Json<DefinitionList>, HttpError> {
    let rows = store::list(&state.store).await?;
    let items = rows.into_iter().filter_map(|row| StoredDefinition::new(&state, row)).collect();
    Ok(Json(DefinitionList { items }))
}

/// `GET /api/agents/definitions/{name}`
async fn show(
    _: Admin,
    State(state): State<Context>,
    Path(name): Path<String>,
) -> Result<Json<StoredDefinition>, HttpError> {
    let row = find(&state, &name).await?;
    Ok(Json(StoredDefinition::new(&state, row).ok_or_else(UserError::not_found)?))
}

/// `DELETE /api/agents/definitions/{name}`
async fn remove(admin: Admin, State(state): State<Context>, Path(name): Path<String>) -> Result<NoContent, HttpError> {
    let row = find(&state, &name).await?;
    console::delete(&state, &admin, &row.id).await?;
    Ok(NoContent)
}

async fn find(state: &Context, name: &str) -> Result<CustomAgentRow, UserError> {
    let rows = store::list(&state.store).await.map_err(from_store_error)?;
    let is_named = |row: &CustomAgentRow| row.name.as_ref().is_some_and(|own| own.eq_ignore_ascii_case(name));
    rows.into_iter().find(is_named).ok_or_else(UserError::not_found)
}

/// Renames the paths of fields that have another name in definitions.
fn in_their_words(error: UserError) -> UserError {
    let path = error.path.as_deref().map(|path| match path {
        "/name" => "/display_name",
        "/tools" => "/tools/names",
        "/executionMode" => "/workflows/execution_mode",
        "/toolStrategy" => "/workflows/tool_strategy",
        "/fallbacks" => "/allow_frontier_fallback",
        other => other,
    });
    UserError { path: path.map(str::to_owned), ..error }
}
