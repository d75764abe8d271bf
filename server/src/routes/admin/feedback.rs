//! What users think of answers.

use super::conversations::JudgedQuery;
use super::layout::{Tab, minute, page};
use super::lists::{PAGE, choice, none, paged, pager, place};
use super::{Admin, PageError, of_store};
use crate::router::AppState;
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
    let is_empty = lines.is_empty();
    let judged = [("any", "Any"), ("up", "Liked"), ("down", "Not liked")];
    let content = view! {
        <form class="cw-admin-filter" method="get" role="search" aria-label="Feedback">
            {choice("judged", "Feedback", &judged, query.judged.name())}
            <button class="cw-button">"Show"</button>
        </form>
        {none(is_empty, "No feedback fits.")}
        {(!is_empty).then(|| table(lines))}
        {pager("/admin/feedback", raw.as_deref(), next)}
    };
    Ok(page(&admin, Tab::Feedback, StatusCode::OK, "Feedback", content))
}

fn table(lines: Vec<FeedbackRow>) -> impl IntoView {
    let line = |row: FeedbackRow| {
        let to = format!("/admin/conversations/{}#m-{}", row.conversation_id, row.message_id);
        let judged = if row.rating == "up" { "Liked" } else { "Not liked" };
        view! {
            <tr>
                <th scope="row"><a href=to>{row.title.clone()}</a></th>
                <td data-label="Feedback">{judged}</td>
                <td data-label="Why">{row.reason.clone()}</td>
                <td data-label="User">{row.owner_name.clone().unwrap_or_else(|| row.owner.clone())}</td>
                <td data-label="Agent">{row.agent_id.clone()}</td>
                <td data-label="Time">{minute(row.updated_at)}</td>
            </tr>
        }
    };
    view! {
        <table class="cw-admin-table">
            <thead>
                <tr>
                    <th scope="col">"Conversation"</th>
                    <th scope="col">"Feedback"</th>
                    <th scope="col">"Why"</th>
                    <th scope="col">"User"</th>
                    <th scope="col">"Agent"</th>
                    <th scope="col">"Time (UTC)"</th>
                </tr>
            </thead>
            <tbody>{lines.into_iter().map(line).collect_view()}</tbody>
        </table>
    }
}
