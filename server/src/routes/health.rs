//! For operators: alive, ready, metrics.

use crate::router::AppState;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;

/// 200 as long as the process answers.
pub(crate) async fn alive() -> &'static str {
    "ok"
}

/// 200 when the store answers and the server is not draining, 503 otherwise.
pub(crate) async fn ready(State(state): State<AppState>) -> (StatusCode, &'static str) {
    match state.composition.chat.is_ready().await {
        true => (StatusCode::OK, "ready"),
        false => (StatusCode::SERVICE_UNAVAILABLE, "not ready"),
    }
}

/// Prometheus text.
pub(crate) async fn metrics(State(state): State<AppState>) -> impl IntoResponse {
    metrics::gauge!("chatwright_runs_active").set(state.composition.chat.active_runs() as f64);
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], state.metrics.render())
}
