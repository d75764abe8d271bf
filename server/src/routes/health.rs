//! For operators: alive, ready, metrics.

use crate::router::AppState;
use crate::telemetry;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};

/// After how many seconds to ask again who is not ready.
const RETRY_AFTER: &str = "5";

/// What `/readyz` adds while the clients behind a proxy cannot be told apart.
const PROXY: &str = "warning: a trusted proxy sends an `X-Forwarded-For` that names no address: rates and the limit on \
                     wrong passwords count the clients behind it as one";

/// 200 as long as the process answers.
pub(crate) async fn alive() -> &'static str {
    "ok"
}

/// 200 when the store reads and writes and the server is not draining; otherwise 503 with a line for each problem.
/// Lines that begin with `warning:` are about what works, and should be looked at.
pub(crate) async fn ready(State(state): State<AppState>) -> Response {
    let chat = &state.composition.chat;
    let mut missing = Vec::new();
    if chat.is_draining() {
        missing.push("draining: the server is about to end");
    } else if !chat.is_stored().await {
        missing.push("database: it does not answer, or cannot be written");
    }
    match missing.is_empty() {
        true if state.composition.current.rates().has_unreadable_proxy() => format!("ready\n{PROXY}\n").into_response(),
        true => "ready".into_response(),
        false => {
            let told = format!("not ready\n{}\n", missing.join("\n"));
            (StatusCode::SERVICE_UNAVAILABLE, [(header::RETRY_AFTER, RETRY_AFTER)], told).into_response()
        }
    }
}

/// Prometheus text.
pub(crate) async fn metrics(State(state): State<AppState>) -> impl IntoResponse {
    telemetry::metrics::look(&state.composition.chat, state.composition.current.circuits());
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], state.metrics.render())
}
