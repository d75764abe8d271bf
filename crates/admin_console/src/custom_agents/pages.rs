//! The pages of custom agents.

use crate::custom_agents::{
    self, CustomAgentBody, CustomAgentDetail, CustomAgentQuery, CustomAgentSortQuery, MAX_DESCRIPTION,
    MAX_INSTRUCTIONS, MAX_NAME,
};
use crate::state::ConsoleState;
use crate::users::names::{self as user_names, UserNames};
use ::custom_agents::CustomAgent;
use ::custom_agents::store::{CustomAgentRow, CustomAgentVersion};
use axum::extract::{Path, Query, RawForm, RawQuery, State};
use axum::http::StatusCode;
use axum::response::Response;
use leptos::prelude::*;
use serde::Deserialize;
use serde_json::Value;
use web::admin::csv::{self, Csv};
use web::admin::lists::{csv_link, field, pager, select_field, sort_options, split_page};
use web::admin::page;
use web::admin::{Admin, PageError};
use web::html::Column::{Number, Text};
use web::html::{error_message, success_message};
use web::html::{facts, link, table, text};
use web::times::minute;
use web::{query_encoded, see_other};

use wire::{ErrorCode, UserError};

const LIST_PATH: &str = "/admin/custom-agents";

/// `GET /admin/custom-agents`
pub(crate) async fn list(
    admin: Admin,
    State(state): State<ConsoleState>,
    Query(query): Query<CustomAgentQuery>,
    RawQuery(raw): RawQuery,
) -> Result<Response, PageError> {
    let ((rows, next), bases) =
        (split_page(custom_agents::fetch_page(&state, &query).await?), custom_agents::allowed_bases(&state));
    let (orders, chosen) = sort_options(&CustomAgentSortQuery::ALL, &query.sort);
    let names = user_names::load(&state, rows.iter().map(|row| row.owner.as_str())).await?;
    let is_allowed = !bases.is_empty();
    let new = bases.into_iter().map(|from| {
        let path = format!("{LIST_PATH}/new?from={}", query_encoded(&from));
        view! { <a class="cw-button" href=path>{format!("New agent based on {from}")}</a> }
    });
    let content = view! {
        <p class="cw-account-note">
            "A custom agent is based on an agent of the config, with its own instructions and some of that agent's tools. It has its own page."
        </p>
        {(!is_allowed).then(|| view! {
            <p class="cw-account-note">
                "The config does not allow custom agents. To allow them, set "<code>"customAgents: { from: [helper] }"</code>"."
            </p>
        })}
        <div class="cw-admin-acts">{new.collect_view()}</div>
        <form class="cw-admin-filter" method="get" role="search" aria-label="Custom agents">
            {field("text", "Name, purpose or base", "search", query.text.as_deref())}
            {select_field("sort", "Order", &orders, chosen)}
            <button class="cw-button">"Show"</button>
        </form>
        <p class="cw-admin-links">{csv_link("/admin/custom-agents.csv", raw.as_deref())}</p>
        {custom_agents_table(rows, &names)}
        {pager(LIST_PATH, raw.as_deref(), next)}
    };
    Ok(page(&admin, "/admin/agents", StatusCode::OK, "Custom agents", content))
}

/// `GET /admin/custom-agents.csv`
pub(crate) async fn export(
    admin: Admin,
    State(state): State<ConsoleState>,
    Query(mut query): Query<CustomAgentQuery>,
) -> Result<Response, PageError> {
    state.store.record_audit(admin.audit_entry("export_custom_agents", "", Value::Null)).await?;
    let mut file = Csv::new("id,name,description,from,tools,createdBy,version,changed");
    loop {
        query.after = file.add_page(custom_agents::fetch_page(&state, &query).await?, cells);
        if query.after.is_none() {
            return Ok(file.into_file("custom-agents.csv"));
        }
    }
}

fn cells(row: &CustomAgentRow) -> [String; 8] {
    let custom = parse_definition(row.definition.clone());
    [
        csv::cell(&row.id),
        csv::cell(&custom.name),
        csv::cell(&custom.description),
        csv::cell(&custom.from),
        csv::cell(&custom.tools.join(" ")),
        csv::cell(&row.owner),
        row.version.to_string(),
        csv::time_cell(row.updated_at),
    ]
}

fn custom_agents_table(rows: Vec<CustomAgentRow>, names: &UserNames) -> AnyView {
    let columns = [
        Text("Agent"),
        Text("Purpose"),
        Text("Based on"),
        Text("Created by"),
        Number("Version"),
        Text("Changed (UTC)"),
    ];
    let line = |row: CustomAgentRow| {
        let custom = parse_definition(row.definition);
        [
            link(format!("{LIST_PATH}/{}", row.id), custom.name),
            text(custom.description),
            text(custom.from),
            names.view(&row.owner),
            row.version.into_any(),
            text(minute(row.updated_at)),
        ]
    };
    table(columns, rows.into_iter().map(line), "No custom agents match.")
}

