//! The list of projects, and the form of a new one.

use super::form::{Choices, ProjectForm};
use super::{PATH, TITLE, account_page, counted, dot, is_shown, order, project_path};
use crate::project::Role;
use crate::service::Service;
use crate::store::ListedProject;
use crate::views::{Sort, sorted};
use axum::Extension;
use axum::extract::{Path, Query, RawForm, State};
use axum::http::StatusCode;
use axum::response::Response;
use chat::Caller;
use leptos::prelude::*;
use serde::Deserialize;
use std::collections::HashMap;
use web::html::{error_message, not_found_page, success_message};
use web::times::day;
use web::{HttpError, see_other, status_of};
use wire::UserError;
use wire::organize::Folder;

/// The query of the page.
#[derive(Default, Deserialize)]
pub(super) struct PageQuery {
    /// Set after a change.
    done: Option<String>,
    #[serde(default)]
    sort: Option<String>,
}

impl PageQuery {
    fn sort(&self) -> Sort {
        match self.sort.as_deref() {
            Some("used") => Sort::Used,
            Some("count") => Sort::Count,
            Some("own") => Sort::Own,
            _ => Sort::Name,
        }
    }
}

/// `GET /account/projects`
pub(super) async fn show(
    State(service): State<Service>,
    Extension(caller): Extension<Caller>,
    Query(query): Query<PageQuery>,
) -> Result<Response, HttpError> {
    let done = match query.done.as_deref() {
        Some("deleted") => Some("Deleted. The conversations are still in your folder."),
        Some("left") => Some("You have left the project. Your conversations are still in your folder."),
        _ => None,
    };
    render(&service, &caller, query.sort(), ProjectForm::default(), (done, None)).await
}

/// `GET /account/projects/folder/{id}`: the project of a folder, or the form that makes it one.
pub(super) async fn show_folder(
    State(service): State<Service>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<Response, HttpError> {
    if let Some(project) = service.project_of_folder(&caller, &id).await? {
        return Ok(see_other(&project_path(&project), None));
    }
    let folders = service.context.chat.folders(&caller).await?.items;
    let Some(folder) = folders.into_iter().find(|folder| folder.id == id) else { return Ok(not_found_page()) };
    let form = ProjectForm { name: folder.name, folder_id: Some(folder.id), ..ProjectForm::default() };
    render(&service, &caller, Sort::Name, form, (None, None)).await
}

/// `POST /account/projects`
pub(super) async fn create(
    State(service): State<Service>,
    Extension(caller): Extension<Caller>,
    RawForm(sent): RawForm,
) -> Result<Response, HttpError> {
    let form = ProjectForm { version: None, ..ProjectForm::parse(&sent) };
    match service.create(&caller, form.body()).await {
        Ok(id) => Ok(see_other(&format!("{}?done=created", project_path(&id)), None)),
        Err(error) if is_shown(&error) => render(&service, &caller, Sort::Name, form, (None, Some(error))).await,
        Err(error) => Err(error.into()),
    }
}

async fn render(
    service: &Service,
    caller: &Caller,
    sort: Sort,
    form: ProjectForm,
    (done, refused): (Option<&'static str>, Option<UserError>),
) -> Result<Response, HttpError> {
    let projects = sorted(service.list(caller).await?, sort);
    let around = names_around(service.context.chat.folders(caller).await?.items);
    let choices = Choices::load(service, caller).await?;
    let status = refused.as_ref().map_or(StatusCode::OK, status_of);
    let has_several = projects.len() > 1;
    let of_folder = form.folder_id.is_some();
    let (heading, act) = if of_folder {
        ("Turn this folder into a project", "Create project")
    } else {
        ("New project", "Create project")
    };
    let about = if of_folder {
        "Its conversations stay in it. The folder gets instructions, libraries and members."
    } else {
        "A project is a folder of conversations with instructions, libraries and members."
    };
    let content = view! {
        {success_message(done)}
        <section class="cw-account-part" aria-labelledby="mine">
            <h2 id="mine">"My projects"</h2>
            {has_several.then(|| orders(sort))}
            {items(projects, sort, &around)}
        </section>
        <section class="cw-account-part" aria-labelledby="new">
            <h2 id="new">{heading}</h2>
            <p class="cw-account-note">{about}</p>
            {error_message(refused.map(|error| error.message))}
            {form.view(PATH.to_owned(), act, &choices)}
        </section>
    };
    Ok(account_page(status, (TITLE.to_owned(), None), ("/", "Back"), content))
}

/// Renders the links that sort the list.
fn orders(sort: Sort) -> impl IntoView {
    let links = [
        ("name", "Name", Sort::Name),
        ("used", "Last used", Sort::Used),
        ("count", "Conversations", Sort::Count),
        ("own", "My order", Sort::Own),
    ];
    let links = links.map(|(key, label, order)| {
        let current = (order == sort).then_some("true");
        view! { <a href=format!("{PATH}?sort={key}") aria-current=current>{label}</a> }
    });
    let links: Vec<_> = links.into();
    view! {
        <nav class="cw-project-orders" aria-label="Order">
            {links.into_iter().collect_view()}
        </nav>
    }
}

/// Returns the names of the folders that folders are in, by the ids of the inner ones.
fn names_around(folders: Vec<Folder>) -> HashMap<String, String> {
    let names: HashMap<_, _> = folders.iter().map(|folder| (folder.id.clone(), folder.name.clone())).collect();
    let around = |folder: Folder| Some((folder.id, names.get(&folder.parent_id?)?.clone()));
    folders.into_iter().filter_map(around).collect()
}

fn items(projects: Vec<ListedProject>, sort: Sort, around: &HashMap<String, String>) -> AnyView {
    if projects.is_empty() {
        return view! { <p class="cw-account-note">"You are in no projects yet."</p> }.into_any();
    }
    let moves = order::buttons(&projects, sort);
    let item = |(project, moves): (ListedProject, Option<AnyView>)| {
        let around = project.folder_id.as_ref().and_then(|id| around.get(id)).cloned();
        item(project, around, moves)
    };
    let items = projects.into_iter().zip(moves).map(item).collect_view();
    view! { <ul class="cw-memory-list">{items}</ul> }.into_any()
}

fn item(project: ListedProject, around: Option<String>, moves: Option<AnyView>) -> impl IntoView {
    let ListedProject { id, name, color, role, members, conversations, used_at, .. } = project;
    let role = match role {
        Role::Owner => "you own it",
        Role::Editor => "you may change it",
        Role::Viewer => "you may use it",
    };
    let about = format!(
        "{} · {} · {role} · last used on {}",
        counted(conversations, "conversation", "conversations"),
        counted(members, "member", "members"),
        day(used_at),
    );
    let around = around.map(|name| view! { <span class="cw-account-note">" in "<span dir="auto">{name}</span></span> });
    view! {
        <li class="cw-memory-fact">
            <p>{dot(color)} <a href=project_path(&id)><strong dir="auto">{name}</strong></a>{around}</p>
            <p class="cw-account-note">{about}</p>
            {moves}
        </li>
    }
}
