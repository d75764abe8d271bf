//! Errors in the form of JSON-RPC.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use rmcp::ErrorData;
use serde_json::json;
use std::borrow::Cow;
use store::StoreError;
use web::HttpError;
use wire::{ErrorCode, UserError};

/// The codes of JSON-RPC.
const PARSE_ERROR: i32 = -32_700;
const INVALID_REQUEST: i32 = -32_600;
const INTERNAL_ERROR: i32 = -32_603;

/// The error of an HTTP request that is not answered by a method of the protocol.
pub(crate) struct Refusal {
    status: StatusCode,
    code: i32,
    message: Cow<'static, str>,
    /// After how many seconds the client may try again.
    retry_after: Option<u32>,
}

impl Refusal {
    /// A request that the transport does not allow.
    pub(crate) fn invalid(status: StatusCode, message: &'static str) -> Self {
        Self { status, code: INVALID_REQUEST, message: message.into(), retry_after: None }
    }

    /// 400 for a body that is not JSON.
    pub(crate) fn not_json() -> Self {
        let message = "The body is not JSON.".into();
        Self { status: StatusCode::BAD_REQUEST, code: PARSE_ERROR, message, retry_after: None }
    }
}

impl From<UserError> for Refusal {
    fn from(error: UserError) -> Self {
        let status = StatusCode::from_u16(error.code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let code = if status.is_server_error() { INTERNAL_ERROR } else { INVALID_REQUEST };
        Self { status, code, message: error.message.into(), retry_after: error.retry_after }
    }
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        HttpError::from(error).0.into()
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let error = json!({ "code": self.code, "message": self.message });
        let body = Json(json!({ "jsonrpc": "2.0", "id": null, "error": error }));
        let mut response = (self.status, body).into_response();
        if let Some(seconds) = self.retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

/// Writes the errors of the server's gates in this form.
pub(crate) fn from_gate(error: UserError) -> Response {
    Refusal::from(error).into_response()
}

/// Returns an error of the protocol, with the code for parameters if the client can do something about it.
pub(crate) fn protocol_error(error: UserError) -> ErrorData {
    match error.code {
        ErrorCode::NotFound | ErrorCode::Invalid | ErrorCode::Conflict | ErrorCode::TooLarge => {
            ErrorData::invalid_params(error.message, None)
        }
        _ => ErrorData::internal_error(error.message, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_of_the_server_have_another_code() {
        let check = |code: ErrorCode, expected: i32| {
            assert_eq!(protocol_error(UserError::new(code, "a")).code.0, expected, "{code:?}");
        };
        check(ErrorCode::NotFound, -32_602);
        check(ErrorCode::Invalid, -32_602);
        check(ErrorCode::Conflict, -32_602);
        check(ErrorCode::TooLarge, -32_602);
        check(ErrorCode::Unavailable, -32_603);
    }
}