/// Parses a stored definition; returns placeholders for an invalid one.
fn parse_definition(value: Value) -> CustomAgent {
    serde_json::from_value(value).unwrap_or(CustomAgent {
        name: "?".to_owned(),
        description: String::new(),
        from: String::new(),
        instructions: String::new(),
        tools: Vec::new(),
    })
}

/// The query of the form for a new agent: its base agent.
#[derive(Deserialize)]
pub(crate) struct BaseQuery {
    #[serde(default)]
    from: String,
}

/// `GET /admin/custom-agents/new?from=ID`
pub(crate) async fn new(
    admin: Admin,
    State(state): State<ConsoleState>,
    Query(query): Query<BaseQuery>,
) -> Result<Response, PageError> {
    if !custom_agents::allowed_bases(&state).contains(&query.from) {
        return Err(UserError::not_found().into());
    }
    let tools = custom_agents::available_tools(&state, &query.from);
    let sent = CustomAgentBody {
        name: String::new(),
        description: String::new(),
        from: query.from,
        instructions: String::new(),
        tools: Vec::new(),
        version: None,
    };
    let content = view! {
        <section class="cw-account-part" aria-label="New agent">{form(LIST_PATH.to_owned(), sent, tools, "Create agent", None)}</section>
    };
    Ok(page(&admin, "/admin/agents", StatusCode::OK, "New agent", content))
}

/// `POST /admin/custom-agents`
pub(crate) async fn add(
    admin: Admin,
    State(state): State<ConsoleState>,
    RawForm(form_data): RawForm,
) -> Result<Response, PageError> {
    let sent = parse_form(&form_data);
    match custom_agents::save(&state, &admin, None, sent.clone()).await {
        Ok(id) => Ok(see_other(&format!("{LIST_PATH}/{id}?done=1"), None)),
        Err(error) => {
            let tools = custom_agents::available_tools(&state, &sent.from);
            let content = view! {
                <section class="cw-account-part" aria-label="New agent">
                    {form(LIST_PATH.to_owned(), sent, tools, "Create agent", Some(error.message))}
                </section>
            };
            Ok(page(&admin, "/admin/agents", StatusCode::UNPROCESSABLE_ENTITY, "New agent", content))
        }
    }
}

/// The query of the page: set after a change.
#[derive(Deserialize)]
pub(crate) struct DoneQuery {
    done: Option<String>,
}

/// `GET /admin/custom-agents/{id}`
pub(crate) async fn show(
    admin: Admin,
    State(state): State<ConsoleState>,
    Path(id): Path<String>,
    Query(what): Query<DoneQuery>,
) -> Result<Response, PageError> {
    let detail = custom_agents::custom_agent_detail(&state, &id).await?;
    render(&admin, &state, detail, None, what.done.is_some()).await
}

/// `POST /admin/custom-agents/{id}`
pub(crate) async fn change(
    admin: Admin,
    State(state): State<ConsoleState>,
    Path(id): Path<String>,
    RawForm(form_data): RawForm,
) -> Result<Response, PageError> {
    let sent = parse_form(&form_data);
    match custom_agents::save(&state, &admin, Some(&id), sent.clone()).await {
        Ok(id) => Ok(see_other(&format!("{LIST_PATH}/{id}?done=1"), None)),
        Err(error) if error.code == ErrorCode::NotFound => Err(error.into()),
        Err(error) => {
            let detail = custom_agents::custom_agent_detail(&state, &id).await?;
            render(&admin, &state, detail, Some((sent, error)), false).await
        }
    }
}

/// `POST /admin/custom-agents/{id}/delete`
pub(crate) async fn delete(
    admin: Admin,
    State(state): State<ConsoleState>,
    Path(id): Path<String>,
) -> Result<Response, PageError> {
    custom_agents::delete(&state, &admin, &id).await?;
    Ok(see_other(LIST_PATH, None))
}

/// Parses a form in which a field may occur several times.
fn parse_form(form_data: &[u8]) -> CustomAgentBody {
    let pairs: Vec<_> = url::form_urlencoded::parse(form_data).into_owned().collect();
    let all = |name: &'static str| pairs.iter().filter(move |(of, _)| of == name).map(|(_, value)| value.clone());
    let one = |name: &'static str| all(name).next().unwrap_or_default();
    CustomAgentBody {
        name: one("name"),
        description: one("description"),
        from: one("from"),
        instructions: one("instructions"),
        tools: all("tool").collect(),
        version: one("version").parse().ok(),
    }
}

