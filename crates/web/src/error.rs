//! HTTP errors: `{"error": {"code", "message", "traceId"}}` with a matching status.

use crate::openapi::{Description, RouteOutput};
use axum::Json;
use axum::extract::Query;
use axum::extract::rejection::{JsonRejection, QueryRejection};
use axum::http::header::RETRY_AFTER;
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::Serialize;
use store::StoreError;
use wire::{ErrorCode, UserError};

/// The maximum length of the description of a wrong field, which can contain a long value of the request, in characters.
const MAX_DETAIL: usize = 300;

/// A [`UserError`] as an HTTP response. An extension of the response has it, too: see
/// [`crate::ApiFormat`].
#[derive(Debug)]
pub struct HttpError(pub UserError);

impl HttpError {
    /// Creates an error with status 400.
    pub fn malformed(message: impl Into<String>) -> Self {
        Self(UserError::new(ErrorCode::Malformed, message))
    }
}

impl From<UserError> for HttpError {
    fn from(error: UserError) -> Self {
        Self(error)
    }
}

impl From<StoreError> for HttpError {
    fn from(error: StoreError) -> Self {
        Self(from_store_error(error))
    }
}

impl IntoResponse for HttpError {
    fn into_response(self) -> Response {
        let status = status_of(&self.0);
        let retry_after = self.0.retry_after;
        let error = UserError { trace_id: chat::current_trace().map(|trace| trace.trace_id), ..self.0 };
        let mut response = (status, Json(ErrorBody { error: error.clone() })).into_response();
        response.extensions_mut().insert(error);
        if let Some(seconds) = retry_after {
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

/// Returns the status of a response with an error.
pub fn status_of(error: &UserError) -> StatusCode {
    StatusCode::from_u16(error.code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
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

/// Converts an error of the store to the message for the user.
pub fn from_store_error(error: StoreError) -> UserError {
    match error {
        StoreError::NotFound => UserError::not_found(),
        StoreError::InvalidCursor => invalid_cursor(),
        error => {
            if !error.is_reported() {
                tracing::error!(%error, "a request failed in the database");
            }
            UserError::new(ErrorCode::Unavailable, "The database is not available right now. Try again in a moment.")
        }
    }
}

/// Returns the error for a cursor that no list has returned.
pub(crate) fn invalid_cursor() -> UserError {
    UserError::new(ErrorCode::Malformed, "The cursor in `after` is not valid. Use `next` of the previous page.")
}

/// Converts the rejection of a JSON body. Only JSON of another form is described, because only its fields are documented.
fn json_error(rejection: &JsonRejection) -> HttpError {
    match rejection.status() {
        StatusCode::PAYLOAD_TOO_LARGE => UserError::new(ErrorCode::TooLarge, "The request is too large.").into(),
        StatusCode::UNPROCESSABLE_ENTITY => form_error(&rejection.body_text()).into(),
        StatusCode::UNSUPPORTED_MEDIA_TYPE => HttpError::malformed("The request must be `application/json`."),
        _ => HttpError::malformed("The request is not valid JSON."),
    }
}

/// Names the field that is wrong and the type that is expected there, as the OpenAPI document has them. `text` begins with a
/// sentence about the types of this program, which says nothing to developers of clients.
fn form_error(text: &str) -> UserError {
    let detail: String = text.split_once(": ").map_or(text, |(_, detail)| detail).chars().take(MAX_DETAIL).collect();
    UserError::invalid("/", format!("The request does not have the expected form: {detail}."))
}

/// The JSON body of a request of the API, as an argument of a handler that first finds out who the caller is: others do
/// not learn what is wrong with it.
pub type SentJson<T> = Result<Json<T>, JsonRejection>;

/// Returns the JSON body of a request of the API.
///
/// # Errors
/// 400 or 422 for a body that is something else, 413 for one that is too large.
pub fn valid_json<T>(sent: SentJson<T>) -> Result<T, HttpError> {
    sent.map(|Json(body)| body).map_err(|rejection| json_error(&rejection))
}

/// The query of an API request, as an argument of such a handler.
pub type SentQuery<T> = Result<Query<T>, QueryRejection>;

/// Returns the query of a request of the API.
///
/// # Errors
/// 400 for a query with an invalid value.
pub fn valid_query<T>(query: SentQuery<T>) -> Result<T, HttpError> {
    query.map(|Query(query)| query).map_err(|_| HttpError::malformed("A query parameter is not valid."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn wrong_fields_of_json_are_named() {
        let check = |json: &str, expected: &str| {
            let sent: SentJson<BTreeMap<String, u32>> = Json::from_bytes(json.as_bytes());
            let message = valid_json(sent).unwrap_err().0.message;
            assert!(message.starts_with(expected), "{message}");
            assert!(message.chars().count() < 2 * MAX_DETAIL, "{message}");
        };
        let expected =
            r#"The request does not have the expected form: a: invalid type: string "x", expected u32 at line 1"#;
        check(r#"{"a":"x"}"#, expected);
        let long = format!(r#"{{"a":"{}"}}"#, "x".repeat(5_000));
        check(&long, "The request does not have the expected form: a: invalid type: string");
        check(r#"{"a":"#, "The request is not valid JSON.");
    }
}
