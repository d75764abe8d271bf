//! Errors in the form of OpenAI's API.

use axum::Json;
use axum::http::header::RETRY_AFTER;
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};
use web::openapi::{Description, RouteOutput};
use wire::{EndReason, ErrorCode, ErrorReason, UserError};

/// OpenAI's clients try again after most errors, unless this header says `false`.
const SHOULD_RETRY: HeaderName = HeaderName::from_static("x-should-retry");

/// The type of errors that the client can mend.
const INVALID: &str = "invalid_request_error";
/// The type of errors that it cannot.
const SERVER: &str = "server_error";
/// The code of an unknown model.
pub(crate) const MODEL_NOT_FOUND: &str = "model_not_found";

/// An error of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ApiError {
    pub(crate) status: StatusCode,
    pub(crate) body: ErrorObject,
    /// Seconds.
    retry_after: Option<u32>,
    /// Whether the same request cannot succeed.
    is_final: bool,
}

/// An error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "OpenAiErrorObject")]
pub(crate) struct ErrorObject {
    /// The message, which says what to do next.
    pub(crate) message: String,
    /// The kind of the error, for example `invalid_request_error`.
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
    /// The parameter that is to blame.
    pub(crate) param: Option<String>,
    /// The cause, for programs.
    pub(crate) code: Option<&'static str>,
}

/// The body of a response to a request that failed.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "OpenAiError")]
struct ErrorBody {
    error: ErrorObject,
}

impl ApiError {
    fn new(status: StatusCode, kind: &'static str, code: Option<&'static str>, message: impl Into<String>) -> Self {
        let body = ErrorObject { message: message.into(), kind, param: None, code };
        Self { status, body, retry_after: None, is_final: false }
    }

    /// 400 for a parameter.
    pub(crate) fn invalid(param: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, INVALID, Some("invalid_value"), message).at(param)
    }

    /// 400 for a parameter, or a value of it, that this server does not support.
    pub(crate) fn unsupported(param: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, INVALID, Some("unsupported_parameter"), message).at(param)
    }

    /// 400 for a body that cannot be read.
    pub(crate) fn malformed(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, INVALID, None, message)
    }

    /// 404 for a model.
    pub(crate) fn unknown_model(model: &str) -> Self {
        let model: String = model.chars().take(100).collect();
        let message = format!("The model `{model}` does not exist or you do not have access to it.");
        Self::new(StatusCode::NOT_FOUND, INVALID, Some(MODEL_NOT_FOUND), message).at("model")
    }

    /// The stream of a run has no end.
    pub(crate) fn cut_off() -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, SERVER, None, "The answer was cut off. Try again.")
    }

    /// Too much work of this kind is waiting.
    pub(crate) fn busy() -> Self {
        let message = "The server is busy with other requests. Try again in a moment.";
        let error = Self::new(StatusCode::SERVICE_UNAVAILABLE, SERVER, None, message);
        Self { retry_after: Some(2), ..error }
    }

    /// The error of a run that failed.
    pub(crate) fn run_failed(reason: Option<EndReason>, message: Option<String>) -> Self {
        let message = message.unwrap_or_else(|| "The agent has no answer. Try again.".to_owned());
        let failed = |status: StatusCode, code| Self::new(status, SERVER, code, message.clone());
        let last = |code| Self { is_final: true, ..failed(StatusCode::INTERNAL_SERVER_ERROR, Some(code)) };
        match reason {
            Some(EndReason::ModelBusy) => Self {
                retry_after: Some(5),
                ..Self::new(StatusCode::TOO_MANY_REQUESTS, "rate_limit_error", Some("rate_limit_exceeded"), message)
            },
            Some(EndReason::Time) => last("timeout"),
            Some(EndReason::Unfit) => last("invalid_answer"),
            Some(EndReason::StoppedByUser | EndReason::StoppedByAdmin) => last("stopped"),
            Some(EndReason::TooLong | EndReason::InvalidCall) => last("invalid_answer"),
            Some(reason) if reason.outcome() == wire::api::Outcome::Limit => last("agent_limit"),
            _ => failed(StatusCode::SERVICE_UNAVAILABLE, None),
        }
    }

    /// Names the parameter.
    #[must_use]
    pub(crate) fn at(mut self, param: impl Into<String>) -> Self {
        self.body.param = Some(param.into());
        self
    }

    /// Returns the error as a value, for streams.
    pub(crate) fn value(&self) -> Value {
        json!({ "error": self.body })
    }
}

