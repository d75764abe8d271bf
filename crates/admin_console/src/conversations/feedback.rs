//! The page of users' feedback on answers.

use crate::conversations::RatingQuery;
use crate::state::ConsoleState;
use axum::extract::{Query, RawQuery, State};
use axum::http::StatusCode;
use axum::response::Response;
use leptos::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use store::{FeedbackRow, FeedbackSort, ListCursor};
use web::admin::csv::{self, Csv};
use web::admin::lists::{PAGE_SIZE, csv_link, pager, parse_cursor, select_field, split_page};
use web::admin::page;
use web::admin::{Admin, PageError, from_store_error};
use web::html::Column::Text;
use web::html::{link, table, text};
use web::times::minute;
use wire::UserError;

/// The query of the list.
#[derive(Default, Deserialize, JsonSchema)]
pub(crate) struct FeedbackQuery {
    /// `any`, `up` or `down`.
    #[serde(default)]
    judged: RatingQuery,
    /// `newest` or `oldest`.
    #[serde(default)]
    sort: FeedbackSortQuery,
    /// `next` of the previous page.
    after: Option<String>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum FeedbackSortQuery {
    #[default]
    Newest,
    Oldest,
}

impl FeedbackSortQuery {
    fn sort(self) -> (FeedbackSort, &'static str) {
        match self {
            Self::Newest => (FeedbackSort::Newest, "newest"),
            Self::Oldest => (FeedbackSort::Oldest, "oldest"),
        }
    }
}

pub(crate) async fn fetch_page(
    state: &ConsoleState,
    query: &FeedbackQuery,
) -> Result<Vec<(FeedbackRow, ListCursor)>, UserError> {
    let after = parse_cursor(query.after.as_deref())?;
    let (judged, sort) = (query.judged.filter(), query.sort.sort().0);
    state.store.all_feedback(judged, sort, PAGE_SIZE + 1, after).await.map_err(from_store_error)
}

/// `GET /admin/feedback`
pub(crate) async fn list(
    admin: Admin,
    State(state): State<ConsoleState>,
    Query(query): Query<FeedbackQuery>,
    RawQuery(raw): RawQuery,
) -> Result<Response, PageError> {
    let (lines, next) = split_page(fetch_page(&state, &query).await?);
    let judged = [("any", "Any"), ("up", "Liked"), ("down", "Disliked")];
    let content = view! {
        <form class="cw-admin-filter" method="get" role="search" aria-label="Feedback">
            {select_field("judged", "Feedback", &judged, query.judged.name())}
            {select_field("sort", "Order", &[("newest", "Newest first"), ("oldest", "Oldest first")], query.sort.sort().1)}
            <button class="cw-button">"Show"</button>
        </form>
        <p class="cw-admin-links">{csv_link("/admin/feedback.csv", raw.as_deref())}</p>
        {feedback_table(lines)}
        {pager("/admin/feedback", raw.as_deref(), next)}
    };
    Ok(page(&admin, "/admin/feedback", StatusCode::OK, "Feedback", content))
}

/// `GET /admin/feedback.csv`
pub(crate) async fn export(
    admin: Admin,
    State(state): State<ConsoleState>,
    Query(mut query): Query<FeedbackQuery>,
) -> Result<Response, PageError> {
    state.store.record_audit(admin.audit_entry("export_feedback", "", Value::Null)).await?;
    let mut file = Csv::new("conversation,title,agent,message,user,userName,feedback,reason,time");
    loop {
        query.after = file.add_page(fetch_page(&state, &query).await?, cells);
        if query.after.is_none() {
            return Ok(file.into_file("feedback.csv"));
        }
    }
}

fn cells(row: &FeedbackRow) -> [String; 9] {
    [
        csv::cell(&row.conversation_id),
        csv::cell(&row.title),
        csv::cell(&row.agent_id),
        csv::cell(&row.message_id),
        csv::cell(&row.owner),
        csv::cell(row.owner_name.as_deref().unwrap_or_default()),
        csv::cell(&row.rating),
        csv::cell(row.reason.as_deref().unwrap_or_default()),
        csv::time_cell(row.updated_at),
    ]
}

fn feedback_table(lines: Vec<FeedbackRow>) -> AnyView {
    let columns =
        [Text("Conversation"), Text("Feedback"), Text("Reason"), Text("User"), Text("Agent"), Text("Time (UTC)")];
    let line = |row: FeedbackRow| {
        let to = format!("/admin/conversations/{}#m-{}", row.conversation_id, row.message_id);
        [
            link(to, row.title),
            text(if row.rating == "up" { "Liked" } else { "Disliked" }),
            text(row.reason.unwrap_or_default()),
            text(row.owner_name.unwrap_or(row.owner)),
            text(row.agent_id),
            text(minute(row.updated_at)),
        ]
    };
    table(columns, lines.into_iter().map(line), "No feedback matches.")
}
