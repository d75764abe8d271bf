//! The error that a caller sees: a stable code and a message that says what to do next, without
//! internal details.

use crate::read::{Read, Unreadable, read_names, read_struct};
use serde::Serialize;
use serde_json::Value;

/// An error for the caller, as `{"code", "message"}`; HTTP responses wrap it as `{"error": {…}}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct UserError {
    /// The code, for programs.
    pub code: ErrorCode,
    /// The specific cause behind the code, for which a localized UI has its own text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<ErrorReason>,
    /// The message for people: what happened and what to do next. It never contains a secret, a
    /// provider's response body or a path.
    pub message: String,
    /// The invalid field, for example `/messages/0/parts`, with [`ErrorCode::Invalid`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Seconds to wait before trying again, with [`ErrorCode::RateLimited`] and
    /// [`ErrorCode::Unavailable`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<u32>,
    /// The trace id, by which an operator finds the request in logs and traces.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace_id: Option<String>,
}

read_struct!(UserError {
    code: "code",
    reason: "reason",
    message: "message",
    path: "path",
    retry_after: "retryAfter",
    trace_id: "traceId"
});

/// A stable error code with an HTTP status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ErrorCode {
    /// 400: the request could not be parsed.
    Malformed,
    /// 401: not signed in.
    Unauthenticated,
    /// 403: not allowed.
    Forbidden,
    /// 404: unknown, or owned by another user.
    NotFound,
    /// 409: a run is active.
    Busy,
    /// 409: the target of the request has changed meanwhile.
    Conflict,
    /// 409: the conversation belongs to another agent.
    OtherAgent,
    /// 413: too large.
    TooLarge,
    /// 422: well-formed but invalid.
    Invalid,
    /// 429: too many requests.
    RateLimited,
    /// 500: a fault of the server.
    Internal,
    /// 503: the server is draining or full.
    Unavailable,
}

read_names!(ErrorCode {
    "malformed" => Malformed,
    "unauthenticated" => Unauthenticated,
    "forbidden" => Forbidden,
    "not_found" => NotFound,
    "busy" => Busy,
    "conflict" => Conflict,
    "other_agent" => OtherAgent,
    "too_large" => TooLarge,
    "invalid" => Invalid,
    "rate_limited" => RateLimited,
    "internal" => Internal,
    "unavailable" => Unavailable,
});

/// The specific cause of an error. More values may be added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ErrorReason {
    /// The model's provider refused the credentials.
    ModelCredentials,
    /// The model's provider reported too many requests.
    ModelLimit,
    /// The user has used their quota of the day.
    QuotaDay,
    /// The user has used their quota of the month.
    QuotaMonth,
    /// The model's provider did not accept the request.
    ModelRefused,
    /// The model's provider has an outage or is unreachable.
    ModelAway,
    /// The stream of the answer broke off.
    AnswerBroken,
    /// The server could not write to or read from its database.
    NotSaved,
    /// The server is full or is shutting down.
    ServerBusy,
    /// A fault of the server.
    ServerFailed,
    /// A cause that only a newer server knows.
    Other,
}

impl Read for ErrorReason {
    fn read(value: Value) -> Result<Self, Unreadable> {
        Ok(match value.as_str() {
            Some("model_credentials") => Self::ModelCredentials,
            Some("model_limit") => Self::ModelLimit,
            Some("quota_day") => Self::QuotaDay,
            Some("quota_month") => Self::QuotaMonth,
            Some("model_refused") => Self::ModelRefused,
            Some("model_away") => Self::ModelAway,
            Some("answer_broken") => Self::AnswerBroken,
            Some("not_saved") => Self::NotSaved,
            Some("server_busy") => Self::ServerBusy,
            Some("server_failed") => Self::ServerFailed,
            _ => Self::Other,
        })
    }
}

impl ErrorCode {
    /// Returns the HTTP status.
    pub fn status(self) -> u16 {
        match self {
            Self::Malformed => 400,
            Self::Unauthenticated => 401,
            Self::Forbidden => 403,
            Self::NotFound => 404,
            Self::Busy | Self::Conflict | Self::OtherAgent => 409,
            Self::TooLarge => 413,
            Self::Invalid => 422,
            Self::RateLimited => 429,
            Self::Internal => 500,
            Self::Unavailable => 503,
        }
    }
}

/// The number of digits of a trace id that a user is shown: enough to find it in the log, and few
/// enough to be read out.
const REFERENCE_DIGITS: usize = 8;

impl UserError {
    /// Creates an error with a code and a message.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, reason: None, message: message.into(), path: None, retry_after: None, trace_id: None }
    }

    /// Adds the cause.
    #[must_use]
    pub fn because(self, reason: ErrorReason) -> Self {
        Self { reason: Some(reason), ..self }
    }

    /// Returns the beginning of the trace id if only an operator can help.
    pub fn reference(&self) -> Option<&str> {
        let is_his = matches!(self.code, ErrorCode::Internal | ErrorCode::Unavailable);
        self.trace_id.as_deref().filter(|_| is_his).map(|id| id.get(..REFERENCE_DIGITS).unwrap_or(id))
    }

    /// 404, the same whether the object does not exist or belongs to someone else.
    pub fn not_found() -> Self {
        Self::new(ErrorCode::NotFound, "Not found, or you do not have access to it.")
    }

    /// 401, for a request that needs a signed-in user.
    pub fn unauthenticated() -> Self {
        Self::new(
            ErrorCode::Unauthenticated,
            "You are not signed in. Reload the page to sign in; programs send an API key.",
        )
    }

    /// 422 for one field.
    pub fn invalid(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self { path: Some(path.into()), ..Self::new(ErrorCode::Invalid, message) }
    }
}

impl std::fmt::Display for UserError {
    /// Writes the message; if only an operator can help, the beginning of the trace id follows as a reference.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)?;
        match self.reference() {
            Some(id) => {
                f.write_str(" Reference: ")?;
                f.write_str(id)
            }
            None => Ok(()),
        }
    }
}

impl std::error::Error for UserError {}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn error_reasons_round_trip() {
        let check = |reason: ErrorReason| assert_eq!(ErrorReason::read(json!(reason)), Ok(reason));
        check(ErrorReason::ModelCredentials);
        check(ErrorReason::ModelLimit);
        check(ErrorReason::QuotaDay);
        check(ErrorReason::QuotaMonth);
        check(ErrorReason::ModelRefused);
        check(ErrorReason::ModelAway);
        check(ErrorReason::AnswerBroken);
        check(ErrorReason::NotSaved);
        check(ErrorReason::ServerBusy);
        check(ErrorReason::ServerFailed);
        check(ErrorReason::Other);
        assert_eq!(ErrorReason::read(json!("of_tomorrow")), Ok(ErrorReason::Other));
    }
}
