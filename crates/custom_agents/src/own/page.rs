//! The pages `/account/agents`, on which users make, try, share and delete agents of their own. They need
//! no script.

use super::page_views::{agent_form, agents_view, sharing_view, versions_view};
use super::service;
use super::store::AgentSharing;
use super::views::{OwnAgentBody, OwnAgentDetail};
use axum::extract::{Path, Query, RawForm, State};
use axum::http::StatusCode;
use axum::middleware::from_fn_with_state;
use axum::response::Response;
use axum::routing::{get, post};
use axum::{Extension, Router};
use capability::Context;
use chat::Caller;
use leptos::prelude::*;
use serde::Deserialize;
use web::html::{account_page, account_part, error_message, page_if_found, success_message};
use web::{HttpError, SentFields, query_encoded, require_account, see_other, signed_in, status_of};
use wire::{ErrorCode, UserError};

/// The page with the list.
pub(crate) const PATH: &str = "/account/agents";

/// Returns the pages and the routes of their forms.
pub(super) fn routes() -> Router<Context> {
    Router::new()
        .route(PATH, get(show_all).post(add))
        .route("/account/agents/new", get(new))
        .route("/account/agents/{id}", get(show).post(change))
        .route("/account/agents/{id}/sharing", post(share))
        .route("/account/agents/{id}/versions/{version}/restore", post(restore))
        .route("/account/agents/{id}/delete", get(confirm).post(delete))
        .layer(from_fn_with_state(PATH, require_account))
}

/// `GET /account/agents`
async fn show_all(State(state): State<Context>, Extension(caller): Extension<Caller>) -> Result<Response, HttpError> {
    let agents = service::list(&state, &caller).await?;
    let may_make = !agents.choices.is_empty();
    let one_base = agents.choices.len() == 1;
    let links = agents.choices.iter().map(|base| {
        let path = format!("/account/agents/new?from={}", query_encoded(&base.from));
        let label = if one_base { "New agent".to_owned() } else { format!("New agent based on {}", base.from) };
        view! { <a class="cw-button" href=path>{label}</a> }
    });
    let new = may_make.then(|| view! { <div class="cw-memory-actions">{links.collect_view()}</div> });
    let cannot = (!may_make).then(
        || view! { <p class="cw-account-note">"You may use agents that others share with you, but not create any."</p> },
    );
    let content = view! {
        <p class="cw-account-note">
            "An agent of your own has your instructions, and those of the tools, documents and skills here that you choose for it. Only you can use it until you share it."
        </p>
        {cannot}
        {new}
        {agents_view("mine", "My agents", "You have created no agents yet.", &agents.own, true)}
        {agents_view("shared", "Shared with me", "Nobody has shared an agent with you.", &agents.shared, false)}
    };
    Ok(account_page(StatusCode::OK, "Agents", ("/", "Back"), content))
}

/// The query of the form for a new agent: its base agent.
#[derive(Deserialize)]
struct BaseQuery {
    #[serde(default)]
    from: String,
}

/// `GET /account/agents/new?from=ID`
async fn new(
    State(state): State<Context>,
    Extension(caller): Extension<Caller>,
    Query(BaseQuery { from }): Query<BaseQuery>,
) -> Result<Response, HttpError> {
    signed_in(&caller)?;
    page_if_found(new_page(&state, &caller, OwnAgentBody { from, ..OwnAgentBody::default() }, None))
}

fn new_page(
    state: &Context,
    caller: &Caller,
    sent: OwnAgentBody,
    refused: Option<UserError>,
) -> Result<Response, HttpError> {
    let choices = service::choices(state, caller);
    let base = choices.into_iter().find(|base| base.from == sent.from).ok_or_else(UserError::not_found)?;
    let status = refused.as_ref().map_or(StatusCode::OK, status_of);
    let content = view! {
        <section class="cw-account-part" aria-label="New agent">
            {error_message(refused.map(|error| error.message))}
            {agent_form(PATH.to_owned(), sent, &base, "Create agent")}
        </section>
    };
    Ok(account_page(status, "New agent", (PATH, "All agents"), content))
}

