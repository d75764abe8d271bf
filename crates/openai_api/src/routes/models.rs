//! `GET /v1/models`: the agents, as models.

use super::admit::section;
use crate::error::ApiError;
use axum::extract::{Path, State};
use axum::{Extension, Json};
use capability::Context;
use chat::Caller;
use schemars::JsonSchema;
use serde::Serialize;

/// An agent, as a model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "OpenAiModel")]
pub(super) struct Model {
    /// The id of the agent.
    id: String,
    object: &'static str,
    /// Always 0: a config does not say when its agents were written.
    created: i64,
    owned_by: &'static str,
}

/// The agents that a caller may use.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "OpenAiModelList")]
pub(super) struct ModelList {
    object: &'static str,
    data: Vec<Model>,
}

fn models(context: &Context, caller: &Caller) -> Result<Vec<Model>, ApiError> {
    let config = context.current.config();
    let section = section(&config)?;
    let ids = context.current.usable_agents(caller).into_iter().filter(|id| section.offers(id));
    Ok(ids.map(|id| Model { id, object: "model", created: 0, owned_by: "chatwright" }).collect())
}

/// `GET /v1/models`
pub(super) async fn list(
    State(context): State<Context>,
    Extension(caller): Extension<Caller>,
) -> Result<Json<ModelList>, ApiError> {
    Ok(Json(ModelList { object: "list", data: models(&context, &caller)? }))
}

/// `GET /v1/models/{id}`
pub(super) async fn show(
    State(context): State<Context>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<Json<Model>, ApiError> {
    let found = models(&context, &caller)?.into_iter().find(|model| model.id == id);
    found.map(Json).ok_or_else(|| ApiError::unknown_model(&id))
}
