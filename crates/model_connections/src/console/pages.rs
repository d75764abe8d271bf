//! The pages of connections.

use super::form::{FormView, form};
use super::sent::{self, SentForm};
use super::state::{buttons, state};
use super::{EXPORT_PATH, PATH, api};
use crate::body::{ConnectionBody, OwnAgentBody};
use crate::current::Current;
use crate::provider::Provider;
use crate::service;
use crate::views::ConnectionDetail;
use axum::Router;
use axum::extract::{Form, Path, Query, RawForm, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use capability::Context;
use leptos::prelude::*;
use serde::Deserialize;
use web::admin::{Admin, PageError, START_PATH, UserNames, page};
use web::html::{error_message, facts, success_message, text};
use web::times::minute;
use web::{content_disposition, query_encoded, see_other, status_of};
use wire::{ErrorCode, UserError};

pub(super) fn routes() -> Router<Context> {
    Router::new()
        .route(PATH, post(add))
        .route("/admin/models/new", get(new))
        .route("/admin/models/{name}", get(show).post(change))
        .route("/admin/models/{name}/enabled", post(enable))
        .route("/admin/models/{name}/test", post(test))
        .route("/admin/models/{name}/list", post(list))
        .route("/admin/models/{name}/delete", post(delete))
        .route(EXPORT_PATH, get(export))
}

/// `GET /admin/models/new`
async fn new(admin: Admin, State(context): State<Context>) -> Result<Response, PageError> {
    new_page(&admin, &context, None, None).await
}

/// Renders the form for a new connection. The first one suggests an agent, so that there is one to ask.
async fn new_page(
    admin: &Admin,
    context: &Context,
    sent: Option<(String, ConnectionBody)>,
    refused: Option<UserError>,
) -> Result<Response, PageError> {
    let current = Current::load(context).await?;
    let status = refused.as_ref().map_or(StatusCode::OK, status_of);
    let (name, body) = sent.unwrap_or_else(|| {
        let suggested =
            OwnAgentBody { name: "Assistant".to_owned(), instructions: "You are a helpful assistant.".to_owned() };
        let is_first = !current.config.has_model_provider();
        (String::new(), ConnectionBody { agent: is_first.then_some(suggested), ..ConnectionBody::default() })
    });
    let content = match current.check_allowed() {
        Ok(()) => {
            let problem = refused.map(|error| error.message);
            form(&current, FormView { stored: None, name, body, listed: Vec::new(), problem })
        }
        Err(error) => error_message(Some(error.message)).into_any(),
    };
    let content = view! { <section class="cw-account-part" aria-label="New model">{content}</section> };
    Ok(page(admin, PATH, status, "Add a model", content))
}

/// `POST /admin/models`. Without a model, the provider is asked for its models, so that the next page suggests them.
async fn add(admin: Admin, State(context): State<Context>, RawForm(form): RawForm) -> Result<Response, PageError> {
    let SentForm { name, body, .. } = sent::parse(&form);
    let current = Current::load(&context).await?;
    let chosen = if name.is_empty() { free_name(&current, body.provider) } else { name.clone() };
    match service::add(&context, &admin, &chosen, &body).await {
        Ok(()) if body.models.is_empty() => {
            // What went wrong is kept, and shown on the page; if nobody could be asked, there is a button for it.
            drop(service::list(&context, &admin, &chosen).await);
            Ok(see_other(&format!("{}?done=added", path(&chosen)), None))
        }
        Ok(()) => Ok(see_other(&format!("{}?done=saved", path(&chosen)), None)),
        Err(error) => new_page(&admin, &context, Some((name, body.without_key())), Some(error)).await,
    }
}

/// Returns the name of a provider, with a number if there is a connection with it.
fn free_name(current: &Current, provider: Provider) -> String {
    let plain = provider.name().to_owned();
    let numbered = (2..).map(|number| format!("{plain}-{number}"));
    let is_free = |name: &String| current.find(name).is_err() && !current.section.catalog.has_connection(name);
    std::iter::once(plain.clone()).chain(numbered).find(is_free).unwrap_or(plain)
}

/// The query of the page: what was done.
#[derive(Deserialize)]
struct DoneQuery {
    done: Option<String>,
}

/// `GET /admin/models/{name}`
async fn show(
    admin: Admin,
    State(context): State<Context>,
    Path(name): Path<String>,
    Query(query): Query<DoneQuery>,
) -> Result<Response, PageError> {
    let done = match query.done.as_deref() {
        Some("saved") => Some("Saved. It is in effect from the next message on."),
        Some("added") => Some("Added. Now choose a model."),
        _ => None,
    };
    render(&admin, &context, &name, None, done).await
}

/// `POST /admin/models/{name}`
async fn change(
    admin: Admin,
    State(context): State<Context>,
    Path(name): Path<String>,
    RawForm(form): RawForm,
) -> Result<Response, PageError> {
    let SentForm { version, body, .. } = sent::parse(&form);
    let changed = match version {
        Some(version) => service::update(&context, &admin, &name, version, &body).await,
        None => Err(UserError::invalid("/version", "Send the version that your change is based on.")),
    };
    match changed {
        Ok(()) => Ok(see_other(&format!("{}?done=saved", path(&name)), None)),
        Err(error) if error.code == ErrorCode::NotFound => Err(error.into()),
        Err(error) => {
            let refused = Refused { body: Some(body), version, error };
            render(&admin, &context, &name, Some(refused), None).await
        }
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

/// The form of the test.
#[derive(Deserialize)]
struct TestForm {
    model: Option<String>,
}

/// `POST /admin/models/{name}/enabled`
async fn enable(
    admin: Admin,
    State(context): State<Context>,
    Path(name): Path<String>,
    Form(sent): Form<EnableForm>,
) -> Result<Response, PageError> {
    let done = service::set_enabled(&context, &admin, &name, sent.version, sent.enabled).await;
    after(&admin, &context, &name, done, path(&name)).await
}

/// `POST /admin/models/{name}/delete`
async fn delete(
    admin: Admin,
    State(context): State<Context>,
    Path(name): Path<String>,
    Form(sent): Form<VersionForm>,
) -> Result<Response, PageError> {
    let done = service::delete(&context, &admin, &name, Some(sent.version)).await;
    after(&admin, &context, &name, done, PATH.to_owned()).await
}

/// `POST /admin/models/{name}/test`
async fn test(
    admin: Admin,
    State(context): State<Context>,
    Path(name): Path<String>,
    Form(sent): Form<TestForm>,
) -> Result<Response, PageError> {
    let tested = service::test(&context, &admin, &name, sent.model.as_deref()).await;
    after(&admin, &context, &name, tested.map(drop), path(&name)).await
}

/// `POST /admin/models/{name}/list`
async fn list(admin: Admin, State(context): State<Context>, Path(name): Path<String>) -> Result<Response, PageError> {
    let listed = service::list(&context, &admin, &name).await;
    after(&admin, &context, &name, listed.map(drop), path(&name)).await
}

/// Redirects after a success, and shows the page of the connection with the error otherwise.
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

/// `GET /admin/models.yaml`
async fn export(admin: Admin, State(context): State<Context>) -> Result<Response, PageError> {
    let text = api::yaml(&context, &admin).await?;
    let headers = [
        (header::CONTENT_TYPE, "text/yaml; charset=utf-8".to_owned()),
        (header::CONTENT_DISPOSITION, content_disposition("attachment", "models.yaml")),
        (header::CACHE_CONTROL, "no-store".to_owned()),
    ];
    Ok((headers, text).into_response())
}

fn path(name: &str) -> String {
    format!("{PATH}/{}", query_encoded(name))
}

/// What was sent and refused.
struct Refused {
    body: Option<ConnectionBody>,
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
    let detail = current.detail(name)?;
    let users = [detail.created_by.as_str(), detail.changed_by.as_str()];
    let names = UserNames::load(&context.store, users.into_iter()).await?;
    let status = refused.as_ref().map_or(StatusCode::OK, |refused| status_of(&refused.error));
    let (body, version, problem) = match refused {
        Some(Refused { body, version, error }) => (body, version, Some(error.message)),
        None => (None, None, None),
    };
    // Whether a key is stored does not depend on what was sent.
    let body = body.map(|body| ConnectionBody { api_key: detail.connection.api_key.clone(), ..body });
    let shows = FormView {
        stored: Some((detail.name.clone(), version.unwrap_or(detail.version))),
        name: detail.name.clone(),
        body: body.unwrap_or_else(|| detail.connection.clone()),
        listed: detail.listed.as_ref().map(|list| list.models.clone()).unwrap_or_default(),
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
                {form(&current, shows)}
            </section>
        }
        .into_any(),
        // Without the form, only this says why something was refused.
        false => error_message(shows.problem).into_any(),
    };
    let title = detail.name.clone();
    let content = view! {
        {success_message(done)}
        {question(context, admin, &detail)}
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

/// Renders a link to the page of an agent that answers with the connection's models.
fn question(context: &Context, admin: &Admin, detail: &ConnectionDetail) -> Option<AnyView> {
    let mut agents = detail.agent_id.iter().chain(&detail.used_by);
    let page = agents.find_map(|id| context.current.page_for_agent(&admin.caller, id))?;
    let link = view! {
        <p class="cw-admin-links">
            <a class="cw-button cw-primary" href=format!("/{page}")>"Ask the first question"</a>
            <a class="cw-button" href=START_PATH>"First steps"</a>
        </p>
    };
    Some(link.into_any())
}

fn deletion(detail: &ConnectionDetail) -> AnyView {
    view! {
        <section class="cw-account-part" aria-labelledby="delete">
            <h2 id="delete">"Delete"</h2>
            <p class="cw-account-note">
                "Agents of the config answer with their own models again. Its own agent is gone with its page; conversations with it are kept until their users delete them."
            </p>
            <form class="cw-admin-acts" method="post" action=format!("{}/delete", path(&detail.name))>
                <input type="hidden" name="version" value=detail.version.to_string() />
                <button class="cw-button cw-danger">"Delete connection"</button>
            </form>
        </section>
    }
    .into_any()
}
