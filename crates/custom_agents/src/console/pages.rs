//! The pages of custom agents.

use super::form::form;
use super::list::CustomAgentList;
use super::{CustomAgentBody, CustomAgentDetail};
use crate::console;
use crate::definition::CustomAgent;
use crate::store::CustomAgentVersion;
use axum::Router;
use axum::extract::{Path, Query, RawForm, State};
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::{get, post};
use capability::Context;
use leptos::prelude::*;
use serde::Deserialize;
use serde_json::Value;
use web::admin::list::List;
use web::admin::{Admin, PageError, UserNames, delete_section, folded_text, page};
use web::html::Heading::Text;
use web::html::{account_part, error_message, facts, link, success_message, table, text};
use web::times::minute;
use web::{SentFields, see_other, status_of};
use wire::{ErrorCode, UserError};

const LIST_PATH: &str = CustomAgentList::PATH;

pub(super) fn routes() -> Router<Context> {
    Router::new()
        .route(LIST_PATH, post(add))
        .route("/admin/custom-agents/new", get(new))
        .route("/admin/custom-agents/{id}", get(show).post(change))
        .route("/admin/custom-agents/{id}/delete", post(delete))
}

/// The query of the form for a new agent: its base agent.
#[derive(Deserialize)]
struct BaseQuery {
    #[serde(default)]
    from: String,
}

/// `GET /admin/custom-agents/new?from=ID`
async fn new(
    admin: Admin,
    State(state): State<Context>,
    Query(query): Query<BaseQuery>,
) -> Result<Response, PageError> {
    let choices = console::bases(&state).into_iter().find(|base| base.from == query.from);
    let choices = choices.ok_or_else(UserError::not_found)?;
    let sent = CustomAgentBody { from: query.from, ..CustomAgentBody::default() };
    let content = view! {
        <section class="cw-account-part" aria-label="New agent">{form(LIST_PATH.to_owned(), sent, choices, "Create agent", None)}</section>
    };
    Ok(page(&admin, "/admin/agents", StatusCode::OK, "New agent", content))
}

/// `POST /admin/custom-agents`
async fn add(admin: Admin, State(state): State<Context>, RawForm(form_data): RawForm) -> Result<Response, PageError> {
    let sent = parse_form(&form_data);
    match console::save(&state, &admin, None, sent.clone()).await {
        Ok(id) => Ok(see_other(&format!("{LIST_PATH}/{id}?done=1"), None)),
        Err(error) => {
            let choices = console::choices_of(&state, &sent.from);
            let content = view! {
                <section class="cw-account-part" aria-label="New agent">
                    {form(LIST_PATH.to_owned(), sent, choices, "Create agent", Some(error.message))}
                </section>
            };
            Ok(page(&admin, "/admin/agents", StatusCode::UNPROCESSABLE_ENTITY, "New agent", content))
        }
    }
}

/// The query of the page: set after a change.
#[derive(Deserialize)]
struct DoneQuery {
    done: Option<String>,
}

/// `GET /admin/custom-agents/{id}`
async fn show(
    admin: Admin,
    State(state): State<Context>,
    Path(id): Path<String>,
    Query(what): Query<DoneQuery>,
) -> Result<Response, PageError> {
    let detail = console::custom_agent_detail(&state, &id).await?;
    render(&admin, &state, detail, None, what.done.is_some()).await
}

/// `POST /admin/custom-agents/{id}`
async fn change(
    admin: Admin,
    State(state): State<Context>,
    Path(id): Path<String>,
    RawForm(form_data): RawForm,
) -> Result<Response, PageError> {
    let sent = parse_form(&form_data);
    match console::save(&state, &admin, Some(&id), sent.clone()).await {
        Ok(id) => Ok(see_other(&format!("{LIST_PATH}/{id}?done=1"), None)),
        Err(error) if error.code == ErrorCode::NotFound => Err(error.into()),
        Err(error) => {
            let detail = console::custom_agent_detail(&state, &id).await?;
            render(&admin, &state, detail, Some((sent, error)), false).await
        }
    }
}

