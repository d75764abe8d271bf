//! The routes with which pages and programs read and change a plan.

use crate::store::{self, Conversation, WriteOutcome};
use ::store::Store;
use auth::password::KeyScope;
use axum::extract::{Path, State};
use axum::{Extension, Json};
use chat::Caller;
use schemars::JsonSchema;
use serde::Serialize;
use web::openapi::{Access, ApiRouter, Tag};
use web::{HttpError, SentJson, valid_json};
use wire::plan::{Plan, checked_todos};
use wire::{ErrorCode, UserError};

/// The group in the OpenAPI document.
const PLANS: Tag = Tag {
    name: "plans",
    description: "The plans of the caller's conversations. Scope `conversations`.",
    access: Access::Users { scope: Some(KeyScope::Conversations) },
};

/// Returns the routes.
pub(crate) fn routes(store: Store) -> ApiRouter {
    ApiRouter::new(&PLANS)
        .get("/api/conversations/{id}/plan", show, "Get the plan of a conversation")
        .put(
            "/api/conversations/{id}/plan",
            change,
            "Change the plan of a conversation; 409 if it has changed meanwhile",
        )
        .map(|router| router.with_state(store))
}

/// The plan of the branch that is shown.
#[derive(Serialize, JsonSchema)]
struct CurrentPlan {
    /// The plan; `null` if the agent has not written one.
    plan: Option<Plan>,
}

/// `GET /api/conversations/{id}/plan`
async fn show(
    State(store): State<Store>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<Json<CurrentPlan>, HttpError> {
    let conversation = Conversation { owner: caller.user_id, id };
    store::find_agent(&store, conversation.clone()).await?.ok_or_else(UserError::not_found)?;
    let known = store::current(&store, conversation).await?;
    Ok(Json(CurrentPlan { plan: known.map(|known| known.plan) }))
}

/// `PUT /api/conversations/{id}/plan`
async fn change(
    State(store): State<Store>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    body: SentJson<Plan>,
) -> Result<Json<CurrentPlan>, HttpError> {
    let conversation = Conversation { owner: caller.user_id, id };
    store::find_agent(&store, conversation.clone()).await?.ok_or_else(UserError::not_found)?;
    let Plan { revision, todos } = valid_json(body)?;
    let todos = checked_todos(todos).map_err(|error| {
        let path = error.index.map_or_else(|| "/todos".to_owned(), |index| format!("/todos/{index}"));
        UserError::invalid(path, error.message)
    })?;
    match store::write_of_user(&store, conversation, revision, todos).await? {
        WriteOutcome::Written(plan) => Ok(Json(CurrentPlan { plan: Some(plan) })),
        WriteOutcome::Changed(_) => {
            let message = "The plan has changed in the meantime. Load it again.";
            Err(UserError::new(ErrorCode::Conflict, message).into())
        }
        WriteOutcome::Gone => Err(UserError::not_found().into()),
    }
}
