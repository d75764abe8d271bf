//! The retention page: how long data is kept, and what is deleted next.

use crate::state::ConsoleState;
use auth::password::now_millis;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::get;
use axum::{Json, Router};
use chat::{RetentionRule, SweepResult, invocations_due_before};
use leptos::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use std::time::Duration;
use store::{DueConversation, DueFilter, MAX_DUE};
use web::HttpError;
use web::admin::{ADMINISTRATION, Admin, PageError, from_store_error, page};
use web::html::Heading::{Number, Text};
use web::html::{link, number, table, text};
use web::openapi::ApiRouter;
use web::times::minute;
use wire::UserError;

pub(crate) fn routes() -> ApiRouter<ConsoleState> {
    ApiRouter::new(&ADMINISTRATION)
        .get("/api/admin/retention", show_api, "Get the retention rules and the next deletions")
        .post("/api/admin/retention", sweep_api, "Delete due data now")
        .with_pages(Router::new().route("/admin/retention", get(show).post(sweep)))
}

/// How far ahead deletions are listed, in milliseconds.
const LOOKAHEAD_MS: i64 = 7 * 24 * 60 * 60 * 1_000;

/// The retention rules with the next deletions.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct RetentionPlan {
    /// The rules of the config.
    rules: Vec<RuleStatus>,
    /// Whether pinned conversations are kept.
    keeps_pinned: bool,
    /// Conversations that are deleted within a week, the next ones first.
    next: Vec<UpcomingDeletion>,
}

/// A retention rule, and how much data is due by it.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct RuleStatus {
    /// The kind of data: `conversations`, `temporary` or `questions`.
    what: &'static str,
    /// The agent that the rule is limited to; absent for all agents.
    #[serde(skip_serializing_if = "Option::is_none")]
    agent_id: Option<String>,
    /// How long data is kept, in hours.
    kept_hours: u64,
    /// The number of items that are due now.
    due: i64,
    /// The number of items that are due within a week, including those due now, unless they are
    /// used again.
    due_in_a_week: i64,
}

/// A conversation that will be deleted.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct UpcomingDeletion {
    #[serde(flatten)]
    conversation: DueConversation,
    /// The earliest time of its deletion; Unix time in milliseconds.
    goes_at: i64,
}

async fn plan(state: &ConsoleState) -> Result<RetentionPlan, UserError> {
    let (store, kept, now) = (&state.store, state.chat.retention(), now_millis());
    let (mut rules, mut next) = (Vec::new(), Vec::new());
    let later = RetentionRule::all(&kept, now + LOOKAHEAD_MS);
    for (rule, later) in RetentionRule::all(&kept, now).into_iter().zip(later) {
        let life = millis(rule.kept);
        let found = store.preview_due(&later.due).await.map_err(from_store_error)?;
        next.extend(
            found.into_iter().map(|found| UpcomingDeletion { goes_at: found.updated_at + life, conversation: found }),
        );
        rules.push(RuleStatus {
            what: "conversations",
            agent_id: rule.agent_id,
            kept_hours: rule.kept.as_secs() / 3_600,
            due: store.count_due(&rule.due).await.map_err(from_store_error)?,
            due_in_a_week: store.count_due(&later.due).await.map_err(from_store_error)?,
        });
    }
    let temporary = store.preview_due(&DueFilter::Temporary(now + LOOKAHEAD_MS)).await.map_err(from_store_error)?;
    next.extend(
        temporary
            .into_iter()
            .map(|found| UpcomingDeletion { goes_at: found.expires_at.unwrap_or(now), conversation: found }),
    );
    rules.push(RuleStatus {
        what: "temporary",
        agent_id: None,
        kept_hours: kept.temporary.as_secs() / 3_600,
        due: store.count_due(&DueFilter::Temporary(now)).await.map_err(from_store_error)?,
        due_in_a_week: store.count_due(&DueFilter::Temporary(now + LOOKAHEAD_MS)).await.map_err(from_store_error)?,
    });
    if let (Some(life), Some(before)) = (kept.invocations, invocations_due_before(&kept, now)) {
        rules.push(RuleStatus {
            what: "questions",
            agent_id: None,
            kept_hours: life.as_secs() / 3_600,
            due: store.count_ended_invocations(before).await.map_err(from_store_error)?,
            due_in_a_week: store.count_ended_invocations(before + LOOKAHEAD_MS).await.map_err(from_store_error)?,
        });
    }
    next.sort_by_key(|going: &UpcomingDeletion| going.goes_at);
    next.truncate(MAX_DUE as usize);
    Ok(RetentionPlan { rules, keeps_pinned: kept.keeps_pinned, next })
}

