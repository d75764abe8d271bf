//! Errors of A2A, in the forms of JSON-RPC and of HTTP+JSON.

use a2a_types::error_code;
use axum::Json;
use axum::http::StatusCode;
use axum::http::header::{HeaderValue, RETRY_AFTER};
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};
use web::openapi::{Description, RouteOutput};
use web::status_of;
use wire::{ErrorCode, UserError};

/// JSON-RPC's code for errors of the implementation: of rights, and limits of the server or the caller.
const SERVER_ERROR: i32 = -32_000;

/// An error of a call.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "A2aError")]
pub(crate) struct RpcError {
    /// The code: those of JSON-RPC, of A2A (-32001 to -32009), and -32000 for rights and limits.
    pub(crate) code: i32,
    /// The cause, and a way to go on.
    pub(crate) message: String,
    /// Details, each with its `@type`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) data: Vec<Value>,
}

impl RpcError {
    /// Returns an error with a reason for programs.
    fn new(code: i32, reason: &str, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: vec![info(reason, Map::new())] }
    }

    /// The body is not JSON.
    pub(crate) fn not_json() -> Self {
        let message = "Invalid JSON payload: the request is not valid JSON.".to_owned();
        Self { code: error_code::PARSE_ERROR, message, data: Vec::new() }
    }

    /// The body is not a request of JSON-RPC.
    pub(crate) fn invalid_request(message: impl Into<String>) -> Self {
        Self { code: error_code::INVALID_REQUEST, message: message.into(), data: Vec::new() }
    }

    /// There is no such method.
    pub(crate) fn unknown_method(name: &str) -> Self {
        let name: String = name.chars().take(100).collect();
        let message = format!("Method not found: A2A 1.0 has no method `{name}`.");
        Self { code: error_code::METHOD_NOT_FOUND, message, data: Vec::new() }
    }

    /// A parameter cannot be used. `field` is its place, for example `message.parts`.
    pub(crate) fn invalid(field: impl Into<String>, message: impl Into<String>) -> Self {
        let (field, message) = (field.into(), message.into());
        let violations = json!([{ "field": field, "description": message }]);
        let detail = json!({ "@type": a2a_types::BAD_REQUEST_TYPE, "fieldViolations": violations });
        Self { code: error_code::INVALID_PARAMS, message, data: vec![detail] }
    }

    /// There is no such task, or it is another user's.
    pub(crate) fn task_not_found() -> Self {
        Self::new(error_code::TASK_NOT_FOUND, "TASK_NOT_FOUND", "There is no task with this id.")
    }

    /// The task has ended.
    pub(crate) fn not_cancelable() -> Self {
        Self::new(
            error_code::TASK_NOT_CANCELABLE,
            "TASK_NOT_CANCELABLE",
            "The task has ended, so it cannot be canceled.",
        )
    }

    /// This server sends no push notifications.
    pub(crate) fn no_push_notifications() -> Self {
        let message = "This server sends no push notifications. Use `SubscribeToTask` or `GetTask` instead.";
        Self::new(error_code::PUSH_NOTIFICATION_NOT_SUPPORTED, "PUSH_NOTIFICATION_NOT_SUPPORTED", message)
    }

    /// The operation is not possible here, or not in the state of the task.
    pub(crate) fn unsupported(message: impl Into<String>) -> Self {
        Self::new(error_code::UNSUPPORTED_OPERATION, "UNSUPPORTED_OPERATION", message)
    }

    /// The content of a part cannot be used.
    pub(crate) fn unsupported_content(field: &str, message: &str) -> Self {
        let mut metadata = Map::new();
        metadata.insert("field".to_owned(), field.into());
        let data = vec![info("CONTENT_TYPE_NOT_SUPPORTED", metadata)];
        Self { code: error_code::CONTENT_TYPE_NOT_SUPPORTED, message: message.to_owned(), data }
    }

    /// The version of the protocol is another one.
    pub(crate) fn unsupported_version(version: &str) -> Self {
        let version: String = version.chars().take(20).collect();
        let message = format!(
            "This server speaks A2A {}, not {version}. Send the header `A2A-Version: {0}`; without it, the version is 0.3.",
            a2a_types::VERSION
        );
        Self::new(error_code::VERSION_NOT_SUPPORTED, "VERSION_NOT_SUPPORTED", message)
    }

    /// Returns the error with the parameter that caused it.
    #[must_use]
    pub(crate) fn at(self, field: &str) -> Self {
        if self.code == error_code::INVALID_PARAMS { Self::invalid(field, self.message) } else { self }
    }
}

