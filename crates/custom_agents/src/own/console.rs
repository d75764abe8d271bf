//! The list of agents of users in the admin console, and the switch for each of them.

use super::service::done;
use super::store::{self, AgentSharing, OwnAgentRow};
use crate::definition::CustomAgent;
use ::store::Store;
use axum::Router;
use axum::extract::{Path, State};
use axum::response::{NoContent, Response};
use axum::routing::post;
use capability::Context;
use leptos::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use web::admin::filters::{field, non_empty};
use web::admin::list::{Cell, Column, List, ListPage, ListView, PageRequest};
use web::admin::{
    ADMINISTRATION, Admin, MenuEntry, MenuGroup, PageError, Section, UserNames, from_store_error, user_view,
};
use web::html::link;
use web::openapi::ApiRouter;
use web::times::now_millis;
use web::{HttpError, SentJson, see_other, valid_json};
use wire::UserError;

/// Returns the section of the console.
pub(crate) fn section(context: Context) -> Section {
    let pages =
        Router::new().route("/admin/own-agents/{id}/on", post(on)).route("/admin/own-agents/{id}/off", post(off));
    let api = ApiRouter::new(&ADMINISTRATION).put(
        "/api/admin/own-agents/{id}/enabled",
        switch,
        "Switch an agent of a user on or off",
    );
    let routes = web::admin::list::routes::<OwnAgentList>().merge(api).with_pages(pages);
    Section {
        menu: vec![MenuEntry { group: MenuGroup::Agents, path: OwnAgentList::PATH, title: OwnAgentList::TITLE }],
        actions: ["switch_own_agent", "export_own_agents"].map(|action| format!("admin:{action}")).to_vec(),
        routes: routes.map(|router| router.with_state(context)),
    }
}

/// The list of agents that users have made.
struct OwnAgentList;

/// An agent in the list.
#[derive(Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct OwnAgentEntry {
    /// Its id, which is also that of its page.
    id: String,
    /// Its name among the agents of its maker.
    name: String,
    /// The name that users read.
    title: String,
    /// Its maker.
    owner: String,
    /// The name of its maker.
    #[serde(skip)]
    owner_name: Option<String>,
    /// The base agent.
    from: String,
    /// Its instructions.
    instructions: String,
    /// Whether the running config has it.
    #[serde(skip)]
    is_available: bool,
    /// Its tools, libraries and skills.
    tools: Vec<String>,
    /// With whom it is shared.
    sharing: AgentSharing,
    /// The version; counts from 1.
    version: i64,
    /// Whether it is on.
    enabled: bool,
    /// When it was last changed; Unix time in milliseconds.
    updated_at: i64,
}

impl From<OwnAgentRow> for OwnAgentEntry {
    fn from(row: OwnAgentRow) -> Self {
        let custom = CustomAgent::from_stored(row.definition);
        Self {
            id: row.id,
            name: row.name,
            title: custom.name,
            owner: row.owner,
            owner_name: None,
            from: custom.from,
            instructions: custom.instructions,
            is_available: false,
            tools: custom.tools,
            sharing: row.sharing,
            version: row.version,
            enabled: row.disabled_at.is_none(),
            updated_at: row.updated_at,
        }
    }
}

/// The query of the list.
#[derive(Default, Deserialize, JsonSchema)]
struct OwnAgentQuery {
    /// Part of the title, the name, or the maker's name or id.
    text: Option<String>,
}

type OwnColumn = Column<OwnAgentEntry>;

impl List for OwnAgentList {
    type State = Context;
    type Query = OwnAgentQuery;
    type Row = OwnAgentEntry;

