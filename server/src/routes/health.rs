//! For operators: alive, ready, metrics.

use crate::router::AppState;
use crate::telemetry;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use chat::{MemoryLevel, Storage};

/// In how many seconds to ask again.
const RETRY_AFTER: &str = "5";

/// What `/readyz` adds while the clients behind a proxy cannot be told apart.
const PROXY: &str = "warning: a trusted proxy sends an `X-Forwarded-For` that names no address: rates and the limit on \
                     wrong passwords count the clients behind it as one";

/// What `/readyz` adds while memory is short.
const MEMORY: &str = "warning: memory is short: new answers, invocations and uploads are refused while others run";

/// Answers 200 as long as the process does.
pub(crate) async fn alive() -> &'static str {
    "ok"
}

/// Answers 200 when the store reads and writes and the server is not draining; otherwise 503 with the reason.
/// A line that begins with `warning:` is about something that works and should be looked at.
pub(crate) async fn ready(State(state): State<AppState>) -> Response {
    let chat = &state.composition.chat;
    if chat.is_draining() {
        return not_ready("draining: the server is about to end");
    }
    match chat.storage().await {
        Storage::Works => ready_with(&warnings(&state)).into_response(),
        Storage::Fails => not_ready("database: it does not answer, or cannot be written"),
        // Anyone may ask: which file it is stands in the log.
        Storage::FileLost => not_ready(
            "database: a file of it was moved, deleted, replaced or cut while the server runs; see the server's log",
        ),
    }
}

/// What works and should be looked at.
fn warnings(state: &AppState) -> Vec<&'static str> {
    let proxy = state.composition.current.rates().has_unreadable_proxy().then_some(PROXY);
    let memory = (state.composition.chat.memory().level != MemoryLevel::Ample).then_some(MEMORY);
    proxy.into_iter().chain(memory).collect()
}

fn ready_with(warnings: &[&str]) -> String {
    match warnings {
        [] => "ready".to_owned(),
        warnings => format!("ready\n{}\n", warnings.join("\n")),
    }
}

fn not_ready(reason: &str) -> Response {
    let told = format!("not ready\n{reason}\n");
    (StatusCode::SERVICE_UNAVAILABLE, [(header::RETRY_AFTER, RETRY_AFTER)], told).into_response()
}

/// Prometheus text.
pub(crate) async fn metrics(State(state): State<AppState>) -> impl IntoResponse {
    telemetry::metrics::look(&state.composition.chat, state.composition.current.circuits());
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], state.metrics.render())
}
