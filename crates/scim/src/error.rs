//! Errors in the form of SCIM (RFC 7644, 3.12).

use crate::reply::MEDIA_TYPE;
use axum::http::header::{CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::json;
use store::StoreError;
use web::openapi::{Description, RouteOutput};
use wire::UserError;

const SCHEMA: &str = "urn:ietf:params:scim:api:messages:2.0:Error";

/// An error of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ScimError {
    pub(crate) status: StatusCode,
    /// The keyword for programs (`scimType`).
    pub(crate) kind: Option<&'static str>,
    pub(crate) detail: String,
    /// Seconds.
    retry_after: Option<u32>,
}

impl ScimError {
    fn new(status: StatusCode, kind: Option<&'static str>, detail: impl Into<String>) -> Self {
        Self { status, kind, detail: detail.into(), retry_after: None }
    }

    /// 400 with a keyword of RFC 7644.
    pub(crate) fn bad(kind: &'static str, detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, Some(kind), detail)
    }

    /// 400 for a value that is missing or not valid.
    pub(crate) fn value(detail: impl Into<String>) -> Self {
        Self::bad("invalidValue", detail)
    }

    /// 401 without a valid token.
    pub(crate) fn unauthenticated() -> Self {
        Self::new(StatusCode::UNAUTHORIZED, None, "Send one of the tokens in `auth.scim.tokens` as a bearer token.")
    }

    /// 403.
    pub(crate) fn forbidden(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, None, detail)
    }

    /// 404.
    pub(crate) fn not_found(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, None, detail)
    }

    /// 409 for a name or an id that is in use.
    pub(crate) fn taken(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, Some("uniqueness"), detail)
    }

    /// 409 for another reason.
    pub(crate) fn conflict(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, None, detail)
    }

    /// 415.
    pub(crate) fn media_type() -> Self {
        Self::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, None, format!("The request must be `{MEDIA_TYPE}`."))
    }

    /// 429, to be tried again after as many seconds.
    pub(crate) fn too_many(seconds: u32) -> Self {
        let error = Self::new(StatusCode::TOO_MANY_REQUESTS, None, "Too many requests. Send this again later.");
        Self { retry_after: Some(seconds), ..error }
    }
}

impl From<UserError> for ScimError {
    fn from(error: UserError) -> Self {
        let status = web::status_of(&error);
        // SCIM has no 422.
        let status = if status == StatusCode::UNPROCESSABLE_ENTITY { StatusCode::BAD_REQUEST } else { status };
        Self { retry_after: error.retry_after, ..Self::new(status, None, error.message) }
    }
}

impl From<StoreError> for ScimError {
    fn from(error: StoreError) -> Self {
        web::admin::from_store_error(error).into()
    }
}

impl IntoResponse for ScimError {
    fn into_response(self) -> Response {
        let mut body =
            json!({ "schemas": [SCHEMA], "status": self.status.as_u16().to_string(), "detail": self.detail });
        if let Some(kind) = self.kind {
            body["scimType"] = kind.into();
        }
        let mut response = (self.status, [(CONTENT_TYPE, MEDIA_TYPE)], body.to_string()).into_response();
        if let Some(seconds) = self.retry_after {
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        if self.status == StatusCode::UNAUTHORIZED {
            response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

impl RouteOutput for ScimError {
    fn describe(description: &mut Description<'_>) {
        let text = json!({ "type": "string" });
        let schema = json!({
            "type": "object",
            "properties": {
                "schemas": { "type": "array", "items": { "type": "string", "const": SCHEMA } },
                "status": text,
                "scimType": text,
                "detail": text,
            },
            "required": ["schemas", "status", "detail"],
        });
        description.error("The request failed; `detail` says what to do next.", MEDIA_TYPE, &schema);
    }
}

/// Writes the errors of the server's gates in this form.
pub(crate) fn from_gate(error: UserError) -> Response {
    ScimError::from(error).into_response()
}
