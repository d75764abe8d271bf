//! The list of connections.

use super::{EXPORT_PATH, PATH, TITLE};
use crate::current::Current;
use crate::views::ConnectionItem;
use added_entries::console::{Origin, OriginQuery};
use added_entries::load;
use capability::Context;
use leptos::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;
use store::Store;
use web::admin::filters::select_field;
use web::admin::list::{Cell, Column, List, ListPage, ListView, PageRequest};
use web::admin::{MenuGroup, START_PATH};
use web::html::{link, name};
use web::query_encoded;
use wire::UserError;

/// The list of connections.
pub(super) struct ConnectionList;

type ConnectionColumn = Column<ConnectionItem>;

/// The query of the list.
#[derive(Default, Deserialize, JsonSchema)]
pub(super) struct ConnectionQuery {
    /// Which connections: `all`, `config` or `added`.
    #[serde(default)]
    from: OriginQuery,
}

impl List for ConnectionList {
    type State = Context;
    type Query = ConnectionQuery;
    type Row = ConnectionItem;

    const PATH: &'static str = PATH;
    const GROUP: MenuGroup = MenuGroup::Agents;
    const TITLE: &'static str = TITLE;
    const SUMMARY: &'static str = "List the connections to model providers, of the config and the added ones";
    const EMPTY: &'static str = "There are no connections to model providers.";
    const NONE_YET: &'static str = "There are no connections to model providers yet. They are in the config, or added here if the config allows it.";
    const COLUMNS: &'static [ConnectionColumn] = &[
        ConnectionColumn::new("Connection", "name", |item| Cell::text(&item.name)).shown_as(|item| match item.origin {
            Origin::Config => name(&item.name),
            Origin::Added => link(format!("{PATH}/{}", query_encoded(&item.name)), &item.name),
        }),
        ConnectionColumn::new("Source", "origin", |item| Cell::text(item.origin.text())),
        ConnectionColumn::new("State", "state", |item| Cell::text(item.state.text())),
        ConnectionColumn::new("Provider", "provider", |item| Cell::text(&item.provider)),
        ConnectionColumn::new("Models", "models", |item| Cell::text(item.models.join(", "))),
        ConnectionColumn::new("Agents", "agents", |item| Cell::text(item.agents.join(", "))),
        ConnectionColumn::new("Problem", "problem", |item| Cell::optional(item.problem.as_deref())),
    ];

    fn store(context: &Context) -> &Store {
        &context.store
    }

    async fn fetch(
        context: &Context,
        query: &ConnectionQuery,
        page: &PageRequest,
    ) -> Result<ListPage<ConnectionItem>, UserError> {
        let mut items = load::<Current>(context).await?.items();
        items.retain(|item| query.from.includes(item.origin));
        page.page_in(items)
    }

    fn filters(_: &Context, query: &ConnectionQuery) -> Option<AnyView> {
        Some(select_field("from", "Source", query.from).into_any())
    }

    async fn content(context: &Context, _: &ConnectionQuery, list: ListView) -> Result<AnyView, UserError> {
        let current: Current = load(context).await?;
        let is_allowed = current.section.at_run_time;
        let about = if is_allowed {
            "Connections to the providers of models. Those of the config are changed there; you can add others here, and choose which agents use them."
        } else {
            "The config does not allow changes of connections at run time, so added ones are not used."
        };
        let new = is_allowed.then(|| view! { <a class="cw-button" href=format!("{PATH}/new")>"Add a model"</a> });
        let export = (!current.stored.entries.is_empty()).then(export);
        Ok(view! {
            <p class="cw-account-note">{about}" "<a href=START_PATH>"First steps"</a></p>
            <p class="cw-admin-links">{new}</p>
            {list.into_any()}
            {export}
        }
        .into_any())
    }
}

fn export() -> AnyView {
    view! {
        <section class="cw-account-part" aria-labelledby="export">
            <h2 id="export">"Keep them in the config"</h2>
            <p class="cw-account-note">
                "The export has the added connections, their models and agents as a part of a config. Keys are names of environment variables in it."
            </p>
            <p class="cw-admin-links"><a class="cw-button" href=EXPORT_PATH download>"Export as YAML"</a></p>
        </section>
    }
    .into_any()
}
