//! The list of all users' conversations.

use crate::state::ConsoleState;
use leptos::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;
use store::{AdminConversation, ConversationFilter, ConversationSort, RatingFilter, Store};
use web::admin::filters::{
    Choice, check_field, day_end, day_start, field, non_empty, period_fields, select_field, user_id,
};
use web::admin::from_store_error;
use web::admin::list::{Cell, Column, List, ListPage, PageRequest};
use web::html::{dollars, link, text};
use web::query_encoded;
use wire::{ErrorCode, UserError};

pub(super) struct ConversationsList;

type ConversationColumn = Column<AdminConversation>;

/// The query of the list.
#[derive(Default, Deserialize, JsonSchema)]
pub(super) struct ConversationQuery {
    /// The text to search for.
    text: Option<String>,
    /// Only conversations of this user (id).
    owner: Option<String>,
    /// Only conversations with this agent.
    agent: Option<String>,
    /// A day, such as 2026-11-21.
    from: Option<String>,
    /// A day.
    to: Option<String>,
    /// `any`, `up` or `down`.
    #[serde(default)]
    judged: RatingQuery,
    /// `1` for conversations in which an answer failed.
    errors: Option<String>,
    /// Minimum cost in US dollars.
    cost: Option<String>,
    /// `newest`, `oldest` or `cost`.
    #[serde(default)]
    sort: ConversationSortQuery,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum RatingQuery {
    #[default]
    Any,
    Up,
    Down,
}

impl RatingQuery {
    pub(super) fn filter(self) -> Option<RatingFilter> {
        match self {
            Self::Any => None,
            Self::Up => Some(RatingFilter::Up),
            Self::Down => Some(RatingFilter::Down),
        }
    }
}

impl Choice for RatingQuery {
    const ALL: &'static [(Self, &'static str, &'static str)] =
        &[(Self::Any, "any", "Any"), (Self::Up, "up", "Liked"), (Self::Down, "down", "Disliked")];
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum ConversationSortQuery {
    #[default]
    Newest,
    Oldest,
    Cost,
}

impl ConversationSortQuery {
    fn sort(self) -> ConversationSort {
        match self {
            Self::Newest => ConversationSort::Newest,
            Self::Oldest => ConversationSort::Oldest,
            Self::Cost => ConversationSort::Cost,
        }
    }
}

impl Choice for ConversationSortQuery {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Self::Newest, "newest", "Newest first"),
        (Self::Oldest, "oldest", "Oldest first"),
        (Self::Cost, "cost", "Most expensive first"),
    ];
}

impl List for ConversationsList {
    type State = ConsoleState;
    type Query = ConversationQuery;
    type Row = AdminConversation;

    const PATH: &'static str = "/admin/conversations";
    const SUMMARY: &'static str = "List the conversations of all users";
    const TITLE: &'static str = "Conversations";
    const EMPTY: &'static str = "No conversations match.";
    const NONE_YET: &'static str = "There are no conversations yet. They appear here when users write to an agent.";
    const COLUMNS: &'static [ConversationColumn] = &[
        ConversationColumn::in_file("id", |row| Cell::text(&row.id)),
        ConversationColumn::new("Title", "title", |row| Cell::text(&row.title))
            .shown_as(|row| link(format!("/admin/conversations/{}", row.id), &row.title)),
        ConversationColumn::new("User", "user", |row| Cell::text(&row.owner)).shown_as(|row| {
            let owner = row.owner_name.as_ref().unwrap_or(&row.owner);
            link(format!("?owner={}", query_encoded(&row.owner)), owner)
        }),
        ConversationColumn::in_file("userName", |row| Cell::optional(row.owner_name.as_deref())),
        ConversationColumn::new("Agent", "agent", |row| Cell::text(&row.agent_id)),
        ConversationColumn::in_file("created", |row| Cell::time(row.created_at)),
        ConversationColumn::new("Changed (UTC)", "changed", |row| Cell::time(row.updated_at)),
        ConversationColumn::new("Tokens", "tokens", |row| Cell::Number(Some(row.tokens))).aligned_right(),
        ConversationColumn::new("Cost", "costUsd", |row| Cell::Number(Some(row.cost_usd)))
            .aligned_right()
            .shown_as(|row| text(dollars(row.cost_usd))),
        ConversationColumn::new("Errors", "errors", |row| Cell::count(row.failures)).aligned_right(),
        ConversationColumn::in_table("Feedback", |row| text(rating_text(row.liked, row.disliked))),
        ConversationColumn::in_file("liked", |row| Cell::count(row.liked)),
        ConversationColumn::in_file("disliked", |row| Cell::count(row.disliked)),
    ];

    fn store(state: &ConsoleState) -> &Store {
        &state.store
    }

    async fn fetch(
        state: &ConsoleState,
        query: &ConversationQuery,
        page: &PageRequest,
    ) -> Result<ListPage<AdminConversation>, UserError> {
        let filter = ConversationFilter {
            text: query.text.clone().unwrap_or_default(),
            owner: user_id(&state.store, query.owner.as_deref()).await?,
            agent_id: non_empty(query.agent.as_deref()),
            from: day_start(query.from.as_deref())?,
            to: day_end(query.to.as_deref())?,
            rating: query.judged.filter(),
            failed: query.errors.is_some(),
            min_cost: non_empty(query.cost.as_deref()).map(|cost| parse_cost(&cost)).transpose()?,
        };
        let found = state.store.all_conversations(filter, query.sort.sort(), page.limit(), page.cursor()?).await;
        Ok(page.page(found.map_err(from_store_error)?))
    }

    fn filters(_: &ConsoleState, query: &ConversationQuery) -> Option<AnyView> {
        Some(
            view! {
                {field("text", "Search text", "search", query.text.as_deref())}
                {field("owner", "User (name or id)", "text", query.owner.as_deref())}
                {field("agent", "Agent", "text", query.agent.as_deref())}
                {period_fields(query.from.as_deref(), query.to.as_deref())}
                {field("cost", "Minimum cost ($)", "text", query.cost.as_deref())}
                {select_field("judged", "Feedback", query.judged)}
                {select_field("sort", "Order", query.sort)}
                {check_field("errors", "With errors", query.errors.is_some())}
            }
            .into_any(),
        )
    }
}

fn parse_cost(cost: &str) -> Result<f64, UserError> {
    cost.parse::<f64>()
        .ok()
        .filter(|cost| cost.is_finite())
        .ok_or_else(|| UserError::new(ErrorCode::Malformed, "The cost must be a number of US dollars, such as 0.5."))
}

/// Formats the numbers of ratings.
pub(super) fn rating_text(liked: i64, disliked: i64) -> String {
    if liked + disliked == 0 { "–".to_owned() } else { format!("{liked} liked, {disliked} disliked") }
}
