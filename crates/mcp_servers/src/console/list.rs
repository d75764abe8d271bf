//! The list of servers, with the differences from the config.

use super::{EXPORT_PATH, PATH, SWITCH_PATH, TITLE};
use crate::current::Current;
use crate::views::{ServerItem, ServerState};
use added_entries::console::{Origin, OriginQuery};
use added_entries::load;
use capability::Context;
use leptos::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;
use store::Store;
use web::admin::MenuGroup;
use web::admin::filters::select_field;
use web::admin::list::{Cell, Column, List, ListPage, ListView, PageRequest};
use web::html::{link, name, row_button};
use web::query_encoded;
use wire::UserError;

/// The list of servers.
pub(super) struct ServerList;

type ServerColumn = Column<ServerItem>;

/// The query of the list.
#[derive(Default, Deserialize, JsonSchema)]
pub(super) struct ServerQuery {
    /// Which servers: `all`, `config` or `added`.
    #[serde(default)]
    from: OriginQuery,
}

impl List for ServerList {
    type State = Context;
    type Query = ServerQuery;
    type Row = ServerItem;

    const PATH: &'static str = PATH;
    const GROUP: MenuGroup = MenuGroup::Agents;
    const TITLE: &'static str = TITLE;
    const SUMMARY: &'static str = "List the MCP servers of the config and the added ones";
    const EMPTY: &'static str = "There are no MCP servers.";
    const NONE_YET: &'static str =
        "There are no MCP servers yet. They are connections of the config, or added here if the config allows it.";
    const COLUMNS: &'static [ServerColumn] = &[
        ServerColumn::new("Server", "name", |item| Cell::text(&item.name)).shown_as(|item| match item.origin {
            Origin::Config => name(&item.name),
            Origin::Added => link(format!("{PATH}/{}", query_encoded(&item.name)), &item.name),
        }),
        ServerColumn::in_file("key", |item| Cell::text(&item.key)),
        ServerColumn::new("Source", "origin", |item| Cell::text(item.origin.text())),
        ServerColumn::new("State", "state", |item| Cell::text(item.state.text())),
        ServerColumn::new("Reached by", "type", |item| Cell::text(item.transport)),
        ServerColumn::new("Host or program", "place", |item| Cell::text(&item.place))
            .shown_as(|item| name(&item.place)),
        ServerColumn::new("Agents", "agents", |item| Cell::text(item.agents.join(", "))),
        ServerColumn::new("Tools", "tools", |item| count(item.tools)).aligned_right(),
        ServerColumn::new("Problem", "problem", |item| Cell::optional(item.problem.as_deref())),
        ServerColumn::in_table("Switch", switch),
    ];

    fn store(context: &Context) -> &Store {
        &context.store
    }

    async fn fetch(
        context: &Context,
        query: &ServerQuery,
        page: &PageRequest,
    ) -> Result<ListPage<ServerItem>, UserError> {
        let mut items = load::<Current>(context).await?.items(context);
        items.retain(|item| query.from.includes(item.origin));
        page.page_in(items)
    }

    fn filters(_: &Context, query: &ServerQuery) -> Option<AnyView> {
        Some(select_field("from", "Source", query.from).into_any())
    }

    async fn content(context: &Context, _: &ServerQuery, list: ListView) -> Result<AnyView, UserError> {
        let current: Current = load(context).await?;
        let is_allowed = current.section.at_run_time;
        let about = if is_allowed {
            "Servers of the config can be switched off here. You can also add servers of your own, and choose which agents get their tools."
        } else {
            "The config does not allow changes of MCP servers at run time, so added servers are not used."
        };
        let new = is_allowed.then(|| {
            view! { <a class="cw-button" href=format!("{PATH}/new")>"Add a server"</a> }
        });
        Ok(view! {
            <p class="cw-account-note">{about}</p>
            <p class="cw-admin-links">{new}</p>
            {list.into_any()}
            {difference(current.items(context))}
        }
        .into_any())
    }
}

fn count(tools: Option<usize>) -> Cell {
    Cell::Number(tools.map(|count| count as f64))
}

/// Renders the switch of a server of the config, if the config allows it. Added servers have theirs on their pages.
fn switch(item: &ServerItem) -> AnyView {
    if !item.has_switch {
        return web::html::text("");
    }
    let path = format!("{SWITCH_PATH}/{}", path_encoded(&item.key));
    match item.state {
        ServerState::Off => row_button(format!("{path}/on"), "Switch on", format!("Switch on {}", item.name)),
        ServerState::Gone => row_button(format!("{path}/on"), "Forget", format!("Forget the switch of {}", item.name)),
        _ => row_button(format!("{path}/off"), "Switch off", format!("Switch off {}", item.name)),
    }
}

/// Encodes a key as a part of a path, where `+` stands for itself.
fn path_encoded(key: &str) -> String {
    query_encoded(key).replace('+', "%20")
}

/// Renders what differs from the config, and the export.
fn difference(items: Vec<ServerItem>) -> AnyView {
    let lines: Vec<_> = items.into_iter().filter_map(|item| difference_line(&item)).collect();
    let none = lines.is_empty();
    let lines = lines.into_iter().map(|line| view! { <li>{line}</li> }).collect_view();
    let content = if none {
        view! { <p class="cw-account-note">"None. Agents use the servers of the config."</p> }.into_any()
    } else {
        view! {
            <ul>{lines}</ul>
            <p class="cw-account-note">
                "The export has these servers as a part of a config. Secrets are names of environment variables in it."
            </p>
            <p class="cw-admin-links"><a class="cw-button" href=EXPORT_PATH download>"Export as YAML"</a></p>
        }
        .into_any()
    };
    view! {
        <section class="cw-account-part" aria-labelledby="difference">
            <h2 id="difference">"Differences from the config"</h2>
            {content}
        </section>
    }
    .into_any()
}

fn difference_line(item: &ServerItem) -> Option<String> {
    let agents = item.agents.join(", ");
    match (item.origin, item.state) {
        (Origin::Config, ServerState::Off) if agents.is_empty() => Some(format!("{} is switched off.", item.name)),
        (Origin::Config, ServerState::Off) => Some(format!("{} is switched off for {agents}.", item.name)),
        (Origin::Config, ServerState::Gone) => {
            Some(format!("{} is switched off, and not in the config any more.", item.name))
        }
        (Origin::Config, _) => None,
        (Origin::Added, ServerState::Off) => Some(format!("{} is added, and switched off.", item.name)),
        (Origin::Added, ServerState::Unusable) => Some(format!("{} is added, but cannot be used.", item.name)),
        (Origin::Added, _) if agents.is_empty() => Some(format!("{} is added, but no agent has it.", item.name)),
        (Origin::Added, _) => Some(format!("{} is added for {agents}.", item.name)),
    }
}
