//! The API for runs of agents without a conversation.

use super::stream::{self, EventStream};
use super::tags::AGENTS;
use crate::state::AppState;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, NoContent, Response};
use axum::{Extension, Json};
use chat::{Caller, RunResponse};
use schemars::JsonSchema;
use serde::Deserialize;
use web::admin::is_admin;
use web::openapi::{ApiRouter, Description, RouteOutput};
use web::{HttpError, SentJson, valid_json};
use wire::invoke::{Invocation, InvocationList, InvokeRequest, RunAnswer, RunRequest, UndecidedRunList};

/// The default number of items in a list.
const DEFAULT_LIMIT: u32 = 50;

/// Returns the routes.
pub(crate) fn routes() -> ApiRouter<AppState> {
    ApiRouter::new(&AGENTS)
        .post(
            "/api/runs/invoke",
            invoke,
            "Invoke an agent with a single question, without tools unless the request names them",
        )
        .post("/api/runs", start, "Run an agent with its tools, without a conversation")
        .get("/api/runs", list, "List runs without a conversation")
        .get(
            "/api/runs/waiting",
            waiting,
            "List the runs that wait for a decision of the caller: their own, and those on which one of their roles decides",
        )
        .get("/api/runs/{id}", show, "Get a run with its questions")
        .post("/api/runs/{id}/answer", answer, "Answer a question of a run")
        .post("/api/runs/{id}/stop", stop, "Stop a run")
}

/// `POST /api/runs/invoke`
pub(crate) async fn invoke(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    request: SentJson<InvokeRequest>,
) -> Result<Json<Invocation>, HttpError> {
    let request = valid_json(request)?;
    Ok(Json(state.composition.chat.invoke(&caller, request).await?))
}

/// The response to a request to run an agent.
pub(crate) enum StartedRun {
    /// The run has ended, or waits for an answer.
    Ended(Invocation),
    /// A job executes it.
    Queued(Invocation),
    /// The events of the run.
    Stream(EventStream),
}

impl IntoResponse for StartedRun {
    fn into_response(self) -> Response {
        match self {
            Self::Ended(run) => Json(run).into_response(),
            Self::Queued(run) => (StatusCode::ACCEPTED, Json(run)).into_response(),
            Self::Stream(stream) => stream.into_response(),
        }
    }
}

impl RouteOutput for StartedRun {
    fn describe(description: &mut Description<'_>) {
        description.json::<Invocation>(200);
        EventStream::describe(description);
        description.json::<Invocation>(202);
    }
}

/// `POST /api/runs`
pub(crate) async fn start(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    request: SentJson<RunRequest>,
) -> Result<StartedRun, HttpError> {
    let request = valid_json(request)?;
    let response = state.composition.chat.run_agent(&caller, request, is_admin(&caller)).await?;
    Ok(match response {
        RunResponse::Ended(run) => StartedRun::Ended(run),
        RunResponse::Queued(run) => StartedRun::Queued(run),
        RunResponse::Stream(frames) => StartedRun::Stream(stream::response(frames, state.composition.limits.heartbeat)),
    })
}

/// `POST /api/runs/{id}/answer`
pub(crate) async fn answer(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    request: SentJson<RunAnswer>,
) -> Result<Json<Invocation>, HttpError> {
    let request = valid_json(request)?;
    Ok(Json(state.composition.chat.answer_run(&caller, &id, request).await?))
}

/// `POST /api/runs/{id}/stop`
pub(crate) async fn stop(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<NoContent, HttpError> {
    state.composition.chat.stop_run(&caller, &id).await?;
    Ok(NoContent)
}

/// The query of the list.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct RunListQuery {
    /// The maximum number of items.
    limit: Option<u32>,
}

/// `GET /api/runs`
pub(crate) async fn list(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Query(page): Query<RunListQuery>,
) -> Result<Json<InvocationList>, HttpError> {
    Ok(Json(state.composition.chat.invocations(&caller, page.limit.unwrap_or(DEFAULT_LIMIT)).await?))
}

/// The query of the list of runs that wait.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct WaitingRunsQuery {
    /// The cursor: `next` of the page before.
    after: Option<String>,
}

/// `GET /api/runs/waiting`
pub(crate) async fn waiting(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Query(query): Query<WaitingRunsQuery>,
) -> Result<Json<UndecidedRunList>, HttpError> {
    Ok(Json(state.composition.chat.undecided_runs(&caller, query.after.as_deref()).await?))
}

/// `GET /api/runs/{id}`
pub(crate) async fn show(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<Json<Invocation>, HttpError> {
    Ok(Json(state.composition.chat.invocation(&caller, &id).await?))
}
