//! The page `/account/prompts`, on which users list, add, change and delete their prompts. It needs no script.

use crate::form::{PromptForm, is_shown};
use crate::prompt::Origin;
use crate::service;
use crate::store::BEGINNING;
use crate::views::{PromptBody, PromptDetail, PromptItem};
use axum::extract::{Path, Query, RawForm, State};
use axum::http::StatusCode;
use axum::middleware::from_fn_with_state;
use axum::response::Response;
use axum::routing::{get, post};
use axum::{Extension, Router};
use capability::Context;
use chat::Caller;
use leptos::prelude::*;
use serde::Deserialize;
use web::html::{account_page, account_part, error_message, page_if_found, row_button, success_message};
use web::{HttpError, query_encoded, require_account, see_other, signed_in, status_of};
use wire::{ErrorCode, UserError};

/// The page.
pub(crate) const PATH: &str = "/account/prompts";
/// Its title.
pub(crate) const TITLE: &str = "Prompts";

/// Returns the pages and the routes of their forms.
pub(crate) fn routes() -> Router<Context> {
    Router::new()
        .route(PATH, get(show_all).post(add))
        .route("/account/prompts/{id}", get(show).post(change))
        .route("/account/prompts/{id}/delete", post(delete))
        .layer(from_fn_with_state(PATH, require_account))
}

/// The query of the page: set after a change.
#[derive(Deserialize)]
struct DoneQuery {
    done: Option<String>,
}

/// `GET /account/prompts`
async fn show_all(
    State(context): State<Context>,
    Extension(caller): Extension<Caller>,
    Query(query): Query<DoneQuery>,
) -> Result<Response, HttpError> {
    let done = match query.done.as_deref() {
        Some("saved") => Some("Saved. Type / in a chat to use it."),
        Some("deleted") => Some("Deleted."),
        _ => None,
    };
    list_page(&context, &caller, PromptForm::default(), done, None).await
}

async fn list_page(
    context: &Context,
    caller: &Caller,
    form: PromptForm,
    done: Option<&'static str>,
    refused: Option<UserError>,
) -> Result<Response, HttpError> {
    signed_in(caller)?;
    let prompts = service::list(context, caller).await?;
    let status = refused.as_ref().map_or(StatusCode::OK, status_of);
    let (own, shared): (Vec<_>, Vec<_>) = prompts.items.into_iter().partition(|item| item.origin == Origin::Own);
    let (has_own, has_shared) = (!own.is_empty(), !shared.is_empty());
    let note = format!("Up to {} prompts, each of up to {} bytes.", prompts.most, prompts.text_bytes);
    let content = view! {
        {success_message(done)}
        <section class="cw-account-part" aria-labelledby="own">
            <h2 id="own">"My prompts"</h2>
            {prompts_view(own, "You have no prompts yet.")}
            {has_own.then(|| view! {
                <div class="cw-memory-actions">
                    <a class="cw-button" href="/api/prompts/export" download="prompts.json">"Download as JSON"</a>
                </div>
            })}
        </section>
        {has_shared.then(|| account_part("shared", "Shared with me", prompts_view(shared, "")))}
        <section class="cw-account-part" aria-labelledby="new">
            <h2 id="new">"New prompt"</h2>
            <p class="cw-account-note">{note}</p>
            {error_message(refused.map(|error| error.message))}
            {form.view(PATH.to_owned(), "Add prompt")}
        </section>
    };
    Ok(account_page(status, TITLE, ("/", "Back"), content))
}

fn prompts_view(prompts: Vec<PromptItem>, none: &'static str) -> AnyView {
    if prompts.is_empty() {
        return view! { <p class="cw-account-note">{none}</p> }.into_any();
    }
    let items = prompts.into_iter().map(prompt_view).collect_view();
    view! { <ul class="cw-memory-list">{items}</ul> }.into_any()
}

fn prompt_view(prompt: PromptItem) -> impl IntoView {
    let PromptItem { id, name, description, origin, beginning, .. } = prompt;
    let has_more = beginning.chars().count() >= BEGINNING;
    let path = format!("{PATH}/{}", query_encoded(&id));
    let (edit, delete) = (format!("Change: {name}"), format!("Delete: {name}"));
    let acts = (origin == Origin::Own).then(|| {
        view! {
            <div class="cw-memory-actions">
                <a class="cw-button" href=path.clone() aria-label=edit>"Change"</a>
                {row_button(format!("{path}/delete"), "Delete", delete)}
            </div>
        }
    });
    let description = (!description.is_empty()).then(|| view! { <p dir="auto">{description}</p> });
    view! {
        <li class="cw-memory-fact">
            <p><strong dir="auto">{name}</strong></p>
            {description}
            <p class="cw-account-note" dir="auto">{beginning} {has_more.then_some("…")}</p>
            {acts}
        </li>
    }
}

/// `POST /account/prompts`
async fn add(
    State(context): State<Context>,
    Extension(caller): Extension<Caller>,
    RawForm(sent): RawForm,
) -> Result<Response, HttpError> {
    let form = PromptForm::parse(&sent);
    match service::save_own(&context, &caller, None, body(&form)).await {
        Ok(_) => Ok(see_other(&format!("{PATH}?done=saved"), None)),
        Err(error) if is_shown(&error) => {
            list_page(&context, &caller, PromptForm { roles: None, version: None, ..form }, None, Some(error)).await
        }
        Err(error) => Err(error.into()),
    }
}

fn body(form: &PromptForm) -> PromptBody {
    let PromptForm { name, description, text, version, .. } = form.clone();
    PromptBody { name, description, text, version }
}

/// `GET /account/prompts/{id}`
async fn show(
    State(context): State<Context>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<Response, HttpError> {
    let found = service::own(&context, &caller, &id).await.map_err(HttpError::from);
    page_if_found(found.map(|prompt| {
        let PromptDetail { name, description, text, version, .. } = prompt;
        edit_page(&id, PromptForm { name, description, text, roles: None, version: Some(version) }, None)
    }))
}

fn edit_page(id: &str, form: PromptForm, refused: Option<UserError>) -> Response {
    let status = refused.as_ref().map_or(StatusCode::OK, status_of);
    let content = view! {
        <section class="cw-account-part" aria-label="Prompt">
            {error_message(refused.map(|error| error.message))}
            {form.view(format!("{PATH}/{}", query_encoded(id)), "Save")}
        </section>
    };
    account_page(status, "Change a prompt", (PATH, "All prompts"), content)
}

/// `POST /account/prompts/{id}`
async fn change(
    State(context): State<Context>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    RawForm(sent): RawForm,
) -> Result<Response, HttpError> {
    let form = PromptForm::parse(&sent);
    match service::save_own(&context, &caller, Some(&id), body(&form)).await {
        Ok(_) => Ok(see_other(&format!("{PATH}?done=saved"), None)),
        Err(error) if is_shown(&error) => Ok(edit_page(&id, PromptForm { roles: None, ..form }, Some(error))),
        Err(error) => Err(error.into()),
    }
}

/// `POST /account/prompts/{id}/delete`
async fn delete(
    State(context): State<Context>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<Response, HttpError> {
    match service::delete_own(&context, &caller, &id).await {
        Err(error) if error.code != ErrorCode::NotFound => Err(error.into()),
        _ => Ok(see_other(&format!("{PATH}?done=deleted"), None)),
    }
}