/// Returns the detail that names a reason for programs.
fn info(reason: &str, metadata: Map<String, Value>) -> Value {
    let mut info =
        json!({ "@type": a2a_types::ERROR_INFO_TYPE, "reason": reason, "domain": a2a_types::PROTOCOL_DOMAIN });
    if !metadata.is_empty() {
        info["metadata"] = metadata.into();
    }
    info
}

impl From<UserError> for RpcError {
    fn from(error: UserError) -> Self {
        let UserError { code, message, path, retry_after, .. } = error;
        match code {
            ErrorCode::Malformed | ErrorCode::Invalid | ErrorCode::TooLarge => match path {
                Some(path) => Self::invalid(path.trim_start_matches('/').replace('/', "."), message),
                None => Self { code: error_code::INVALID_PARAMS, message, data: Vec::new() },
            },
            ErrorCode::Unauthenticated => Self::new(SERVER_ERROR, "UNAUTHENTICATED", message),
            ErrorCode::Forbidden => Self::new(SERVER_ERROR, "PERMISSION_DENIED", message),
            ErrorCode::NotFound => Self::new(SERVER_ERROR, "NOT_FOUND", message),
            ErrorCode::Busy | ErrorCode::Conflict | ErrorCode::OtherAgent => Self::unsupported(message),
            ErrorCode::Internal => Self::new(error_code::INTERNAL_ERROR, "INTERNAL", message),
            ErrorCode::RateLimited | ErrorCode::Unavailable => {
                let reason = if code == ErrorCode::RateLimited { "RATE_LIMITED" } else { "UNAVAILABLE" };
                let mut metadata = Map::new();
                metadata.extend(retry_after.map(|seconds| ("retryAfter".to_owned(), seconds.to_string().into())));
                Self { code: SERVER_ERROR, message, data: vec![info(reason, metadata)] }
            }
        }
    }
}

impl From<::store::StoreError> for RpcError {
    fn from(error: ::store::StoreError) -> Self {
        web::HttpError::from(error).0.into()
    }
}

/// Writes the errors of the server's gates, which come before a call is read.
pub(crate) fn from_gate(error: UserError) -> Response {
    let status = status_of(&error);
    let retry_after = error.retry_after;
    let error = RpcError::from(error);
    // The gates do not know the binding, so the error has what the clients of both read.
    let mut both = json!(error);
    if let Value::Object(fields) = &mut both {
        let rest = RestError::from(error);
        fields.insert("status".to_owned(), rest.name.into());
        fields.insert("details".to_owned(), rest.details.into());
    }
    let body = json!({ "jsonrpc": "2.0", "id": null, "error": both });
    let mut response = (status, Json(body)).into_response();
    response.headers_mut().extend(retry_after.map(|seconds| (RETRY_AFTER, seconds.into())));
    response
}

/// An error before a call is read.
#[derive(Debug)]
pub(crate) struct Refusal(pub(crate) UserError);

impl From<UserError> for Refusal {
    fn from(error: UserError) -> Self {
        Self(error)
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        from_gate(self.0)
    }
}

/// An error in the form of the binding HTTP+JSON (`google.rpc.Status`).
pub(crate) struct RestError {
    status: StatusCode,
    /// The name of the code of gRPC.
    name: &'static str,
    message: String,
    details: Vec<Value>,
    /// After how many seconds the request can be made again.
    retry_after: Option<String>,
}

