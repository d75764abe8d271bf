//! The buttons of a run's page.

use super::run_page::PATH;
use crate::routes::current;
use crate::service::{self, Action, DecideRequest, RetryRequest, Viewer};
use axum::extract::{Form, Path, State};
use axum::response::Response;
use capability::Context;
use serde::Deserialize;
use serde_json::{Value, json};
use web::admin::{Admin, PageError};
use web::see_other;
use wire::UserError;

/// `POST /admin/workflows/{id}/stop`
pub(super) async fn stop(
    admin: Admin,
    State(context): State<Context>,
    Path(id): Path<String>,
) -> Result<Response, PageError> {
    let audit = admin.audit_entry("stop_workflow_run", "", json!({ "runId": id }));
    service::stop(&(&context).into(), Viewer::Admin, &id, Some(audit)).await?;
    Ok(see_other(&format!("{PATH}/{id}"), None))
}

/// The form that makes a run go on.
#[derive(Deserialize)]
pub(super) struct RetryForm {
    path: Option<String>,
    current: Option<String>,
}

/// `POST /admin/workflows/{id}/retry`
pub(super) async fn retry(
    admin: Admin,
    State(context): State<Context>,
    Path(id): Path<String>,
    Form(form): Form<RetryForm>,
) -> Result<Response, PageError> {
    let path = form.path.filter(|path| !path.is_empty());
    let request = RetryRequest { path, use_current_definition: form.current.is_some(), ..RetryRequest::default() };
    let audit = admin.audit_entry("retry_workflow_run", "", json!({ "runId": id, "path": request.path }));
    service::retry(&(&context).into(), Viewer::Admin, &id, request, current(&context), Some(audit)).await?;
    Ok(see_other(&format!("{PATH}/{id}"), None))
}

/// The form that decides about a step.
#[derive(Deserialize)]
pub(super) struct DecideForm {
    path: String,
    action: Action,
    #[serde(default)]
    output: String,
}

/// `POST /admin/workflows/{id}/decide`
pub(super) async fn decide(
    admin: Admin,
    State(context): State<Context>,
    Path(id): Path<String>,
    Form(form): Form<DecideForm>,
) -> Result<Response, PageError> {
    let output = json_field("/output", &form.output)?;
    let audit = admin.audit_entry("decide_workflow_step", "", json!({ "runId": id, "path": form.path }));
    let request = DecideRequest { path: form.path, action: form.action, output };
    service::decide(&(&context).into(), Viewer::Admin, &id, request, Some(audit)).await?;
    Ok(see_other(&format!("{PATH}/{id}"), None))
}

/// Reads JSON from a field; `null` from an empty one.
fn json_field(name: &str, text: &str) -> Result<Value, UserError> {
    match text.trim() {
        "" => Ok(Value::Null),
        text => {
            serde_json::from_str(text).map_err(|error| UserError::invalid(name, format!("This is not JSON: {error}.")))
        }
    }
}