    const PATH: &'static str = "/admin/own-agents";
    const GROUP: MenuGroup = MenuGroup::Agents;
    const TITLE: &'static str = "Agents of users";
    const SUMMARY: &'static str = "List the agents that users have created";
    const EMPTY: &'static str = "No agents match.";
    const NONE_YET: &'static str =
        "Users have not created agents yet. They can if the config has “customAgents: { users: … }”.";
    const COLUMNS: &'static [OwnColumn] = &[
        OwnColumn::in_file("id", |item| Cell::text(&item.id)),
        OwnColumn::in_file("name", |item| Cell::text(&item.name)),
        OwnColumn::new("Agent", "title", |item| Cell::text(&item.title)).shown_as(title_view),
        OwnColumn::new("Created by", "owner", |item| Cell::text(&item.owner))
            .shown_as(|item| user_view(&item.owner, item.owner_name.as_deref())),
        OwnColumn::new("Based on", "from", |item| Cell::text(&item.from)),
        OwnColumn::in_file("instructions", |item| Cell::text(&item.instructions)),
        OwnColumn::in_file("tools", |item| Cell::text(item.tools.join(" "))),
        OwnColumn::new("Shared with", "sharing", |item| Cell::text(shared_with(&item.sharing))),
        OwnColumn::new("Version", "version", |item| Cell::count(item.version)).aligned_right(),
        OwnColumn::new("Changed (UTC)", "changed", |item| Cell::time(item.updated_at)),
        OwnColumn::new("State", "state", |item| Cell::text(if item.enabled { "on" } else { "off" }))
            .shown_as(switch_view),
    ];

    fn store(context: &Context) -> &Store {
        &context.store
    }

    async fn fetch(
        context: &Context,
        query: &OwnAgentQuery,
        page: &PageRequest,
    ) -> Result<ListPage<OwnAgentEntry>, UserError> {
        let rows = store::all(&context.store).await.map_err(from_store_error)?;
        let mut items: Vec<_> = rows.into_iter().map(OwnAgentEntry::from).collect();
        let names = UserNames::load(&context.store, items.iter().map(|item| item.owner.as_str())).await?;
        if let Some(text) = non_empty(query.text.as_deref()).map(|text| text.to_lowercase()) {
            items.retain(|item| {
                let own = [&item.title, &item.name, &item.owner].map(String::as_str).into_iter();
                own.chain(names.get(&item.owner)).any(|one| one.to_lowercase().contains(&text))
            });
        }
        let page = page.page_in(items)?;
        let config = context.current.config();
        Ok(page.map(|item| OwnAgentEntry {
            owner_name: names.get(&item.owner).map(str::to_owned),
            is_available: config.agents.contains_key(&item.id),
            ..item
        }))
    }

    fn filters(_: &Context, query: &OwnAgentQuery) -> Option<AnyView> {
        Some(field("text", "Title, name or creator", "search", query.text.as_deref()).into_any())
    }

    async fn content(_: &Context, _: &OwnAgentQuery, list: ListView) -> Result<AnyView, UserError> {
        let about = "Users create agents from the base agents, tools and models that the config offers. Nobody can use an agent that is switched off.";
        Ok(view! { <p class="cw-account-note">{about}</p> {list.into_any()} }.into_any())
    }
}

fn shared_with(sharing: &AgentSharing) -> String {
    match sharing {
        AgentSharing { everybody: true, .. } => "everybody".to_owned(),
        AgentSharing { roles, .. } if roles.is_empty() => "nobody".to_owned(),
        AgentSharing { roles, .. } => roles.join(", "),
    }
}

/// Renders the title, with a link to what the agent is told and its usage while it can be used.
fn title_view(item: &OwnAgentEntry) -> AnyView {
    if item.is_available {
        link(format!("/admin/agents/{}", item.id), &item.title)
    } else {
        item.title.clone().into_any()
    }
}

fn switch_view(item: &OwnAgentEntry) -> AnyView {
    let (state, action, label) = if item.enabled { ("on ", "off", "Switch off") } else { ("off ", "on", "Switch on") };
    let name = format!("{label}: {}", item.title);
    view! {
        <form class="cw-admin-acts" method="post" action=format!("{}/{}/{action}", OwnAgentList::PATH, item.id)>
            {state}
            <button class="cw-button" aria-label=name>{label}</button>
        </form>
    }
    .into_any()
}

/// The body that switches an agent on or off.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OwnAgentEnabled {
    /// Whether it can be used.
    enabled: bool,
}

async fn set(state: &Context, admin: &Admin, id: &str, is_on: bool) -> Result<(), UserError> {
    let audit = admin.audit_entry("switch_own_agent", "", json!({ "agentId": id, "enabled": is_on }));
    let switched = store::switch(&state.store, id, is_on, now_millis(), audit);
    done(state, switched.await.map_err(from_store_error)?).await
}

/// `PUT /api/admin/own-agents/{id}/enabled`
async fn switch(
    admin: Admin,
    State(state): State<Context>,
    Path(id): Path<String>,
    body: SentJson<OwnAgentEnabled>,
) -> Result<NoContent, HttpError> {
    let OwnAgentEnabled { enabled } = valid_json(body)?;
    set(&state, &admin, &id, enabled).await?;
    Ok(NoContent)
}

/// `POST /admin/own-agents/{id}/on`
async fn on(admin: Admin, State(state): State<Context>, Path(id): Path<String>) -> Result<Response, PageError> {
    set(&state, &admin, &id, true).await?;
    Ok(see_other(OwnAgentList::PATH, None))
}

/// `POST /admin/own-agents/{id}/off`
async fn off(admin: Admin, State(state): State<Context>, Path(id): Path<String>) -> Result<Response, PageError> {
    set(&state, &admin, &id, false).await?;
    Ok(see_other(OwnAgentList::PATH, None))
}