fn millis(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX / 4)
}

/// Deletes the data that is due now.
async fn apply(state: &ConsoleState, admin: &Admin) -> Result<SweepResult, UserError> {
    admin.record(&state.store, "apply_retention", "", Value::Null).await?;
    state.chat.sweep().await
}

/// `GET /admin/retention`
async fn show(admin: Admin, State(state): State<ConsoleState>) -> Result<Response, PageError> {
    render(&admin, &state, None).await
}

/// `POST /admin/retention`
async fn sweep(admin: Admin, State(state): State<ConsoleState>) -> Result<Response, PageError> {
    let swept = apply(&state, &admin).await?;
    render(&admin, &state, Some(swept)).await
}

/// `GET /api/admin/retention`
async fn show_api(_: Admin, State(state): State<ConsoleState>) -> Result<Json<RetentionPlan>, HttpError> {
    Ok(Json(plan(&state).await?))
}

/// `POST /api/admin/retention`
async fn sweep_api(admin: Admin, State(state): State<ConsoleState>) -> Result<Json<SweepResult>, HttpError> {
    Ok(Json(apply(&state, &admin).await?))
}

async fn render(admin: &Admin, state: &ConsoleState, swept: Option<SweepResult>) -> Result<Response, PageError> {
    let plan = plan(state).await?;
    let swept = swept.map(|SweepResult { conversations, temporary, questions }| {
        let text = format!(
            "Deleted: {conversations} conversations, {temporary} temporary conversations, {questions} API questions."
        );
        view! { <p class="cw-account-done" role="status">{text}</p> }
    });
    let pinned =
        if plan.keeps_pinned { "Pinned conversations are kept." } else { "Pinned conversations are deleted as well." };
    let due = plan.rules.iter().any(|rule| rule.due > 0);
    let content = view! {
        {swept}
        <section class="cw-account-part" aria-labelledby="rules">
            <h2 id="rules">"Rules"</h2>
            <p class="cw-account-note">
                "They are set in the config, at "<code>"store.retention"</code>". "{pinned}
                " The audit log and usage figures are not deleted."
            </p>
            {rules_table(plan.rules)}
            {due.then(|| view! {
                <form class="cw-admin-acts" method="post" action="/admin/retention">
                    <button class="cw-button cw-danger">"Delete due data now"</button>
                </form>
            })}
        </section>
        <section class="cw-account-part" aria-labelledby="next">
            <h2 id="next">"Deleted within a week"</h2>
            <p class="cw-account-note">"Unless a user continues the conversation. Deletion is permanent."</p>
            {upcoming_table(plan.next)}
        </section>
    };
    Ok(page(admin, "/admin/retention", StatusCode::OK, "Retention", content))
}

fn rules_table(rules: Vec<RuleStatus>) -> AnyView {
    let columns = [Text("Data"), Text("Kept for"), Number("Due now"), Number("Within a week")];
    let line = |rule: RuleStatus| {
        let what = match (rule.what, rule.agent_id) {
            ("temporary", _) => "Temporary conversations".to_owned(),
            ("questions", _) => "API questions".to_owned(),
            (_, Some(agent)) => format!("Conversations with {agent}"),
            (_, None) => "Conversations".to_owned(),
        };
        let kept = match rule.kept_hours {
            hours if hours % 24 == 0 && hours > 24 => format!("{} days", hours / 24),
            1 => "1 hour".to_owned(),
            hours => format!("{hours} hours"),
        };
        [text(what), text(kept), text(number(rule.due as f64)), text(number(rule.due_in_a_week as f64))]
    };
    table(columns, rules.into_iter().map(line), "Everything is kept forever.")
}

fn upcoming_table(next: Vec<UpcomingDeletion>) -> AnyView {
    let columns = [Text("Conversation"), Text("User"), Text("Agent"), Text("Changed (UTC)"), Text("Deleted (UTC)")];
    let line = |UpcomingDeletion { conversation, goes_at }: UpcomingDeletion| {
        [
            link(format!("/admin/conversations/{}", conversation.id), conversation.title),
            text(conversation.owner_name.unwrap_or(conversation.owner)),
            text(conversation.agent_id),
            text(minute(conversation.updated_at)),
            text(minute(goes_at)),
        ]
    };
    table(columns, next.into_iter().map(line), "Nothing is due.")
}
