//! The pages `/account/projects`, on which users see and change their projects. They need no
//! script.

mod detail;
mod files;
mod form;
mod list;
mod order;
mod people;

use crate::project::Color;
use crate::service::Service;
use axum::Router;
use axum::http::StatusCode;
use axum::middleware::from_fn_with_state;
use axum::response::Response;
use axum::routing::{get, post};
use leptos::prelude::*;
use web::html::{account_content, page};
use web::{query_encoded, require_account};
use wire::{ErrorCode, UserError};

/// The page with the list.
pub(crate) const PATH: &str = "/account/projects";
/// Its title.
pub(crate) const TITLE: &str = "Projects";

/// Returns the path of the page to which the list of conversations links from a folder.
pub(crate) fn folder_path(folder_id: &str) -> String {
    format!("{PATH}/folder/{}", query_encoded(folder_id))
}

fn project_path(project_id: &str) -> String {
    format!("{PATH}/{}", query_encoded(project_id))
}

/// Returns the pages and the routes of their forms.
pub(crate) fn routes() -> Router<Service> {
    Router::new()
        .route(PATH, get(list::show).post(list::create))
        .route(order::ORDER_PATH, post(order::reorder))
        .route("/account/projects/folder/{id}", get(list::show_folder))
        .route("/account/projects/{id}", get(detail::show).post(detail::save))
        .route("/account/projects/{id}/begin", post(detail::begin))
        .route("/account/projects/{id}/delete", post(detail::delete))
        .route("/account/projects/{id}/members", post(people::add))
        .route("/account/projects/{id}/members/{member}", post(people::change))
        .route("/account/projects/{id}/members/{member}/remove", post(people::remove))
        .route("/account/projects/{id}/leave", post(people::leave))
        .route("/account/projects/{id}/files/{document}/delete", post(files::delete))
        .layer(from_fn_with_state(PATH, require_account))
}

/// Returns the route of the form with files.
pub(crate) fn upload_routes() -> Router<Service> {
    Router::new()
        .route("/account/projects/{id}/files", post(files::add))
        .layer(from_fn_with_state(PATH, require_account))
}

/// Returns whether a refused form is shown again, with its error.
fn is_shown(error: &UserError) -> bool {
    matches!(error.code, ErrorCode::Invalid | ErrorCode::Conflict | ErrorCode::Forbidden)
}

/// Renders the colour of a project, which its name stands beside.
fn dot(color: Color) -> impl IntoView {
    view! { <span class="cw-folder-dot" data-color=color.name() aria-hidden="true"></span> }
}

/// Returns a number with its noun.
fn counted(count: u32, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// Renders a page whose heading may have the colour of a project.
fn account_page(
    status: StatusCode,
    (title, color): (String, Option<Color>),
    back: (&'static str, &'static str),
    content: impl IntoView + 'static,
) -> Response {
    let heading = view! { {color.map(dot)} {title.clone()} };
    page(status, &title, account_content(heading, back, content))
}
