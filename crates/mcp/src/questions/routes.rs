//! The route with which users answer a question.

use super::store;
use super::{Answer, AnswerAction};
use ::store::Store;
use auth::password::KeyScope;
use axum::Extension;
use axum::extract::{Path, State};
use axum::response::NoContent;
use chat::Caller;
use schemas::{CheckError, Schema};
use serde_json::{Map, Value};
use web::openapi::{Access, ApiRouter, Tag};
use web::times::now_millis;
use web::{HttpError, SentJson, valid_json};
use wire::{ErrorCode, UserError};

/// The group in the OpenAPI document.
const QUESTIONS: Tag = Tag {
    name: "tool questions",
    description: "Questions of running tools to the caller. Scope `agents`.",
    access: Access::Users { scope: Some(KeyScope::Agents) },
};

/// The maximum size of an answer as JSON in bytes.
const MAX_ANSWER: usize = 64 << 10;

/// Returns the routes.
pub(crate) fn routes(store: Store) -> ApiRouter {
    ApiRouter::new(&QUESTIONS)
        .post(
            "/api/tool-questions/{id}",
            answer,
            "Answer a question of a running tool; 404 if it does not wait any more",
        )
        .map(|router| router.with_state(store))
}

/// `POST /api/tool-questions/{id}`
async fn answer(
    State(store): State<Store>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    body: SentJson<Answer>,
) -> Result<NoContent, HttpError> {
    let mut answer = valid_json(body)?;
    let form = store::waiting_form(&store, &caller.user_id, &id, now_millis()).await?;
    let form = form.ok_or_else(UserError::not_found)?;
    match (answer.action, form) {
        (AnswerAction::Accept, Some(form)) => check(&form, &answer.content).await?,
        _ => answer.content = Map::new(),
    }
    if store::answer(&store, &caller.user_id, &id, &answer, now_millis()).await? {
        Ok(NoContent)
    } else {
        Err(UserError::not_found().into())
    }
}

/// Checks the values of a form.
async fn check(form: &Value, values: &Map<String, Value>) -> Result<(), UserError> {
    let properties = form.get("properties").and_then(Value::as_object);
    if let Some(key) = values.keys().find(|key| properties.is_none_or(|known| !known.contains_key(*key))) {
        return Err(UserError::invalid(format!("/content/{key}"), "The form has no such field."));
    }
    let values = Value::Object(values.clone());
    if values.to_string().len() > MAX_ANSWER {
        return Err(UserError::invalid("/content", format!("An answer has at most {} KB.", MAX_ANSWER >> 10)));
    }
    let unusable = |_| UserError::invalid("/content", "The form cannot be filled in. Decline it.");
    let schema = Schema::compile(form).await.map_err(unusable)?;
    match schema.check(&values, 1).await {
        Ok(()) => Ok(()),
        Err(CheckError::Faults(faults)) => {
            let fault = faults.into_iter().next();
            let (path, message) = fault.map(|fault| (fault.path, fault.message)).unwrap_or_default();
            Err(UserError::invalid(format!("/content{path}"), message))
        }
        Err(error @ CheckError::Busy) => Err(UserError::new(ErrorCode::RateLimited, error.to_string())),
        Err(error) => Err(UserError::invalid("/content", error.to_string())),
    }
}
