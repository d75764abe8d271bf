//! The pages of servers.

use super::form::form;
use super::sent::{self, without_secrets};
use super::state::{state, test_result};
use super::{PATH, SWITCH_PATH, TEST_PATH};
use crate::body::ServerBody;
use crate::current::Current;
use crate::service;
use crate::store::StoredServer;
use crate::views::ServerDetail;
use added_entries::console::{
    EntryPages, EntryView, FormState, SentEntry, after, entry_path, new_page, routes as shared_routes, switch_button,
};
use added_entries::load;
use axum::Router;
use axum::extract::{Path, RawForm, State};
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::{get, post};
use capability::Context;
use leptos::prelude::*;
use web::admin::{Admin, PageError, page};
use web::html::error_message;
use web::{see_other, status_of};
use wire::UserError;

pub(super) fn routes() -> Router<Context> {
    shared_routes::<Current>()
        .route(PATH, post(add))
        .route("/admin/mcp-servers/new", get(new))
        .route("/admin/mcp-servers/{name}/test", post(test_stored))
        .route(TEST_PATH, post(test))
        .route(&format!("{SWITCH_PATH}/{{server}}/{{to}}"), post(switch))
}

impl EntryPages for Current {
    const PATH: &'static str = PATH;
    const NEW: (&'static str, &'static str) = ("New MCP server", "New server");
    const DONE: &'static [(&'static str, &'static str)] = &[
        ("saved", "Saved. It is in effect from the next message on."),
        ("testing", "The test takes longer. Load this page again to see what it has found."),
    ];
    const DELETE: (&'static str, &'static str) =
        ("Agents no longer have its tools. Answers that are being written still do until they end.", "Delete server");

    fn parse(form: &[u8]) -> Result<SentEntry<ServerBody>, UserError> {
        sent::parse(form)
    }

    fn view(
        &self,
        context: &Context,
        _: &Admin,
        server: &StoredServer,
        sent: FormState<Option<ServerBody>>,
    ) -> EntryView {
        let detail = self.detail(context, server);
        let FormState { stored, name, body, problem } = sent;
        let body = body.map_or_else(|| detail.server.clone(), without_secrets);
        let shows = FormState { stored, name, body, problem };
        let test = format!("{}/test", entry_path::<Self>(&server.name));
        let actions = view! {
            <div class="cw-admin-acts">
                <form method="post" action=test>
                    <button class="cw-button">"Test"</button>
                </form>
                {switch_button::<Self>(server)}
            </div>
        };
        EntryView {
            top: None,
            state: state(&detail),
            actions: actions.into_any(),
            form: form(&self.section, shows, known_tools(&detail)),
        }
    }

    fn export(&self) -> String {
        self.yaml()
    }
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

/// `GET /admin/mcp-servers/new`
async fn new(admin: Admin, State(context): State<Context>) -> Result<Response, PageError> {
    render_new(&admin, &context, (String::new(), ServerBody::default()), None).await
}

/// `POST /admin/mcp-servers`
async fn add(admin: Admin, State(context): State<Context>, RawForm(form): RawForm) -> Result<Response, PageError> {
    let SentEntry { name, body, .. } = match sent::parse(&form) {
        Ok(sent) => sent,
        Err(error) => {
            return render_new(&admin, &context, (String::new(), ServerBody::default()), Some(error)).await;
        }
    };
    match added_entries::add::<Current>(&context, &admin, &name, &body).await {
        Ok(()) => Ok(see_other(&format!("{}?done=saved", entry_path::<Current>(&name)), None)),
        Err(error) => render_new(&admin, &context, (name, without_secrets(body)), Some(error)).await,
    }
}

async fn render_new(
    admin: &Admin,
    context: &Context,
    (name, body): (String, ServerBody),
    refused: Option<UserError>,
) -> Result<Response, PageError> {
    let current: Current = load(context).await?;
    let shown = |problem| form(&current.section, FormState { stored: None, name, body, problem }, Vec::new());
    Ok(new_page(admin, &current, refused, shown))
}

/// `POST /admin/mcp-servers/{name}/test`
async fn test_stored(
    admin: Admin,
    State(context): State<Context>,
    Path(name): Path<String>,
) -> Result<Response, PageError> {
    let tested = service::test_stored(&context, &admin, &name).await;
    let done = if matches!(tested, Ok(None)) { "?done=testing" } else { "" };
    let to = format!("{}{done}", entry_path::<Current>(&name));
    after::<Current>(&admin, &context, &name, tested.map(drop), to).await
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
        Ok(SentEntry { name, body, .. }) => service::test(&context, &admin, &name, &body).await,
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
