//! HTTP errors of the framework.

use crate::state::AppState;
use auth::Credentials;
use axum::Json;
use axum::extract::{Request, State};
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use web::HttpError;
use wire::{ErrorCode, UserError};

/// Converts every error of an API route to JSON with an error code: the framework's own errors
/// (invalid query, unsupported method, body too large) are plain text. Those of another service's API get
/// its form. A body of a server function
/// that is too large gets an error that the page can show.
pub(crate) async fn format_api_errors(State(state): State<AppState>, request: Request, next: Next) -> Response {
    let path = request.uri().path().to_owned();
    let current = &state.composition.current;
    let format = current.capabilities().api_format(&path);
    let sent = format.as_ref().map(|_| Credentials::from_request(&request));
    let (is_for_programs, is_server_function) = (path.starts_with("/api/"), path.starts_with("/ui/"));
    let mut answer = next.run(request).await;
    if answer.status() == StatusCode::UNAUTHORIZED
        && let Some(sent) = sent
    {
        let origin = current.authentication().origin(&sent);
        let challenge = current.capabilities().challenge(&current.config(), &path, origin.as_deref());
        if let Some(Ok(challenge)) = challenge.map(|challenge| HeaderValue::from_str(&challenge)) {
            answer.headers_mut().insert(WWW_AUTHENTICATE, challenge);
        }
    }
    if is_server_function && answer.status() == StatusCode::PAYLOAD_TOO_LARGE {
        let error =
            UserError::new(ErrorCode::TooLarge, "This is too large to be sent. Shorten it, or attach it as a file.");
        return (StatusCode::PAYLOAD_TOO_LARGE, Json(error)).into_response();
    }
    let kind = answer.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let is_error = answer.status().is_client_error() || answer.status().is_server_error();
    if let (Some(format), Some(error), true) = (format, answer.extensions().get::<UserError>(), is_error) {
        let mut formatted = (format.error)(error.clone());
        // A gate may answer with another status than that of the code.
        if answer.status().as_u16() != error.code.status() {
            *formatted.status_mut() = answer.status();
        }
        return with_headers_of(formatted, &answer);
    }
    if !(is_for_programs || format.is_some()) || !is_error || is_json(kind) {
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
    let error = UserError::new(code, message);
    let mut coded = match format {
        Some(format) => (format.error)(error),
        None => HttpError(error).into_response(),
    };
    *coded.status_mut() = answer.status();
    with_headers_of(coded, &answer)
}

/// Returns whether a media type is JSON, or a format in it such as `application/scim+json`.
fn is_json(kind: &str) -> bool {
    let kind = kind.split(';').next().unwrap_or_default().trim();
    kind == "application/json" || kind.starts_with("application/") && kind.ends_with("+json")
}

/// Returns a response with the headers of another one, except for those about its body.
fn with_headers_of(mut response: Response, other: &Response) -> Response {
    let own = response.headers().clone();
    let is_about_body = |name| [CONTENT_TYPE, CONTENT_LENGTH].contains(name);
    for (name, value) in other.headers().iter().filter(|(name, _)| !is_about_body(name) && !own.contains_key(*name)) {
        response.headers_mut().append(name, value.clone());
    }
    response
}
