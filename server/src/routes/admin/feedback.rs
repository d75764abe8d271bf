//! What users think of answers.

use super::conversations::JudgedQuery;
use super::layout::{Tab, page};
use super::lists::{PAGE, choice, paged, pager, place};
use super::table::Column::Text;
use super::table::{link, table, text};
use super::{Admin, PageError, of_store};
use crate::router::AppState;
use crate::routes::times::minute;
use axum::extract::{Query, RawQuery, State};
use axum::http::StatusCode;
use axum::response::Response;
use leptos::prelude::*;
use serde::Deserialize;
use store::{FeedbackRow, Place};
use wire::UserError;

/// Which judgements, in an address.
#[derive(Default, Deserialize)]
pub(crate) struct FeedbackQuery {
    #[serde(default)]
    judged: JudgedQuery,
    after: Option<String>,
}

pub(super) async fn found(state: &AppState, query: &FeedbackQuery) -> Result<Vec<(FeedbackRow, Place)>, UserError> {
    let after = place(query.after.as_deref())?;
    state.composition.store.all_feedback(query.judged.judged(), PAGE + 1, after).await.map_err(of_store)
}

/// `GET /admin/feedback`
pub(crate) async fn list(
    admin: Admin,
    State(state): State<AppState>,
    Query(query): Query<FeedbackQuery>,
    RawQuery(raw): RawQuery,
) -> Result<Response, PageError> {
    let (lines, next) = paged(found(&state, &query).await?);
    let judged = [("any", "Any"), ("up", "Liked"), ("down", "Not liked")];
    let content = view! {
        <form class="cw-admin-filter" method="get" role="search" aria-label="Feedback">
            {choice("judged", "Feedback", &judged, query.judged.name())}
            <button class="cw-button">"Show"</button>
        </form>
        {lines_of(lines)}
        {pager("/admin/feedback", raw.as_deref(), next)}
    };
    Ok(page(&admin, Tab::Feedback, StatusCode::OK, "Feedback", content))
}

fn lines_of(lines: Vec<FeedbackRow>) -> AnyView {
    let columns =
        [Text("Conversation"), Text("Feedback"), Text("Why"), Text("User"), Text("Agent"), Text("Time (UTC)")];
    let line = |row: FeedbackRow| {
        let to = format!("/admin/conversations/{}#m-{}", row.conversation_id, row.message_id);
        [
            link(to, row.title),
            text(if row.rating == "up" { "Liked" } else { "Not liked" }),
            text(row.reason.unwrap_or_default()),
            text(row.owner_name.unwrap_or(row.owner)),
            text(row.agent_id),
            text(minute(row.updated_at)),
        ]
    };
    table(columns, lines.into_iter().map(line), "No feedback fits.")
}
