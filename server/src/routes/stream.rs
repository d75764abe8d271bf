//! Streams a run's frames as server-sent events.

use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use chat::Frames;
use std::time::Duration;
use web::openapi::{Description, RouteOutput};

/// A response with the events of the AI SDK.
pub(crate) struct EventStream(Response);

impl IntoResponse for EventStream {
    fn into_response(self) -> Response {
        self.0
    }
}

impl RouteOutput for EventStream {
    fn describe(description: &mut Description<'_>) {
        web::EventStream::describe(description);
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
    let mut response = web::EventStream::new(frames, heartbeat).into_response();
    response.headers_mut().insert("x-vercel-ai-ui-message-stream", HeaderValue::from_static("v1"));
    EventStream(response)
}
