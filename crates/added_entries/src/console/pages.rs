//! The pages of entries.

use super::fields::FormState;
use crate::entry::Entry;
use crate::kind::{Entries, load};
use crate::service;
use axum::Router;
use axum::extract::{Form, Path, Query, RawForm, State};
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::{get, post};
use capability::Context;
use leptos::prelude::*;
use serde::Deserialize;
use serde_json::json;
use web::admin::{Admin, PageError, UserNames, page};
use web::html::{account_part, error_message, facts, success_message, text};
use web::times::minute;
use web::{download, query_encoded, see_other, status_of};
use wire::{ErrorCode, UserError};

/// The pages of a kind of entries. The path of each is below that of the list.
pub trait EntryPages: Entries {
    /// The path of the list.
    const PATH: &'static str;
    /// The title of the page of a new entry, and the name of its part.
    const NEW: (&'static str, &'static str);
    /// The notice of a page after an action, by the value of `done` in its query.
    const DONE: &'static [(&'static str, &'static str)];
    /// The explanation of deleting an entry, and the text of the button.
    const DELETE: (&'static str, &'static str);

    /// Parses the form of an entry.
    ///
    /// # Errors
    /// 422 for a field that cannot be read.
    fn parse(form: &[u8]) -> Result<SentEntry<Self::Body>, UserError>;

    /// Renders an entry. `form` has the body that was refused, if there is one.
    fn view(
        &self,
        context: &Context,
        admin: &Admin,
        entry: &Entry<Self::Definition>,
        form: FormState<Option<Self::Body>>,
    ) -> EntryView;

    /// Returns the added entries as YAML, as a part of a config.
    fn export(&self) -> String;
}

/// The contents of a submitted form.
pub struct SentEntry<B> {
    /// The name.
    pub name: String,
    /// The version that the change is based on.
    pub version: Option<i64>,
    /// The entry.
    pub body: B,
}

/// The contents of a rejected form, with the reason.
struct Refused<B> {
    /// The entry, if it could be read.
    body: Option<B>,
    /// The version that it is based on. The form keeps it, so that sending it again overwrites nothing.
    version: Option<i64>,
    error: UserError,
}

/// The parts of the page of an entry.
pub struct EntryView {
    /// The top of the page.
    pub top: Option<AnyView>,
    /// Its state.
    pub state: AnyView,
    /// The actions on it, beside the switch.
    pub actions: AnyView,
    /// The form.
    pub form: AnyView,
}

/// Returns the routes that all kinds have. Those that add an entry and show the form of a new one are the kind's own.
pub fn routes<P: EntryPages>() -> Router<Context> {
    let path = P::PATH;
    Router::new()
        .route(&format!("{path}/{{name}}"), get(show::<P>).post(change::<P>))
        .route(&format!("{path}/{{name}}/enabled"), post(enable::<P>))
        .route(&format!("{path}/{{name}}/delete"), post(delete::<P>))
        .route(&format!("{path}.yaml"), get(export::<P>))
}

/// Returns the path of the page of an entry.
pub fn entry_path<P: EntryPages>(name: &str) -> String {
    format!("{}/{}", P::PATH, query_encoded(name))
}

/// Renders the page of a new entry with its form, or why none can be added.
pub fn new_page<P: EntryPages>(
    admin: &Admin,
    current: &P,
    refused: Option<UserError>,
    form: impl FnOnce(Option<String>) -> AnyView,
) -> Response {
    let status = refused.as_ref().map_or(StatusCode::OK, status_of);
    let content = match current.check_allowed() {
        Ok(()) => form(refused.map(|error| error.message)),
        Err(error) => error_message(Some(error.message)).into_any(),
    };
    let (title, label) = P::NEW;
    let content = view! { <section class="cw-account-part" aria-label=label>{content}</section> };
    page(admin, P::PATH, status, title, content)
}

/// The query of the page: what was done.
#[derive(Deserialize)]
struct DoneQuery {
    done: Option<String>,
}

/// `GET …/{name}`
async fn show<P: EntryPages>(
    admin: Admin,
    State(context): State<Context>,
    Path(name): Path<String>,
    Query(query): Query<DoneQuery>,
) -> Result<Response, PageError> {
    let done = P::DONE.iter().find(|(what, _)| query.done.as_deref() == Some(*what));
    render::<P>(&admin, &context, &name, None, done.map(|(_, text)| *text)).await
}

