//! The list of custom agents.

use super::{CustomAgentItem, bases, load_all};
use capability::Context;
use leptos::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;
use std::cmp::Reverse;
use store::Store;
use web::admin::filters::{Choice, field, non_empty, select_field};
use web::admin::list::{Cell, Column, List, ListPage, ListView, PageRequest};
use web::admin::{UserNames, user_view};
use web::html::link;
use web::query_encoded;
use wire::UserError;

pub(super) struct CustomAgentList;

type AgentColumn = Column<CustomAgentItem>;

/// The query of the list.
#[derive(Default, Deserialize, JsonSchema)]
pub(super) struct CustomAgentQuery {
    /// Part of the name, the purpose or the base agent.
    text: Option<String>,
    /// `name`, `newest` or `oldest`.
    #[serde(default)]
    sort: CustomAgentSortQuery,
}

/// The order of the list.
#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum CustomAgentSortQuery {
    /// By name.
    #[default]
    Name,
    /// Last changed first.
    Newest,
    /// Last changed last.
    Oldest,
}

impl Choice for CustomAgentSortQuery {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Self::Name, "name", "By name"),
        (Self::Newest, "newest", "Last changed first"),
        (Self::Oldest, "oldest", "Last changed last"),
    ];
}

impl List for CustomAgentList {
    type State = Context;
    type Query = CustomAgentQuery;
    type Row = CustomAgentItem;

    const PATH: &'static str = "/admin/custom-agents";
    const TAB: &'static str = "/admin/agents";
    const SUMMARY: &'static str = "List custom agents";
    const TITLE: &'static str = "Custom agents";
    const EMPTY: &'static str = "No custom agents match.";
    const NONE_YET: &'static str =
        "There are no custom agents yet. Each is based on an agent that the config names in “customAgents”.";
    const COLUMNS: &'static [AgentColumn] = &[
        AgentColumn::in_file("id", |item| Cell::text(&item.row.id)),
        AgentColumn::new("Agent", "name", |item| Cell::text(&item.agent.name))
            .shown_as(|item| link(format!("{}/{}", Self::PATH, item.row.id), &item.agent.name)),
        AgentColumn::new("Purpose", "description", |item| Cell::text(&item.agent.description)),
        AgentColumn::new("Based on", "from", |item| Cell::text(&item.agent.from)),
        AgentColumn::in_file("key", |item| Cell::text(item.row.name.as_deref().unwrap_or_default())),
        AgentColumn::in_file("model", |item| Cell::text(item.agent.model.as_deref().unwrap_or_default())),
        AgentColumn::in_file("tools", |item| Cell::text(item.agent.tools.join(" "))),
        AgentColumn::new("Created by", "createdBy", |item| Cell::text(&item.row.owner))
            .shown_as(|item| user_view(&item.row.owner, item.owner_name.as_deref())),
        AgentColumn::new("Version", "version", |item| Cell::count(item.row.version)).aligned_right(),
        AgentColumn::new("Changed (UTC)", "changed", |item| Cell::time(item.row.updated_at)),
    ];

    fn store(state: &Context) -> &Store {
        &state.store
    }

    async fn fetch(
        state: &Context,
        query: &CustomAgentQuery,
        page: &PageRequest,
    ) -> Result<ListPage<CustomAgentItem>, UserError> {
        let mut items: Vec<_> = load_all(state).await?.into_iter().map(CustomAgentItem::from).collect();
        if let Some(text) = non_empty(query.text.as_deref()).map(|text| text.to_lowercase()) {
            items.retain(|item| {
                let words = [&item.agent.name, &item.agent.description, &item.agent.from];
                item.row.id.contains(&text) || words.iter().any(|word| word.to_lowercase().contains(&text))
            });
        }
        match query.sort {
            CustomAgentSortQuery::Name => items.sort_by_cached_key(|item| item.agent.name.to_lowercase()),
            CustomAgentSortQuery::Newest => items.sort_by_key(|item| Reverse(item.row.updated_at)),
            CustomAgentSortQuery::Oldest => items.sort_by_key(|item| item.row.updated_at),
        }
        let page = page.page_in(items)?;
        let names = UserNames::load(&state.store, page.items.iter().map(|item| item.row.owner.as_str())).await?;
        Ok(page.map(|item| CustomAgentItem { owner_name: names.get(&item.row.owner).map(str::to_owned), ..item }))
    }

    fn filters(_: &Context, query: &CustomAgentQuery) -> Option<AnyView> {
        Some(
            view! {
                {field("text", "Name, purpose or base", "search", query.text.as_deref())}
                {select_field("sort", "Order", query.sort)}
            }
            .into_any(),
        )
    }

    async fn content(state: &Context, _: &CustomAgentQuery, list: ListView) -> Result<AnyView, UserError> {
        let bases = bases(state);
        let is_allowed = !bases.is_empty();
        let new = bases.into_iter().map(|base| base.from).map(|from| {
            let path = format!("{}/new?from={}", Self::PATH, query_encoded(&from));
            view! { <a class="cw-button" href=path>{format!("New agent based on {from}")}</a> }
        });
        Ok(view! {
            <p class="cw-account-note">
                "A custom agent is based on an agent of the config, with its own instructions and some of that agent's tools. It has its own page."
            </p>
            {(!is_allowed).then(|| view! {
                <p class="cw-account-note">
                    "The config does not allow custom agents. To allow them, set "<code>"customAgents: { from: [helper] }"</code>"."
                </p>
            })}
            <div class="cw-admin-acts">{new.collect_view()}</div>
            {list.into_any()}
        }
        .into_any())
    }
}