/// `POST /account/agents`
async fn add(
    State(state): State<Context>,
    Extension(caller): Extension<Caller>,
    RawForm(form): RawForm,
) -> Result<Response, HttpError> {
    let sent = parse_form(&form);
    match service::save(&state, &caller, None, sent.clone()).await {
        Ok(id) => Ok(see_other(&format!("{PATH}/{id}?done=1"), None)),
        Err(error) if error.code == ErrorCode::Invalid => new_page(&state, &caller, sent, Some(error)),
        Err(error) => Err(error.into()),
    }
}

/// The query of an agent's page: set after a change.
#[derive(Deserialize)]
struct DoneQuery {
    done: Option<String>,
}

/// `GET /account/agents/{id}`
async fn show(
    State(state): State<Context>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    Query(query): Query<DoneQuery>,
) -> Result<Response, HttpError> {
    let found = service::detail(&state, &caller, &id).await.map_err(HttpError::from);
    page_if_found(found.and_then(|detail| agent_page(&state, &caller, detail, None, query.done.is_some())))
}

/// `POST /account/agents/{id}`
async fn change(
    State(state): State<Context>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    RawForm(form): RawForm,
) -> Result<Response, HttpError> {
    let sent = parse_form(&form);
    match service::save(&state, &caller, Some(&id), sent.clone()).await {
        Ok(id) => Ok(see_other(&format!("{PATH}/{id}?done=1"), None)),
        Err(error) if is_shown(&error) => {
            let detail = service::detail(&state, &caller, &id).await?;
            agent_page(&state, &caller, detail, Some(Refused::Agent(sent, error)), false)
        }
        Err(error) => Err(error.into()),
    }
}

/// Whether a refused form is shown again, with what is wrong about it.
fn is_shown(error: &UserError) -> bool {
    matches!(error.code, ErrorCode::Invalid | ErrorCode::Busy)
}

/// A form that was refused, with what was sent and why.
enum Refused {
    Agent(OwnAgentBody, UserError),
    Sharing(AgentSharing, UserError),
}

fn agent_page(
    state: &Context,
    caller: &Caller,
    detail: OwnAgentDetail,
    refused: Option<Refused>,
    is_done: bool,
) -> Result<Response, HttpError> {
    let may_share = service::can_share(state)?;
    let OwnAgentDetail { id, agent, sharing, available, switched_off, versions, .. } = detail;
    let title = agent.title.clone();
    let base = service::choices(state, caller).into_iter().find(|base| base.from == agent.from);
    let (status, sent, wrong, sharing, wrong_sharing) = match refused {
        Some(Refused::Agent(sent, error)) => (status_of(&error), sent, Some(error.message), sharing, None),
        Some(Refused::Sharing(sharing, error)) => (status_of(&error), agent, None, sharing, Some(error.message)),
        None => (StatusCode::OK, agent, None, sharing, None),
    };
    let path = format!("{PATH}/{id}");
    let problem = match (switched_off, available) {
        (true, _) => Some("An administrator has switched this agent off. Nobody can use it."),
        (false, false) => {
            Some("Nobody can use this agent: what it is made of is no longer there, or no longer offered.")
        }
        (false, true) => None,
    };
    let form = match &base {
        Some(base) => agent_form(path.clone(), sent, base, "Save").into_any(),
        None => {
            view! { <p>"You may no longer use what this agent is based on, so it cannot be changed."</p> }.into_any()
        }
    };
    let delete = view! {
        <p class="cw-account-note">"Its versions are deleted with it. Conversations with it are kept, but cannot be continued."</p>
        <div class="cw-memory-actions"><a class="cw-button" href=format!("{path}/delete")>"Delete…"</a></div>
    };
    let content = view! {
        {success_message(is_done.then_some("Saved."))}
        {error_message(problem.map(str::to_owned))}
        {available.then(|| view! {
            <div class="cw-memory-actions"><a class="cw-button cw-primary" href=format!("/{id}")>"Try it"</a></div>
        })}
        {account_part("change", "Settings", view! { {error_message(wrong)} {form} })}
        {may_share.then(|| sharing_view(&path, &sharing, caller.roles(), wrong_sharing))}
        {versions_view(&path, &versions)}
        {account_part("delete", "Delete", delete)}
    };
    Ok(account_page(status, &title, (PATH, "All agents"), content))
}

