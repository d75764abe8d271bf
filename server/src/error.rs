//! HTTP errors: `{"error": {"code", "message", "traceId"}}` with a matching status.

use crate::openapi::{Description, RouteOutput};
use axum::Json;
use axum::extract::Request;
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE, RETRY_AFTER};
use axum::http::{HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::Serialize;
use wire::{ErrorCode, UserError};

/// A [`UserError`] as an HTTP response.
pub(crate) struct HttpError(pub(crate) UserError);

impl HttpError {
    /// Creates an error with status 400.
    pub(crate) fn malformed(message: impl Into<String>) -> Self {
        Self(UserError::new(ErrorCode::Malformed, message))
    }
}

/// Converts every error of an API route to JSON with an error code: the framework's own errors
/// (invalid query, unsupported method, body too large) are plain text.
pub(crate) async fn format_api_errors(request: Request, next: Next) -> Response {
    let is_for_programs = request.uri().path().starts_with("/api/");
    let answer = next.run(request).await;
    let kind = answer.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let is_error = answer.status().is_client_error() || answer.status().is_server_error();
    if !is_for_programs || !is_error || kind.starts_with("application/json") {
        return answer;
    }
    let (code, message) = match answer.status() {
        StatusCode::UNAUTHORIZED => (ErrorCode::Unauthenticated, "Sign in first."),
        StatusCode::FORBIDDEN => (ErrorCode::Forbidden, "You are not allowed to do this."),
        StatusCode::NOT_FOUND => (ErrorCode::NotFound, "Not found."),
        StatusCode::METHOD_NOT_ALLOWED => (ErrorCode::NotFound, "This path does not support this method."),
        StatusCode::PAYLOAD_TOO_LARGE => (ErrorCode::TooLarge, "The request is too large."),
        StatusCode::TOO_MANY_REQUESTS => (ErrorCode::RateLimited, "Too many requests. Try again later."),
        StatusCode::UNPROCESSABLE_ENTITY => (ErrorCode::Invalid, "The request is not valid."),
        StatusCode::SERVICE_UNAVAILABLE => {
            (ErrorCode::Unavailable, "The server cannot do this right now. Try again in a moment.")
        }
        status if status.is_server_error() => (ErrorCode::Internal, "Something went wrong on our side. Try again."),
        _ => (ErrorCode::Malformed, "The request could not be read."),
    };
    let (status, headers) = (answer.status(), answer.headers().clone());
    let mut coded = HttpError(UserError::new(code, message)).into_response();
    *coded.status_mut() = status;
    for (name, value) in headers.iter().filter(|(name, _)| ![CONTENT_TYPE, CONTENT_LENGTH].contains(name)) {
        coded.headers_mut().append(name, value.clone());
    }
    coded
}

/// The body of an error response.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Error")]
struct ErrorBody {
    error: UserError,
}

impl RouteOutput for HttpError {
    fn describe(description: &mut Description<'_>) {
        description.json_error::<ErrorBody>("The request failed; `error.message` says what to do next.");
    }
}

impl From<UserError> for HttpError {
    fn from(error: UserError) -> Self {
        Self(error)
    }
}

impl IntoResponse for HttpError {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.0.code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let retry_after = self.0.retry_after;
        let error = UserError { trace_id: chat::current_trace().map(|trace| trace.trace_id), ..self.0 };
        let mut response = (status, Json(ErrorBody { error })).into_response();
        if let Some(seconds) = retry_after {
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}
