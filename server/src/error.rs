//! Errors at the HTTP door: `{"error": {"code", "message", "traceId"}}` with a fitting status.

use axum::Json;
use axum::extract::Request;
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE, RETRY_AFTER};
use axum::http::{HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde_json::json;
use wire::{ErrorCode, UserError};

/// A [`UserError`] as an HTTP answer.
pub(crate) struct HttpError(pub(crate) UserError);

impl HttpError {
    /// 400.
    pub(crate) fn malformed(message: impl Into<String>) -> Self {
        Self(UserError::new(ErrorCode::Malformed, message))
    }
}

/// Gives every error of a program's route its code: those of the framework (a query that cannot be read, a method that is not there, a body
/// that is too large) come as text.
pub(crate) async fn coded(request: Request, next: Next) -> Response {
    let is_for_programs = request.uri().path().starts_with("/api/");
    let answer = next.run(request).await;
    let kind = answer.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let is_error = answer.status().is_client_error() || answer.status().is_server_error();
    if !is_for_programs || !is_error || kind.starts_with("application/json") {
        return answer;
    }
    let (code, message) = match answer.status() {
        StatusCode::UNAUTHORIZED => (ErrorCode::Unauthenticated, "Sign in first."),
        StatusCode::FORBIDDEN => (ErrorCode::Forbidden, "This is not allowed."),
        StatusCode::NOT_FOUND => (ErrorCode::NotFound, "There is nothing here."),
        StatusCode::METHOD_NOT_ALLOWED => (ErrorCode::NotFound, "This method is not allowed here."),
        StatusCode::PAYLOAD_TOO_LARGE => (ErrorCode::TooLarge, "The request is too large."),
        StatusCode::TOO_MANY_REQUESTS => (ErrorCode::RateLimited, "There are too many requests. Try again later."),
        StatusCode::UNPROCESSABLE_ENTITY => (ErrorCode::Invalid, "The request is not valid here."),
        StatusCode::SERVICE_UNAVAILABLE => {
            (ErrorCode::Unavailable, "This is not possible right now. Try again in a moment.")
        }
        status if status.is_server_error() => (ErrorCode::Internal, "Something went wrong on our side. Try again."),
        _ => (ErrorCode::Malformed, "The request cannot be read."),
    };
    let (status, headers) = (answer.status(), answer.headers().clone());
    let mut coded = HttpError(UserError::new(code, message)).into_response();
    *coded.status_mut() = status;
    for (name, value) in headers.iter().filter(|(name, _)| ![CONTENT_TYPE, CONTENT_LENGTH].contains(name)) {
        coded.headers_mut().append(name, value.clone());
    }
    coded
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
        let error = UserError { trace_id: chat::trace().map(|trace| trace.trace_id), ..self.0 };
        let mut response = (status, Json(json!({ "error": error }))).into_response();
        if let Some(seconds) = retry_after {
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}
