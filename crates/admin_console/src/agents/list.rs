//! The list of the agents of the config.

use super::{AgentRow, agent_row, usage_by_agent};
use crate::overview::reply_ms;
use crate::state::ConsoleState;
use leptos::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;
use store::{Store, UsageTotals};
use web::admin::filters::{Choice, field, non_empty, select_field};
use web::admin::list::{Cell, Column, List, ListPage, ListView, PageRequest};
use web::html::{dollars, link, number, seconds, text};
use web::query_encoded;
use wire::UserError;

pub(super) struct AgentList;

type AgentColumn = Column<AgentRow>;

/// The query of the list.
#[derive(Default, Deserialize, JsonSchema)]
pub(super) struct AgentQuery {
    /// Part of the name or the model.
    text: Option<String>,
    /// `config`, `name`, `requests`, `errors`, `slowest` or `cost`.
    #[serde(default)]
    sort: AgentSortQuery,
}

/// The order of the list.
#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum AgentSortQuery {
    /// The order in the config.
    #[default]
    Config,
    Name,
    Requests,
    Errors,
    Slowest,
    Cost,
}

impl Choice for AgentSortQuery {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Self::Config, "config", "Config order"),
        (Self::Name, "name", "By name"),
        (Self::Requests, "requests", "Most completed requests first"),
        (Self::Errors, "errors", "Most errors first"),
        (Self::Slowest, "slowest", "Slowest first"),
        (Self::Cost, "cost", "Most expensive first"),
    ];
}

impl AgentSortQuery {
    /// Sorts stably: agents that compare as equal keep the config's order.
    fn sort(self, rows: &mut [AgentRow]) {
        let most = |of: fn(&UsageTotals) -> f64| move |a: &AgentRow, b: &AgentRow| of(&b.used).total_cmp(&of(&a.used));
        match self {
            Self::Config => {}
            Self::Name => rows.sort_by_cached_key(|row| row.name.as_ref().unwrap_or(&row.id).to_lowercase()),
            Self::Requests => rows.sort_by(most(|used| used.steps as f64)),
            Self::Errors => rows.sort_by(most(|used| used.failures as f64)),
            Self::Slowest => rows.sort_by(most(|used| used.whole_ms / used.steps.max(1) as f64)),
            Self::Cost => rows.sort_by(most(|used| used.cost_usd)),
        }
    }
}

impl List for AgentList {
    type State = ConsoleState;
    type Query = AgentQuery;
    type Row = AgentRow;

    const PATH: &'static str = "/admin/agents";
    const SUMMARY: &'static str = "List agents with their usage";
    const TITLE: &'static str = "Agents";
    const EMPTY: &'static str = "No agents match.";
    const NONE_YET: &'static str = "The config has no agents. Add one to its section “agents”.";
    const COLUMNS: &'static [AgentColumn] = &[
        AgentColumn::in_file("id", |row| Cell::text(&row.id)),
        AgentColumn::new("Agent", "name", |row| Cell::optional(row.name.as_deref())).shown_as(|row| {
            link(format!("/admin/agents/{}", query_encoded(&row.id)), row.name.as_ref().unwrap_or(&row.id))
        }),
        AgentColumn::new("Model", "model", |row| Cell::text(&row.model))
            .shown_as(|row| text(format!("{} ({})", row.model, row.provider))),
        AgentColumn::in_file("provider", |row| Cell::text(row.provider)),
        AgentColumn::new("Access", "access", |row| Cell::text(&row.auth)),
        AgentColumn::new("Completed requests", "requests", |row| Cell::count(row.used.steps)).aligned_right(),
        AgentColumn::new("Errors", "errors", |row| Cell::count(row.used.failures)).aligned_right().shown_as(|row| {
            let failed = format!("/admin/conversations?agent={}&errors=1", query_encoded(&row.id));
            link(failed, number(row.used.failures as f64))
        }),
        AgentColumn::new("Reply time", "replyMs", |row| Cell::Number(reply_ms(&row.used).map(f64::round_ties_even)))
            .aligned_right()
            .shown_as(|row| text(reply_time(&row.used))),
        AgentColumn::new("Cost", "costUsd", |row| Cell::Number(Some(row.used.cost_usd)))
            .aligned_right()
            .shown_as(|row| text(dollars(row.used.cost_usd))),
    ];

    fn store(state: &ConsoleState) -> &Store {
        &state.store
    }

    async fn fetch(
        state: &ConsoleState,
        query: &AgentQuery,
        page: &PageRequest,
    ) -> Result<ListPage<AgentRow>, UserError> {
        let (config, filter) = (state.host.config(), non_empty(query.text.as_deref()));
        let used = usage_by_agent(state).await?;
        let agents = config.agents.values();
        let matching = agents.filter(|agent| {
            filter.as_ref().is_none_or(|filter| agent.id.contains(filter) || agent.model.contains(filter))
        });
        let mut rows: Vec<_> = matching.map(|agent| agent_row(&config, agent, &used)).collect();
        query.sort.sort(&mut rows);
        page.page_in(rows)
    }

    fn filters(_: &ConsoleState, query: &AgentQuery) -> Option<AnyView> {
        Some(
            view! {
                {field("text", "Name or model", "search", query.text.as_deref())}
                {select_field("sort", "Order", query.sort)}
            }
            .into_any(),
        )
    }

    async fn content(_: &ConsoleState, _: &AgentQuery, list: ListView) -> Result<AnyView, UserError> {
        let links = view! {
            <a href="/admin/custom-agents">"Custom agents"</a>
            {list.links}
        };
        Ok(view! {
            {ListView { links: links.into_any(), ..list }.into_any()}
            <p class="cw-account-note">"Usage of the last 7 days."</p>
        }
        .into_any())
    }
}

/// Formats the average reply time.
pub(super) fn reply_time(used: &UsageTotals) -> String {
    reply_ms(used).map(seconds).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_are_sorted_by_the_chosen_order() {
        let row = |id: &str, steps: i64, failures: i64, whole_ms: f64, cost_usd: f64| AgentRow {
            id: id.to_owned(),
            name: (id == "c").then(|| "Assistant".to_owned()),
            model: String::new(),
            provider: "",
            auth: String::new(),
            used: UsageTotals { steps, failures, whole_ms, cost_usd, ..UsageTotals::default() },
        };
        let check = |sort: AgentSortQuery, expected: &str| {
            let mut rows = vec![
                row("b", 2, 0, 200.0, 0.5),
                row("c", 9, 0, 300.0, 0.1),
                row("a", 0, 0, 0.0, 0.0),
                row("D", 1, 4, 90.0, 0.1),
            ];
            sort.sort(&mut rows);
            assert_eq!(rows.iter().map(|row| row.id.as_str()).collect::<String>(), expected);
        };
        check(AgentSortQuery::Config, "bcaD");
        check(AgentSortQuery::Name, "acbD");
        check(AgentSortQuery::Requests, "cbDa");
        check(AgentSortQuery::Errors, "Dbca");
        check(AgentSortQuery::Slowest, "bDca");
        check(AgentSortQuery::Cost, "bcDa");
    }
}
