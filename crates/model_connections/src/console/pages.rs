//! The pages of connections.

use super::PATH;
use super::form::form;
use super::sent;
use super::state::{buttons, state};
use crate::body::{ConnectionBody, OwnAgentBody};
use crate::current::Current;
use crate::provider::Provider;
use crate::service;
use crate::store::StoredConnection;
use crate::views::ConnectionDetail;
use added_entries::console::{
    EntryPages, EntryView, FormState, SentEntry, after, entry_path, new_page, routes as shared_routes,
};
use added_entries::export::first_free;
use added_entries::load;
use axum::Router;
use axum::extract::{Form, Path, RawForm, State};
use axum::response::Response;
use axum::routing::{get, post};
use capability::Context;
use leptos::prelude::*;
use serde::Deserialize;
use web::admin::{Admin, PageError, START_PATH};
use web::see_other;
use wire::UserError;

pub(super) fn routes() -> Router<Context> {
    shared_routes::<Current>()
        .route(PATH, post(add))
        .route("/admin/models/new", get(new))
        .route("/admin/models/{name}/test", post(test))
        .route("/admin/models/{name}/list", post(list))
}

impl EntryPages for Current {
    const PATH: &'static str = PATH;
    const NEW: (&'static str, &'static str) = ("Add a model", "New model");
    const DONE: &'static [(&'static str, &'static str)] =
        &[("saved", "Saved. It is in effect from the next message on."), ("added", "Added. Now choose a model.")];
    const DELETE: (&'static str, &'static str) = (
        "Agents of the config answer with their own models again. Its own agent is gone with its page; conversations with it are kept until their users delete them.",
        "Delete connection",
    );

    fn parse(form: &[u8]) -> Result<SentEntry<ConnectionBody>, UserError> {
        Ok(sent::parse(form))
    }

    fn view(
        &self,
        context: &Context,
        admin: &Admin,
        connection: &StoredConnection,
        sent: FormState<Option<ConnectionBody>>,
    ) -> EntryView {
        let detail = self.detail(connection);
        let FormState { stored, name, body, problem } = sent;
        // Whether a key is stored does not depend on what was sent.
        let body = body.map(|body| ConnectionBody { api_key: detail.connection.api_key.clone(), ..body });
        let shows = FormState { stored, name, body: body.unwrap_or_else(|| detail.connection.clone()), problem };
        let listed = detail.listed.as_ref().map(|list| list.models.clone()).unwrap_or_default();
        EntryView {
            top: question(context, admin, &detail),
            state: state(&detail),
            actions: buttons(connection, &detail),
            form: form(self, shows, listed),
        }
    }

    fn export(&self) -> String {
        self.yaml()
    }
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

/// `GET /admin/models/new`
async fn new(admin: Admin, State(context): State<Context>) -> Result<Response, PageError> {
    render_new(&admin, &context, None, None).await
}

/// Renders the form for a new connection. The first one suggests an agent, so that there is one to ask.
async fn render_new(
    admin: &Admin,
    context: &Context,
    sent: Option<(String, ConnectionBody)>,
    refused: Option<UserError>,
) -> Result<Response, PageError> {
    let current: Current = load(context).await?;
    let (name, body) = sent.unwrap_or_else(|| {
        let suggested =
            OwnAgentBody { name: "Assistant".to_owned(), instructions: "You are a helpful assistant.".to_owned() };
        let is_first = !current.config.has_model_provider();
        (String::new(), ConnectionBody { agent: is_first.then_some(suggested), ..ConnectionBody::default() })
    });
    let shown = |problem| form(&current, FormState { stored: None, name, body, problem }, Vec::new());
    Ok(new_page(admin, &current, refused, shown))
}

/// `POST /admin/models`. Without a model, the provider is asked for its models, so that the next page suggests them.
async fn add(admin: Admin, State(context): State<Context>, RawForm(form): RawForm) -> Result<Response, PageError> {
    let SentEntry { name, body, .. } = sent::parse(&form);
    let current: Current = load(&context).await?;
    let chosen = if name.is_empty() { free_name(&current, body.provider) } else { name.clone() };
    let path = entry_path::<Current>(&chosen);
    match added_entries::add::<Current>(&context, &admin, &chosen, &body).await {
        Ok(()) if body.models.is_empty() => {
            // An error is stored, and shown on the page; if the provider could not be reached, the page has a button to
            // retry.
            drop(service::list(&context, &admin, &chosen).await);
            Ok(see_other(&format!("{path}?done=added"), None))
        }
        Ok(()) => Ok(see_other(&format!("{path}?done=saved"), None)),
        Err(error) => render_new(&admin, &context, Some((name, body.without_key())), Some(error)).await,
    }
}

/// Returns the name of a provider, with a number if there is a connection with it.
fn free_name(current: &Current, provider: Provider) -> String {
    let is_free = |name: &str| current.stored.find(name).is_err() && !current.section.catalog.has_connection(name);
    first_free(provider.name().to_owned(), '-', is_free)
}

/// The form of the test.
#[derive(Deserialize)]
struct TestForm {
    model: Option<String>,
}

/// `POST /admin/models/{name}/test`
async fn test(
    admin: Admin,
    State(context): State<Context>,
    Path(name): Path<String>,
    Form(sent): Form<TestForm>,
) -> Result<Response, PageError> {
    let tested = service::test(&context, &admin, &name, sent.model.as_deref()).await;
    after::<Current>(&admin, &context, &name, tested.map(drop), entry_path::<Current>(&name)).await
}

/// `POST /admin/models/{name}/list`
async fn list(admin: Admin, State(context): State<Context>, Path(name): Path<String>) -> Result<Response, PageError> {
    let listed = service::list(&context, &admin, &name).await;
    after::<Current>(&admin, &context, &name, listed.map(drop), entry_path::<Current>(&name)).await
}