async fn render(
    admin: &Admin,
    state: &ConsoleState,
    detail: CustomAgentDetail,
    refused: Option<(CustomAgentBody, UserError)>,
    is_done: bool,
) -> Result<Response, PageError> {
    let CustomAgentDetail { row, is_available, versions } = detail;
    let authors = versions.iter().map(|version| version.author.as_str()).chain([row.owner.as_str()]);
    let names = user_names::load(state, authors).await?;
    let custom = parse_definition(row.definition);
    let title = custom.name.clone();
    let status = refused.as_ref().map_or(StatusCode::OK, |(_, error)| {
        StatusCode::from_u16(error.code.status()).unwrap_or(StatusCode::UNPROCESSABLE_ENTITY)
    });
    let (sent, wrong) = match refused {
        Some((sent, error)) => (sent, Some(error.message)),
        None => {
            let CustomAgent { name, description, from, instructions, tools } = custom;
            (CustomAgentBody { name, description, from, instructions, tools, version: Some(row.version) }, None)
        }
    };
    let path = format!("{LIST_PATH}/{}", row.id);
    let about = [
        ("Page", if is_available { link(format!("/{}", row.id), format!("/{}", row.id)) } else { text("") }),
        ("Based on", text(sent.from.clone())),
        ("Created by", names.view(&row.owner)),
        ("Created (UTC)", text(minute(row.created_at))),
        ("Version", row.version.into_any()),
    ];
    let tools = custom_agents::available_tools(state, &sent.from);
    let health = format!("/admin/agents/{}", row.id);
    let content = view! {
        {success_message(is_done.then_some("Saved. Users can chat with it now."))}
        {(!is_available).then(|| error_message(Some("The config no longer has the agent that this one is based on. Nobody can chat with it.".to_owned())))}
        <section class="cw-account-part" aria-label="About">
            {facts(about)}
            {is_available.then(|| view! { <p class="cw-admin-links"><a href=health>"Usage and errors"</a></p> })}
        </section>
        <section class="cw-account-part" aria-labelledby="change">
            <h2 id="change">"Edit"</h2>
            {form(path.clone(), sent, tools, "Save", wrong)}
        </section>
        <section class="cw-account-part" aria-labelledby="versions">
            <h2 id="versions">"Versions"</h2>
            {versions_table(versions, &names)}
        </section>
        <section class="cw-account-part" aria-labelledby="delete">
            <h2 id="delete">"Delete"</h2>
            <p class="cw-account-note">"Conversations with it are kept, but cannot be continued. Its versions stay in the database."</p>
            <form class="cw-admin-acts" method="post" action=format!("{path}/delete")>
                <button class="cw-button cw-danger">"Delete agent"</button>
            </form>
        </section>
    };
    Ok(page(admin, "/admin/agents", status, &title, content))
}

fn versions_table(versions: Vec<CustomAgentVersion>, names: &UserNames) -> AnyView {
    let columns = [Text("Version"), Text("Saved by"), Text("Saved (UTC)"), Text("Tools"), Text("Instructions")];
    let line = |version: CustomAgentVersion| {
        let custom = parse_definition(version.definition);
        let instructions = view! {
            <details class="cw-admin-call">
                <summary>"Instructions"</summary>
                <pre tabindex="0" aria-label="Instructions">{custom.instructions}</pre>
            </details>
        };
        [
            version.version.into_any(),
            names.view(&version.author),
            text(minute(version.created_at)),
            text(custom.tools.join(", ")),
            instructions.into_any(),
        ]
    };
    table(columns, versions.into_iter().map(line), "There are no versions.")
}

fn form(
    action: String,
    sent: CustomAgentBody,
    tools: Vec<String>,
    act: &'static str,
    wrong: Option<String>,
) -> impl IntoView {
    let tool = |name: String| {
        let is_chosen = sent.tools.contains(&name);
        view! { <label><input type="checkbox" name="tool" value=name.clone() checked=is_chosen />{name}</label> }
    };
    let tools = tools.into_iter().map(tool).collect_view();
    view! {
        {error_message(wrong)}
        <form class="cw-account-form" method="post" action=action>
            <input type="hidden" name="from" value=sent.from.clone() />
            <input type="hidden" name="version" value=sent.version.map(|version| version.to_string()) />
            <label class="cw-account-field">
                <span>"Agent name"</span>
                <input name="name" value=sent.name.clone() required maxlength=MAX_NAME.to_string() autocomplete="off" />
            </label>
            <label class="cw-account-field">
                <span>"Purpose"</span>
                <input name="description" value=sent.description.clone() maxlength=MAX_DESCRIPTION.to_string() autocomplete="off" />
            </label>
            <label class="cw-account-field">
                <span>"Instructions"</span>
                <textarea name="instructions" rows="8" required maxlength=MAX_INSTRUCTIONS.to_string()>{sent.instructions.clone()}</textarea>
            </label>
            <fieldset class="cw-account-scopes">
                <legend>{format!("Tools of {}", sent.from)}</legend>
                {tools}
            </fieldset>
            <button class="cw-button">{act}</button>
        </form>
    }
}
