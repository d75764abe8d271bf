//! The agent pages.

use super::list::reply_time;
use super::{AgentDetail, LiveTool};
use crate::agents;
use crate::reasons::reason_text;
use crate::state::ConsoleState;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::{get, post};
use axum::{Form, Router};
use leptos::prelude::*;
use serde::Deserialize;
use serde_json::Value;
use store::RecentRun;
use web::admin::{Admin, PageError, folded_text, page};
use web::html::Heading::{Number, Text};
use web::html::{account_part, dollars, error_message, facts, link, number, seconds, table, text, text_area_content};
use web::times::minute;
use web::{query_encoded, see_other};
use wire::{EndReason, ErrorCode, UserError};

pub(super) fn routes() -> Router<ConsoleState> {
    Router::new()
        .route("/admin/agents/{id}", get(show))
        .route("/admin/agents/{id}/ask", post(ask))
        .route("/admin/agents/{id}/tools", get(tools))
}

/// `GET /admin/agents/{id}`
async fn show(admin: Admin, State(state): State<ConsoleState>, Path(id): Path<String>) -> Result<Response, PageError> {
    render(&admin, &state, &id, None).await
}

/// The form with the question.
#[derive(Deserialize)]
struct AskForm {
    #[serde(default)]
    text: String,
}

/// `POST /admin/agents/{id}/ask`
async fn ask(
    admin: Admin,
    State(state): State<ConsoleState>,
    Path(id): Path<String>,
    Form(sent): Form<AskForm>,
) -> Result<Response, PageError> {
    match agents::ask(&state, &admin, &id, &sent.text).await {
        Ok(conversation_id) => Ok(see_other(&format!("/admin/conversations/{conversation_id}"), None)),
        Err(error) if error.code == ErrorCode::NotFound => Err(error.into()),
        Err(error) => render(&admin, &state, &id, Some((sent.text, error))).await,
    }
}

async fn render(
    admin: &Admin,
    state: &ConsoleState,
    id: &str,
    refused: Option<(String, UserError)>,
) -> Result<Response, PageError> {
    let AgentDetail { line, instructions, settings, runs } = agents::agent_detail(state, id).await?;
    let status = refused.as_ref().map_or(StatusCode::OK, |_| StatusCode::UNPROCESSABLE_ENTITY);
    let (asked, wrong) = refused.map(|(asked, error)| (asked, error.message)).unzip();
    let path = format!("/admin/agents/{}", query_encoded(id));
    let custom = line.name.as_ref().map(|_| link(format!("/admin/custom-agents/{}", query_encoded(id)), "Edit"));
    let title = line.name.clone().unwrap_or_else(|| id.to_owned());
    let health = [
        ("Completed requests", text(number(line.used.steps as f64))),
        ("Errors", text(number(line.used.failures as f64))),
        ("Reply time", text(reply_time(&line.used))),
        ("Cost", text(dollars(line.used.cost_usd))),
    ];
    let about = [("Model", text(line.model)), ("Provider", text(line.provider)), ("Access", text(line.auth))];
    let settings = settings.into_iter().map(|(name, value)| (name, text(value)));
    let instructions = instructions.map(|instructions| match instructions {
        Value::String(text) => text,
        operator => serde_json::to_string_pretty(&operator).unwrap_or_default(),
    });
    let content = view! {
        <section class="cw-account-part" aria-labelledby="health">
            <h2 id="health">"Last 7 days"</h2>
            {facts(health)}
            <p class="cw-admin-links">
                <a href=format!("/admin/conversations?agent={}", query_encoded(id))>"Conversations"</a>
                <a href=format!("/admin/audit?agent={}", query_encoded(id))>"Audit log"</a>
                <a href=format!("{path}/tools")>"Current tools"</a>
                {custom}
            </p>
        </section>
        {account_part("runs", "Last answers", runs_table(runs))}
        <section class="cw-account-part" aria-labelledby="config">
            <h2 id="config">"Config"</h2>
            {facts(about.into_iter().chain(settings))}
            {instructions.map(|text| folded_text("Instructions", text))}
        </section>
        <section class="cw-account-part" aria-labelledby="bench">
            <h2 id="bench">"Test the agent"</h2>
            <p class="cw-account-note">
                "You ask as yourself, in your own conversation, which is marked as a test and is deleted after a while. Tools run for real, and the model request costs as usual."
            </p>
            {error_message(wrong)}
            <form class="cw-account-form" method="post" action=format!("{path}/ask")>
                <label class="cw-account-field">
                    <span>"Question"</span>
                    <textarea name="text" rows="3" required maxlength="10000" inner_html=text_area_content(&asked.unwrap_or_default())></textarea>
                </label>
                <button class="cw-button">"Ask"</button>
            </form>
        </section>
    };
    Ok(page(admin, "/admin/agents", status, &title, content))
}

fn runs_table(runs: Vec<RecentRun>) -> AnyView {
    let columns = [
        Text("Conversation"),
        Text("Outcome"),
        Text("Why it ended"),
        Text("Started (UTC)"),
        Number("Time"),
        Number("Cost"),
        Text("Error"),
    ];
    let line = |run: RecentRun| {
        [
            link(format!("/admin/conversations/{}", run.conversation_id), run.title),
            text(run.status),
            text(run.reason.as_deref().map(|name| reason_text(EndReason::named(name))).unwrap_or_default()),
            text(minute(run.started_at)),
            text(run.ended_at.map(|ended| seconds((ended - run.started_at) as f64)).unwrap_or_default()),
            text(run.cost_usd.map(dollars).unwrap_or_default()),
            text(run.error.unwrap_or_default()),
        ]
    };
    table(columns, runs.into_iter().map(line), "This agent has not answered yet.")
}

/// `GET /admin/agents/{id}/tools`
async fn tools(admin: Admin, State(state): State<ConsoleState>, Path(id): Path<String>) -> Result<Response, PageError> {
    let (tools, problems) = agents::tools(&state, &admin, &id).await?;
    let problems = problems.into_iter().map(|text| error_message(Some(text))).collect_view();
    let content = view! {
        {problems}
        {tools_table(&id, tools)}
    };
    Ok(page(&admin, "/admin/tools", StatusCode::OK, &format!("Tools of {id}"), content))
}

fn tools_table(agent: &str, tools: Vec<LiveTool>) -> AnyView {
    let columns = [Text("Tool"), Text("Source"), Text("Description"), Text("Asks for approval")];
    let agent = query_encoded(agent);
    let line = |tool: LiveTool| {
        let asks = match (tool.in_browser, tool.asks) {
            (true, _) => "runs in the browser",
            (_, true) => "yes",
            (_, false) => "no",
        };
        [
            link(format!("/admin/agents/{agent}/tools/{}", query_encoded(&tool.name)), tool.name),
            text(tool.source.unwrap_or_else(|| "config".to_owned())),
            text(tool.description),
            text(asks),
        ]
    };
    table(columns, tools.into_iter().map(line), "This agent has no tools.")
}
