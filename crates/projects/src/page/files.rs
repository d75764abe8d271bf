//! The files of a project on its page.

use super::detail::{PageState, render};
use super::project_path;
use crate::project::Role;
use crate::service::{Service, cannot_change};
use crate::views::ProjectView;
use axum::Extension;
use axum::extract::multipart::{MultipartError, MultipartRejection};
use axum::extract::{Multipart, Path, State};
use axum::response::Response;
use capability::{FileState, NewProjectFile, ProjectFile, ProjectFiles};
use chat::Caller;
use futures::StreamExt;
use leptos::prelude::*;
use std::sync::Arc;
use web::html::{account_part, row_button};
use web::{HttpError, query_encoded, read_rest, see_other};
use wire::{ErrorCode, UserError};

/// The most files of a form.
const MAX_FILES: usize = 100;
/// The most files that the page shows.
const SHOWN: u32 = 200;

/// `POST /account/projects/{id}/files`
pub(super) async fn add(
    State(service): State<Service>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    form: Result<Multipart, MultipartRejection>,
) -> Result<Response, HttpError> {
    // Before the body, so that others than the members learn nothing.
    let files = writable(&service, &caller, &id).await?;
    let mut form = form.map_err(|_| HttpError::malformed("The form was not sent as `multipart/form-data`."))?;
    let added = add_all(&*files, &caller, &id, &mut form).await;
    if added.is_err() {
        read_rest(&mut form).await;
    }
    done(&service, &caller, &id, "uploaded", added).await
}

/// `POST /account/projects/{id}/files/{document}/delete`
pub(super) async fn delete(
    State(service): State<Service>,
    Extension(caller): Extension<Caller>,
    Path((id, document)): Path<(String, String)>,
) -> Result<Response, HttpError> {
    let files = writable(&service, &caller, &id).await?;
    done(&service, &caller, &id, "file-deleted", files.delete(&caller, &id, &document).await).await
}

/// Returns the storage of the files, if the caller may change the files of the project.
async fn writable(service: &Service, caller: &Caller, id: &str) -> Result<Arc<dyn ProjectFiles>, UserError> {
    if service.project(caller, id).await?.role < Role::Editor {
        return Err(cannot_change());
    }
    service.projects.libraries().files().ok_or_else(UserError::not_found)
}

/// Returns to the page of the project, or shows it with the reason why a change was refused.
async fn done(
    service: &Service,
    caller: &Caller,
    id: &str,
    done: &str,
    outcome: Result<(), UserError>,
) -> Result<Response, HttpError> {
    match outcome {
        Ok(()) => Ok(see_other(&format!("{}?done={done}", project_path(id)), None)),
        Err(error) if [ErrorCode::NotFound, ErrorCode::Internal].contains(&error.code) => Err(error.into()),
        Err(error) => render(service, caller, id, PageState { problem: Some(error), ..PageState::default() }).await,
    }
}

/// Adds the files of a form as they arrive. Those before a refused one are kept.
async fn add_all(files: &dyn ProjectFiles, caller: &Caller, id: &str, form: &mut Multipart) -> Result<(), UserError> {
    let choose = || UserError::invalid("/file", "Choose a file.");
    let mut count = 0;
    while let Some(field) = form.next_field().await.map_err(interrupted)? {
        let name = field.file_name().unwrap_or_default().to_owned();
        if field.name() != Some("file") || name.is_empty() {
            // A browser sends an empty name if no file was chosen. The content is not read: no limit bounds it.
            return Err(choose());
        }
        count += 1;
        if count > MAX_FILES {
            return Err(UserError::invalid("/file", format!("At most {MAX_FILES} files can be added at once.")));
        }
        let media_type = field.content_type().map(str::to_owned);
        let content = field.map(|piece| piece.map_err(interrupted)).boxed();
        files.add(caller, id, NewProjectFile { name, media_type, content }).await?;
    }
    if count == 0 { Err(choose()) } else { Ok(()) }
}

fn interrupted(_: MultipartError) -> UserError {
    UserError::invalid("/file", "The upload was interrupted. Send the file again.")
}

/// Renders the files, with forms for those who may change them. Empty on a server without documents.
pub(super) async fn section(
    service: &Service,
    caller: &Caller,
    project: &ProjectView,
) -> Result<Option<AnyView>, UserError> {
    let Some(files) = service.projects.libraries().files() else { return Ok(None) };
    let listed = files.list(caller, &project.id, SHOWN).await?;
    let may_write = project.role >= Role::Editor;
    let (is_empty, is_full) = (listed.is_empty(), listed.len() == SHOWN as usize);
    let items = listed.into_iter().map(|file| file_view(&project.id, file, may_write)).collect_view();
    let add = may_write.then(|| add_form(&project.id));
    let content = view! {
        <p class="cw-account-note">
            "Agents that search documents also search these files in conversations of the project. Only its members may read them."
        </p>
        {is_empty.then(|| view! { <p class="cw-account-note">"There are no files yet."</p> })}
        {(!is_empty).then(|| view! { <ul class="cw-account-list">{items}</ul> })}
        {is_full.then(|| view! { <p class="cw-account-note">{format!("These are the {SHOWN} newest files.")}</p> })}
        {add}
    };
    Ok(Some(account_part("files", "Files", content)))
}

fn file_view(project_id: &str, file: ProjectFile, may_write: bool) -> AnyView {
    let ProjectFile { id, name, state } = file;
    let path = format!("/api/documents/{}/file", query_encoded(&id));
    let state = match state {
        FileState::Waiting => "waits to be read".to_owned(),
        FileState::Reading => "is being read".to_owned(),
        FileState::Ready => "ready".to_owned(),
        FileState::Failed(reason) => format!("could not be read: {reason}"),
    };
    let delete = may_write.then(|| {
        let action = format!("{}/files/{}/delete", project_path(project_id), query_encoded(&id));
        let label = format!("Delete: {name}");
        view! { <div class="cw-memory-actions">{row_button(action, "Delete", label)}</div> }
    });
    view! {
        <li class="cw-account-line">
            <p><a href=path download="" dir="auto">{name}</a>" "<span class="cw-account-note" dir="auto">{state}</span></p>
            {delete}
        </li>
    }
    .into_any()
}

fn add_form(project_id: &str) -> AnyView {
    let action = format!("{}/files", project_path(project_id));
    view! {
        <form class="cw-account-form" method="post" action=action enctype="multipart/form-data">
            <label class="cw-account-field">
                <span>"Choose files, or drop them here"</span>
                <input type="file" name="file" multiple required />
            </label>
            <button class="cw-button">"Add files"</button>
        </form>
    }
    .into_any()
}
