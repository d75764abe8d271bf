//! The pages.

use super::{Console, ReplayForm, RepliesChoice};
use crate::format::{Message, Recording};
use crate::replays::{self, ReplaySummary};
use crate::store::{RecordingSummary, list};
use crate::view::{comparison_view, recording_view};
use axum::extract::{Form, Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::{get, post};
use axum::{Json, Router};
use contract::UserPart;
use leptos::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;
use web::admin::filters::{options_field, select_field};
use web::admin::{ADMINISTRATION, Admin, MenuEntry, MenuGroup, PageError, Section, UserNames, page};
use web::html::Heading::{Number, Text};
use web::html::{facts, link, number, table, text};
use web::openapi::ApiRouter;
use web::times::minute;
use web::{HttpError, see_other};
use wire::UserError;

const PATH: &str = "/admin/recordings";
const TITLE: &str = "Recordings";
/// The most recordings on the page.
const MAX_SHOWN: usize = 200;

/// Returns the section of the console.
pub(crate) fn section(state: Console) -> Section {
    let pages = Router::new()
        .route(PATH, get(show_all))
        .route("/admin/recordings/{run}", get(show))
        .route("/admin/recordings/{run}/replays", post(replay))
        .route("/admin/recordings/{run}/replays/{id}", get(show_replay));
    let routes = ApiRouter::new(&ADMINISTRATION)
        .get("/api/admin/recordings", list_api, "List recordings of runs")
        .with_pages(pages);
    Section {
        menu: vec![MenuEntry { group: MenuGroup::Conversations, path: PATH, title: TITLE }],
        actions: vec!["admin:read_recording".to_owned(), "admin:replay_run".to_owned()],
        routes: routes.map(|router| router.with_state(state)),
    }
}

/// The newest recordings of runs.
#[derive(Serialize, JsonSchema)]
struct RecordingList {
    /// The recordings, newest first.
    recordings: Vec<RecordingSummary>,
}

/// `GET /api/admin/recordings`
async fn list_api(_: Admin, State(state): State<Console>) -> Result<Json<RecordingList>, HttpError> {
    Ok(Json(RecordingList { recordings: list(&state.context.store).await? }))
}

/// `GET /admin/recordings`
async fn show_all(admin: Admin, State(state): State<Console>) -> Result<Response, PageError> {
    let recordings = list(&state.context.store).await?;
    let columns = [
        Text("Run"),
        Text("Agent"),
        Text("Recorded (UTC)"),
        Text("Ended"),
        Number("Steps"),
        Number("Tokens"),
        Number("Size (KB)"),
    ];
    let row = |summary: &RecordingSummary| {
        [
            link(format!("{PATH}/{}", summary.run_id), summary.run_id.clone()),
            text(summary.agent_id.clone()),
            text(minute(summary.recorded_at)),
            text(summary.ending.clone()),
            text(number(summary.steps as f64)),
            text(number(summary.tokens as f64)),
            text(number(summary.bytes as f64 / 1_000.0)),
        ]
    };
    let none = "No run is recorded. Agents with `record: on` record their runs.";
    let content = view! {
        <p class="cw-account-note">
            "Runs of agents with "<code>"record"</code>". Open one to replay it with the agents as they are now, and see step by step what they do differently. "
            {link("/docs/replay", "How it works")}"."
        </p>
        {table(columns, recordings.iter().take(MAX_SHOWN).map(row), none)}
    };
    Ok(page(&admin, PATH, StatusCode::OK, TITLE, content))
}

/// `GET /admin/recordings/{run}`
async fn show(admin: Admin, State(state): State<Console>, Path(run): Path<String>) -> Result<Response, PageError> {
    let recording = state.open(&admin, &run, "read_recording").await?;
    let replays = replays::list(&state.context.store, &run).await?;
    let names = UserNames::load(&state.context.store, replays.iter().map(|replay| replay.created_by.as_str())).await?;
    let header = &recording.header;
    let conversation = format!("/admin/conversations/{}", header.conversation_id);
    let about = [
        ("Agent", text(header.agent_id.clone())),
        ("Began (UTC)", text(minute(header.started_at))),
        ("Ended", text(recording.end().map(|end| end.ending.clone()).unwrap_or_default())),
        ("Conversation", link(conversation, "Open")),
    ];
    let agents = state.context.current.usable_agents(&admin.caller);
    let content = view! {
        <section class="cw-account-part" aria-label="About">{facts(about)}</section>
        {question_part(&recording)}
        <section class="cw-account-part" aria-labelledby="replay">
            <h2 id="replay">"Replay"</h2>
            <p class="cw-account-note">
                "The same messages again, with the agent as it is now or with another one. Results of tools come from the recording, so nothing happens."
            </p>
            {replay_form(&run, &header.agent_id, agents)}
            {replays_table(&run, replays, &names)}
        </section>
        <section class="cw-account-part" aria-labelledby="steps">
            <h2 id="steps">"Steps"</h2>
            {recording_view(&recording)}
        </section>
    };
    Ok(page(&admin, PATH, StatusCode::OK, "Recorded run", content))
}

/// Renders the message of the user that the run has answered.
fn question_part(recording: &Recording) -> Option<AnyView> {
    let messages = recording.turn()?.messages.iter().rev();
    let parts =
        messages.map(|id| serde_json::from_value(recording.blob(id).clone())).find_map(|message| match message {
            Ok(Message::User(parts)) => Some(parts),
            _ => None,
        })?;
    let texts = parts.into_iter().map(|part| match part {
        UserPart::Text { text } => text,
        UserPart::File { filename, media_type, .. } => format!("[{}]", filename.unwrap_or(media_type)),
    });
    let text = texts.collect::<Vec<_>>().join("\n\n");
    let part = view! {
        <section class="cw-account-part" aria-labelledby="question">
            <h2 id="question">"The user writes"</h2>
            <p class="cw-admin-text" dir="auto">{text}</p>
        </section>
    };
    Some(part.into_any())
}

fn replay_form(run: &str, recorded: &str, agents: Vec<String>) -> impl IntoView + use<> {
    let option = |agent: String| {
        let is_recorded = agent == recorded;
        view! { <option value=agent.clone() selected=is_recorded>{agent.clone()}</option> }
    };
    let options = agents.into_iter().map(option).collect_view();
    view! {
        <form class="cw-admin-filter cw-replay-form" method="post" action=format!("{PATH}/{run}/replays")>
            {options_field("agent", "Agent", options)}
            {select_field("replies", "Source of the model's replies", RepliesChoice::Recorded)}
            <button class="cw-button cw-primary">"Replay"</button>
        </form>
    }
}

fn replays_table(run: &str, replays: Vec<ReplaySummary>, names: &UserNames) -> AnyView {
    let row = |replay: ReplaySummary| {
        [
            link(format!("{PATH}/{run}/replays/{}", replay.id), replay.label),
            names.view(&replay.created_by),
            text(minute(replay.created_at)),
        ]
    };
    let columns = [Text("With"), Text("By"), Text("Time (UTC)")];
    table(columns, replays.into_iter().map(row), "There are no replays yet.")
}

/// `POST /admin/recordings/{run}/replays`
async fn replay(
    admin: Admin,
    State(state): State<Console>,
    Path(run): Path<String>,
    Form(form): Form<ReplayForm>,
) -> Result<Response, PageError> {
    let id = state.replay(&admin, &run, form).await?;
    Ok(see_other(&format!("{PATH}/{run}/replays/{id}"), None))
}

/// `GET /admin/recordings/{run}/replays/{id}`
async fn show_replay(
    admin: Admin,
    State(state): State<Console>,
    Path((run, id)): Path<(String, String)>,
) -> Result<Response, PageError> {
    let recording = state.open(&admin, &run, "read_recording").await?;
    let replay = replays::find(&state.context.store, &run, &id).await?.ok_or_else(UserError::not_found)?;
    let comparison = replay.compare(&recording);
    let content = view! {
        <p class="cw-account-note">
            {link(format!("{PATH}/{run}"), "The recorded run")}
            {format!(" beside its replay with {}, {} UTC.", replay.summary.label, minute(replay.summary.created_at))}
        </p>
        {question_part(&recording)}
        <section class="cw-account-part" aria-labelledby="steps">
            <h2 id="steps">"Steps"</h2>
            {comparison_view(&comparison, ("recorded", "replayed"), 1)}
        </section>
    };
    Ok(page(&admin, PATH, StatusCode::OK, "Replay", content))
}