/// `POST …/{name}`
async fn change<P: EntryPages>(
    admin: Admin,
    State(context): State<Context>,
    Path(name): Path<String>,
    RawForm(form): RawForm,
) -> Result<Response, PageError> {
    let (body, version, changed) = match P::parse(&form) {
        Ok(SentEntry { version: Some(version), body, .. }) => {
            let changed = service::update::<P>(&context, &admin, &name, version, &body).await;
            (Some(body), Some(version), changed)
        }
        Ok(SentEntry { body, .. }) => {
            let error = UserError::invalid("/version", "Send the version that your change is based on.");
            (Some(body), None, Err(error))
        }
        Err(error) => (None, None, Err(error)),
    };
    match changed {
        Ok(()) => Ok(see_other(&format!("{}?done=saved", entry_path::<P>(&name)), None)),
        Err(error) if error.code == ErrorCode::NotFound => Err(error.into()),
        Err(error) => render::<P>(&admin, &context, &name, Some(Refused { body, version, error }), None).await,
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

/// `POST …/{name}/enabled`
async fn enable<P: EntryPages>(
    admin: Admin,
    State(context): State<Context>,
    Path(name): Path<String>,
    Form(sent): Form<EnableForm>,
) -> Result<Response, PageError> {
    let done = service::set_enabled::<P>(&context, &admin, &name, sent.version, sent.enabled).await;
    after::<P>(&admin, &context, &name, done, entry_path::<P>(&name)).await
}

/// `POST …/{name}/delete`
async fn delete<P: EntryPages>(
    admin: Admin,
    State(context): State<Context>,
    Path(name): Path<String>,
    Form(sent): Form<VersionForm>,
) -> Result<Response, PageError> {
    let done = service::delete::<P>(&context, &admin, &name, Some(sent.version)).await;
    after::<P>(&admin, &context, &name, done, P::PATH.to_owned()).await
}

/// `GET ….yaml`
async fn export<P: EntryPages>(admin: Admin, State(context): State<Context>) -> Result<Response, PageError> {
    let text = yaml::<P>(&context, &admin).await?;
    let name = format!("{}.yaml", P::PATH.rsplit('/').next().unwrap_or_default());
    Ok(download("text/yaml; charset=utf-8", &name, text))
}

/// Returns the export, which is recorded in the audit log.
///
/// # Errors
/// The database is not available.
pub(super) async fn yaml<P: EntryPages>(context: &Context, admin: &Admin) -> Result<String, UserError> {
    let text = load::<P>(context).await?.export();
    let action = format!("{}s", P::KIND.action("export"));
    admin.record(&context.store, &action, "", json!({})).await?;
    Ok(text)
}

/// Redirects after a success, and shows the page of the entry with the error otherwise.
///
/// # Errors
/// 404 if there is no such entry.
pub async fn after<P: EntryPages>(
    admin: &Admin,
    context: &Context,
    name: &str,
    done: Result<(), UserError>,
    to: String,
) -> Result<Response, PageError> {
    match done {
        Ok(()) => Ok(see_other(&to, None)),
        Err(error) if error.code == ErrorCode::NotFound => Err(error.into()),
        Err(error) => {
            let refused = Refused { body: None, version: None, error };
            render::<P>(admin, context, name, Some(refused), None).await
        }
    }
}

async fn render<P: EntryPages>(
    admin: &Admin,
    context: &Context,
    name: &str,
    refused: Option<Refused<P::Body>>,
    done: Option<&'static str>,
) -> Result<Response, PageError> {
    let current: P = load(context).await?;
    let entry = current.stored().find(name)?;
    let users = [entry.created_by.as_str(), entry.changed_by.as_str()];
    let names = UserNames::load(&context.store, users.into_iter()).await?;
    let status = refused.as_ref().map_or(StatusCode::OK, |refused| status_of(&refused.error));
    let (body, version, problem) = match refused {
        Some(Refused { body, version, error }) => (body, version, Some(error.message)),
        None => (None, None, None),
    };
    let stored = Some((entry.name.clone(), version.unwrap_or(entry.version)));
    let form = FormState { stored, name: entry.name.clone(), body, problem: problem.clone() };
    let EntryView { top, state, actions, form } = current.view(context, admin, entry, form);
    let edit = if current.is_allowed() {
        account_part("edit", "Edit", form)
    } else {
        // Without the form, only this says why something was refused.
        error_message(problem).into_any()
    };
    let about = [
        ("Added by", names.view(&entry.created_by)),
        ("Added (UTC)", text(minute(entry.created_at))),
        ("Changed by", names.view(&entry.changed_by)),
        ("Changed (UTC)", text(minute(entry.changed_at))),
        ("Version", text(entry.version.to_string())),
    ];
    let state = view! {
        {state}
        {current.is_allowed().then_some(actions)}
    };
    let content = view! {
        {success_message(done)}
        {top}
        {account_part("state", "State", state)}
        {edit}
        {account_part("about", "About", facts(about))}
        {deletion::<P>(entry)}
    };
    Ok(page(admin, P::PATH, status, &entry.name, content))
}

/// Renders the button that switches an entry on or off.
pub fn switch_button<P: EntryPages>(entry: &Entry<P::Definition>) -> AnyView {
    let act = if entry.enabled { "Switch off" } else { "Switch on" };
    view! {
        <form method="post" action=format!("{}/enabled", entry_path::<P>(&entry.name))>
            <input type="hidden" name="version" value=entry.version.to_string() />
            <input type="hidden" name="enabled" value=(!entry.enabled).to_string() />
            <button class="cw-button">{act}</button>
        </form>
    }
    .into_any()
}

fn deletion<P: EntryPages>(entry: &Entry<P::Definition>) -> AnyView {
    let (note, label) = P::DELETE;
    let content = view! {
        <p class="cw-account-note">{note}</p>
        <form class="cw-admin-acts" method="post" action=format!("{}/delete", entry_path::<P>(&entry.name))>
            <input type="hidden" name="version" value=entry.version.to_string() />
            <button class="cw-button cw-danger">{label}</button>
        </form>
    };
    account_part("delete", "Delete", content)
}
