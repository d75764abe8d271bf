//! The pages of servers.

use super::form::{FormView, form};
use super::sent::{self, SentForm, without_secrets};
use super::state::{state, test_result};
use super::{EXPORT_PATH, PATH, SWITCH_PATH, TEST_PATH, api};
use crate::body::ServerBody;
use crate::current::Current;
use crate::service;
use crate::views::ServerDetail;
use axum::Router;
use axum::extract::{Form, Path, Query, RawForm, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use capability::Context;
use leptos::prelude::*;
use serde::Deserialize;
use web::admin::{Admin, PageError, UserNames, page};
use web::html::{error_message, facts, success_message, text};
use web::times::minute;
use web::{content_disposition, query_encoded, see_other, status_of};
use wire::{ErrorCode, UserError};

pub(super) fn routes() -> Router<Context> {
    Router::new()
        .route(PATH, post(add))
        .route("/admin/mcp-servers/new", get(new))
        .route("/admin/mcp-servers/{name}", get(show).post(change))
        .route("/admin/mcp-servers/{name}/enabled", post(enable))
        .route("/admin/mcp-servers/{name}/test", post(test_stored))
        .route("/admin/mcp-servers/{name}/delete", post(delete))
        .route(TEST_PATH, post(test))
        .route(&format!("{SWITCH_PATH}/{{server}}/{{to}}"), post(switch))
        .route(EXPORT_PATH, get(export))
}

/// `GET /admin/mcp-servers/new`
async fn new(admin: Admin, State(context): State<Context>) -> Result<Response, PageError> {
    new_page(&admin, &context, (String::new(), ServerBody::default()), None).await
}

async fn new_page(
    admin: &Admin,
    context: &Context,
    (name, body): (String, ServerBody),
    refused: Option<UserError>,
) -> Result<Response, PageError> {
    let current = Current::load(context).await?;
    let status = refused.as_ref().map_or(StatusCode::OK, status_of);
    let content = match current.check_allowed() {
        Ok(()) => {
            let problem = refused.map(|error| error.message);
            form(&current.section, FormView { stored: None, name, body, tools: Vec::new(), problem })
        }
        Err(error) => error_message(Some(error.message)).into_any(),
    };
    let content = view! { <section class="cw-account-part" aria-label="New server">{content}</section> };
    Ok(page(admin, PATH, status, "New MCP server", content))
}

/// `POST /admin/mcp-servers`
async fn add(admin: Admin, State(context): State<Context>, RawForm(form): RawForm) -> Result<Response, PageError> {
    let SentForm { name, body, .. } = match sent::parse(&form) {
        Ok(sent) => sent,
        Err(error) => {
            return new_page(&admin, &context, (String::new(), ServerBody::default()), Some(error)).await;
        }
    };
    match service::add(&context, &admin, &name, &body).await {
        Ok(()) => Ok(see_other(&format!("{}?done=saved", path(&name)), None)),
        Err(error) => new_page(&admin, &context, (name, without_secrets(body)), Some(error)).await,
    }
}

/// The query of the page: what was done.
#[derive(Deserialize)]
struct DoneQuery {
    done: Option<String>,
}

/// `GET /admin/mcp-servers/{name}`
async fn show(
    admin: Admin,
    State(context): State<Context>,
    Path(name): Path<String>,
    Query(query): Query<DoneQuery>,
) -> Result<Response, PageError> {
    let done = match query.done.as_deref() {
        Some("saved") => Some("Saved. It is in effect from the next message on."),
        Some("testing") => Some("The test takes longer. Load this page again to see what it has found."),
        _ => None,
    };
    render(&admin, &context, &name, None, done).await
}

/// `POST /admin/mcp-servers/{name}`
async fn change(
    admin: Admin,
    State(context): State<Context>,
    Path(name): Path<String>,
    RawForm(form): RawForm,
) -> Result<Response, PageError> {
    let parsed = sent::parse(&form);
    let sent_version = parsed.as_ref().ok().and_then(|sent| sent.version);
    let (body, changed) = match parsed {
        Ok(SentForm { version: Some(version), body, .. }) => {
            let changed = match check_choice(&body) {
                Ok(()) => service::update(&context, &admin, &name, version, &body).await,
                Err(error) => Err(error),
            };
            (Some(body), changed)
        }
        Ok(SentForm { body, .. }) => {
            let error = UserError::invalid("/version", "Send the version that your change is based on.");
            (Some(body), Err(error))
        }
        Err(error) => (None, Err(error)),
    };
    match changed {
        Ok(()) => Ok(see_other(&format!("{}?done=saved", path(&name)), None)),
        Err(error) if error.code == ErrorCode::NotFound => Err(error.into()),
        Err(error) => {
            let refused = Refused { body: body.map(without_secrets), version: sent_version, error };
            render(&admin, &context, &name, Some(refused), None).await
        }
    }
}

/// Refuses a form in which the choice of tools was removed, so that not all tools are offered by mistake.
fn check_choice(body: &ServerBody) -> Result<(), UserError> {
    match body.allow.as_ref().is_some_and(Vec::is_empty) {
        true => Err(UserError::invalid("/allow", "Choose at least one tool, or enter `*`.")),
        false => Ok(()),
    }
}

/// The form of a button that is about a version.
#[derive(Deserialize)]
struct VersionForm {
    version: i64,
}

/// The form of the switch.
#[derive(Deserialize)]
struct EnableForm {
    version: i64,
    enabled: bool,
}

/// `POST /admin/mcp-servers/{name}/enabled`
async fn enable(
    admin: Admin,
    State(context): State<Context>,
    Path(name): Path<String>,
    Form(sent): Form<EnableForm>,
) -> Result<Response, PageError> {
    let done = service::set_enabled(&context, &admin, &name, sent.version, sent.enabled).await;
    after(&admin, &context, &name, done, path(&name)).await
}

/// `POST /admin/mcp-servers/{name}/delete`
async fn delete(
    admin: Admin,
    State(context): State<Context>,
    Path(name): Path<String>,
    Form(sent): Form<VersionForm>,
) -> Result<Response, PageError> {
    let done = service::delete(&context, &admin, &name, Some(sent.version)).await;
    after(&admin, &context, &name, done, PATH.to_owned()).await
}

/// `POST /admin/mcp-servers/{name}/test`
async fn test_stored(
    admin: Admin,
    State(context): State<Context>,
    Path(name): Path<String>,
) -> Result<Response, PageError> {
    let tested = service::test_stored(&context, &admin, &name).await;
    let done = if matches!(tested, Ok(None)) { "?done=testing" } else { "" };
    after(&admin, &context, &name, tested.map(drop), format!("{}{done}", path(&name))).await
}

/// Redirects after a success, and shows the page of the server with the error otherwise.
async fn after(
    admin: &Admin,
    context: &Context,
    name: &str,
    done: Result<(), UserError>,
    to: String,
) -> Result<Response, PageError> {
    match done {
        Ok(()) => Ok(see_other(&to, None)),
        Err(error) if error.code == ErrorCode::NotFound => Err(error.into()),
        Err(error) => render(admin, context, name, Some(Refused { body: None, version: None, error }), None).await,
    }
}

/// `POST /admin/mcp-config-servers/{server}/on` and `…/off`
async fn switch(
    admin: Admin,
    State(context): State<Context>,
    Path((server, to)): Path<(String, String)>,
) -> Result<Response, PageError> {
    if !["on", "off"].contains(&to.as_str()) {
        return Err(UserError::not_found().into());
    }
    service::switch(&context, &admin, &server, to == "on").await?;
    Ok(see_other(PATH, None))
}

/// `POST /admin/mcp-server-tests`
async fn test(admin: Admin, State(context): State<Context>, RawForm(form): RawForm) -> Result<Response, PageError> {
    let tested = match sent::parse(&form) {
        Ok(SentForm { name, body, .. }) => service::test(&context, &admin, &name, &body).await,
        Err(error) => Err(error),
    };
    let (status, content) = match tested {
        Ok(found) => (StatusCode::OK, test_result(&found)),
        Err(error) => (status_of(&error), error_message(Some(error.message)).into_any()),
    };
    let content = view! {
        <section class="cw-account-part" aria-label="Result">
            {content}
            <p class="cw-account-note">"Nothing was saved. Close this tab to go back to the form."</p>
        </section>
    };
    Ok(page(&admin, PATH, status, "Test of an MCP server", content))
}

/// `GET /admin/mcp-servers.yaml`
async fn export(admin: Admin, State(context): State<Context>) -> Result<Response, PageError> {
    let text = api::yaml(&context, &admin).await?;
    let headers = [
        (header::CONTENT_TYPE, "text/yaml; charset=utf-8".to_owned()),
        (header::CONTENT_DISPOSITION, content_disposition("attachment", "mcp-servers.yaml")),
        (header::CACHE_CONTROL, "no-store".to_owned()),
    ];
    Ok((headers, text).into_response())
}

fn path(name: &str) -> String {
    format!("{PATH}/{}", query_encoded(name))
}

/// What was sent and refused.
struct Refused {
    /// The server, without secrets.
    body: Option<ServerBody>,
    /// The version that it is based on. The form keeps it, so that sending it again overwrites nothing.
    version: Option<i64>,
    error: UserError,
}

async fn render(
    admin: &Admin,
    context: &Context,
    name: &str,
    refused: Option<Refused>,
    done: Option<&'static str>,
) -> Result<Response, PageError> {
    let current = Current::load(context).await?;
    let detail = current.detail(context, name)?;
    let users = [detail.created_by.as_str(), detail.changed_by.as_str()];
    let names = UserNames::load(&context.store, users.into_iter()).await?;
    let status = refused.as_ref().map_or(StatusCode::OK, |refused| status_of(&refused.error));
    let (body, version, problem) = match refused {
        Some(Refused { body, version, error }) => (body, version, Some(error.message)),
        None => (None, None, None),
    };
    let shows = FormView {
        stored: Some((detail.name.clone(), version.unwrap_or(detail.version))),
        name: detail.name.clone(),
        body: body.unwrap_or_else(|| detail.server.clone()),
        tools: known_tools(&detail),
        problem,
    };
    let about = [
        ("Added by", names.view(&detail.created_by)),
        ("Added (UTC)", text(minute(detail.created_at))),
        ("Changed by", names.view(&detail.changed_by)),
        ("Changed (UTC)", text(minute(detail.changed_at))),
        ("Version", text(detail.version.to_string())),
    ];
    let is_allowed = current.section.at_run_time;
    let edit = match is_allowed {
        true => view! {
            <section class="cw-account-part" aria-labelledby="edit">
                <h2 id="edit">"Edit"</h2>
                {form(&current.section, shows)}
            </section>
        }
        .into_any(),
        // Without the form, only this says why something was refused.
        false => error_message(shows.problem).into_any(),
    };
    let title = detail.name.clone();
    let content = view! {
        {success_message(done)}
        <section class="cw-account-part" aria-labelledby="state">
            <h2 id="state">"State"</h2>
            {state(&detail)}
            {is_allowed.then(|| buttons(&detail))}
        </section>
        {edit}
        <section class="cw-account-part" aria-labelledby="about">
            <h2 id="about">"About"</h2>
            {facts(about)}
        </section>
        {deletion(&detail)}
    };
    Ok(page(admin, PATH, status, &title, content))
}

/// Returns the tools that are known of a server.
fn known_tools(detail: &ServerDetail) -> Vec<String> {
    let used = detail.status.iter().flat_map(|status| &status.tools);
    let found = detail.tested.iter().flat_map(|test| &test.tools);
    let mut tools: Vec<_> = used.chain(found).cloned().collect();
    tools.sort();
    tools.dedup();
    tools
}

fn buttons(detail: &ServerDetail) -> AnyView {
    let path = path(&detail.name);
    let act = if detail.server.enabled { "Switch off" } else { "Switch on" };
    view! {
        <div class="cw-admin-acts">
            <form method="post" action=format!("{path}/test")>
                <button class="cw-button">"Test"</button>
            </form>
            <form method="post" action=format!("{path}/enabled")>
                <input type="hidden" name="version" value=detail.version.to_string() />
                <input type="hidden" name="enabled" value=(!detail.server.enabled).to_string() />
                <button class="cw-button">{act}</button>
            </form>
        </div>
    }
    .into_any()
}

fn deletion(detail: &ServerDetail) -> AnyView {
    view! {
        <section class="cw-account-part" aria-labelledby="delete">
            <h2 id="delete">"Delete"</h2>
            <p class="cw-account-note">"Agents no longer have its tools. Answers that are being written still do until they end."</p>
            <form class="cw-admin-acts" method="post" action=format!("{}/delete", path(&detail.name))>
                <input type="hidden" name="version" value=detail.version.to_string() />
                <button class="cw-button cw-danger">"Delete server"</button>
            </form>
        </section>
    }
    .into_any()
}
