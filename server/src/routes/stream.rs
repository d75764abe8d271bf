//! Streams a run's frames as server-sent events.

use axum::body::Body;
use axum::http::{HeaderValue, header};
use axum::response::Response;
use chat::{Frames, with_keep_alive};
use futures::StreamExt;
use std::convert::Infallible;
use std::time::Duration;

/// Builds the response that the AI SDK's clients expect (UI message stream v1).
///
/// After about `heartbeat` of silence, a comment keeps the connection alive.
pub(crate) fn response(frames: Frames, heartbeat: Duration) -> Response {
    let mut response = Response::new(Body::from_stream(with_keep_alive(frames, heartbeat).map(Ok::<_, Infallible>)));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache, no-transform"));
    headers.insert("x-vercel-ai-ui-message-stream", HeaderValue::from_static("v1"));
    // Proxies must not buffer events.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}