/// `POST /admin/custom-agents/{id}/delete`
async fn delete(admin: Admin, State(state): State<Context>, Path(id): Path<String>) -> Result<Response, PageError> {
    console::delete(&state, &admin, &id).await?;
    Ok(see_other(LIST_PATH, None))
}

/// Parses a form in which a field may occur several times.
fn parse_form(form_data: &[u8]) -> CustomAgentBody {
    let sent = SentFields::parse(form_data);
    let one = |name: &str| sent.first(name).to_owned();
    let filled = |name: &str| Some(one(name)).filter(|value| !value.is_empty());
    // The values of these fields are JSON, since some are mappings.
    let json = |name: &str| filled(name).map(|text| serde_json::from_str(&text).unwrap_or(Value::String(text)));
    CustomAgentBody {
        name: one("name"),
        description: one("description"),
        picture: one("picture"),
        from: one("from"),
        instructions: one("instructions"),
        tools: sent.all("tool").map(str::to_owned).collect(),
        model: filled("model"),
        execution_mode: json("executionMode"),
        tool_strategy: json("toolStrategy"),
        fallbacks: filled("fallbacks").map(|value| value == "true"),
        version: one("version").parse().ok(),
    }
}

async fn render(
    admin: &Admin,
    state: &Context,
    detail: CustomAgentDetail,
    refused: Option<(CustomAgentBody, UserError)>,
    is_done: bool,
) -> Result<Response, PageError> {
    let CustomAgentDetail { row, is_available, versions } = detail;
    let authors = versions.iter().map(|version| version.author.as_str()).chain([row.owner.as_str()]);
    let names = UserNames::load(&state.store, authors).await?;
    let custom = CustomAgent::from_stored(row.definition);
    let title = custom.name.clone();
    let status = refused.as_ref().map_or(StatusCode::OK, |(_, error)| status_of(error));
    let (sent, wrong) = match refused {
        Some((sent, error)) => (sent, Some(error.message)),
        None => (CustomAgentBody::from_agent(custom, row.version), None),
    };
    let path = format!("{LIST_PATH}/{}", row.id);
    let about = [
        ("Page", if is_available { link(format!("/{}", row.id), format!("/{}", row.id)) } else { text("") }),
        ("Based on", text(sent.from.clone())),
        ("Created by", names.view(&row.owner)),
        ("Created (UTC)", text(minute(row.created_at))),
        ("Version", row.version.into_any()),
    ];
    let choices = console::choices_of(state, &sent.from);
    let health = format!("/admin/agents/{}", row.id);
    let content = view! {
        {success_message(is_done.then_some("Saved. Users can chat with it now."))}
        {(!is_available).then(|| error_message(Some("The config no longer has the agent that this one is based on. Nobody can chat with it.".to_owned())))}
        <section class="cw-account-part" aria-label="About">
            {facts(about)}
            {is_available.then(|| view! { <p class="cw-admin-links"><a href=health>"Usage and errors"</a></p> })}
        </section>
        {account_part("change", "Edit", form(path.clone(), sent, choices, "Save", wrong))}
        {account_part("versions", "Versions", versions_table(versions, &names))}
        {delete_section(&path, "Conversations with it are kept, but cannot be continued. Its versions stay in the database.", "Delete agent")}
    };
    Ok(page(admin, "/admin/agents", status, &title, content))
}

fn versions_table(versions: Vec<CustomAgentVersion>, names: &UserNames) -> AnyView {
    let columns = [Text("Version"), Text("Saved by"), Text("Saved (UTC)"), Text("Tools"), Text("Instructions")];
    let line = |version: CustomAgentVersion| {
        let custom = CustomAgent::from_stored(version.definition);
        [
            version.version.into_any(),
            names.view(&version.author),
            text(minute(version.created_at)),
            text(custom.tools.join(", ")),
            folded_text("Instructions", custom.instructions),
        ]
    };
    table(columns, versions.into_iter().map(line), "There are no versions.")
}
