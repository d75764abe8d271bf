//! The page of a question, where it is answered.

use super::run_page::PATH;
use super::task_form::{Entered, read, task_card};
use super::tasks::TaskList;
use crate::service;
use crate::store::{self, TaskRow, TaskState};
use axum::extract::{Form, Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use capability::Context;
use leptos::prelude::*;
use web::admin::list::List;
use web::admin::{Admin, PageError, from_store_error, page};
use web::html::link;
use web::see_other;
use wire::{ErrorCode, UserError};

/// `GET /admin/workflow-tasks/{id}`
pub(super) async fn show(
    admin: Admin,
    State(context): State<Context>,
    Path(id): Path<String>,
) -> Result<Response, PageError> {
    let task = find(&context, &id).await?;
    let may_answer = may_answer(&context, &admin, &task).await?;
    Ok(task_page(&admin, StatusCode::OK, &task, &Entered::default(), may_answer))
}

/// `POST /admin/workflow-tasks/{id}`
pub(super) async fn answer(
    admin: Admin,
    State(context): State<Context>,
    Path(id): Path<String>,
    Form(sent): Form<Vec<(String, String)>>,
) -> Result<Response, PageError> {
    let found = store::open_task(&context.store, &admin.caller, &id).await.map_err(from_store_error)?;
    let task = found.ok_or_else(UserError::not_found)?;
    let (answer, entered) = match read(&task, &sent) {
        Ok(read) => read,
        Err(entered) => return Ok(task_page(&admin, StatusCode::UNPROCESSABLE_ENTITY, &task, &entered, true)),
    };
    match service::answer(&(&context).into(), &admin.caller, &id, answer).await {
        Ok(task) => Ok(see_other(&format!("{PATH}/{}", task.run_id), None)),
        // What was entered stays.
        Err(error) if error.code == ErrorCode::Invalid => {
            let entered = entered.with_error(&task, &error);
            Ok(task_page(&admin, StatusCode::UNPROCESSABLE_ENTITY, &task, &entered, true))
        }
        Err(error) => Err(error.into()),
    }
}

async fn find(context: &Context, id: &str) -> Result<TaskRow, UserError> {
    let found = store::task(&context.store, id).await.map_err(from_store_error)?;
    found.ok_or_else(UserError::not_found)
}

/// Returns whether the administrator is among those whom the question asks.
pub(super) async fn may_answer(context: &Context, admin: &Admin, task: &TaskRow) -> Result<bool, UserError> {
    let found = store::open_task(&context.store, &admin.caller, &task.id).await;
    Ok(found.map_err(from_store_error)?.is_some())
}

fn task_page(admin: &Admin, status: StatusCode, task: &TaskRow, entered: &Entered, may_answer: bool) -> Response {
    let content = match task.state {
        TaskState::Open => task_card(task, entered, may_answer),
        _ => view! { <p class="cw-account-note">"This question is not open any more."</p> }.into_any(),
    };
    let run = link(format!("{PATH}/{}", task.run_id), "The run that asks");
    page(admin, TaskList::PATH, status, "Workflow task", view! { {content} <p class="cw-admin-links">{run}</p> })
}