/// `POST /account/agents/{id}/sharing`
async fn share(
    State(state): State<Context>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    RawForm(form): RawForm,
) -> Result<Response, HttpError> {
    let sent = SentFields::parse(&form);
    let roles = if sent.first("with") == "roles" { sent.first("roles") } else { "" };
    let roles = roles.split(',').map(str::trim).filter(|role| !role.is_empty()).map(str::to_owned).collect();
    let sharing = AgentSharing { everybody: sent.first("with") == "everybody", roles };
    match service::share(&state, &caller, &id, sharing.clone()).await {
        Ok(()) => Ok(see_other(&format!("{PATH}/{id}?done=1"), None)),
        Err(error) if is_shown(&error) || error.code == ErrorCode::Forbidden => {
            let detail = service::detail(&state, &caller, &id).await?;
            agent_page(&state, &caller, detail, Some(Refused::Sharing(sharing, error)), false)
        }
        Err(error) => Err(error.into()),
    }
}

/// `POST /account/agents/{id}/versions/{version}/restore`
async fn restore(
    State(state): State<Context>,
    Extension(caller): Extension<Caller>,
    Path((id, version)): Path<(String, String)>,
) -> Result<Response, HttpError> {
    let version = version.parse().map_err(|_| UserError::not_found())?;
    match service::restore(&state, &caller, &id, version).await {
        Ok(()) => Ok(see_other(&format!("{PATH}/{id}?done=1"), None)),
        Err(error) if is_shown(&error) => {
            let detail = service::detail(&state, &caller, &id).await?;
            let as_it_is = detail.agent.clone();
            agent_page(&state, &caller, detail, Some(Refused::Agent(as_it_is, error)), false)
        }
        Err(error) => Err(error.into()),
    }
}

/// `GET /account/agents/{id}/delete`
async fn confirm(
    State(state): State<Context>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<Response, HttpError> {
    let found = service::detail(&state, &caller, &id).await.map_err(HttpError::from);
    page_if_found(found.map(|detail| confirm_page(&id, &detail.agent.title)))
}

fn confirm_page(id: &str, title: &str) -> Response {
    let content = view! {
        <section class="cw-account-part" aria-label="Delete">
            <p dir="auto">{format!("Delete the agent “{title}”? This cannot be undone.")}</p>
            <form class="cw-memory-actions" method="post" action=format!("{PATH}/{id}/delete")>
                <button class="cw-button cw-danger">"Delete agent"</button>
                <a class="cw-button" href=format!("{PATH}/{id}")>"Cancel"</a>
            </form>
        </section>
    };
    account_page(StatusCode::OK, "Delete agent", (PATH, "All agents"), content)
}

/// `POST /account/agents/{id}/delete`
async fn delete(
    State(state): State<Context>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<Response, HttpError> {
    match service::delete(&state, &caller, &id).await {
        Err(error) if error.code != ErrorCode::NotFound => Err(error.into()),
        _ => Ok(see_other(PATH, None)),
    }
}

fn parse_form(form: &[u8]) -> OwnAgentBody {
    let sent = SentFields::parse(form);
    let one = |name: &str| sent.first(name).to_owned();
    OwnAgentBody {
        name: sent.trimmed("name").to_owned(),
        title: one("title"),
        description: one("description"),
        picture: one("picture"),
        from: one("from"),
        instructions: one("instructions"),
        tools: sent.all("tool").map(str::to_owned).collect(),
        model: Some(one("model")).filter(|model| !model.is_empty()),
        version: one("version").parse().ok(),
    }
}
