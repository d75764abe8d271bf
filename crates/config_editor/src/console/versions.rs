//! The pages with the published versions.

use super::access::Editor;
use super::files::rejected_view;
use super::views::{button, diff_view, lines_view};
use super::{DRAFT_PATH, FILES_PATH, VERSIONS_PATH};
use crate::diff::diff;
use crate::service::{self, Current};
use crate::store::{self, MAX_VERSIONS};
use axum::extract::{Form, Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use capability::Context;
use leptos::prelude::*;
use serde::Deserialize;
use web::admin::{Admin, PageError, UserNames, from_store_error, page};
use web::html::Heading::Text;
use web::html::{account_part, error_message, facts, link, table, text};
use web::times::minute;
use web::{see_other, status_of};
use wire::{ErrorCode, UserError};

/// The name of version 0.
const FILES_ALONE: &str = "The files alone";

/// `GET /admin/config/versions`
pub(super) async fn list(Editor(admin): Editor, State(context): State<Context>) -> Result<Response, PageError> {
    let versions = store::list(&context.store).await?;
    let names = UserNames::load(&context.store, versions.iter().map(|version| version.published_by.as_str())).await?;
    let config = context.current.config();
    let state =
        config.section::<crate::section::ConfigEditor>().map(|section| section.state.clone()).unwrap_or_default();
    let columns = [Text("Version"), Text("Published by"), Text("Published (UTC)"), Text("What"), Text("State")];
    let lines = versions.iter().map(|item| {
        let what = match item.restored {
            None => text("a draft"),
            Some(0) => text("the files alone"),
            Some(restored) => text(format!("version {restored} again")),
        };
        let in_use = if state.used == Some(item.version) { "in use" } else { "" };
        [
            link(path(item.version), item.version.to_string()),
            names.view(&item.published_by),
            text(minute(item.published_at)),
            what,
            text(in_use),
        ]
    });
    let content = view! {
        {rejected_view(&state)}
        <section class="cw-account-part" aria-label="Published versions">
            {table(columns, lines, "Nothing was published. The files alone are in use.")}
            <p class="cw-account-note">{format!("The newest {MAX_VERSIONS} versions are kept.")}</p>
        </section>
        <p class="cw-admin-links">
            <a href=path(0)>{FILES_ALONE}</a>
            <a href=DRAFT_PATH>"Change the config"</a>
            <a href=FILES_PATH>"The files of the config"</a>
        </p>
    };
    Ok(page(&admin, FILES_PATH, StatusCode::OK, "Published versions", content))
}

/// `GET /admin/config/versions/{version}`
pub(super) async fn show(
    Editor(admin): Editor,
    State(context): State<Context>,
    Path(version): Path<i64>,
) -> Result<Response, PageError> {
    render(&admin, &context, version, None).await
}

/// The form that publishes an earlier version again.
#[derive(Deserialize)]
pub(super) struct RollBackForm {
    /// The version that it replaces.
    newest: i64,
}

/// `POST /admin/config/versions/{version}`
pub(super) async fn roll_back(
    Editor(admin): Editor,
    State(context): State<Context>,
    Path(version): Path<i64>,
    Form(form): Form<RollBackForm>,
) -> Result<Response, PageError> {
    match service::roll_back(&context, &admin, version, form.newest).await {
        Ok(_) => Ok(see_other(VERSIONS_PATH, None)),
        Err(error) if error.code == ErrorCode::NotFound => Err(error.into()),
        Err(error) => render(&admin, &context, version, Some(error)).await,
    }
}

async fn render(
    admin: &Admin,
    context: &Context,
    version: i64,
    refused: Option<UserError>,
) -> Result<Response, PageError> {
    let current = Current::load(context).await?;
    let (title, content, about) = match version {
        0 => (FILES_ALONE.to_owned(), String::new(), None),
        version => {
            let stored = store::find(&context.store, version).await.map_err(from_store_error)?;
            let stored = stored.ok_or_else(UserError::not_found)?;
            let names = UserNames::load(&context.store, std::iter::once(stored.published_by.as_str())).await?;
            let about = [
                ("Published by", names.view(&stored.published_by)),
                ("Published (UTC)", text(minute(stored.published_at))),
            ];
            (format!("Version {version}"), stored.text, Some(facts(about)))
        }
    };
    let lines = current.lines(context, &content).await?;
    let difference = diff(current.lines(context, &current.published).await?, lines.clone()).await?;
    let is_newest = version == current.newest;
    let status = refused.as_ref().map_or(StatusCode::OK, status_of);
    let back = (!is_newest).then(|| {
        view! {
            <section class="cw-account-part" aria-labelledby="back">
                <h2 id="back">"Go back"</h2>
                <p class="cw-account-note">"This becomes a new version. It is checked with the files as they are now."</p>
                {button(path(version), "Publish this again", "cw-button", ("newest", current.newest))}
            </section>
        }
    });
    let content = view! {
        {error_message(refused.map(|error| error.message))}
        {about.map(|about| view! { <section class="cw-account-part" aria-label="About">{about}</section> })}
        {account_part("difference", "Difference from what is published", diff_view(difference, "difference"))}
        {(!lines.is_empty()).then(|| view! {
            <section class="cw-account-part" aria-labelledby="text">
                <h2 id="text">"Changes"</h2>
                {lines_view("Changes", &lines, &[])}
                <p class="cw-admin-links"><a href=format!("{}/changes.yaml", path(version))>"Download as YAML"</a></p>
            </section>
        })}
        {back}
        <p class="cw-admin-links">{link(VERSIONS_PATH, "Published versions")}</p>
    };
    Ok(page(admin, FILES_PATH, status, &title, content))
}

fn path(version: i64) -> String {
    format!("{VERSIONS_PATH}/{version}")
}
