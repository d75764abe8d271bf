//! HTTP errors of the framework.

use axum::Json;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use web::HttpError;
use wire::{ErrorCode, UserError};

/// Converts every error of an API route to JSON with an error code: the framework's own errors
/// (invalid query, unsupported method, body too large) are plain text. A body of a server function
/// that is too large gets an error that the page can show.
pub(crate) async fn format_api_errors(request: Request, next: Next) -> Response {
    let path = request.uri().path();
    let (is_for_programs, is_server_function) = (path.starts_with("/api/"), path.starts_with("/ui/"));
    let answer = next.run(request).await;
    if is_server_function && answer.status() == StatusCode::PAYLOAD_TOO_LARGE {
        let error =
            UserError::new(ErrorCode::TooLarge, "This is too large to be sent. Shorten it, or attach it as a file.");
        return (StatusCode::PAYLOAD_TOO_LARGE, Json(error)).into_response();
    }
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
