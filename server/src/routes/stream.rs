//! Streams a run's frames as server-sent events.

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use chat::{Frames, with_keep_alive};
use futures::StreamExt;
use serde_json::json;
use std::convert::Infallible;
use std::time::Duration;
use web::openapi::{Description, RouteOutput};

/// A response with server-sent events.
pub(crate) struct EventStream(Response);

impl IntoResponse for EventStream {
    fn into_response(self) -> Response {
        self.0
    }
}

impl RouteOutput for EventStream {
    fn describe(description: &mut Description<'_>) {
        description.response(200, "text/event-stream", &json!({ "type": "string" }));
    }
}

/// A response with server-sent events, or 204 if there are none to wait for.
pub(crate) struct OptionalStream(pub(crate) Option<EventStream>);

impl IntoResponse for OptionalStream {
    fn into_response(self) -> Response {
        self.0.map_or_else(|| StatusCode::NO_CONTENT.into_response(), IntoResponse::into_response)
    }
}

impl RouteOutput for OptionalStream {
    fn describe(description: &mut Description<'_>) {
        EventStream::describe(description);
        description.empty(204);
    }
}

/// Builds the response that the AI SDK's clients expect (UI message stream v1).
///
/// After about `heartbeat` of silence, a comment keeps the connection alive.
pub(crate) fn response(frames: Frames, heartbeat: Duration) -> EventStream {
    let mut response = Response::new(Body::from_stream(with_keep_alive(frames, heartbeat).map(Ok::<_, Infallible>)));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache, no-transform"));
    headers.insert("x-vercel-ai-ui-message-stream", HeaderValue::from_static("v1"));
    // Proxies must not buffer events.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    EventStream(response)
}
