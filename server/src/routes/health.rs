//! Liveness, readiness and metrics, for operators.

use super::tags::OPERATION;
use crate::state::AppState;
use crate::telemetry;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use chat::{MemoryLevel, StoreHealth};
use std::collections::BTreeSet;
use web::openapi::{ApiRouter, PlainText};

/// The seconds after which to check readiness again.
const RETRY_AFTER: &str = "5";

/// The warning of `/readyz` while clients behind a proxy cannot be distinguished.
const PROXY_WARNING: &str = "warning: a trusted proxy sends an `X-Forwarded-For` that has no valid address: rate limits and the limit on \
                     wrong passwords count all clients behind it as one";

/// The warning of `/readyz` while memory is short.
const MEMORY_WARNING: &str =
    "warning: memory is short: new answers, invocations and uploads are refused while others run";

/// Returns the routes of health probes.
pub(crate) fn probes() -> ApiRouter<AppState> {
    ApiRouter::new(&OPERATION).get("/healthz", alive, "Check that the server runs").get(
        "/readyz",
        ready,
        "Check that the server is ready",
    )
}

/// Returns the route of the metrics.
pub(crate) fn metrics_routes() -> ApiRouter<AppState> {
    ApiRouter::new(&OPERATION).get(
        "/metrics",
        metrics,
        "Get metrics for Prometheus; only from the server's own machine",
    )
}

/// Responds with 200 as long as the process runs.
pub(crate) async fn alive() -> PlainText {
    PlainText("ok".into_response())
}

/// Responds with 200 when the database is readable and writable and the server is not draining,
/// otherwise with 503 and the reason. Lines that begin with `warning:` report problems that do not
/// stop the server, and `shell:` the levels at which agents run commands.
pub(crate) async fn ready(State(state): State<AppState>) -> PlainText {
    PlainText(readiness(&state).await)
}

async fn readiness(state: &AppState) -> Response {
    let chat = &state.composition.chat;
    if chat.is_draining() {
        return not_ready("draining: the server is shutting down");
    }
    match chat.storage().await {
        StoreHealth::Works => ready_with(shell_level(state).as_deref(), &warnings(state)).into_response(),
        StoreHealth::Fails => not_ready("database: not reachable, or not writable"),
        // This route is public, so only the log names the file.
        StoreHealth::FileLost => not_ready(
            "database: one of its files was moved, deleted, replaced or truncated while the server runs; see the server's log",
        ),
    }
}

/// Returns the warnings that apply now.
fn warnings(state: &AppState) -> Vec<String> {
    let proxy = state.composition.current.rates().has_unreadable_proxy().then_some(PROXY_WARNING);
    let memory = (state.composition.chat.memory_status().level != MemoryLevel::Ample).then_some(MEMORY_WARNING);
    let changes = config_editor::warning(&state.composition.current.config());
    let others = proxy.into_iter().chain(memory).map(str::to_owned);
    others.chain(changes.map(|problem| format!("warning: {problem}"))).collect()
}

/// Returns at which levels the commands of agents run, if any agent has a shell.
fn shell_level(state: &AppState) -> Option<String> {
    let config = state.composition.current.config();
    let levels: BTreeSet<_> = workspace::shell_levels(&config).iter().map(|shell| shell.level).collect();
    (!levels.is_empty()).then(|| format!("shell: {}", levels.into_iter().collect::<Vec<_>>().join(", ")))
}

fn ready_with(shell: Option<&str>, warnings: &[String]) -> String {
    let lines: Vec<_> = shell.into_iter().chain(warnings.iter().map(String::as_str)).collect();
    match lines[..] {
        [] => "ready".to_owned(),
        _ => format!("ready\n{}\n", lines.join("\n")),
    }
}

fn not_ready(reason: &str) -> Response {
    let body = format!("not ready\n{reason}\n");
    (StatusCode::SERVICE_UNAVAILABLE, [(header::RETRY_AFTER, RETRY_AFTER)], body).into_response()
}

/// Renders the metrics in the Prometheus text format.
pub(crate) async fn metrics(State(state): State<AppState>) -> PlainText {
    telemetry::metrics::record_gauges(&state.composition.chat, state.composition.current.circuits());
    PlainText(([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], state.metrics.render()).into_response())
}
