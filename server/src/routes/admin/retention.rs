//! The retention page: how long data is kept, and what is deleted next.

use super::layout::{Tab, number, page};
use super::table::Column::{Number, Text};
use super::table::{link, table, text};
use super::{Admin, PageError, of_store};
use crate::auth::password::now;
use crate::router::AppState;
use crate::routes::times::minute;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use chat::Swept;
use leptos::prelude::*;
use serde::Serialize;
use serde_json::Value;
use std::time::Duration;
use store::{Due, DueConversation, MAX_DUE};
use wire::UserError;

/// How far ahead is looked, in milliseconds.
const AHEAD: i64 = 7 * 24 * 60 * 60 * 1_000;

/// What is kept for how long.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Plan {
    rules: Vec<Rule>,
    /// Whether conversations stay that their owners have pinned.
    keeps_pinned: bool,
    /// Conversations that go within a week, the next ones first.
    next: Vec<Going>,
}

/// What one rule keeps.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Rule {
    /// `conversations`, `temporary` or `questions`.
    what: &'static str,
    /// Of this agent only.
    #[serde(skip_serializing_if = "Option::is_none")]
    agent_id: Option<String>,
    kept_hours: u64,
    /// So many are to go now.
    due: i64,
    /// So many will have to within a week, those included, if nobody touches them.
    due_in_a_week: i64,
}

/// A conversation that goes.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Going {
    #[serde(flatten)]
    conversation: DueConversation,
    /// When, at the earliest; Unix time, milliseconds.
    goes_at: i64,
}

pub(super) async fn plan(state: &AppState) -> Result<Plan, UserError> {
    let (store, kept, now) = (&state.composition.store, state.composition.chat.retention(), now());
    let (mut rules, mut next) = (Vec::new(), Vec::new());
    let later = kept.rules(now + AHEAD);
    for (rule, later) in kept.rules(now).into_iter().zip(later) {
        let life = millis(rule.kept);
        let found = store.show_due(&later.due).await.map_err(of_store)?;
        next.extend(found.into_iter().map(|found| Going { goes_at: found.updated_at + life, conversation: found }));
        rules.push(Rule {
            what: "conversations",
            agent_id: rule.agent_id,
            kept_hours: rule.kept.as_secs() / 3_600,
            due: store.count_due(&rule.due).await.map_err(of_store)?,
            due_in_a_week: store.count_due(&later.due).await.map_err(of_store)?,
        });
    }
    let temporary = store.show_due(&Due::Temporary(now + AHEAD)).await.map_err(of_store)?;
    next.extend(
        temporary.into_iter().map(|found| Going { goes_at: found.expires_at.unwrap_or(now), conversation: found }),
    );
    rules.push(Rule {
        what: "temporary",
        agent_id: None,
        kept_hours: kept.temporary.as_secs() / 3_600,
        due: store.count_due(&Due::Temporary(now)).await.map_err(of_store)?,
        due_in_a_week: store.count_due(&Due::Temporary(now + AHEAD)).await.map_err(of_store)?,
    });
    if let (Some(life), Some(before)) = (kept.questions, kept.questions_before(now)) {
        rules.push(Rule {
            what: "questions",
            agent_id: None,
            kept_hours: life.as_secs() / 3_600,
            due: store.count_questions(before).await.map_err(of_store)?,
            due_in_a_week: store.count_questions(before + AHEAD).await.map_err(of_store)?,
        });
    }
    next.sort_by_key(|going: &Going| going.goes_at);
    next.truncate(MAX_DUE as usize);
    Ok(Plan { rules, keeps_pinned: kept.keeps_pinned, next })
}

fn millis(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX / 4)
}

/// Deletes what is due now.
pub(super) async fn apply(state: &AppState, admin: &Admin) -> Result<Swept, UserError> {
    let entry = admin.entry("apply_retention", "", Value::Null);
    state.composition.store.enter_audit(entry).await.map_err(of_store)?;
    state.composition.chat.sweep().await
}

/// `GET /admin/retention`
pub(crate) async fn show(admin: Admin, State(state): State<AppState>) -> Result<Response, PageError> {
    shown(&admin, &state, None).await
}

/// `POST /admin/retention`
pub(crate) async fn sweep(admin: Admin, State(state): State<AppState>) -> Result<Response, PageError> {
    let swept = apply(&state, &admin).await?;
    shown(&admin, &state, Some(swept)).await
}

async fn shown(admin: &Admin, state: &AppState, swept: Option<Swept>) -> Result<Response, PageError> {
    let plan = plan(state).await?;
    let swept = swept.map(|Swept { conversations, temporary, questions }| {
        let text = format!(
            "Deleted: {conversations} conversations, {temporary} temporary conversations, {questions} API questions."
        );
        view! { <p class="cw-account-done" role="status">{text}</p> }
    });
    let pinned = match plan.keeps_pinned {
        true => "Pinned conversations are kept.",
        false => "Pinned conversations are deleted as well.",
    };
    let due = plan.rules.iter().any(|rule| rule.due > 0);
    let content = view! {
        {swept}
        <section class="cw-account-part" aria-labelledby="rules">
            <h2 id="rules">"Rules"</h2>
            <p class="cw-account-note">
                "They are set in the config, at "<code>"store.retention"</code>". "{pinned}
                " The audit log and usage figures are not deleted."
            </p>
            {rules(plan.rules)}
            {due.then(|| view! {
                <form class="cw-admin-acts" method="post" action="/admin/retention">
                    <button class="cw-button cw-danger">"Delete due data now"</button>
                </form>
            })}
        </section>
        <section class="cw-account-part" aria-labelledby="next">
            <h2 id="next">"Deleted within a week"</h2>
            <p class="cw-account-note">"Unless a user continues the conversation. Deletion is permanent."</p>
            {next(plan.next)}
        </section>
    };
    Ok(page(admin, Tab::Retention, StatusCode::OK, "Retention", content))
}

fn rules(rules: Vec<Rule>) -> AnyView {
    let columns = [Text("Data"), Text("Kept for"), Number("Due now"), Number("Within a week")];
    let line = |rule: Rule| {
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

fn next(next: Vec<Going>) -> AnyView {
    let columns = [Text("Conversation"), Text("User"), Text("Agent"), Text("Changed (UTC)"), Text("Deleted (UTC)")];
    let line = |Going { conversation, goes_at }: Going| {
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
