//! The page of a project.

use super::files;
use super::form::{Choices, ProjectForm};
use super::people::{self, MemberForm};
use super::{PATH, account_page, is_shown, project_path};
use crate::project::Role;
use crate::service::{self, Service};
use crate::views::ProjectView;
use axum::Extension;
use axum::extract::{Path, Query, RawForm, State};
use axum::http::StatusCode;
use axum::response::Response;
use chat::Caller;
use leptos::prelude::*;
use serde::Deserialize;
use web::html::{error_message, page_if_found, success_message};
use web::times::day;
use web::{HttpError, query_encoded, see_other, status_of};
use wire::api::ConversationSummary;
use wire::organize::ListFilter;
use wire::{ErrorCode, UserError};

/// The number of conversations that the page shows.
const SHOWN: u32 = 20;

/// The query of the page: set after a change.
#[derive(Default, Deserialize)]
pub(super) struct DoneQuery {
    done: Option<String>,
}

/// The state of the page beside the project.
#[derive(Default)]
pub(super) struct PageState {
    pub(super) done: Option<&'static str>,
    /// The settings as they were refused.
    pub(super) form: Option<ProjectForm>,
    /// The reason why they were refused.
    pub(super) refused: Option<UserError>,
    pub(super) members: MemberForm,
    /// The reason why another change was refused.
    pub(super) problem: Option<UserError>,
}

/// `GET /account/projects/{id}`
pub(super) async fn show(
    State(service): State<Service>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    Query(query): Query<DoneQuery>,
) -> Result<Response, HttpError> {
    let done = match query.done.as_deref() {
        Some("created") => Some("Created. The folder is in your list of conversations."),
        Some("saved") => Some("Saved. It applies from the next message on."),
        Some("uploaded") => Some("Added. The files can be searched once they are read."),
        Some("file-deleted") => Some("Deleted."),
        Some("added") => Some("Added."),
        Some("changed") => Some("Changed."),
        Some("removed") => Some("Removed."),
        _ => None,
    };
    page_if_found(render(&service, &caller, &id, PageState { done, ..PageState::default() }).await)
}

/// `POST /account/projects/{id}`
pub(super) async fn save(
    State(service): State<Service>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    RawForm(sent): RawForm,
) -> Result<Response, HttpError> {
    let form = ProjectForm { folder_id: None, ..ProjectForm::parse(&sent) };
    match service.save(&caller, &id, form.body()).await {
        Ok(()) => Ok(see_other(&format!("{}?done=saved", project_path(&id)), None)),
        Err(error) if is_shown(&error) => {
            let shown = PageState { form: Some(form), refused: Some(error), ..PageState::default() };
            render(&service, &caller, &id, shown).await
        }
        Err(error) => Err(error.into()),
    }
}