/// The body of an error, as the OpenAPI document shows it.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "A2aRestError")]
struct RestErrorSchema {
    /// The error.
    error: RestStatusSchema,
}

/// The status of a refused request.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "A2aRestStatus")]
struct RestStatusSchema {
    /// The HTTP status.
    code: u16,
    /// The name of the code of gRPC, for example `NOT_FOUND`.
    status: String,
    /// The cause, and a way to go on.
    message: String,
    /// Details, each with its `@type`.
    details: Vec<Value>,
}

impl RestError {
    /// Returns the body.
    pub(crate) fn body(&self) -> Value {
        let Self { status, name, message, details, .. } = self;
        json!({ "error": { "code": status.as_u16(), "status": name, "message": message, "details": details } })
    }
}

impl From<RpcError> for RestError {
    fn from(error: RpcError) -> Self {
        let RpcError { code, message, data: mut details } = error;
        let detail = details.iter().find(|detail| detail["@type"] == a2a_types::ERROR_INFO_TYPE);
        let known = detail.and_then(|detail| detail["reason"].as_str()).map(str::to_owned);
        let retry_after = detail.and_then(|detail| detail["metadata"]["retryAfter"].as_str()).map(str::to_owned);
        let (status, name, reason) = match (code, known.as_deref()) {
            (error_code::TASK_NOT_FOUND, _) => (404, "NOT_FOUND", "TASK_NOT_FOUND"),
            (error_code::METHOD_NOT_FOUND, _) => (404, "NOT_FOUND", "METHOD_NOT_FOUND"),
            (error_code::INVALID_PARAMS, _) => (400, "INVALID_ARGUMENT", "INVALID_PARAMS"),
            (error_code::PARSE_ERROR | error_code::INVALID_REQUEST, _) => (400, "INVALID_ARGUMENT", "INVALID_REQUEST"),
            (error_code::CONTENT_TYPE_NOT_SUPPORTED, _) => (400, "INVALID_ARGUMENT", "CONTENT_TYPE_NOT_SUPPORTED"),
            (SERVER_ERROR, Some("UNAUTHENTICATED")) => (401, "UNAUTHENTICATED", "UNAUTHENTICATED"),
            (SERVER_ERROR, Some("PERMISSION_DENIED")) => (403, "PERMISSION_DENIED", "PERMISSION_DENIED"),
            (SERVER_ERROR, Some("NOT_FOUND")) => (404, "NOT_FOUND", "NOT_FOUND"),
            (SERVER_ERROR, Some("RATE_LIMITED")) => (429, "RESOURCE_EXHAUSTED", "RATE_LIMITED"),
            (SERVER_ERROR, _) => (503, "UNAVAILABLE", "UNAVAILABLE"),
            (error_code::INTERNAL_ERROR, _) => (500, "INTERNAL", "INTERNAL_ERROR"),
            _ => (400, "FAILED_PRECONDITION", "UNSUPPORTED_OPERATION"),
        };
        if known.is_none() {
            // Programs find the kind of the error by its reason.
            details.insert(0, info(reason, Map::new()));
        }
        let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        Self { status, name, message, details, retry_after }
    }
}

impl From<UserError> for RestError {
    fn from(error: UserError) -> Self {
        RpcError::from(error).into()
    }
}

impl From<Refusal> for RestError {
    fn from(Refusal(error): Refusal) -> Self {
        let status = status_of(&error);
        // Such as 413: the status says more than the code.
        Self { status, ..error.into() }
    }
}

impl IntoResponse for RestError {
    fn into_response(self) -> Response {
        let mut response = (self.status, Json(self.body())).into_response();
        let after = self.retry_after.and_then(|seconds| HeaderValue::from_str(&seconds).ok());
        response.headers_mut().extend(after.map(|seconds| (RETRY_AFTER, seconds)));
        response
    }
}

impl RouteOutput for RestError {
    fn describe(description: &mut Description<'_>) {
        description.json_error::<RestErrorSchema>("The request failed; `error.message` says what to do next.");
    }
}
