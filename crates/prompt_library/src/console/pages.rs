//! The page of a shared prompt.

use super::list::{SharedPromptList, new_prompt};
use crate::form::{PromptForm, is_shown};
use crate::service;
use crate::views::{PromptDetail, SharedPromptBody};
use axum::Router;
use axum::extract::{Path, RawForm, State};
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::{get, post};
use capability::Context;
use leptos::prelude::*;
use web::admin::list::List;
use web::admin::{Admin, PageError, delete_section, page};
use web::html::error_message;
use web::{query_encoded, see_other, status_of};
use wire::UserError;

const PATH: &str = SharedPromptList::PATH;

pub(super) fn routes() -> Router<Context> {
    Router::new()
        .route(PATH, post(add))
        .route("/admin/prompts/{id}", get(show).post(change))
        .route("/admin/prompts/{id}/delete", post(delete))
}

fn body(form: &PromptForm) -> SharedPromptBody {
    let roles = form.role_names();
    let PromptForm { name, description, text, version, .. } = form.clone();
    SharedPromptBody { name, description, text, roles, version }
}

/// `POST /admin/prompts`
async fn add(admin: Admin, State(context): State<Context>, RawForm(sent): RawForm) -> Result<Response, PageError> {
    let form = PromptForm::parse(&sent);
    match service::save_shared(&context, &admin, None, body(&form)).await {
        Ok(_) => Ok(see_other(PATH, None)),
        Err(error) if is_shown(&error) => {
            let roles = Some(form.roles.clone().unwrap_or_default());
            let status = status_of(&error);
            let content = new_prompt(PromptForm { roles, version: None, ..form }, Some(error.message));
            Ok(page(&admin, PATH, status, "Share a prompt", content))
        }
        Err(error) => Err(error.into()),
    }
}

/// `GET /admin/prompts/{id}`
async fn show(admin: Admin, State(context): State<Context>, Path(id): Path<String>) -> Result<Response, PageError> {
    let PromptDetail { name, description, text, roles, version, .. } = service::shared_detail(&context, &id).await?;
    let title = name.clone();
    let form = PromptForm { name, description, text, roles: Some(roles.join(", ")), version: Some(version) };
    Ok(render(&admin, (&id, &title), form, None))
}

/// `POST /admin/prompts/{id}`
async fn change(
    admin: Admin,
    State(context): State<Context>,
    Path(id): Path<String>,
    RawForm(sent): RawForm,
) -> Result<Response, PageError> {
    let form = PromptForm::parse(&sent);
    match service::save_shared(&context, &admin, Some(&id), body(&form)).await {
        Ok(_) => Ok(see_other(PATH, None)),
        Err(error) if is_shown(&error) => {
            let title = service::shared_detail(&context, &id).await?.name;
            let roles = Some(form.roles.clone().unwrap_or_default());
            Ok(render(&admin, (&id, &title), PromptForm { roles, ..form }, Some(error)))
        }
        Err(error) => Err(error.into()),
    }
}

/// `POST /admin/prompts/{id}/delete`
async fn delete(admin: Admin, State(context): State<Context>, Path(id): Path<String>) -> Result<Response, PageError> {
    service::delete_shared(&context, &admin, &id).await?;
    Ok(see_other(PATH, None))
}

fn render(admin: &Admin, (id, title): (&str, &str), form: PromptForm, refused: Option<UserError>) -> Response {
    let status = refused.as_ref().map_or(StatusCode::OK, status_of);
    let path = format!("{PATH}/{}", query_encoded(id));
    let content = view! {
        <section class="cw-account-part" aria-label="Prompt">
            {error_message(refused.map(|error| error.message))}
            {form.view(path.clone(), "Save")}
        </section>
        {delete_section(&path, "Users no longer see it. What they have sent stays.", "Delete prompt")}
    };
    page(admin, PATH, status, title, content)
}
