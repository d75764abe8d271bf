//! The error that a caller sees: a stable code, a sentence that says what to do next, nothing of the inside.

use crate::read::{Read, Unreadable, read_names, read_struct};
use serde::Serialize;
use serde_json::Value;

/// An error for its reader, as `{"code", "message"}`; HTTP wraps it as `{"error": {…}}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct UserError {
    /// For programs.
    pub code: ErrorCode,
    /// Which of the things behind the code it was, where a UI in another language has words for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<ErrorReason>,
    /// For people: what happened and what to do next. Never a secret, a provider's body or a path.
    pub message: String,
    /// The field that is wrong, for example `/messages/0/parts`, with [`ErrorCode::Invalid`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Seconds after which to try again, with [`ErrorCode::RateLimited`] and [`ErrorCode::Unavailable`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<u32>,
    /// By what an operator finds the request in his logs and traces.
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

/// A stable name for what went wrong, with its HTTP status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCode {
    /// 400: not readable.
    Malformed,
    /// 401: not signed in.
    Unauthenticated,
    /// 403: not allowed.
    Forbidden,
    /// 404: unknown, or not yours.
    NotFound,
    /// 409: a run is active.
    Busy,
    /// 409: what the request is about has changed meanwhile.
    Conflict,
    /// 409: the conversation is with another agent.
    OtherAgent,
    /// 413: too large.
    TooLarge,
    /// 422: well-formed but wrong.
    Invalid,
    /// 429: too many.
    RateLimited,
    /// 500: our fault.
    Internal,
    /// 503: draining or full.
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

/// What went wrong beyond its code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorReason {
    /// The model's provider refused the credentials.
    ModelCredentials,
    /// The model's provider is asked too often.
    ModelLimit,
    /// The model's provider did not accept the request.
    ModelRefused,
    /// The model's provider is in trouble, or cannot be reached.
    ModelAway,
    /// The answer broke off before its end.
    AnswerBroken,
    /// The server could not save or read what it should.
    NotSaved,
    /// The server has no room just now, or is about to end.
    ServerBusy,
    /// The server's fault.
    ServerFailed,
    /// One that a newer server knows.
    Other,
}

impl Read for ErrorReason {
    fn read(value: Value) -> Result<Self, Unreadable> {
        Ok(match value.as_str() {
            Some("model_credentials") => Self::ModelCredentials,
            Some("model_limit") => Self::ModelLimit,
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
    /// The HTTP status.
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

impl UserError {
    /// An error with a code and a sentence.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, reason: None, message: message.into(), path: None, retry_after: None, trace_id: None }
    }

    /// The same with its reason.
    #[must_use]
    pub fn because(self, reason: ErrorReason) -> Self {
        Self { reason: Some(reason), ..self }
    }

    /// What an operator finds it by, where only he can help.
    pub fn reference(&self) -> Option<&str> {
        let is_his = matches!(self.code, ErrorCode::Internal | ErrorCode::Unavailable);
        self.trace_id.as_deref().filter(|_| is_his)
    }

    /// 404, the same whether the thing does not exist or belongs to someone else.
    pub fn not_found() -> Self {
        Self::new(ErrorCode::NotFound, "There is nothing here, or it is not yours.")
    }

    /// 401, for who could be let in after signing in.
    pub fn unauthenticated() -> Self {
        Self::new(ErrorCode::Unauthenticated, "You are not signed in. Sign in and try again.")
    }

    /// 422 at a field.
    pub fn invalid(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self { path: Some(path.into()), ..Self::new(ErrorCode::Invalid, message) }
    }
}

impl std::fmt::Display for UserError {
    /// What a person reads. Where only an operator can help, it names what he finds the request by.
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
    fn reasons_are_read_as_they_are_written() {
        let check = |reason: ErrorReason| assert_eq!(ErrorReason::read(json!(reason)), Ok(reason));
        check(ErrorReason::ModelCredentials);
        check(ErrorReason::ModelLimit);
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
