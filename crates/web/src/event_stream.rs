//! Responses with server-sent events.

use crate::openapi::{Description, RouteOutput};
use axum::body::Body;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use chat::{Frames, with_keep_alive};
use futures::StreamExt;
use serde_json::json;
use std::convert::Infallible;
use std::time::Duration;

/// A response with server-sent events.
pub struct EventStream(Frames);

impl EventStream {
    /// Sends frames as they come. After about `heartbeat` of silence, a comment keeps the connection alive.
    pub fn new(frames: Frames, heartbeat: Duration) -> Self {
        Self(with_keep_alive(frames, heartbeat))
    }
}

impl IntoResponse for EventStream {
    fn into_response(self) -> Response {
        let mut response = Response::new(Body::from_stream(self.0.map(Ok::<_, Infallible>)));
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache, no-transform"));
        // Proxies must not buffer events.
        headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
        response
    }
}

impl RouteOutput for EventStream {
    fn describe(description: &mut Description<'_>) {
        description.response(200, "text/event-stream", &json!({ "type": "string" }));
    }
}
