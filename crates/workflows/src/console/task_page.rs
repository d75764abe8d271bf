//! The page of a question, where it is answered.

use super::run_page::PATH;
use super::task_form::{Entered, read, task_card};
use super::tasks::TaskList;
use crate::service;
use crate::store::{self, Assignee, TaskRow, TaskState};
use axum::Extension;
use axum::extract::{Form, Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use capability::{Context, Waiting};
use leptos::prelude::*;
use serde::Deserialize;
use serde_json::json;
use web::admin::filters::user_id;
use web::admin::list::List;
use web::admin::{Admin, PageError, UserNames, from_store_error, page};
use web::html::link;
use web::see_other;
use wire::hidden_characters::{TextKind, text_with_code_points};
use wire::{ErrorCode, UserError};

/// `GET /admin/workflow-tasks/{id}`
pub(super) async fn show(
    admin: Admin,
    State(context): State<Context>,
    Path(id): Path<String>,
) -> Result<Response, PageError> {
    let task = find(&context, &id).await?;
    let may_answer = may_answer(&context, &admin, &task).await?;
    let others = match task.state {
        TaskState::Open => assign_view(&context, &task).await?,
        _ => ().into_any(),
    };
    Ok(task_page(&admin, StatusCode::OK, &task, &Entered::default(), (may_answer, others)))
}

/// The form that lets another user answer.
#[derive(Deserialize)]
pub(super) struct AssignForm {
    kind: String,
    #[serde(default)]
    name: String,
}

/// `POST /admin/workflow-tasks/{id}/assign`
pub(super) async fn assign(
    admin: Admin,
    State(context): State<Context>,
    Extension(waiting): Extension<Waiting>,
    Path(id): Path<String>,
    Form(form): Form<AssignForm>,
) -> Result<Response, PageError> {
    let name = form.name.trim().to_owned();
    let assignee = match form.kind.as_str() {
        "user" if !name.is_empty() => {
            Assignee::User(user_id(&context.store, Some(name.as_str())).await?.unwrap_or_else(|| name.clone()))
        }
        "user" => Assignee::User(name),
        _ => Assignee::Role(name),
    };
    let audit = admin.audit_entry("assign_workflow_task", "", json!({ "taskId": id }));
    service::assign(&(&context).into(), &waiting, &id, assignee, audit).await?;
    Ok(see_other(&format!("{}/{id}", TaskList::PATH), None))
}

/// Renders who may answer, and the form that adds others.
async fn assign_view(context: &Context, task: &TaskRow) -> Result<AnyView, UserError> {
    let found = store::assignees(&context.store, &task.id).await.map_err(from_store_error)?;
    let users = found.iter().filter_map(|assignee| match assignee {
        Assignee::User(id) => Some(id.as_str()),
        Assignee::Role(_) => None,
    });
    let names = UserNames::load(&context.store, users).await?;
    let name = |assignee: &Assignee| match assignee {
        Assignee::Role(role) => format!("the role {role}"),
        Assignee::User(id) => format!("the user {}", names.get(id).unwrap_or(id)),
    };
    let named: Vec<_> = found.iter().map(name).collect();
    let about = format!("It may be answered by: {}.", named.join(", "));
    let about = text_with_code_points(&about, TextKind::Prose).into_owned();
    let action = format!("{}/{}/assign", TaskList::PATH, task.id);
    let form = view! {
        <section class="cw-account-part" aria-label="Let others answer">
            <h2>"Let others answer"</h2>
            <p class="cw-account-note">{about}</p>
            <form class="cw-account-form" method="post" action=action>
                <label class="cw-admin-field">
                    <span>"Who"</span>
                    <span class="cw-select">
                        <select name="kind">
                            <option value="role">"A role"</option>
                            <option value="user">"A user"</option>
                        </select>
                    </span>
                </label>
                <label class="cw-admin-field">
                    <span>"Name of the role or of the user"</span>
                    <input type="text" name="name" maxlength="100" autocomplete="off" required />
                </label>
                <button class="cw-button">"Let them answer, too"</button>
            </form>
        </section>
    };
    Ok(form.into_any())
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
        Err(entered) => {
            return Ok(task_page(&admin, StatusCode::UNPROCESSABLE_ENTITY, &task, &entered, (true, ().into_any())));
        }
    };
    match service::answer(&(&context).into(), &admin.caller, &id, answer).await {
        Ok(task) => Ok(see_other(&format!("{PATH}/{}", task.run_id), None)),
        // The entered values stay.
        Err(error) if error.code == ErrorCode::Invalid => {
            let entered = entered.with_error(&task, &error);
            Ok(task_page(&admin, StatusCode::UNPROCESSABLE_ENTITY, &task, &entered, (true, ().into_any())))
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

/// Renders the page. `others` is what stands below the question.
fn task_page(
    admin: &Admin,
    status: StatusCode,
    task: &TaskRow,
    entered: &Entered,
    (may_answer, others): (bool, AnyView),
) -> Response {
    let content = match task.state {
        TaskState::Open => task_card(task, entered, may_answer),
        _ => view! { <p class="cw-account-note">"This question is not open any more."</p> }.into_any(),
    };
    let run = link(format!("{PATH}/{}", task.run_id), "The run that asks");
    page(
        admin,
        TaskList::PATH,
        status,
        "Workflow task",
        view! { {content} {others} <p class="cw-admin-links">{run}</p> },
    )
}