/// `POST /account/projects/{id}/begin`
pub(super) async fn begin(
    State(service): State<Service>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<Response, HttpError> {
    // 404 for the project, and not for its agent.
    service.project(&caller, &id).await?;
    match service::begin(&service, &caller, &id, None).await {
        Ok(begun) => Ok(see_other(&begun.path(), None)),
        Err(error) if is_shown(&error) || error.code == ErrorCode::NotFound => {
            render(&service, &caller, &id, PageState { problem: Some(error), ..PageState::default() }).await
        }
        Err(error) => Err(error.into()),
    }
}

/// `POST /account/projects/{id}/delete`
pub(super) async fn delete(
    State(service): State<Service>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<Response, HttpError> {
    service.delete(&caller, &id).await?;
    Ok(see_other(&format!("{PATH}?done=deleted"), None))
}

/// Renders the page of a project.
pub(super) async fn render(
    service: &Service,
    caller: &Caller,
    id: &str,
    shown: PageState,
) -> Result<Response, HttpError> {
    let project = service.view(caller, id).await?;
    let choices = Choices::load(service, caller).await?;
    let PageState { done, form, refused, members, problem } = shown;
    let errors = [&refused, &members.refused, &problem];
    let status = errors.into_iter().flatten().next().map_or(StatusCode::OK, status_of);
    let conversations = conversations(service, caller, &project).await?;
    let files = files::section(service, caller, &project).await?;
    let title = (project.name.clone(), Some(project.color));
    let content = view! {
        {success_message(done)}
        {error_message(problem.map(|error| error.message))}
        {conversations}
        {files}
        {settings(&project, form, refused, &choices)}
        {people::section(&project, caller, members)}
        {end(&project)}
    };
    Ok(account_page(status, title, (PATH, "All projects"), content))
}

async fn conversations(service: &Service, caller: &Caller, project: &ProjectView) -> Result<AnyView, UserError> {
    let (mut items, mut has_more) = (Vec::new(), false);
    if let Some(folder_id) = &project.folder_id {
        let filter = ListFilter { folder_id: Some(folder_id.clone()), ..ListFilter::default() };
        let list = service.context.chat.conversations(caller, filter, SHOWN, None).await?;
        (has_more, items) = (list.next.is_some(), list.items);
    }
    let is_empty = items.is_empty();
    let items = items.into_iter().map(conversation).collect_view();
    let begin = format!("{}/begin", project_path(&project.id));
    Ok(view! {
        <section class="cw-account-part" aria-labelledby="conversations">
            <h2 id="conversations">"My conversations"</h2>
            <form method="post" action=begin>
                <button class="cw-button cw-primary">"New conversation in this project"</button>
            </form>
            {is_empty.then(|| view! { <p class="cw-account-note">"You have no conversations in it yet. Move some to its folder, or begin one."</p> })}
            {(!is_empty).then(|| view! { <ul class="cw-memory-list">{items}</ul> })}
            {has_more.then(|| view! { <p class="cw-account-note">"There are more in the folder of your list."</p> })}
            <p class="cw-account-note">"Other members do not see them."</p>
        </section>
    }
    .into_any())
}

fn conversation(summary: ConversationSummary) -> impl IntoView {
    let ConversationSummary { id, title, page_id, updated_at, .. } = summary;
    let path = format!("/{}?conversation={}", query_encoded(&page_id), query_encoded(&id));
    view! {
        <li class="cw-memory-fact">
            <p><a href=path dir="auto">{title}</a>" "<span class="cw-account-note">{day(updated_at)}</span></p>
        </li>
    }
}

/// Renders the settings: a form for those who may change them.
fn settings(
    project: &ProjectView,
    form: Option<ProjectForm>,
    refused: Option<UserError>,
    choices: &Choices,
) -> AnyView {
    let content = match project.role {
        Role::Viewer => read_only(project, choices),
        Role::Editor | Role::Owner => {
            let form = form.unwrap_or_else(|| ProjectForm::from(project.clone()));
            form.view(project_path(&project.id), "Save", choices)
        }
    };
    view! {
        <section class="cw-account-part" aria-labelledby="settings">
            <h2 id="settings">"Settings"</h2>
            {error_message(refused.map(|error| error.message))}
            {content}
        </section>
    }
    .into_any()
}

fn read_only(project: &ProjectView, choices: &Choices) -> AnyView {
    let instructions = match project.instructions.as_str() {
        "" => view! { <p class="cw-account-note">"There are no instructions."</p> }.into_any(),
        text => view! { <p class="cw-project-text" dir="auto">{text.to_owned()}</p> }.into_any(),
    };
    let (mut libraries, others) = choices.library_names(&project.libraries);
    if others > 0 {
        libraries.push(format!("{others} that you may not read"));
    }
    let libraries = (!libraries.is_empty()).then(|| {
        view! { <p class="cw-account-note" dir="auto">{format!("Libraries: {}", libraries.join(", "))}</p> }
    });
    view! {
        {instructions}
        {libraries}
        <p class="cw-account-note">"The owner of the project decides who may change this."</p>
    }
    .into_any()
}

/// Renders the download, and the forms with which the user leaves or deletes the project.
fn end(project: &ProjectView) -> AnyView {
    let path = project_path(&project.id);
    let export = format!("/api/projects/{}/export", query_encoded(&project.id));
    let archive = project.folder_id.as_ref().map(|folder_id| {
        let path = format!("/api/folders/{}/export", query_encoded(folder_id));
        view! { <a class="cw-button" href=path download="">"Download my conversations as ZIP"</a> }
    });
    let leave = match project.role {
        Role::Owner => delete_form(&path),
        Role::Viewer | Role::Editor => leave_form(&path),
    };
    view! {
        <section class="cw-account-part" aria-label="Download and leave">
            <div class="cw-memory-actions">
                <a class="cw-button" href=export download="">"Download with my conversations"</a>
                {archive}
            </div>
            {leave}
        </section>
    }
    .into_any()
}

/// Renders the form with which the owner deletes the project, behind a disclosure, because it cannot be undone.
fn delete_form(path: &str) -> AnyView {
    view! {
        <details>
            <summary>"Delete project"</summary>
            <p class="cw-account-note">
                "Deleting removes the settings, the members and the files for everybody, and cannot be undone. All conversations stay with their owners."
            </p>
            <form method="post" action=format!("{path}/delete")>
                <button class="cw-button cw-danger">"Delete for everybody"</button>
            </form>
        </details>
    }
    .into_any()
}

fn leave_form(path: &str) -> AnyView {
    view! {
        <form method="post" action=format!("{path}/leave")>
            <button class="cw-button cw-danger">"Leave project"</button>
        </form>
        <p class="cw-account-note">
            "When you leave, your conversations stay in your folder, without the instructions, libraries and files of the project."
        </p>
    }
    .into_any()
}
