//! Errors at the HTTP door: `{"error": {"code", "message", "traceId"}}` with a fitting status.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header::RETRY_AFTER};
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
