//! The definitions of workflows: those of the config, which are read only, and stored ones with their
//! versions, which administrators edit here.

mod compare;
mod form;
mod list;
mod page;

pub(super) use list::DefinitionList;

use crate::stored::{self, StoredWorkflow};
use axum::Router;
use axum::routing::{get, post};
use capability::Context;
use config::Config;
use schemars::JsonSchema;
use serde::Serialize;
use web::admin::from_store_error;
use web::admin::list::List;
use web::query_encoded;
use wire::UserError;
use workflow_definition::Workflows;

/// The path of the form for a new definition, which is no id of a workflow.
const NEW_PATH: &str = "/admin/new-workflow-definition";

/// Returns the pages.
pub(super) fn routes() -> Router<Context> {
    Router::new()
        .route(NEW_PATH, get(form::new).post(form::add))
        .route("/admin/workflow-definitions/{id}", get(page::show).post(form::change))
        .route("/admin/workflow-definitions/{id}/diff", get(compare::show))
        .route("/admin/workflow-definitions/{id}/rollback", post(page::roll_back))
        .route("/admin/workflow-definitions/{id}/delete", post(page::delete))
        .route("/admin/workflow-definitions/{id}/yaml", get(page::export))
}

/// Returns the path of a definition's page.
fn page_path(id: &str) -> String {
    format!("{}/{}", DefinitionList::PATH, query_encoded(id))
}

/// The source of a definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
enum DefinitionSource {
    /// In the files of the config.
    Config,
    /// In the database.
    Stored,
}

/// Whether runs can be started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
enum DefinitionState {
    /// Runs can be started, and triggers work.
    InUse,
    /// It is stored, but not published.
    NotPublished,
    /// It is published, but does not match the config.
    Unusable,
}

impl DefinitionState {
    fn name(self) -> &'static str {
        match self {
            Self::InUse => "In use",
            Self::NotPublished => "Not published",
            Self::Unusable => "Not usable",
        }
    }
}

/// A definition in the list.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct DefinitionItem {
    /// The id of the workflow.
    id: String,
    /// The title.
    title: String,
    source: DefinitionSource,
    /// The location in the config.
    #[serde(skip_serializing_if = "Option::is_none")]
    place: Option<String>,
    state: DefinitionState,
    /// Why it is not usable, or why the server has disabled it.
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<String>,
    /// The version, if it is stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<i64>,
    /// The user who saved this version.
    #[serde(skip_serializing_if = "Option::is_none")]
    saved_by: Option<String>,
    /// When this version was saved; Unix time, milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    saved_at: Option<i64>,
    #[serde(skip)]
    saved_by_name: Option<String>,
}

impl DefinitionItem {
    fn of_stored(row: &StoredWorkflow, own: &Workflows, config: &Config) -> Self {
        let cause = if row.is_enabled { stored::why_unused(row, own, config) } else { row.disabled_because.clone() };
        Self {
            id: row.id.clone(),
            title: row.definition["title"].as_str().unwrap_or(&row.id).to_owned(),
            source: DefinitionSource::Stored,
            place: None,
            state: match (row.is_enabled, &cause) {
                (false, _) => DefinitionState::NotPublished,
                (true, None) => DefinitionState::InUse,
                (true, Some(_)) => DefinitionState::Unusable,
            },
            cause,
            version: Some(row.version),
            saved_by: Some(row.author.clone()),
            saved_at: Some(row.updated_at),
            saved_by_name: None,
        }
    }
}

/// Returns all definitions by id.
async fn all(context: &Context) -> Result<Vec<DefinitionItem>, UserError> {
    let rows = stored::list(&context.store).await.map_err(from_store_error)?;
    let config = context.current.config();
    let own = stored::own_workflows(&config);
    let of_config = own.0.iter().map(|workflow| DefinitionItem {
        id: workflow.id.0.clone(),
        title: workflow.title().to_owned(),
        source: DefinitionSource::Config,
        place: workflow.at.as_ref().map(ToString::to_string),
        state: DefinitionState::InUse,
        cause: None,
        version: None,
        saved_by: None,
        saved_at: None,
        saved_by_name: None,
    });
    let of_store = rows.iter().map(|row| DefinitionItem::of_stored(row, &own, &config));
    let mut all: Vec<_> = of_config.chain(of_store).collect();
    all.sort_by(|one, other| one.id.cmp(&other.id));
    Ok(all)
}