impl From<::store::StoreError> for ApiError {
    fn from(error: ::store::StoreError) -> Self {
        web::HttpError::from(error).0.into()
    }
}

impl From<UserError> for ApiError {
    fn from(error: UserError) -> Self {
        let UserError { code, reason, message, path, retry_after, .. } = error;
        let is_quota = matches!(reason, Some(ErrorReason::QuotaDay | ErrorReason::QuotaMonth));
        let (status, kind, name) = match code {
            ErrorCode::Malformed => (400, INVALID, None),
            ErrorCode::Invalid => (400, INVALID, Some("invalid_value")),
            ErrorCode::Unauthenticated => (401, INVALID, Some("invalid_api_key")),
            ErrorCode::Forbidden => (403, INVALID, Some("insufficient_permissions")),
            ErrorCode::NotFound => (404, INVALID, Some("not_found")),
            ErrorCode::Busy | ErrorCode::Conflict | ErrorCode::OtherAgent => (409, INVALID, Some("conflict")),
            ErrorCode::TooLarge => (413, INVALID, Some("request_too_large")),
            ErrorCode::RateLimited if is_quota => (429, "insufficient_quota", Some("insufficient_quota")),
            ErrorCode::RateLimited => (429, "rate_limit_error", Some("rate_limit_exceeded")),
            ErrorCode::Internal => (500, SERVER, None),
            ErrorCode::Unavailable => (503, SERVER, None),
        };
        let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut error = Self { retry_after, is_final: is_quota, ..Self::new(status, kind, name, message) };
        error.body.param = path.as_deref().map(param);
        error
    }
}

/// Returns the parameter at a JSON pointer: `/tools/0/name` is `tools[0].name`.
fn param(pointer: &str) -> String {
    let mut param = String::new();
    for step in pointer.split('/').filter(|step| !step.is_empty()) {
        if step.bytes().all(|byte| byte.is_ascii_digit()) {
            param += &format!("[{step}]");
        } else {
            let dot = if param.is_empty() { "" } else { "." };
            param += &format!("{dot}{step}");
        }
    }
    param
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut response = (self.status, Json(ErrorBody { error: self.body })).into_response();
        let headers = response.headers_mut();
        if let Some(seconds) = self.retry_after {
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        if self.is_final {
            headers.insert(SHOULD_RETRY, HeaderValue::from_static("false"));
        }
        response
    }
}

impl RouteOutput for ApiError {
    fn describe(description: &mut Description<'_>) {
        description.json_error::<ErrorBody>("The request failed; `error.message` says what to do next.");
    }
}

/// Writes the errors of the server's gates in this form.
pub(crate) fn from_gate(error: UserError) -> Response {
    ApiError::from(error).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_have_the_form_of_openai() {
        let check = |error: ApiError| {
            let retry = error.retry_after.map(|seconds| format!(" after {seconds} s")).unwrap_or_default();
            format!("{}{retry} {}", error.status.as_u16(), error.value())
        };
        let quota = UserError::new(ErrorCode::RateLimited, "Used up.").because(ErrorReason::QuotaDay);
        let all = [
            check(UserError::unauthenticated().into()),
            check(UserError::invalid("/tools/0/name", "No.").into()),
            check(UserError { retry_after: Some(9), ..quota }.into()),
            check(ApiError::unknown_model("x")),
            check(ApiError::run_failed(Some(EndReason::MaxSteps), Some("The limit.".to_owned()))),
            check(ApiError::run_failed(Some(EndReason::ModelBusy), None)),
            check(ApiError::run_failed(Some(EndReason::ModelAway), None)),
        ];
        insta::assert_snapshot!(all.join("\n"), @r#"
        401 {"error":{"message":"You are not signed in. Reload the page to sign in; programs send an API key.","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}
        400 {"error":{"message":"No.","type":"invalid_request_error","param":"tools[0].name","code":"invalid_value"}}
        429 after 9 s {"error":{"message":"Used up.","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}
        404 {"error":{"message":"The model `x` does not exist or you do not have access to it.","type":"invalid_request_error","param":"model","code":"model_not_found"}}
        500 {"error":{"message":"The limit.","type":"server_error","param":null,"code":"agent_limit"}}
        429 after 5 s {"error":{"message":"The agent has no answer. Try again.","type":"rate_limit_error","param":null,"code":"rate_limit_exceeded"}}
        503 {"error":{"message":"The agent has no answer. Try again.","type":"server_error","param":null,"code":null}}
        "#);
    }
}
